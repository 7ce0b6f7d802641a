#include "host/host.h"

#include "host/claude_code/host.h"
#include "host/codex/host.h"
#include "host/copilot/host.h"
#include "host/cursor/host.h"
#include "host/gemini/host.h"
#include "host/opencode/host.h"
#include "host/qwen/host.h"

namespace cairn::host {

const Host* known_host(std::string_view name) {
  for (const Host* host : hosts())
    if (host->name() == name) return host;
  return nullptr;
}

const Host& find_host(std::string_view name) {
  const Host* host = known_host(name);
  return host ? *host : default_host();
}

const Host& default_host() {
  return claude_code();
}

std::vector<const Host*> hosts() {
  return {&claude_code(), &codex(), &gemini(), &opencode(), &qwen(), &copilot(), &cursor()};
}

std::string host_names(bool we_register) {
  std::string names;
  for (const Host* host : hosts())
    if (!we_register || !host->files().empty()) names.append(names.empty() ? "" : "|").append(host->name());
  return names;
}

std::optional<Origin> origin_of_tool(std::string_view tool) {
  for (const Host* host : hosts())
    if (const auto origin = host->origin_of(tool)) return origin;
  return std::nullopt;
}

}  // namespace cairn::host
