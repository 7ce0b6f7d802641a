// Commands of operations: arguments from the declaration, a request from the command line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <filesystem>

#include "base/text.h"
#include "cli/commands.h"
#include "host/hooks.h"
#include "host/host.h"

namespace cairn::cli {

namespace {

using ops::Argument;
using Where = Argument::Place;

// Keeps generated texts for ever: the table of commands has only views.
std::string_view keep(std::string text) {
  static std::deque<std::string> kept;
  return kept.emplace_back(std::move(text));
}

bool is_global(const Argument& argument) {
  const auto& options = global_options();
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return option.name == argument.option(); });
}

// Whether the argument is required, or the only alternative that a command line can give.
bool is_needed(const ops::Operation& operation, const Argument& argument) {
  const auto names = split(operation.one_of, ' ');
  if (std::find(names.begin(), names.end(), argument.name) == names.end()) return argument.required;
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return name == argument.name || operation.find(name)->place == Where::nowhere;
  });
}

std::string word_text(const ops::Operation& operation, const Argument& argument) {
  std::string text(argument.label);
  if (argument.place == Where::words || argument.place == Where::text) text += "...";
  return is_needed(operation, argument) ? text : "[" + text + "]";
}

Option option_of(const Argument& argument) {
  std::string meaning(argument.meaning);
  if (argument.fallback && *argument.fallback != 0)
    meaning += fmt::format(" (default {})", *argument.fallback);
  return {keep(argument.option()), argument.label, keep(std::move(meaning)), ""};
}

// Converts a typed value.
Json typed(const Argument& argument, const std::string& text, const std::string& directory) {
  if (argument.type == Argument::Type::integer) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return Json(number);
  }
  if (argument.type == Argument::Type::path && !text.empty())
    return Json((std::filesystem::path(directory) / text).lexically_normal().string());
  return Json(text);
}

Json option_value(const Line& line, const Argument& argument, const std::string& directory) {
  const std::string option = argument.option();
  if (!line.has(option)) return {};
  if (argument.type == Argument::Type::flag) return Json(true);
  if (argument.type != Argument::Type::texts) return typed(argument, *line.value(option), directory);
  Json list = Json::array();
  for (std::string& value : line.values(option)) list.push(std::move(value));
  return list;
}

// Takes the argument's words from those that are left.
Json word_value(const Argument& argument, std::vector<std::string>& words, const std::string& directory) {
  if (words.empty()) return {};
  if (argument.place == Where::word) {
    const std::string word = words.front();
    words.erase(words.begin());
    return typed(argument, word, directory);
  }
  Json list = Json::array();
  std::string text;
  for (const std::string& word : words) {
    list.push(word);
    text += (text.empty() ? "" : " ") + word;
  }
  words.clear();
  return argument.place == Where::words ? list : Json(text);
}

// Prints a result without a page of its own: values first, then lists.
void add_plain(Facts& facts, const std::string& label, const Json& value) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.members())
      add_plain(facts, label.empty() ? key : label + " " + key, inner);
  } else if (value.is_array()) {
    for (const Json& item : value.items()) facts.add(label, item.is_string() ? text_of(item) : item.dump());
  } else if (!value.is_null()) {
    facts.add(label, value.is_string() ? text_of(value) : value.dump());
  }
}

Page plain_page(Shell& shell, const Json&, const Json& result) {
  Facts facts;
  add_plain(facts, "", result);
  return {facts.text(shell.screen())};
}

// A request names its arguments otherwise than a command line: "--into-host" is "into_host" there.
Status check_alternatives(const ops::Operation& operation, const Json& args) {
  if (operation.has_one_of(args)) return {};
  std::string names;
  for (const std::string_view name : split(operation.one_of, ' ')) {
    const Argument& argument = *operation.find(name);
    if (argument.place == Where::nowhere) continue;
    const bool option = argument.place == Where::option;
    names += (names.empty() ? "" : ", ") + (option ? argument.option() : std::string(argument.label));
    if (option && !argument.label.empty()) names += " " + std::string(argument.label);
  }
  return Error{Code::invalid, fmt::format("{}: give one of {}", operation.title(), names)};
}

Result<int> run_operation(Shell& shell) {
  const Command& command = *shell.line().command;
  Json args = request_arguments(shell.line(), shell.directory());
  TRY(check_typed(*command.operation, args));
  if (command.prepare) TRY(command.prepare(shell, args));
  const Json result = TRY(shell.ask(command.operation->name, args));
  return shell.show(command.render ? command.render(shell, args, result) : plain_page(shell, args, result),
                    result);
}

}  // namespace

Status check_typed(const ops::Operation& operation, const Json& args) {
  TRY(check_alternatives(operation, args));
  TRY(operation.check(args));
  return {};
}

Command command_of(const ops::Operation& operation) {
  Command command;
  command.name = keep(operation.title());
  command.group = operation.group;
  command.summary = operation.summary;
  command.help = operation.help;
  command.run = run_operation;
  command.operation = &operation;
  std::string words;
  for (const Argument& argument : operation.arguments) {
    if (argument.place == Where::option && !is_global(argument))
      command.options.push_back(option_of(argument));
    if (argument.place == Where::option || argument.place == Where::nowhere) continue;
    words += (words.empty() ? "" : " ") + word_text(operation, argument);
  }
  command.arguments = keep(std::move(words));
  return command;
}

Json request_arguments(const Line& line, const std::string& directory) {
  const ops::Operation& operation = *line.command->operation;
  std::vector<std::string> words = line.words;
  Json args = Json::object();
  for (const Argument& argument : operation.arguments) {
    Json value;
    if (argument.place == Where::option && argument.name != "cwd")
      value = option_value(line, argument, directory);
    else if (argument.place != Where::option && argument.place != Where::nowhere)
      value = word_value(argument, words, directory);
    if (!value.is_null()) args.set(argument.name, std::move(value));
  }
  const bool scoped = operation.scope != ops::Scope::none;
  // Where the operation takes only one project, the check refuses it as unknown.
  if (scoped && line.has("--all")) args.set("all", true);
  if (scoped && line.has("--project") && !args.has("project")) args.set("project", *line.value("--project"));
  if (operation.find("cwd") && !(scoped && (args.has("all") || args.has("project"))))
    args.set("cwd", directory);
  // The daemon does not have the caller's environment.
  if (operation.find("configuration") && !args.has("directory"))
    if (const auto settings = host::default_host().hooks().settings_file())
      args.set("configuration", settings->substr(0, settings->rfind('/')));
  return args;
}

}  // namespace cairn::cli
