#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace cairn::cli {

namespace {

const Option* find_option(const std::vector<Option>& options, std::string_view name) {
  for (const Option& option : options)
    if (option.name == name || (!option.short_name.empty() && option.short_name == name)) return &option;
  return nullptr;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : all_commands())
    if (command.name == name) return &command;
  return nullptr;
}

std::vector<const Command*> commands_below(std::string_view path) {
  std::vector<const Command*> found;
  const std::string start = std::string(path) + " ";
  for (const Command& command : all_commands())
    if (command.name.starts_with(start)) found.push_back(&command);
  return found;
}

// Optimal string alignment: a swap of two letters is one slip, as it is for fingers.
std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

Error unknown_command(const std::vector<std::string>& path) {
  // The words that follow a wrong first one are its arguments, as far as anybody can tell.
  std::vector<std::string_view> known;
  for (const Command& command : all_commands()) {
    known.push_back(command.name);
    known.push_back(command.name.substr(0, command.name.find(' ')));
  }
  const std::string name = joined(path);
  const std::string_view meant = did_you_mean(name, known);
  const std::string shown_name = fit(shown_line(name), 60);
  if (meant.empty())
    return {Code::invalid, fmt::format("unknown command \"{}\": `cairn help` lists them", shown_name)};
  return {Code::invalid, fmt::format("unknown command \"{}\": did you mean \"{}\"?", shown_name, meant)};
}

Error unknown_option(const Command* command, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Option& option : global_options()) known.push_back(option.name);
  if (command)
    for (const Option& option : command->options) known.push_back(option.name);
  const std::string_view meant = did_you_mean(name, known);
  const std::string where = command ? fmt::format("{}: ", command->name) : std::string();
  const std::string what = fmt::format("{}unknown option \"{}\"", where, fit(shown_line(name), 40));
  if (!meant.empty()) return {Code::invalid, fmt::format("{}: did you mean \"{}\"?", what, meant)};
  return {Code::invalid, fmt::format("{}: `cairn {}--help` lists them", what,
                                     command ? std::string(command->name) + " " : "")};
}

Error unfinished(const std::vector<std::string>& path) {
  std::string list;
  const std::string name = joined(path);
  for (const Command* command : commands_below(name))
    list += (list.empty() ? "" : ", ") + std::string(command->name.substr(name.size() + 1));
  return {Code::invalid, fmt::format("{}: say which: {}: `cairn help {}` explains", name, list, name)};
}

struct Shape {
  std::size_t least = 0;
  std::size_t most = 0;
};

// How many words "ID [NAME]" takes.
Shape shape_of(std::string_view arguments) {
  Shape shape;
  for (const std::string_view word : split(arguments, ' ')) {
    if (word.empty()) continue;
    if (!word.starts_with('[')) ++shape.least;
    shape.most = word.find("...") != std::string_view::npos ? 1'000'000 : shape.most + 1;
  }
  return shape;
}

Status check_words(const Line& line) {
  const Command& command = *line.command;
  const Shape shape = shape_of(command.arguments);
  if (line.words.size() < shape.least) {
    const auto names = split(command.arguments, ' ');
    std::string_view missing = names[line.words.size()];
    if (missing.ends_with("...")) missing.remove_suffix(3);
    return Error{Code::invalid,
                 fmt::format("{}: {} is missing: usage: {}", command.name, missing, usage(command))};
  }
  if (line.words.size() > shape.most)
    return Error{Code::invalid, fmt::format("{}: \"{}\" is one argument too many: usage: {}", command.name,
                                            fit(shown_line(line.words[shape.most]), 40), usage(command))};
  return {};
}

// Reads the arguments from left to right.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Result<Line> read() {
    bool only_words = false;
    while (at_ < arguments_.size()) {
      const std::string& text = arguments_[at_++];
      if (!only_words && text == "--") {
        only_words = true;
      } else if (!only_words && text.size() > 1 && text[0] == '-') {
        TRY(option(text));
      } else {
        TRY(word(text));
      }
    }
    if (wants_help() || line_.path.empty()) return std::move(line_);
    if (!line_.command) return unfinished(line_.path);
    TRY(check_words(line_));
    return std::move(line_);
  }

 private:
  bool wants_help() const { return line_.has("--help") || line_.has("--version"); }

  Status word(const std::string& text) {
    // `context log` is a command of its own beside `context`.
    const Command* longer = line_.words.empty() ? find_command(joined(line_.path) + " " + text) : nullptr;
    if (line_.command && !longer) {
      line_.words.push_back(text);
      return {};
    }
    line_.path.push_back(text);
    const std::string name = joined(line_.path);
    line_.command = find_command(name);
    if (!line_.command && commands_below(name).empty()) return unknown_command(line_.path);
    return {};
  }

  Status option(std::string_view text) {
    const std::size_t equals = text.starts_with("--") ? text.find('=') : std::string_view::npos;
    std::string_view name = text.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string_view::npos) value = text.substr(equals + 1);
    // -n5 is -n 5.
    if (!name.starts_with("--") && name.size() > 2) {
      value = name.substr(2);
      name = name.substr(0, 2);
    }
    const Option* found = find_option(global_options(), name);
    if (!found && line_.command) found = find_option(line_.command->options, name);
    if (!found) {
      if (wants_help()) return {};
      return unknown_option(line_.command, text.substr(0, equals));
    }
    if (found->value.empty() && value)
      return Error{Code::invalid, fmt::format("{} takes no value: leave out \"{}\"", found->name,
                                              fit(shown_line(*value), 40))};
    if (!found->value.empty() && !value) {
      if (at_ >= arguments_.size())
        return Error{Code::invalid,
                     fmt::format("{} needs a value: {} {}", found->name, found->name, found->value)};
      value = arguments_[at_++];
    }
    line_.options.emplace_back(found->name, value.value_or(""));
    return {};
  }

  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  Line line_;
};

std::string option_label(const Option& option) {
  std::string label = option.short_name.empty() ? "" : std::string(option.short_name) + ", ";
  label += option.name;
  if (!option.value.empty()) label += fmt::format(" {}", option.value);
  return label;
}

// "  label   meaning", the meaning broken below itself.
std::string entry(const Screen& screen, std::string_view label, std::size_t column,
                  std::string_view meaning) {
  const std::string text = wrap(meaning, screen.text_width(), 2 + column + 2);
  std::string out = "  " + screen.paint(Style::accent, label);
  out.append(column > display_width(label) ? column - display_width(label) + 2 : 2, ' ');
  return out + text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::string option_list(const Screen& screen, const std::vector<Option>& options) {
  std::size_t widest = 0;
  for (const Option& option : options) widest = std::max(widest, option_label(option).size());
  std::string out;
  for (const Option& option : options) out += entry(screen, option_label(option), widest, option.meaning);
  return out;
}

std::string command_page(const Command& command, const Screen& screen) {
  std::string out = fmt::format(
      "{}: {}\n\n", screen.paint(Style::bold, fmt::format("cairn {}", command.name)), command.summary);
  constexpr std::string_view kUsage = "usage: ";
  out += std::string(kUsage) + wrap(usage(command), screen.text_width(), kUsage.size()).substr(kUsage.size());
  if (!command.options.empty()) out += "\n" + option_list(screen, command.options);
  if (!command.help.empty()) out += "\n" + wrap(command.help, screen.text_width(), 0);
  return out + "\nOptions of every command: `cairn help`.\n";
}

std::string with_arguments(const Command& command) {
  return fmt::format("{}{}{}", command.name, command.arguments.empty() ? "" : " ", command.arguments);
}

std::string command_list(const std::vector<const Command*>& commands, const Screen& screen,
                         std::size_t column) {
  std::string out;
  for (const Command* command : commands)
    out += entry(screen, with_arguments(*command), column, command->summary);
  return out;
}

}  // namespace

bool Line::has(std::string_view option) const {
  return value(option).has_value();
}

std::optional<std::string> Line::value(std::string_view option) const {
  std::optional<std::string> found;
  for (const auto& [name, text] : options)
    if (name == option) found = text;
  return found;
}

std::vector<std::string> Line::values(std::string_view option) const {
  std::vector<std::string> found;
  for (const auto& [name, text] : options)
    if (name == option) found.push_back(text);
  return found;
}

Result<std::optional<std::int64_t>> Line::number(std::string_view option, std::int64_t min,
                                                 std::int64_t max) const {
  const auto text = value(option);
  if (!text) return std::optional<std::int64_t>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < min || number > max)
    return Error{Code::invalid, fmt::format("{}: \"{}\" is not a whole number from {} to {}", option,
                                            fit(shown_line(*text), 40), min, max)};
  return std::optional(number);
}

const std::vector<Option>& global_options() {
  static const std::vector<Option> kOptions = {
      {"--json", "", "print JSON with stable keys and nothing else", ""},
      {"--project", "NAME", "speak of that project instead of the current directory's", ""},
      {"--all", "", "speak of every project", ""},
      {"--cwd", "DIR", "as if called in DIR", ""},
      {"--no-color", "", "no colours (NO_COLOR does the same)", ""},
      {"--yes", "", "answer every question with yes", ""},
      {"--help", "", "explain the command", "-h"},
      {"--version", "", "print the version", ""},
  };
  return kOptions;
}

Result<Line> read_arguments(const std::vector<std::string>& arguments) {
  return Reader(arguments).read();
}

std::string usage(const Command& command) {
  std::string text = fmt::format("cairn {}", with_arguments(command));
  for (const Option& option : command.options) {
    text += fmt::format(" [{}", option.short_name.empty() ? option.name : option.short_name);
    text += option.value.empty() ? "]" : fmt::format(" {}]", option.value);
  }
  return text;
}

std::string overview(const Screen& screen) {
  std::string out = fmt::format("{}: a memory for coding agents\n\nusage: cairn COMMAND [OPTIONS]\n",
                                screen.paint(Style::bold, "cairn"));
  std::vector<std::string_view> groups;
  std::size_t widest = 0;
  for (const Command& command : all_commands()) {
    if (std::find(groups.begin(), groups.end(), command.group) == groups.end())
      groups.push_back(command.group);
    widest = std::max(widest, with_arguments(command).size());
  }
  for (const std::string_view group : groups) {
    std::vector<const Command*> members;
    for (const Command& command : all_commands())
      if (command.group == group) members.push_back(&command);
    out += fmt::format("\n{}\n", screen.paint(Style::bold, group)) + command_list(members, screen, widest);
  }
  out += fmt::format("\n{}\n", screen.paint(Style::bold, "Options of every command")) +
         option_list(screen, global_options());
  out += "\n" + wrap("Exit codes: 0 done, 1 failed or found problems, 2 bad usage or input, 3 nothing found.",
                     screen.text_width(), 0);
  return out + "`cairn help COMMAND` explains one command.\n";
}

Result<std::string> help_page(const std::vector<std::string>& path, const Screen& screen) {
  if (path.empty()) return overview(screen);
  const std::string name = joined(path);
  const auto below = commands_below(name);
  const Command* command = find_command(name);
  if (!command && below.empty()) return unknown_command(path);
  std::string out = command ? command_page(*command, screen)
                            : fmt::format("{}\n", screen.paint(Style::bold, fmt::format("cairn {}", name)));
  if (below.empty()) return out;
  std::size_t widest = 0;
  for (const Command* part : below) widest = std::max(widest, with_arguments(*part).size());
  out += "\n" + command_list(below, screen, widest);
  return out + fmt::format("\n`cairn help {}` explains one of them.\n", below.front()->name);
}

std::string_view did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kLongest = 40;  // nobody mistypes a novel
  if (word.size() > kLongest) return {};
  std::string_view nearest;
  // Fewer slips than this; of equals the one of the same length, for letters are swapped more often than
  // added.
  std::size_t best = 2 * (word.size() <= 4 ? 2 : 3);
  for (const std::string_view candidate : known)
    if (const std::size_t d = 2 * slips(word, candidate) + (word.size() != candidate.size()); d < best)
      best = d, nearest = candidate;
  return nearest;
}

}  // namespace cairn::cli
