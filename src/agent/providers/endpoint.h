// Where the providers that speak HTTP send their requests, and with which key.
//
// A key from a vendor's own variable is sent to that vendor only. Another address gets a key only from
// CAIRN_AGENT_KEY or agent.key_file, and never over plain HTTP to another machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/providers/api.h"
#include "base/result.h"

namespace cairn::agent {

struct EndpointSettings {
  std::string endpoint;  // a name of endpoint_names(), a URL, or empty: the provider's own
  std::string model;
  std::string key_file;
};

// The target of the Messages API, and of chat completions. Fails with a sentence that says what to set.
Result<ApiTarget> messages_target(const EndpointSettings& settings);
Result<ApiTarget> completions_target(const EndpointSettings& settings);

// Short names for addresses of chat completions.
std::vector<std::string_view> endpoint_names();

}  // namespace cairn::agent
