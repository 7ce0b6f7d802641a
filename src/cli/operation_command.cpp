// From a command line to a checked request, and from its result to a page.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

using ops::Argument;
using Where = Argument::Place;
using Type = Argument::Type;

// Converts a typed value. One of the wrong type stays text, and the check refuses it. A path becomes
// absolute: the daemon has another current directory.
Json typed(const Argument& argument, const std::string& text, const std::string& directory) {
  if (argument.type == Type::integer) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return Json(number);
  }
  if (argument.type == Type::flag && (text == "true" || text == "false")) return Json(text == "true");
  if (argument.type == Type::path && !text.empty())
    return Json((std::filesystem::path(directory) / text).lexically_normal().string());
  return Json(text);
}

// The last one wins, except for lists, which take all of them: `--file a --file b`, or `--file a,b`.
Json option_value(const Line& line, const Argument& argument, const std::string& directory) {
  const auto last = line.value(argument.name);
  if (!last) return {};
  if (argument.type != Type::texts && argument.type != Type::records)
    return typed(argument, *last, directory);
  Json list = Json::array();
  for (const std::string& value : line.values(argument.name)) {
    if (!argument.commas)
      list.push(value);
    else
      for (const std::string_view part : split(value, ',')) list.push(trim(part));
  }
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
  for (const std::string& word : words) list.push(word);
  const std::string text = fmt::format("{}", fmt::join(words, " "));
  words.clear();
  return argument.place == Where::words ? list : Json(text);
}

// The request for the line's operation. Takes the words that it uses.
Json request_of(const Line& line, std::vector<std::string>& words, const std::string& directory) {
  const ops::Operation& operation = *line.command->operation;
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
  if (scoped && line.flag("all")) args.set("all", true);
  if (const auto project = line.value("project"); scoped && project && !args.has("project"))
    args.set("project", *project);
  // The directory names the project, unless --project or --all does.
  if (operation.find("cwd") && !(scoped && (args["all"].as_bool() || args.has("project"))))
    args.set("cwd", directory);
  return args;
}

// Checks the options of every command that the operation does not declare itself.
Status check_global(const Line& line, const std::string& directory) {
  ops::Operation every{.name = line.command->operation->name, .arguments = global_options()};
  Json args = Json::object();
  for (const Argument& option : every.arguments)
    if (option.name == "cwd" || !line.command->operation->find(option.name))
      args.set(option.name, option_value(line, option, directory));
  TRY(every.check(args, ops::Spelling::typed));
  return {};
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

}  // namespace

Result<Json> checked_arguments(const Line& line, const std::string& directory) {
  TRY(check_global(line, directory));
  std::vector<std::string> words = line.words;
  Json args = request_of(line, words, directory);
  if (!words.empty()) return line.command->operation->word_too_many();
  TRY(line.command->operation->check(args, ops::Spelling::typed));
  return args;
}

// The arguments are checked already, before a daemon is started for them; the daemon checks them again.
Result<int> run_operation(Shell& shell) {
  const Command& command = *shell.line().command;
  Json args = shell.args();
  if (command.prepare) TRY(command.prepare(shell, args));
  const Json result = TRY(shell.ask(command.operation->name, args));
  return shell.show(command.render ? command.render(shell, args, result) : plain_page(shell, args, result),
                    result);
}

}  // namespace cairn::cli
