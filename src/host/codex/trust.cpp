#include "host/codex/trust.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "host/nested_hooks.h"

namespace cairn::host::codex_cli {

namespace {

// "SessionStart" -> "session_start"
std::string snake(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty()) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

// The timeout that Codex uses, with its default and its limits: this is what it hashes.
std::int64_t timeout_of(std::string_view event, const Json& hook) {
  if (event == "SessionEnd") return std::clamp<std::int64_t>(hook["timeout"].as_int(1), 1, 3);
  return std::max<std::int64_t>(hook["timeout"].as_int(600), 1);
}

// The hash in [hooks.state."KEY"], or empty.
std::string approved_hash(std::string_view toml, const std::string& key) {
  const std::string head = fmt::format("[hooks.state.{}]", Json(key).dump());
  const std::size_t at = toml.find(head);
  if (at == std::string_view::npos) return "";
  for (const std::string_view line : lines(toml.substr(at + head.size()))) {
    if (trim(line).starts_with('[')) break;
    if (!trim(line).starts_with("trusted_hash")) continue;
    const std::size_t begin = line.find('"'), end = line.rfind('"');
    if (begin < end) return std::string(line.substr(begin + 1, end - begin - 1));
  }
  return "";
}

}  // namespace

// Codex hashes compact JSON with sorted keys, so they are written in this order. The hash of two events has
// no matcher.
std::string trust_hash(std::string_view event, const Json& group, const Json& hook) {
  Json handler = Json::object({{"async", hook["async"].as_bool()},
                               {"command", hook["command"].as_string()},
                               {"timeout", timeout_of(event, hook)},
                               {"type", "command"}});
  Json identity = Json::object({{"event_name", snake(event)}, {"hooks", Json::array({std::move(handler)})}});
  if (group.has("matcher") && event != "UserPromptSubmit" && event != "Stop")
    identity.set("matcher", group["matcher"]);
  return "sha256:" + sha256(identity.dump());
}

std::string missing_consent(os::Disk& disk, const std::string& hooks_file, const Json& settings) {
  const std::string toml_file = hooks_file.substr(0, hooks_file.rfind('/')) + "/config.toml";
  const std::string toml = os::read_file(disk, toml_file, 8u << 20).value_or("");
  std::int64_t unseen = 0, changed = 0;
  for (const auto& [event, groups] : settings["hooks"].members())
    for (std::size_t g = 0; g < groups.items().size(); ++g) {
      const Json& group = groups.items()[g];
      for (std::size_t h = 0; h < group["hooks"].items().size(); ++h) {
        const Json& hook = group["hooks"].items()[h];
        if (!is_our_entry(hook)) continue;
        const std::string approved =
            approved_hash(toml, fmt::format("{}:{}:{}:{}", hooks_file, snake(event), g, h));
        unseen += approved.empty();
        changed += !approved.empty() && approved != trust_hash(event, group, hook);
      }
    }
  if (unseen + changed == 0) return "";
  return fmt::format(
      "{} of cairn's hooks {}: start codex once; at \"Hooks need review\" choose \"Trust all and continue\" "
      "(or "
      "type /hooks in it and press t). Until then Codex skips them without a message",
      unseen + changed, changed > 0 ? "changed since you approved them" : "are not approved yet");
}

}  // namespace cairn::host::codex_cli
