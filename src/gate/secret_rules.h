// The forms of secrets that are known by how they look: a literal that each of them holds, and the shape of
// the rest. What is known by its name only (`password = ...`) is named_secrets.h's.
#pragma once

#include <string_view>
#include <vector>

namespace cairn::gate {

struct SecretRule {
  std::string_view kind;      // as in the marker
  std::string_view literals;  // "ghp_ gho_": one of them starts every such secret
  std::string_view shape;     // what follows it (shape.h)
  enum Start {
    token,   // the literal stands at the start of a token
    inside,  // anywhere
  } start = token;
  std::string_view before = "";  // "a14": what stands before the literal and belongs to the secret
};

const std::vector<SecretRule>& secret_rules();

}  // namespace cairn::gate
