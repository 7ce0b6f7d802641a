#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/command_table.h"

namespace cairn::cli {

namespace {

const Option* find_option(const std::vector<Option>& options, std::string_view name) {
  for (const Option& option : options)
    if (option.name == name || (!option.short_name.empty() && option.short_name == name)) return &option;
  return nullptr;
}

// The argument of an option: "--max-age" is max_age.
std::string argument_name(std::string_view option) {
  while (option.starts_with('-')) option.remove_prefix(1);
  std::string name(option);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Error unknown_option(const Command* command, std::string_view name) {
  if (command && command->operation) return command->operation->unknown(argument_name(name));
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
  const std::string name = fmt::format("{}", fmt::join(path, " "));
  for (const Command* command : commands_below(name))
    list += (list.empty() ? "" : ", ") + std::string(command->name.substr(name.size() + 1));
  return {Code::invalid, fmt::format("{}: say which: {}: `cairn help {}` explains", name, list, name)};
}

struct Shape {
  std::size_t least = 0;
  std::size_t most = 0;
};

// The number of words that "ID [NAME]" takes.
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
  // An operation's own check reports what is missing, in the same words for every transport.
  if (!command.operation && line.words.size() < shape.least) {
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

// Whether the rest of the line is one free text.
bool takes_text(const Command* command) {
  if (!command || !command->operation) return false;
  const auto& arguments = command->operation->arguments;
  return std::any_of(arguments.begin(), arguments.end(), [](const ops::Argument& argument) {
    return argument.place == ops::Argument::Place::text;
  });
}

// -5 is a number, not an option.
bool looks_like_option(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && !(text[1] >= '0' && text[1] <= '9');
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
      } else if (!only_words && looks_like_option(text)) {
        TRY(option(text));
      } else {
        TRY(word(text));
      }
    }
    if (wants_help() || line_.path.empty()) return std::move(line_);
    line_.command = command();
    if (!line_.command) return unfinished(line_.path);
    for (const auto& [name, value] : line_.options)
      if (!known_option(name)) return unknown_option(line_.command, name);
    TRY(check_words(line_));
    return std::move(line_);
  }

 private:
  bool wants_help() const { return line_.has("--help") || line_.has("--version"); }

  // The command named so far: `cairn sessions` is `cairn sessions list`.
  const Command* command() const {
    return line_.command ? line_.command
                         : find_command(fmt::format("{}", fmt::join(line_.path, " ")) + " list");
  }

  const Option* known_option(std::string_view name) const {
    const Option* found = find_option(global_options(), name);
    return found || !command() ? found : find_option(command()->options, name);
  }

  Status word(const std::string& text) {
    // `context log` is a command of its own beside `context`.
    const Command* longer = line_.words.empty()
                                ? find_command(fmt::format("{}", fmt::join(line_.path, " ")) + " " + text)
                                : nullptr;
    if (line_.command && !longer) {
      line_.words.push_back(text);
      return {};
    }
    line_.path.push_back(text);
    const std::string name = fmt::format("{}", fmt::join(line_.path, " "));
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
    const Option* found = known_option(name);
    if (!found) {
      if (wants_help()) return {};
      // Once a text has begun, unknown options belong to it.
      if (takes_text(line_.command) && !line_.words.empty()) return word(std::string(text));
      return unknown_option(command(), text.substr(0, equals));
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

}  // namespace

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

Error unknown_command(const std::vector<std::string>& path) {
  // Words after a wrong first one are probably its arguments.
  std::vector<std::string_view> known;
  for (const Command& command : all_commands()) {
    known.push_back(command.name);
    known.push_back(command.name.substr(0, command.name.find(' ')));
  }
  const std::string name = fmt::format("{}", fmt::join(path, " "));
  const std::string_view meant = did_you_mean(name, known);
  const std::string shown_name = fit(shown_line(name), 60);
  if (meant.empty())
    return {Code::invalid, fmt::format("unknown command \"{}\": `cairn help` lists them", shown_name)};
  return {Code::invalid, fmt::format("unknown command \"{}\": did you mean \"{}\"?", shown_name, meant)};
}

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
      {"--project", "NAME", "use that project instead of the current directory's", ""},
      {"--all", "", "use all projects", ""},
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

}  // namespace cairn::cli
