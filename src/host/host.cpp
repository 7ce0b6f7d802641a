#include "host/host.h"

#include "host/claude_code/host.h"

namespace cairn::host {

const Host& find_host(std::string_view) {
  return default_host();
}

const Host& default_host() {
  return claude_code();
}

std::vector<const Host*> hosts() {
  return {&claude_code()};
}

std::optional<Origin> origin_of_tool(std::string_view tool) {
  return claude_code().origin_of(tool);
}

}  // namespace cairn::host
