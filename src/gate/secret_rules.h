// The shapes of secrets that are known by how they look: a literal that each of them holds, and a pattern
// that the whole of it matches. What is known by its name only (`password = ...`) is named_secrets.h's.
#pragma once

#include <string_view>
#include <vector>

namespace cairn::gate {

struct SecretRule {
  std::string_view kind;      // as in the marker
  std::string_view literals;  // "ghp_ gho_": one of them starts every such secret, in any letter case
  // RE2, anchored where the literal starts. A group in it is the secret; without one the whole match is.
  std::string_view pattern;
  std::size_t min = 0;  // characters of a token (letters, digits, ".-_/+=~:$") from there on, at least
  enum Start {
    token,   // the literal stands at the start of a token
    inside,  // anywhere
    back,    // somewhere in the token, and the pattern starts with the token
  } start = token;
};

const std::vector<SecretRule>& secret_rules();

}  // namespace cairn::gate
