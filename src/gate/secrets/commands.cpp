#include <algorithm>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxCommand = 160;  // from a command to its option
constexpr std::size_t kMaxPassword = 200;
// What it costs to look at a value, and to read a command or its arguments, in characters that are judged.
constexpr std::size_t kLooking = 8, kReading = 96;
constexpr std::string_view kCliPassword = "cli-password";

using Place = std::pair<std::size_t, std::size_t>;

// The beginning of the command that contains `at`.
std::size_t command_begin(std::string_view text, std::size_t at) {
  static constexpr CharSet kEnds("\n|;&");
  return skip_back(text, at, kMaxCommand, [](char c) { return !kEnds.has(c); });
}

// Whether one of `commands` comes before `at`, with no |, ; or & between them.
bool is_given_to(const WordList& commands, std::string_view text, std::size_t at) {
  static constexpr CharSet kBetween(" \t\"'`/()[],");
  for (std::size_t word = command_begin(text, at); word < at;) {
    const std::size_t end = std::min(kBetween.first_in(text, word), at);
    if (commands.has(between(text, word, end))) return true;
    word = end + 1;
  }
  return false;
}

// The argument at `at`, behind blanks, without its quotes.
Place argument(const Hit& hit, std::size_t at) {
  at = std::min(hit.runs.end(Chars::blank, at), at + 40);
  if (at < hit.text.size() && is_quote(hit.text[at])) ++at;
  std::size_t end = std::min(hit.runs.end(Chars::visible, at), at + kMaxPassword + 1);
  while (end > at && hit.text[end - 1] == ';') --end;
  return {at, std::max(at, end)};
}

bool may_be_password(std::string_view value) {
  if (value.size() < 4 || CharSet("-$/").has(value[0]) || (value[0] == '%' && value.back() == '%'))
    return false;
  const bool ports = value.find_first_not_of("0123456789:./") == std::string_view::npos &&
                     value.find(':') != std::string_view::npos;
  return !ports && !is_placeholder(value) && !is_name_of_something(value);
}

// The password of text[begin, end), which has one of `signs` between it and the user's name: name:PASSWORD,
// name%PASSWORD, name/PASSWORD.
void add_after_user(const Hit& hit, Place login, const CharSet& signs, std::string_view kind) {
  const std::size_t sign = signs.first_in(hit.text.substr(0, login.second), login.first);
  if (sign == std::string_view::npos || sign == login.first) return;
  const std::string_view password = between(hit.text, sign + 1, login.second);
  if (may_be_password(password) && is_password_like(password)) hit.add(sign + 1, login.second, kind);
}

// The argument after a given number of arguments, and the next one if it is a secret too: a key and its
// secret.
void find_among_arguments(const Hit& hit, const Sign& sign) {
  std::size_t at = hit.end;
  for (std::size_t count = 0; count < sign.number + 2;) {
    const auto [begin, end] = argument(hit, at);
    if (end == begin) return;
    const std::string_view value = between(hit.text, begin, end);
    at = skip(hit.text, end, 1, is_quote);
    if ((value[0] == '/' && value.size() < 8) || (value[0] == '-' && value.size() < 4)) continue;  // a switch
    if (count++ < sign.number) continue;
    // name=VALUE; a sign that pads base64 has nothing behind it.
    const std::size_t equals = run_end(Chars::word, value, 0);
    const std::size_t named =
        equals > 0 && equals + 4 < value.size() && value[equals] == '=' ? equals + 1 : 0;
    const std::string_view given = value.substr(named);
    const bool certain = sign.sure && count == sign.number + 1 && !is_reference(given);
    const bool looks_so = is_chosen(given) || is_random(given);
    if (!may_be_password(given) || !(certain || looks_so) || given.find("://") != std::string_view::npos)
      return;
    hit.add(begin + named, end, kCliPassword);
  }
}

// echo PASSWORD | sudo -S, echo name:PASSWORD | chpasswd, sudo -S <<< PASSWORD
void find_piped(const Hit& hit, const Sign& sign) {
  const std::string_view text = hit.text, behind = text.substr(hit.end, 40);
  const std::size_t here = behind.substr(0, behind.find('\n')).find("<<<");
  Place given = {0, 0};
  if (here != std::string_view::npos) {
    given = argument(hit, hit.end + here + 3);
  } else {
    const std::size_t pipe = command_begin(text, hit.begin);
    if (pipe == 0 || text[pipe - 1] != '|') return;
    // The last argument is what is printed.
    std::string_view source = trim(between(text, command_begin(text, pipe - 1), pipe - 1));
    const bool quoted = !source.empty() && is_quote(source.back());
    if (!quoted && source.find("echo ") == std::string_view::npos &&
        source.find("printf ") == std::string_view::npos)
      return;
    if (quoted) source.remove_suffix(1);
    source.remove_prefix(source.find_last_of(quoted ? "\"'`" : " ") + 1);
    given.first = static_cast<std::size_t>(source.data() - text.data());
    given.second = given.first + source.size();
  }
  if (sign.sure) return add_after_user(hit, given, CharSet(":"), kCliPassword);
  const std::string_view value = between(text, given.first, given.second);
  if (may_be_password(value) && is_password_like(value)) hit.add(given.first, given.second, kCliPassword);
}

}  // namespace

std::size_t find_option(const Hit& hit, const Sign& sign) {
  enum { glued, apart, judged, user, quoted, any };
  static constexpr CharSet kOfOthers("@~/:=,${}()#");
  const std::string_view text = hit.text;
  if (hit.end + 4 > text.size()) return kLooking;
  if (sign.how != quoted && between(text, hit.begin, hit.end) != sign.text) return kLooking;
  const bool equals = text[hit.end] == '=', blank = is(Chars::blank, text[hit.end]);
  const auto [begin, end] = argument(hit, hit.end + (equals ? 1 : 0));
  const std::string_view value = between(text, begin, end);
  const char before = text[begin - 1];
  if (value.size() < 4 || ((blank || equals) == (sign.how == glued) && !is_quote(before))) return kLooking;
  // "is identified by `name`" is prose.
  if (sign.how == quoted && !(is(Chars::alnum, value[0]) && is_chosen(value)) &&
      !(is_quote(before) && (is_password_like(value) || (before == '\'' && !is_reference(value)))))
    return kLooking;
  if (!may_be_password(value)) return kLooking;
  // A value such as Copper!4711x is a password for any command.
  if (sign.how == any ? kOfOthers.any_in(value) || !is_chosen(value)
                      : !is_given_to(sign.words, text, hit.begin))
    return kMaxCommand;
  if (sign.how == user)
    add_after_user(hit, {begin, end}, CharSet(":%,"), kCliPassword);
  else if (sign.how != judged || is_password_like(value))
    hit.add(begin, end, kCliPassword);
  return kMaxCommand;
}

std::size_t find_argument(const Hit& hit, const Sign& sign) {
  enum { arguments, piped, login_before, login_behind };
  static constexpr CharSet kBehindUser(":/");
  switch (sign.how) {
    case arguments: find_among_arguments(hit, sign); break;
    case piped: find_piped(hit, sign); break;
    case login_before: {
      if (hit.end >= hit.text.size() || !is(Chars::alnum, hit.text[hit.end])) return kLooking;
      const std::size_t begin =
          std::max(hit.runs.begin(Chars::visible, hit.begin), hit.begin - std::min(hit.begin, kMaxPassword));
      add_after_user(hit, {begin, hit.begin}, kBehindUser, "url-password");
      break;
    }
    default: {
      const auto [begin, end] = argument(hit, hit.end);
      const std::size_t host = std::min(between(hit.text, begin, end).rfind('@'), end - begin);
      add_after_user(hit, {begin, begin + host}, kBehindUser, "url-password");
    }
  }
  return kReading;
}

}  // namespace cairn::gate
