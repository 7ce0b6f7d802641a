// A gate's finder of secrets as every test of the gate uses it.
#pragma once

#include <string>

#include "gate/secrets.h"

namespace cairn::gate {

inline const Secrets& secrets() {
  static const Secrets kSecrets(SecretOptions{{}, {}, std::string(32, 'k')});
  return kSecrets;
}

inline std::string cleaned(std::string text, bool env_file = false) {
  secrets().remove(text, env_file);
  return text;
}

// `form` with `value` where it says @@.
inline std::string filled(std::string_view form, std::string_view value) {
  return std::string(form).replace(form.find("@@"), 2, value);
}

}  // namespace cairn::gate
