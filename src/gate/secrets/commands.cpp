#include <algorithm>
#include <set>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxCommand = 160;  // from a command to its option
constexpr std::size_t kMaxPassword = 200;
// What it costs to look at a value, and to read a command or its arguments, in characters that are judged.
constexpr std::size_t kLooking = 8, kReading = 96;

struct CommandHow {
  enum : std::size_t { arguments, piped, login_before, login_behind, option };
};

// Commands that are given a password in an option, and how.
struct Option {
  std::string_view text;
  // -pPASSWORD; -p PASSWORD; login -p PASSWORD; BY 'PASSWORD'; -P something that looks like one; -a
  // name:PASSWORD
  enum How { glued, apart, login, quoted, judged, user } how = apart;
  WordList commands;
};
const std::vector<Option>& options() {
  static const std::vector<Option> kOptions = [] {
    std::vector<Option> out;
    for (const RuleEntry& entry : rule_entries())
      if (entry.section == "options")
        out.push_back({entry.columns[0],
                       static_cast<Option::How>(position(
                           entry.columns[1], {"glued", "apart", "login", "quoted", "judged", "user"})),
                       WordList(texts_of(entry.columns[2]))});
    return out;
  }();
  return kOptions;
}

bool ends_command(char c) {
  return c == '\n' || c == '|' || c == ';' || c == '&';
}

// The beginning of the command that contains `at`.
std::size_t command_begin(std::string_view text, std::size_t at) {
  const std::size_t limit = at - std::min(at, kMaxCommand);
  while (at > limit && !ends_command(text[at - 1])) --at;
  return at;
}

// The words of the command that continues at `at`.
std::vector<std::string_view> words_before(std::string_view text, std::size_t at) {
  static constexpr CharSet kBetween(" \t\"'`/()[],");
  std::vector<std::string_view> out;
  for (std::size_t word = command_begin(text, at); word < at;) {
    const std::size_t end = std::min(kBetween.first_in(text.substr(0, at), word), at);
    if (end > word) out.push_back(text.substr(word, end - word));
    word = end + 1;
  }
  return out;
}

// The argument at `at`, behind blanks, without its quotes.
std::pair<std::size_t, std::size_t> argument(const Hit& hit, std::size_t at) {
  at = std::min(hit.runs.end(Chars::blank, at), at + 40);
  if (at < hit.text.size() && is_quote(hit.text[at])) ++at;
  return {at, std::max(at, std::min(hit.runs.end(Chars::visible, at), at + kMaxPassword + 1))};
}

bool may_be_password(std::string_view value) {
  if (value.size() < 4 || value[0] == '-' || value[0] == '$' || value[0] == '/') return false;
  const bool ports = value.find_first_not_of("0123456789:./") == std::string_view::npos &&
                     value.find(':') != std::string_view::npos;
  return !ports && !is_placeholder(value) && !is_name_of_something(value);
}

bool is_random_or_chosen(std::string_view value) {
  return may_be_password(value) && (is_chosen(value) || is_random(value)) &&
         value.find("://") == std::string_view::npos;
}

// name:PASSWORD, name%PASSWORD, name/PASSWORD: text[begin, end) has one of `signs` between the two.
Span after_user(std::string_view text, std::size_t begin, std::size_t end, const CharSet& signs) {
  const std::string_view login = text.substr(begin, end - begin);
  const std::size_t sign = signs.first_in(login);
  if (sign == std::string_view::npos || sign == 0 || sign > 64) return std::nullopt;
  const std::string_view password = login.substr(sign + 1);
  if (!may_be_password(password) || !is_password_like(password) || password == login.substr(0, sign))
    return std::nullopt;
  return std::pair(begin + sign + 1, end);
}

// The password in the value text[begin, end) of an option.
Span password_of(std::string_view text, std::size_t begin, std::size_t end, Option::How how) {
  const std::string_view value = text.substr(begin, end - begin);
  if (how == Option::user) return after_user(text, begin, end, CharSet(":%,"));
  if (!may_be_password(value)) return std::nullopt;
  const bool in_quotes = is_quote(text[begin - 1]);
  // "is identified by `name`" is prose.
  if (how == Option::quoted &&
      !(in_quotes ? is_password_like(value) || (text[begin - 1] == '\'' && !is_reference(value))
                  : is(Chars::alnum, value[0]) && is_chosen(value)))
    return std::nullopt;
  if (how == Option::judged && !is_password_like(value)) return std::nullopt;
  while (!in_quotes && end > begin && text[end - 1] == ';') --end;
  return std::pair(begin, end);
}

// The password that the option of the hit gives to the command of its line.
std::size_t find_option(const Hit& hit) {
  const std::string_view text = hit.text;
  const std::string_view given = text.substr(hit.begin + 1, hit.end - hit.begin - 1);
  const bool glued = hit.end < text.size() && is(Chars::visible, text[hit.end]) && text[hit.end] != '=';
  const bool equals = hit.end < text.size() && text[hit.end] == '=';
  const auto [from, stop] = argument(hit, hit.end + (equals ? 1 : 0));
  if (stop < from + 4 || text[from] == '-' || text[from] == '$') return kLooking;
  const auto words = words_before(text, hit.begin);
  const auto is_command = [&](const Option& option) {
    return std::any_of(words.begin(), words.end(), [&](auto word) { return option.commands.has(word); });
  };
  bool known = false;
  for (const Option& option : options()) {
    const bool same = option.how == Option::quoted ? ascii_lower(given) == option.text : given == option.text;
    if (!same || !is_command(option)) continue;
    known = true;
    if (glued != (option.how == Option::glued) && !is_quote(text[from - 1])) continue;
    if (option.how == Option::login && std::find(words.begin(), words.end(), "login") == words.end())
      continue;
    if (const Span password = password_of(text, from, stop, option.how)) {
      hit.add(password->first, password->second, "cli-password");
      break;
    }
  }
  // -p Copper!4711x says enough, whatever the command is.
  static constexpr CharSet kOfOthers("@~/:=,${}()#");
  const std::string_view value = text.substr(from, stop - from);
  if (!known && given == "-p" && !glued && !kOfOthers.any_in(value) && is_chosen(value) &&
      may_be_password(value))
    hit.add(from, stop, "cli-password");
  return kMaxCommand + stop - from;
}

// The argument after a given number of arguments, and the next one if it is a secret too: a key and its
// secret.
void find_arguments(const Hit& hit, std::size_t skipped, bool is_certain) {
  std::size_t at = hit.end;
  for (std::size_t count = 0; count < skipped + 2;) {
    const auto [begin, end] = argument(hit, at);
    if (end == begin) return;
    const std::string_view value = hit.text.substr(begin, end - begin);
    at = end + (end < hit.text.size() && is_quote(hit.text[end]) ? 1 : 0);
    if ((value[0] == '/' && value.size() < 8) || (value[0] == '-' && value.size() < 4)) continue;  // a switch
    if (count++ < skipped) continue;
    // name=VALUE
    const std::size_t equals = run_end(Chars::word, value, 0);
    const std::size_t named = equals > 0 && equals < value.size() && value[equals] == '=' ? equals + 1 : 0;
    const std::string_view given = value.substr(named);
    const bool certain = is_certain && count == skipped + 1 && may_be_password(given) && !is_reference(given);
    if (!certain && !is_random_or_chosen(given)) return;
    hit.add(begin + named, end, "cli-password");
  }
}

// echo PASSWORD | sudo -S, echo name:PASSWORD | chpasswd, sudo -S <<< PASSWORD
void find_piped(const Hit& hit) {
  const std::string_view text = hit.text;
  const auto add = [&](std::size_t from, std::size_t to) {
    if (starts_with_nocase(text.substr(hit.begin), "chpasswd")) from = std::min(text.find(':', from) + 1, to);
    const std::string_view value = text.substr(from, to - from);
    if (may_be_password(value) && is_password_like(value)) hit.add(from, to, "cli-password");
  };
  const std::string_view behind = text.substr(hit.end, 40);
  if (const std::size_t sign = behind.substr(0, behind.find('\n')).find("<<<");
      sign != std::string_view::npos) {
    const auto [from, to] = argument(hit, hit.end + sign + 3);
    return add(from, to);
  }
  const std::size_t pipe = command_begin(text, hit.begin);
  if (pipe == 0 || text[pipe - 1] != '|') return;
  const std::size_t start = command_begin(text, pipe - 1);
  std::string_view source = trim(text.substr(start, pipe - 1 - start));
  const bool quoted = !source.empty() && is_quote(source.back());
  const bool prints =
      source.find("echo ") != std::string_view::npos || source.find("printf ") != std::string_view::npos;
  if (!prints && !quoted) return;
  // The last argument is what is printed.
  if (quoted) source.remove_suffix(1);
  const std::size_t before = source.find_last_of(quoted ? "\"'`" : " ");
  if (before == std::string_view::npos || before + 1 >= source.size()) return;
  const std::size_t from = static_cast<std::size_t>(source.data() - text.data()) + before + 1;
  add(from, from + source.size() - before - 1);
}

// name:PASSWORD@tcp(host), name/PASSWORD@//host: text[begin, end) is the part before the '@'.
void find_login(const Hit& hit, std::size_t begin, std::size_t end) {
  if (const Span password = after_user(hit.text, begin, end, CharSet(":/")))
    hit.add(password->first, password->second, "url-password");
}

}  // namespace

const std::vector<Sign>& command_signs() {
  static const std::vector<Sign> kSigns = [] {
    static std::set<std::string> texts;  // of options, in either case
    for (const Option& one : options()) texts.insert(" " + ascii_lower(one.text));
    std::vector<Sign> out;
    for (const std::string& text : texts) out.push_back({text, CommandHow::option});
    // arguments:2! has two arguments before it and is certain.
    for (const RuleEntry& entry : rule_entries()) {
      if (entry.section != "arguments") continue;
      const std::string_view how = entry.columns[0];
      const std::size_t colon = how.find(':'), word = how.find_first_of(":!");
      const auto skipped = static_cast<std::size_t>(colon < how.size() ? how[colon + 1] - '0' : 0);
      const std::size_t number =
          position(how.substr(0, word), {"arguments", "piped", "login_before", "login_behind"}) +
          8 * skipped + 128 * (how.ends_with('!') ? 1 : 0);
      for (const std::string_view text : texts_of(entry.columns[1])) out.push_back({text, number});
    }
    return out;
  }();
  return kSigns;
}

std::size_t find_in_command(const Hit& hit, const Sign& sign) {
  switch (sign.how % 8) {
    case CommandHow::option: return find_option(hit);
    case CommandHow::arguments: find_arguments(hit, sign.how / 8 % 16, sign.how >= 128); break;
    case CommandHow::piped: find_piped(hit); break;
    case CommandHow::login_before:
      if (hit.end >= hit.text.size() || !is(Chars::alnum, hit.text[hit.end])) return kLooking;
      find_login(
          hit,
          std::max(hit.runs.begin(Chars::visible, hit.begin), hit.begin - std::min(hit.begin, kMaxPassword)),
          hit.begin);
      break;
    default: {
      const auto [from, stop] = argument(hit, hit.end);
      const std::string_view login = hit.text.substr(from, stop - from);
      find_login(hit, from, from + std::min(login.rfind('@'), login.size()));
    }
  }
  return kReading;
}

}  // namespace cairn::gate
