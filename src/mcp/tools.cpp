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
  std::string_view arguments;  // of the operation, those that an agent may give
  Render render;
  bool reads = true;          // it changes nothing
  std::string_view own = {};  // arguments of the tool itself: "tokens"
};

constexpr std::array kTools = std::to_array<Tool>({
    {"search", "search", "Find errors and their fixes, commands, decisions, changes.",
     "query type file since until limit all", render_search},
    {"timeline", "timeline", "What happened around a record.", "id before after", render_timeline},
    {"get", "show", "Whole records.", "ids", render_records, true, "tokens"},
    {"remember", "remember", "Store what later sessions should know.", "text type file", render_remembered,
     false},
    {"forget", "forget.request", "Hide records; the user confirms the deletion.", "ids reason",
     render_forgotten, false},
    {"resume", "resume", "Where the work on this project stopped.", "id", render_resumed, true, "tokens"},
});

// What a tool takes beside its operation's arguments.
const Argument& tokens_argument() {
  static const Argument kTokens = ops::integer("tokens", 50, 20'000, "at most this many").otherwise(2000);
  return kTokens;
}

const Tool* find_tool(std::string_view name) {
  for (const Tool& tool : kTools)
    if (tool.name == name && ops::find_operation(tool.operation)) return &tool;
  return nullptr;
}

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

Json definition_of(const Tool& tool, const ops::Operation& operation) {
  Json properties = Json::object(), required = Json::array();
  for (const std::string_view name : split(tool.arguments, ' ')) {
    const Argument* argument = operation.find(name);
    CAIRN_ASSERT(argument != nullptr);
    properties.set(name, schema_of(*argument));
    if (argument->required) required.push(name);
  }
  if (tool.own == "tokens") properties.set("tokens", schema_of(tokens_argument()));
  Json schema = Json::object({{"type", "object"}, {"properties", properties}});
  if (!required.items().empty()) schema.set("required", required);
  Json definition =
      Json::object({{"name", tool.name}, {"description", tool.description}, {"inputSchema", schema}});
  if (tool.reads) definition.set("annotations", Json::object({{"readOnlyHint", true}}));
  return definition;
}

Json all_definitions() {
  Json list = Json::array();
  for (const Tool& tool : kTools)
    if (const ops::Operation* operation = ops::find_operation(tool.operation))
      list.push(definition_of(tool, *operation));
  return list;
}

// What a tool does not offer it does not pass on: "by" or "agent" would be the agent's to choose otherwise.
Result<Json> request_of(const Tool& tool, const ops::Operation& operation, const Json& arguments,
                        const Tools::Options& options, std::int64_t& tokens) {
  const auto offered = split(tool.arguments, ' ');
  if (!arguments.is_object() && !arguments.is_null())
    return Error{Code::invalid, std::string(tool.name) + ": the arguments are not an object"};
  Json args = Json::object();
  for (const auto& [key, value] : arguments.members()) {
    if (key == "tokens" && tool.own == "tokens") {
      if (!ops::fits(tokens_argument(), value))
        return Error{Code::invalid,
                     fmt::format("{}: tokens must be {}", tool.name, wanted(tokens_argument()))};
      tokens = value.as_int();
    } else if (std::find(offered.begin(), offered.end(), key) == offered.end()) {
      return Error{Code::invalid, fmt::format("{}: there is no argument \"{}\": it takes {}", tool.name,
                                              one_line(visible(key), 60), fmt::join(offered, ", "))};
    } else {
      args.set(key, value);
    }
  }
  if (operation.find("cwd") && !args["all"].as_bool()) args.set("cwd", options.directory);
  if (operation.find("agent")) args.set("agent", true);
  if (operation.find("by")) args.set("by", "agent");
  if (operation.find("from") && !options.session.empty()) args.set("from", options.session);
  TRY(operation.check(args));
  return args;
}

// The message of an operation, as of the tool.
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
  std::int64_t tokens = *tokens_argument().fallback;
  const auto args = request_of(*tool, operation, arguments, options_, tokens);
  if (!args) return {why_failed(*tool, operation, args.error()), true};
  const auto result = memory_.call(operation.name, *args, waiting);
  if (result) return {tool->render(*result, static_cast<std::size_t>(tokens)), false};
  // A project without a memory is no failure of the agent.
  const bool is_new = result.error().code == Code::not_found && !args->has("id") && !args->has("ids");
  return {why_failed(*tool, operation, result.error()), !is_new};
}

}  // namespace cairn::mcp
