#include "mcp/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "mcp/render.h"
#include "ops/operation.h"

namespace cairn::mcp {

namespace {

using ops::Argument;

struct Tool {
  std::string_view name;
  std::string_view operation;
  std::string_view description;
  std::string_view arguments;  // of the operation, those that an agent may give; `tokens` is the tool's own
  Render render;
  bool reads = true;  // it changes nothing
};

constexpr std::array kTools = std::to_array<Tool>({
    {"search", "search", "Find errors and their fixes, commands, decisions, changes.",
     "query type file since until limit all", render_search},
    {"timeline", "timeline", "What happened around a record.", "id before after", render_timeline},
    {"get", "show", "Whole records.", "ids tokens", render_records},
    {"remember", "remember", "Store what later sessions should know.", "text type file", render_remembered,
     false},
    {"forget", "forget.request", "Hide records; the user confirms the deletion.", "ids reason",
     render_forgotten, false},
    {"resume", "resume", "Where the work on this project stopped.", "id tokens", render_resumed},
});

// How much of a result a tool shows. Operations do not have it: they return whole results.
const Argument& tokens_argument() {
  static const Argument kTokens = ops::integer("tokens", 50, 20'000, "at most this many").otherwise(2000);
  return kTokens;
}

const Tool* find_tool(std::string_view name) {
  for (const Tool& tool : kTools)
    if (tool.name == name) return &tool;
  return nullptr;
}

// What the tool takes, declared like an operation, so that the same check refuses in the same words. Only
// the arguments that the tool offers are passed on: otherwise an agent could choose "by" or "agent".
ops::Operation declaration_of(const Tool& tool) {
  const ops::Operation& operation = *ops::find_operation(tool.operation);
  ops::Operation offered{.name = tool.name};
  for (const std::string_view name : split(tool.arguments, ' ')) {
    const Argument* argument = name == tokens_argument().name ? &tokens_argument() : operation.find(name);
    CAIRN_ASSERT(argument != nullptr);
    offered.arguments.push_back(*argument);
    // The operation needs one of several arguments. The tool offers only one of them, so that is required.
    for (const std::string_view alternative : split(operation.one_of, ' '))
      if (alternative == name) offered.arguments.back().required = true;
  }
  return offered;
}

// Its name in a JSON schema.
std::string_view type_name(Argument::Type type) {
  switch (type) {
    case Argument::Type::integer: return "integer";
    case Argument::Type::flag: return "boolean";
    case Argument::Type::texts:
    case Argument::Type::records: return "array";
    default: return "string";
  }
}

Json schema_of(const Argument& argument) {
  Json schema = Json::object({{"type", type_name(argument.type)}});
  if (type_name(argument.type) == "array") schema.set("items", Json::object({{"type", "string"}}));
  if (argument.type == Argument::Type::choice) {
    Json values = Json::array();
    for (const std::string_view value : split(argument.choices, '|')) values.push(value);
    schema.set("enum", values);
  }
  if (argument.type == Argument::Type::integer && argument.fallback && *argument.fallback != 0)
    schema.set("default", *argument.fallback);
  // The values of a choice explain themselves.
  if (argument.type != Argument::Type::choice) schema.set("description", argument.meaning);
  return schema;
}

Json definition_of(const Tool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const Argument& argument : declaration_of(tool).arguments) {
    properties.set(argument.name, schema_of(argument));
    if (argument.required) required.push(argument.name);
  }
  Json schema = Json::object({{"type", "object"}, {"properties", properties}});
  if (!required.items().empty()) schema.set("required", required);
  Json definition =
      Json::object({{"name", tool.name}, {"description", tool.description}, {"inputSchema", schema}});
  if (tool.reads) definition.set("annotations", Json::object({{"readOnlyHint", true}}));
  return definition;
}

Json all_definitions() {
  Json list = Json::array();
  for (const Tool& tool : kTools) list.push(definition_of(tool));
  return list;
}

// The request of the tool's operation, bound to the agent's project. What an agent must not choose is set
// here: the directory, that an agent asks, and its session (docs/decisions/0029).
Json request_of(const ops::Operation& operation, const Json& arguments, const Tools::Options& options) {
  Json args = Json::object();
  for (const auto& [key, value] : arguments.members())
    if (operation.find(key)) args.set(key, value);
  if (operation.find("cwd") && !args["all"].as_bool()) args.set("cwd", options.directory);
  if (operation.find("agent")) args.set("agent", true);
  if (operation.find("by")) args.set("by", "agent");
  if (operation.find("from") && !options.session.empty()) args.set("from", options.session);
  return args;
}

// The error's message, with the tool's name in place of the operation's.
std::string why_failed(const Tool& tool, const ops::Operation& operation, const Error& error) {
  const std::string title = operation.title() + ": ";
  if (!error.message.starts_with(title)) return harmless(error.message);
  return harmless(fmt::format("{}: {}", tool.name, error.message.substr(title.size())));
}

}  // namespace

Tools::Tools(Memory& memory, Options options)
    : memory_(memory), options_(std::move(options)), definitions_(all_definitions()) {}

std::string_view Tools::instructions() {
  return "Memory of earlier sessions of this project. Search it before you debug an error, choose a command "
         "or "
         "repeat a decision: it knows what failed, what fixed it and why. Then get the records you need.";
}

bool Tools::has(std::string_view name) const {
  return find_tool(name) != nullptr;
}

ToolResult Tools::call(std::string_view name, const Json& arguments,
                       const std::function<bool()>& waiting) const {
  const Tool* tool = find_tool(name);
  CAIRN_ASSERT(tool != nullptr);
  const ops::Operation& operation = *ops::find_operation(tool->operation);
  if (const auto checked = declaration_of(*tool).check(arguments); !checked)
    return {harmless(checked.error().message), true};
  const Json args = request_of(operation, arguments, options_);
  const auto result = memory_.call(operation.name, args, waiting);
  const std::int64_t tokens = arguments["tokens"].as_int(*tokens_argument().fallback);
  if (result) return {tool->render(*result, static_cast<std::size_t>(tokens)), false};
  // Nothing is remembered of a new project yet: that is not an error of the agent.
  const bool is_new = result.error().code == Code::not_found && !args.has("id") && !args.has("ids");
  return {why_failed(*tool, operation, result.error()), !is_new};
}

}  // namespace cairn::mcp
