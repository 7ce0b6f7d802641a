// Recognises secrets in text: by their shape, by the name beside them, as blocks of a private key, as the
// password in an address; also when they are escaped, coloured, broken over lines or in base64. The rules are
// data (secrets/rules.txt); a few finders (secrets/finders.h) apply them.
//
// Time is linear in the text on any input. The rules are compiled at the first search.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "gate/secrets/known.h"

namespace cairn::gate {

struct Finding {
  std::size_t begin = 0, end = 0;  // bytes of the text
  std::string kind;                // "github-token"
  std::string fingerprint;         // see Secrets::fingerprint
};

struct SecretOptions {
  std::vector<std::string> patterns;  // "name=RE2 pattern": more secrets; a group is the secret
  std::vector<std::string> allow;     // RE2 patterns: a text that matches as a whole is not a secret
  std::string key;                    // of the home, for fingerprints
};

// Why `pattern` is not one of SecretOptions; empty when it is fine. `named`: it is of the form name=PATTERN.
std::string wrong_pattern(std::string_view pattern, bool named);

// .env, .env.local, production.env, .env*, but not the samples that are kept in a repository to be copied.
bool is_env_file(std::string_view path);

// Places that were kept because they look like placeholders, although they have the name of a secret or begin
// like a known token. For `policy explain`. In order; without fingerprints. Linear.
std::vector<Finding> placeholders(std::string_view text);

class UserPatterns;

// Thread-safe: const after construction. Cheap to copy.
class Secrets {
 public:
  // Patterns that are wrong are left out.
  explicit Secrets(SecretOptions options);

  // How a text is searched.
  struct Reading {
    Reading(bool is_env_file = false, KnownSecrets* secrets = nullptr)  // NOLINT: implicit on purpose
        : env_file(is_env_file), known(secrets) {}
    bool env_file;
    KnownSecrets* known;      // removed wherever they occur; new secrets are added
    bool known_only = false;  // remove only these
  };

  // The secrets in a text, in order, without overlap.
  std::vector<Finding> find(std::string_view text, Reading reading = {}) const;

  // The text with each replaced by `[secret:KIND:FINGERPRINT]`.
  std::string without(std::string_view text) const;
  // The same in place. Returns how many there were.
  std::size_t remove(std::string& text, Reading reading = {}) const;
  // The same for every string of a value, keys included. A member's key is the name of its value; a member
  // `name` is the name of the member `value` beside it. Consecutive strings of an array are one text (the
  // lines of a patch).
  std::size_t remove(Json& value, Reading reading = {}) const;

  // Eight digits that are the same for the same secret, however it was escaped. They cannot be computed
  // without the home's key.
  std::string fingerprint(std::string_view secret) const;

 private:
  // Calls `take(begin, end, kind, fingerprint)` for each secret of `text`.
  template <class Take>
  void each(std::string_view text, Reading reading, Take&& take) const;
  // Writes the cleaned text to `out` when there are secrets. Returns their number.
  std::size_t copy_without(std::string_view text, Reading reading, std::string& out) const;
  std::size_t remove_run(Json* first, Json* last, Reading reading) const;
  std::size_t remove_member(std::string_view name, Json& value, Reading reading) const;
  std::size_t remove_named(std::string_view name, std::string& text, Reading reading) const;
  std::size_t remove_pair(Json& pair, Reading reading) const;

  std::shared_ptr<const UserPatterns> own_;  // may be none
  ShortHash hash_;
};

}  // namespace cairn::gate
