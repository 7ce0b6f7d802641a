// Makes the provider that the settings name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "agent/children.h"
#include "agent/http.h"
#include "agent/provider.h"
#include "base/result.h"
#include "event/provider_name.h"
#include "os/clock.h"
#include "os/disk.h"

namespace cairn::agent {

// The settings agent.*, as they are; empty texts mean the default.
struct ProviderSettings {
  std::string provider{event::kBuiltin};
  std::string model;
  std::string endpoint;
  std::string key_file;
  bool operator==(const ProviderSettings&) const = default;
};

struct ProviderParts {
  Children& children;
  Http& http;
  os::Disk& disk;
  os::Clock& clock;
  std::string directory;  // for a child process, below cairn's home
};

// Null for `builtin`, which needs none. What is wrong with the settings is the first message of a
// conversation: a Trouble of kind `setup`.
std::unique_ptr<Provider> make_provider(const ProviderSettings& settings, const ProviderParts& parts);

// Whether a conversation could begin, as far as this process can see without a call: a program, a key, an
// address. The message says what to do.
Status check_setup(const ProviderSettings& settings);

}  // namespace cairn::agent
