#include "ops/policy.h"

namespace cairn::ops {

gate::Rules gate_rules(const Settings& settings, const std::string& key) {
  return {settings.list("capture.skip_tools"),
          settings.list("capture.exclude"),
          {settings.list("capture.secrets"), settings.list("capture.secrets_allow"), key}};
}

}  // namespace cairn::ops
