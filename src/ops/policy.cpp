#include "ops/policy.h"

#include <cstdlib>

#include "intake/local_rules.h"

namespace cairn::ops {

gate::Rules gate_rules(os::Disk& disk, const Settings& settings, const std::string& key) {
  const char* home = std::getenv("HOME");
  return {settings.list("capture.skip_tools"),
          settings.list("capture.exclude"),
          {settings.list("capture.secrets"), settings.list("capture.secrets_allow"), key},
          intake::find_local_rules(disk, settings.list("capture.projects_off")),
          home != nullptr ? home : ""};
}

}  // namespace cairn::ops
