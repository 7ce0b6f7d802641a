#include "host/claude_code/servers.h"

#include <fmt/format.h>

#include "base/json.h"
#include "host/json_edit.h"

namespace cairn::host::claude {

namespace {

constexpr std::string_view kServers = "mcpServers";

Json server_entry(const HookProgram& program) {
  return Json::object({{"type", "stdio"},
                       {"command", program.path},
                       {"args", Json::array({"mcp"})},
                       {"env", Json::object()}});
}

Json value_of(std::string_view text, const JsonNode& node) {
  return Json::parse(text.substr(node.begin, node.end - node.begin)).value_or(Json());
}

// Whether it runs `cairn mcp`, with any further arguments.
bool is_our_server(const Json& entry) {
  const std::string_view command = entry["command"].as_string();
  const Json::Array& args = entry["args"].items();
  return command.substr(command.rfind('/') + 1) == "cairn" && !args.empty() && args[0].as_string() == "mcp";
}

// The entry of our name; null when there is none.
const JsonNode* entry_in(const JsonNode& root) {
  const JsonNode* servers = root.is_object() ? root.find(kServers) : nullptr;
  return servers && servers->is_object() ? servers->find(kServerName) : nullptr;
}

std::size_t position_in(const JsonNode& container, const JsonNode& child) {
  return static_cast<std::size_t>(&child - container.children.data());
}

}  // namespace

Result<std::string> ServerEntries::with_ours(std::string text, const HookProgram& program) const {
  text = or_empty_object(std::move(text));
  const JsonNode root = TRY(scan(text));
  const auto refuse = [&](const JsonNode& node, std::string_view what) {
    return Error{Code::invalid, fmt::format("{}: {}", place_of(text, node.begin), what)};
  };
  if (!root.is_object()) return refuse(root, "the file must be an object");
  const JsonStyle style = JsonStyle::of(text, root);
  const Json entry = server_entry(program);
  const JsonNode* servers = root.find(kServers);
  if (!servers)
    return insert_last(text, style, root, kServers, Json::object({{std::string(kServerName), entry}}));
  if (!servers->is_object()) return refuse(*servers, "`mcpServers` must be an object");
  const JsonNode* known = entry_in(root);
  if (!known) return insert_last(text, style, *servers, kServerName, entry);
  const Json there = value_of(text, *known);
  if (!is_our_server(there))
    return refuse(*known, "`mcpServers.cairn` is another program: give it another name, then install again");
  // What else the user wrote into our entry stays.
  if (there["command"] == entry["command"]) return text;
  const JsonNode* command = known->find("command");
  return replace(text, style, *command, entry["command"]);
}

Result<std::string> ServerEntries::without_ours(std::string text,
                                                const std::optional<std::string>& before) const {
  if (is_blank(text)) return text;
  const JsonNode root = TRY(scan(text));
  const JsonNode* known = entry_in(root);
  if (!known || !is_our_server(value_of(text, *known))) return text;
  const JsonNode& servers = *root.find(kServers);
  const auto original = scan(before.value_or(""));
  const bool had_servers = original && original->is_object() && original->find(kServers);
  if (servers.children.size() > 1 || had_servers) return erase(text, servers, position_in(servers, *known));
  return erase(text, root, position_in(root, servers));
}

Result<std::optional<HookProgram>> ServerEntries::program_in(std::string_view text) const {
  if (is_blank(text)) return std::optional<HookProgram>();
  const JsonNode root = TRY(scan(text));
  const JsonNode* known = entry_in(root);
  const Json entry = known ? value_of(text, *known) : Json();
  if (!is_our_server(entry)) return std::optional<HookProgram>();
  return std::optional(HookProgram{std::string(entry["command"].as_string()), true});
}

std::size_t ServerEntries::count(std::string_view text) const {
  const auto program = program_in(text);
  return program && *program ? 1 : 0;
}

}  // namespace cairn::host::claude
