#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/command_table.h"

namespace cairn::cli {

namespace {

using ops::Argument;
using ops::Spelling;

const Argument* find_option(const std::vector<Argument>& options, std::string_view name) {
  for (const Argument& option : options)
    if (option.place == Argument::Place::option && (option.option() == name || option.short_name == name))
      return &option;
  return nullptr;
}

// Suggests the nearest option: one of every command if there is a similar one, else one of this command.
Error unknown_option(const Command* command, std::string_view name) {
  ops::Operation every{.name = command ? command->operation->name : "options", .arguments = global_options()};
  std::vector<std::string> known;
  for (const Argument& option : global_options()) known.push_back(option.option());
  const bool is_global = !did_you_mean(name, {known.begin(), known.end()}).empty();
  return (command && !is_global ? *command->operation : every).unknown(name, Spelling::typed);
}

// For a group without a `list`: "capture: say which: on, off, status: `cairn help capture` explains".
Error unfinished(const std::vector<std::string>& path) {
  std::string list;
  const std::string name = fmt::format("{}", fmt::join(path, " "));
  for (const Command* command : commands_below(name))
    list += (list.empty() ? "" : ", ") + command->name.substr(name.size() + 1);
  return {Code::invalid, fmt::format("{}: say which: {}: `cairn help {}` explains", name, list, name)};
}

// Whether the rest of the line is one free text, as in `cairn remember use --no-cache here`.
bool takes_text(const Command* command) {
  if (!command) return false;
  const auto& arguments = command->operation->arguments;
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.place == Argument::Place::text; });
}

// -5 is a number, not an option.
bool looks_like_option(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && !(text[1] >= '0' && text[1] <= '9');
}

// Reads the arguments from left to right. Words extend the path as long as that names a command or a group;
// the others are arguments. Which options are known depends on the command named so far, so read() checks
// all of them again at the end.
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
    // `cairn sessions --limit 5 end 1`: it was an option of `sessions list` when it was read.
    for (const auto& [name, value] : line_.options)
      if (const std::string typed = ops::text(name, "").option(); !known_option(typed))
        return unknown_option(line_.command, typed);
    return std::move(line_);
  }

 private:
  bool wants_help() const { return line_.flag("help") || line_.flag("version"); }

  // The command named so far: `cairn sessions` is `cairn sessions list`.
  const Command* command() const {
    return line_.command ? line_.command
                         : find_command(fmt::format("{}", fmt::join(line_.path, " ")) + " list");
  }

  const Argument* known_option(std::string_view name) const {
    // The command's own one first: `backup restore --version 2` does not ask for the version of cairn.
    const Argument* own = command() ? find_option(command()->operation->arguments, name) : nullptr;
    return own ? own : find_option(global_options(), name);
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
    // -n5 is -n 5: what follows the letter is its value, so short options cannot be combined.
    if (!name.starts_with("--") && name.size() > 2) {
      value = name.substr(2);
      name = name.substr(0, 2);
    }
    const Argument* found = known_option(name);
    if (!found) {
      if (wants_help()) return {};
      // Once a text has begun, unknown options belong to it.
      if (takes_text(line_.command) && !line_.words.empty()) return word(std::string(text));
      return unknown_option(command(), name);
    }
    if (!value && found->type == Argument::Type::flag) value = "true";
    if (!value) {
      if (at_ >= arguments_.size())
        return Error{Code::invalid, fmt::format("{} needs a value: {}", name, option_label(*found))};
      value = arguments_[at_++];
    }
    line_.options.emplace_back(found->name, *value);
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
  // Both "sessions list" and "sessions": what was typed may be a group, or a command of two words.
  std::vector<std::string_view> known;
  for (const Command& command : all_commands()) {
    known.push_back(command.name);
    known.push_back(std::string_view(command.name).substr(0, command.name.find(' ')));
  }
  const std::string name = fmt::format("{}", fmt::join(path, " "));
  const std::string_view meant = did_you_mean(name, known);
  const std::string shown_name = fit(shown_line(name), 60);
  if (meant.empty())
    return {Code::invalid, fmt::format("unknown command \"{}\": `cairn help` lists them", shown_name)};
  return {Code::invalid, fmt::format("unknown command \"{}\": did you mean \"{}\"?", shown_name, meant)};
}

bool Line::flag(std::string_view option) const {
  return value(option) == "true";
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

const std::vector<Argument>& global_options() {
  static const std::vector<Argument> kOptions = {
      ops::flag("json", "print JSON with stable keys and nothing else"),
      ops::text("project", "use that project instead of the current directory's").as("NAME"),
      ops::flag("all", "use all projects").not_with("project"),
      ops::path("cwd", "as if called in DIR").as("DIR"),
      ops::flag("no_color", "no colours (NO_COLOR does the same)"),
      ops::flag("yes", "answer every question with yes"),
      ops::flag("help", "explain the command").or_short("-h"),
      ops::flag("version", "print the version"),
  };
  return kOptions;
}

Result<Line> read_arguments(const std::vector<std::string>& arguments) {
  return Reader(arguments).read();
}

}  // namespace cairn::cli
