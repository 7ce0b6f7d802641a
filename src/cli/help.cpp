// The pages of `cairn help`.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/command.h"
#include "cli/command_table.h"

namespace cairn::cli {

namespace {

// The commands that most people need most days.
constexpr std::array<std::string_view, 6> kFirstCommands = {"status",  "search",   "show",
                                                            "context", "remember", "doctor"};

constexpr std::array kGroups = {ops::Group::memory, ops::Group::work, ops::Group::setup, ops::Group::privacy,
                                ops::Group::diagnostics};

// Whether the argument is required, or the only alternative that a command line can give.
bool is_needed(const ops::Operation& operation, const ops::Argument& argument) {
  const auto names = split(operation.one_of, ' ');
  if (std::find(names.begin(), names.end(), argument.name) == names.end()) return argument.required;
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return name == argument.name || operation.find(name)->place == ops::Argument::Place::nowhere;
  });
}

// "  label   meaning", the meaning wrapped in its column.
std::string help_entry(const Screen& screen, std::string_view label, std::size_t column,
                       std::string_view meaning) {
  const std::string text = wrap(meaning, screen.text_width(), 2 + column + 2);
  std::string out = "  " + screen.paint(Style::accent, label);
  out.append(column > display_width(label) ? column - display_width(label) + 2 : 2, ' ');
  return out + text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::string option_list(const Screen& screen, const std::vector<ops::Argument>& options) {
  std::size_t widest = 0;
  for (const ops::Argument& option : options) widest = std::max(widest, option_label(option).size());
  std::string out;
  for (const ops::Argument& option : options)
    out += help_entry(screen, option_label(option), widest, option_meaning(option));
  return out;
}

std::string command_page(const Command& command, const Screen& screen) {
  const ops::Operation& operation = *command.operation;
  std::string out = fmt::format(
      "{}: {}\n\n", screen.paint(Style::bold, fmt::format("cairn {}", command.name)), operation.summary);
  constexpr std::string_view kUsage = "usage: ";
  out += std::string(kUsage) + wrap(usage(command), screen.text_width(), kUsage.size()).substr(kUsage.size());
  if (!command.options().empty()) out += "\n" + option_list(screen, command.options());
  if (!operation.help.empty()) out += "\n" + wrap(operation.help, screen.text_width(), 0);
  return out + "\nOptions of every command: `cairn help`.\n";
}

std::string with_arguments(const Command& command) {
  const std::string words = command.words();
  return fmt::format("{}{}{}", command.name, words.empty() ? "" : " ", words);
}

std::string command_list(const std::vector<const Command*>& commands, const Screen& screen,
                         std::size_t column) {
  std::string out;
  for (const Command* command : commands)
    out += help_entry(screen, with_arguments(*command), column, command->operation->summary);
  return out;
}

std::vector<const Command*> commands_in(ops::Group group) {
  std::vector<const Command*> members;
  for (const Command& command : all_commands())
    if (command.operation->group == group) members.push_back(&command);
  return members;
}

// "search, timeline, sessions (list, show), stats". Commands of a group follow one another in the table.
std::string names_in(ops::Group group) {
  std::string text;
  std::string_view open;  // the first word of commands of two words, while they share it
  for (const Command* command : commands_in(group)) {
    const std::size_t blank = command->name.find(' ');
    const std::string_view first = std::string_view(command->name).substr(0, blank);
    const bool two = blank != std::string::npos;
    if (two && first == open) {
      text.append(", ").append(command->name.substr(blank + 1));
      continue;
    }
    if (!open.empty()) text += ")";
    open = two ? first : std::string_view();
    text.append(text.empty() ? "" : ", ").append(first);
    if (two) text.append(" (").append(command->name.substr(blank + 1));
  }
  return open.empty() ? text : text + ")";
}

std::string help_head(const Screen& screen) {
  return fmt::format("{}: a memory for coding agents\n\nusage: cairn COMMAND [OPTIONS]\n",
                     screen.paint(Style::bold, "cairn"));
}

std::string options_and_codes(const Screen& screen) {
  return fmt::format("\n{}\n", screen.paint(Style::bold, "Options of every command")) +
         option_list(screen, global_options()) + "\n" +
         wrap("Exit codes: 0 done, 1 failed or found problems, 2 bad usage or input, 3 nothing found.",
              screen.text_width(), 0);
}

}  // namespace

std::vector<ops::Argument> Command::options() const {
  std::vector<ops::Argument> own;
  for (const ops::Argument& argument : operation->arguments) {
    const bool is_global =
        std::any_of(global_options().begin(), global_options().end(), [&](const ops::Argument& global) {
          return global.name == argument.name && global.type == argument.type;
        });
    if (argument.place == ops::Argument::Place::option && !is_global) own.push_back(argument);
  }
  return own;
}

std::string Command::words() const {
  using Place = ops::Argument::Place;
  std::string text;
  for (const ops::Argument& argument : operation->arguments) {
    if (argument.place == Place::option || argument.place == Place::nowhere) continue;
    const std::string word = fmt::format("{}{}", argument.label, argument.place == Place::word ? "" : "...");
    text += text.empty() ? "" : " ";
    text += is_needed(*operation, argument) ? word : "[" + word + "]";
  }
  return text;
}

std::string option_label(const ops::Argument& option) {
  return fmt::format("{}{}{}{}{}", option.short_name, option.short_name.empty() ? "" : ", ", option.option(),
                     option.label.empty() ? "" : " ", option.label);
}

std::string option_meaning(const ops::Argument& option) {
  std::string meaning(option.meaning);
  // The label shows the choices, unless it is a word of its own.
  if (option.type == ops::Argument::Type::choice && option.label != option.choices)
    meaning += "; " + ops::wanted(option);
  if (option.fallback && *option.fallback != 0) meaning += fmt::format(" (default {})", *option.fallback);
  return meaning;
}

std::string usage(const Command& command) {
  std::string text = fmt::format("cairn {}", with_arguments(command));
  for (const ops::Argument& option : command.options()) {
    text += fmt::format(" [{}", option.short_name.empty() ? option.option() : option.short_name);
    text += option.label.empty() ? "]" : fmt::format(" {}]", option.label);
  }
  return text;
}

std::string overview(const Screen& screen) {
  std::vector<const Command*> first;
  std::size_t widest = 0;
  for (const std::string_view name : kFirstCommands)
    if (const Command* command = find_command(name)) {
      first.push_back(command);
      widest = std::max(widest, with_arguments(*command).size());
    }
  std::string out = help_head(screen) + "\n" + command_list(first, screen, widest);
  out += fmt::format("\n{}\n", screen.paint(Style::bold, "All commands"));
  for (const ops::Group group : kGroups)
    out += help_entry(screen, ops::group_title(group), ops::group_title(ops::Group::diagnostics).size(),
                      names_in(group));
  out += options_and_codes(screen);
  return out + "`cairn help COMMAND` explains one command, `cairn help --all` lists them all.\n";
}

std::string full_overview(const Screen& screen) {
  std::string out = help_head(screen);
  std::size_t widest = 0;
  for (const Command& command : all_commands()) widest = std::max(widest, with_arguments(command).size());
  for (const ops::Group group : kGroups)
    out += fmt::format("\n{}\n", screen.paint(Style::bold, ops::group_title(group))) +
           command_list(commands_in(group), screen, widest);
  return out + options_and_codes(screen) + "`cairn help COMMAND` explains one command.\n";
}

Result<std::string> help_page(const std::vector<std::string>& path, const Screen& screen) {
  if (path.empty()) return overview(screen);
  std::string name;
  for (const std::string& word : path) name += (name.empty() ? "" : " ") + word;
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

}  // namespace cairn::cli
