#include "gate/command_secrets.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "gate/named_value.h"
#include "gate/secret_value.h"
#include "gate/secrets/rules.h"
#include "gate/telling_names.h"

namespace cairn::gate {

// What a command line may hold, and how it is read on from there.
struct CommandSign {
  enum How { option, arguments, piped, login_before, login_behind } how = option;
  std::string_view text;
  std::size_t skipped = 0;  // arguments before the password
  bool certain = false;     // it is one whatever it looks like
};
namespace {

using Found = std::optional<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t kMaxCommand = 160;  // from a command to its option
constexpr std::size_t kMaxPassword = 200;
// What it costs to look at a value, and to read a command's arguments, in
// characters that are judged.
constexpr std::size_t kLooking = 8, kReading = 96;

// Commands that are given a password in an option, and how.
struct Command {
  std::string_view name, option;
  // -pPASSWORD; -p PASSWORD; login -p PASSWORD; BY 'PASSWORD'; -P something
  // that looks like one; -a name:PASSWORD
  enum How { glued, apart, login, quoted, judged, user } how = apart;
};
const std::vector<Command>& commands() {
  static const std::vector<Command> kCommands = [] {
    std::vector<Command> out;
    for (const RuleEntry& entry : rule_entries("options"))
      for (const std::string_view name : texts_of(entry.columns[2]))
        out.push_back({name, entry.columns[0],
                       one_of<Command::How>(entry.columns[1],
                                            {"glued", "apart", "login", "quoted", "judged", "user"})});
    CAIRN_ASSERT(out.size() < 63);
    return out;
  }();
  return kCommands;
}

// arguments:2!
CommandSign sign_of(std::string_view how, std::string_view text) {
  const bool certain = how.ends_with('!');
  if (certain) how.remove_suffix(1);
  const std::size_t colon = std::min(how.find(':'), how.size());
  const std::size_t skipped = colon < how.size() ? static_cast<std::size_t>(how[colon + 1] - '0') : 0;
  return {one_of<CommandSign::How>(how.substr(0, colon),
                                   {"option", "arguments", "piped", "login_before", "login_behind"}),
          text, skipped, certain};
}

const std::vector<CommandSign>& signs() {
  static const std::vector<CommandSign> kSigns = [] {
    static std::set<std::string> options;  // in either case
    for (const Command& command : commands()) options.insert(" " + ascii_lower(command.option));
    std::vector<CommandSign> out;
    for (const std::string& option : options) out.push_back({CommandSign::option, option});
    for (const RuleEntry& entry : rule_entries("arguments"))
      for (const std::string_view text : texts_of(entry.columns[1]))
        out.push_back(sign_of(entry.columns[0], text));
    return out;
  }();
  return kSigns;
}

bool ends_command(char c) {
  return c == '\n' || c == '|' || c == ';' || c == '&';
}

// Where the command begins that goes on at `at`.
std::size_t command_begin(std::string_view text, std::size_t at) {
  const std::size_t limit = at - std::min(at, kMaxCommand);
  while (at > limit && !ends_command(text[at - 1])) --at;
  return at;
}

bool is_word(std::string_view word, std::string_view name) {
  return word.size() == name.size() && (word[0] | 0x20) == (name[0] | 0x20) && starts_with_nocase(word, name);
}

constexpr std::uint64_t kLogin = std::uint64_t{1} << 63;

// A bit for each command that begins with a character, and for `login`.
std::uint64_t begin_with(char first) {
  static const auto kByFirst = [] {
    std::array<std::uint64_t, 256> table{};
    const auto add = [&](char c, std::uint64_t bit) {
      table[static_cast<unsigned char>(c)] |= bit;
      if (c >= 'a' && c <= 'z') table[static_cast<unsigned char>(c - 'a' + 'A')] |= bit;
    };
    for (std::size_t i = 0; i < commands().size(); ++i) add(commands()[i].name[0], std::uint64_t{1} << i);
    add('l', kLogin);
    return table;
  }();
  return kByFirst[static_cast<unsigned char>(first)];
}

std::size_t take_bit(std::uint64_t& bits) {
  const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
  bits &= bits - 1;
  return bit;
}

// A bit for each command of that name.
std::uint64_t commands_of(std::string_view word) {
  std::uint64_t left = begin_with(word[0]);
  if (word.size() > 12 || left == 0) return 0;
  std::uint64_t out = word == "login" ? kLogin : 0;
  left &= ~kLogin;
  while (left != 0)
    if (const std::size_t i = take_bit(left); is_word(word, commands()[i].name)) out |= std::uint64_t{1} << i;
  return out;
}

bool may_be_password(std::string_view value) {
  if (value.size() < 4 || value[0] == '-' || value[0] == '$' || value[0] == '/') return false;
  const bool ports = value.find_first_not_of("0123456789:./") == std::string_view::npos &&
                     value.find(':') != std::string_view::npos;
  return !ports && !is_placeholder(value) && !is_name_of_something(value);
}

bool is_drawn_or_chosen(std::string_view value) {
  return may_be_password(value) && (is_chosen(value) || (is_random(value) && mixture(value) >= 2)) &&
         value.find("://") == std::string_view::npos;
}

// name:PASSWORD, name%PASSWORD, name,PASSWORD
Found user_and_password(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view value = text.substr(begin, end - begin);
  static constexpr CharSet kSigns(":%,");
  const std::size_t sign = kSigns.first_in(value);
  if (sign == std::string_view::npos || sign == 0) return std::nullopt;
  const std::string_view password = value.substr(sign + 1);
  if (!may_be_password(password) || !is_password_like(password)) return std::nullopt;
  return std::pair(begin + sign + 1, end);
}

// Whether a command of that name may take this option.
bool takes(const Command& command, std::string_view option) {
  option.remove_prefix(1);  // the blank before it
  return command.how == Command::quoted ? is_word(option, command.option) : option == command.option;
}

// The password in the value text[begin, end) that `command` is given.
Found password_of(std::string_view text, std::size_t begin, std::size_t end, Command::How how) {
  const std::string_view value = text.substr(begin, end - begin);
  if (how == Command::user) return user_and_password(text, begin, end);
  if (!may_be_password(value)) return std::nullopt;
  const bool in_quotes = is_quote(text[begin - 1]);
  // "is identified by `name`" is prose.
  if (how == Command::quoted &&
      !(in_quotes ? is_password_like(value) || (text[begin - 1] == '\'' && !is_reference(value))
                  : is(Chars::alnum, value[0]) && is_chosen(value)))
    return std::nullopt;
  if (how == Command::judged && !is_password_like(value)) return std::nullopt;
  while (!in_quotes && end > begin && text[end - 1] == ';') --end;
  return std::pair(begin, end);
}

// name:PASSWORD@tcp(host), name/PASSWORD@//host: text[begin, end) is what
// stands before the '@'.
void find_login(std::string_view text, std::size_t begin, std::size_t end, std::vector<Place>& found) {
  const std::string_view login = text.substr(begin, end - begin);
  static constexpr CharSet kSigns(":/");
  const std::size_t sign = kSigns.first_in(login);
  if (sign == std::string_view::npos || sign < 2 || sign > 64) return;
  const std::string_view password = login.substr(sign + 1);
  if (!may_be_password(password) || !is_password_like(password) || password == login.substr(0, sign)) return;
  found.push_back({begin + sign + 1, begin + sign + 1 + password.size(), "url-password"});
}

}  // namespace

const std::vector<std::string_view>& command_literals() {
  static const std::vector<std::string_view> kTexts = [] {
    std::vector<std::string_view> out;
    for (const CommandSign& sign : signs()) out.push_back(sign.text);
    return out;
  }();
  return kTexts;
}

// The argument at `at`, behind blanks, without its quotes.
std::pair<std::size_t, std::size_t> CommandLines::argument(std::size_t at) {
  at = std::min(runs_.end(Chars::blank, at), at + 40);
  if (at < text_.size() && is_quote(text_[at])) ++at;
  return {at, std::min(runs_.end(Chars::visible, at), at + kMaxPassword + 1)};
}

// Learns the commands of the line up to `at`. What was read is not read again,
// and what is too far away not at all.
void CommandLines::read_to(std::size_t at) {
  static constexpr CharSet kBetween(" \t\"'`/()[],");
  const std::size_t begin = std::max(read_, at - std::min(at, kMaxCommand));
  if (begin > read_) known_ = 0;
  for (std::size_t word = begin; word < at;) {
    if (ends_command(text_[word])) known_ = 0;
    std::size_t end = word;
    while (end < at && !kBetween.has(text_[end]) && !ends_command(text_[end])) ++end;
    if (end > word) known_ |= commands_of(text_.substr(word, end - word));
    word = std::max(end, word + 1);
  }
  read_ = std::max(read_, at);
}

// -p Copper!4711x says enough, whatever the command is.
std::size_t CommandLines::find_for_any(std::string_view option, std::size_t end, std::vector<Place>& found) {
  constexpr std::size_t kLeast = 9;  // with the blank
  if (option != " -p" || end + kLeast > text_.size() || text_[end] != ' ' || is(Chars::blank, text_[end + 8]))
    return 0;
  const auto [from, stop] = argument(end);
  const std::string_view value = text_.substr(from, std::max(from, stop) - from);
  static constexpr CharSet kOfOthers("@~/:=,${}()#");
  if (!value.empty() && is(Chars::alnum, value[0]) && !kOfOthers.any_in(value) && is_chosen(value) &&
      may_be_password(value))
    found.push_back({from, stop, "cli-password"});
  return kLooking;
}

// The password that the option at text[begin, end) gives to the command of its
// line.
std::size_t CommandLines::find_option(std::size_t begin, std::size_t end, std::vector<Place>& found) {
  read_to(begin);
  const std::string_view option = text_.substr(begin, end - begin);
  if (known_ == 0) return find_for_any(option, end, found);
  const bool glued = end < text_.size() && is(Chars::visible, text_[end]) && text_[end] != '=';
  const auto [from, stop] = argument(end + (end < text_.size() && text_[end] == '=' ? 1 : 0));
  if (stop < from + 4 || text_[from] == '-' || text_[from] == '$') return kLooking;
  for (std::uint64_t left = known_ & ~kLogin; left != 0;) {
    const Command& command = commands()[take_bit(left)];
    if (!takes(command, option)) continue;
    if (glued != (command.how == Command::glued) && !is_quote(text_[from - 1])) continue;
    if (command.how == Command::login && (known_ & kLogin) == 0) continue;
    if (const Found password = password_of(text_, from, stop, command.how)) {
      found.push_back({password->first, password->second, "cli-password"});
      break;
    }
  }
  return kLooking + stop - from;
}

// What stands behind so many arguments, and the next when it is one too: a key
// and its secret.
void CommandLines::find_arguments(const CommandSign& sign, std::size_t at, std::vector<Place>& found) {
  // Without -b htpasswd asks for the password.
  if (sign.text == "htpasswd -" &&
      text_.substr(at, text_.substr(at, 8).find(' ')).find('b') == std::string_view::npos)
    return;
  for (std::size_t count = 0; count < sign.skipped + 2;) {
    const auto [begin, end] = argument(at);
    if (end <= begin || (begin > at && text_.substr(at, begin - at).find('\n') != std::string_view::npos))
      return;
    const std::string_view value = text_.substr(begin, end - begin);
    at = end + (end < text_.size() && is_quote(text_[end]) ? 1 : 0);
    if ((value[0] == '/' && value.size() < 8) || (value[0] == '-' && value.size() < 4)) continue;  // a switch
    if (count++ < sign.skipped) continue;
    // name=VALUE
    const std::size_t equals = run_end(Chars::word, value, 0);
    const std::size_t named = equals > 0 && equals < value.size() && value[equals] == '=' ? equals + 1 : 0;
    const std::string_view given = value.substr(named);
    const bool certain =
        sign.certain && count == sign.skipped + 1 && may_be_password(given) && !is_reference(given);
    if (!certain && !is_drawn_or_chosen(given)) return;
    found.push_back({begin + named, end, "cli-password"});
  }
}

// echo PASSWORD | sudo -S, echo name:PASSWORD | chpasswd, sudo -S <<< PASSWORD
void CommandLines::find_piped(std::size_t begin, std::size_t end, std::vector<Place>& found) {
  const auto add = [&](std::size_t from, std::size_t to) {
    std::string_view value = text_.substr(from, to - from);
    if (starts_with_nocase(text_.substr(begin), "chpasswd"))
      from += std::min(value.find(':'), value.size() - 1) + 1, value = text_.substr(from, to - from);
    if (may_be_password(value) && is_password_like(value)) found.push_back({from, to, "cli-password"});
  };
  const std::string_view behind = text_.substr(end, 40);
  if (const std::size_t sign = behind.substr(0, behind.find('\n')).find("<<<");
      sign != std::string_view::npos) {
    const auto [from, to] = argument(end + sign + 3);
    if (to > from) add(from, to);
    return;
  }
  const std::size_t pipe = command_begin(text_, begin);
  if (pipe == 0 || text_[pipe - 1] != '|') return;
  const std::size_t start = command_begin(text_, pipe - 1);
  std::string_view source = trim(text_.substr(start, pipe - 1 - start));
  const std::size_t echo = source.find("echo "), print = source.find("printf ");
  if (echo == std::string_view::npos && print == std::string_view::npos &&
      (source.empty() || !is_quote(source.back())))
    return;
  // The last argument is what is printed.
  const bool quoted = !source.empty() && is_quote(source.back());
  if (quoted) source.remove_suffix(1);
  const std::size_t before = source.find_last_of(quoted ? "\"'`" : " ");
  if (before == std::string_view::npos || before + 1 >= source.size()) return;
  const std::size_t from = static_cast<std::size_t>(source.data() - text_.data()) + before + 1;
  add(from, from + source.size() - before - 1);
}

std::size_t CommandLines::find(std::size_t index, std::size_t begin, std::size_t end,
                               std::vector<Place>& found) {
  const CommandSign& sign = signs()[index];
  switch (sign.how) {
    case CommandSign::option: return find_option(begin, end, found);
    case CommandSign::arguments: find_arguments(sign, end, found); break;
    case CommandSign::piped: find_piped(begin, end, found); break;
    case CommandSign::login_before: {
      if (end >= text_.size() || !is(Chars::alnum, text_[end])) return kLooking;
      const std::size_t start = runs_.begin(Chars::visible, begin);
      find_login(text_, std::max(start, begin - std::min(begin, kMaxPassword)), begin, found);
      break;
    }
    case CommandSign::login_behind: {
      const auto [from, stop] = argument(end);
      const std::string_view login = text_.substr(from, std::max(from, stop) - from);
      find_login(text_, from, from + std::min(login.rfind('@'), login.size()), found);
      break;
    }
  }
  return kReading;
}

}  // namespace cairn::gate
