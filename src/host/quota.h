// The quota that a coding agent's user shares with a provider of cairn.
#pragma once

#include <string_view>

namespace cairn::host {

// The provider that works with the user's own login of the host, and so spends the same quota.
inline constexpr std::string_view kLoginProvider = "claude-cli";

// What the failure that ended a turn says about that login.
enum class Refusal { none, rate_limit, billing, login };
inline Refusal refusal_of(std::string_view failure) {
  if (failure == "rate_limit") return Refusal::rate_limit;
  if (failure == "billing_error") return Refusal::billing;
  if (failure == "authentication_failed" || failure == "oauth_org_not_allowed") return Refusal::login;
  return Refusal::none;
}

}  // namespace cairn::host
