#include "host/claude_code/permissions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "host/json_edit.h"

namespace cairn::host::claude {

namespace {

constexpr std::string_view kPermissions = "permissions", kAllow = "allow";

// Rules for the whole server make single ones superfluous.
constexpr std::string_view kWholeServer = "mcp__cairn", kAllTools = "mcp__cairn__*";

// The member of an object; null when there is none or `node` is no object.
const JsonNode* member(const JsonNode* node, std::string_view key) {
  return node && node->is_object() ? node->find(key) : nullptr;
}

std::string rule_text(std::string_view text, const JsonNode& node) {
  const auto value = Json::parse(text.substr(node.begin, node.end - node.begin));
  return value ? std::string(value->as_string()) : std::string();
}

std::vector<std::string> allowed_in(std::string_view text, const JsonNode& root) {
  std::vector<std::string> rules;
  if (const JsonNode* allow = member(member(&root, kPermissions), kAllow); allow && allow->is_array())
    for (const JsonNode& rule : allow->children) rules.push_back(rule_text(text, rule));
  return rules;
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

Error wrong_shape(std::string_view text, const JsonNode& node, std::string_view what) {
  return {Code::invalid, fmt::format("{}: {}", place_of(text, node.begin), what)};
}

std::size_t index_in(const JsonNode& container, const JsonNode& child) {
  return static_cast<std::size_t>(&child - container.children.data());
}

}  // namespace

const std::vector<std::string>& allowed_without_question() {
  static const std::vector<std::string> rules = {"mcp__cairn__search", "mcp__cairn__timeline",
                                                 "mcp__cairn__get", "mcp__cairn__resume"};
  return rules;
}

Result<std::string> with_permissions(std::string text) {
  for (const std::string& rule : allowed_without_question()) {
    const JsonNode root = TRY(scan(text));
    const auto rules = allowed_in(text, root);
    if (contains(rules, rule) || contains(rules, kWholeServer) || contains(rules, kAllTools)) continue;
    const JsonStyle style = JsonStyle::of(text, root);
    const JsonNode* permissions = root.find(kPermissions);
    const JsonNode* allow = member(permissions, kAllow);
    if (!permissions)
      text = insert_last(text, style, root, kPermissions,
                         Json::object({{std::string(kAllow), Json::array({rule})}}));
    else if (!permissions->is_object())
      return wrong_shape(text, *permissions, "`permissions` must be an object");
    else if (!allow)
      text = insert_last(text, style, *permissions, kAllow, Json::array({rule}));
    else if (!allow->is_array())
      return wrong_shape(text, *allow, "`permissions.allow` must be an array");
    else
      text = insert_last(text, style, *allow, "", rule);
  }
  return text;
}

// Removes a rule, or the list or the object around it when nothing else is in it and it was not in `before`.
Result<std::string> without_permissions(std::string text, const std::optional<std::string>& before) {
  const auto original = scan(before.value_or(""));
  const JsonNode* const old_permissions = original ? member(&*original, kPermissions) : nullptr;
  const auto old_rules = original ? allowed_in(*before, *original) : std::vector<std::string>();
  for (const std::string& rule : allowed_without_question()) {
    if (contains(old_rules, rule)) continue;
    const JsonNode root = TRY(scan(text));
    const auto rules = allowed_in(text, root);
    const auto found = std::find(rules.begin(), rules.end(), rule);
    if (found == rules.end()) continue;
    const JsonNode& permissions = *root.find(kPermissions);
    const JsonNode& allow = *permissions.find(kAllow);
    if (rules.size() > 1 || member(old_permissions, kAllow))
      text = erase(text, allow, static_cast<std::size_t>(found - rules.begin()));
    else if (permissions.children.size() > 1 || old_permissions)
      text = erase(text, permissions, index_in(permissions, allow));
    else
      text = erase(text, root, index_in(root, permissions));
  }
  return text;
}

}  // namespace cairn::host::claude
