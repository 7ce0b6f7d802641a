#include "gate/cookies.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "gate/char_runs.h"
#include "gate/secret_value.h"
#include "gate/telling_names.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxCookieName = 64;
constexpr std::size_t kMaxCookie = 1024;  // of a value: its beginning tells, and all of it goes

constexpr auto kCookieAttributes = std::to_array<std::string_view>(
    {"path", "domain", "expires", "max-age", "samesite", "secure", "httponly"});

bool is_attribute(std::string_view name) {
  return std::find(kCookieAttributes.begin(), kCookieAttributes.end(), ascii_lower(name)) !=
         kCookieAttributes.end();
}

bool tells_of_a_session(std::string_view name) {
  const std::string lower = ascii_lower(name);
  return strength_of(name) != Strength::none || lower.find("sess") != std::string::npos ||
         lower.ends_with("id") || lower.find("auth") != std::string::npos;
}

bool is_secret_cookie(std::string_view name, std::string_view value) {
  value = value.substr(0, kMaxCookie);
  return value.size() >= 8 && value.find(' ') == std::string_view::npos && !is_attribute(name) &&
         !is_placeholder(value) && (is_random(value) || (!is_words(value) && tells_of_a_session(name)));
}

constexpr CharSet kEndOfCookies("\r\n\"'`");

}  // namespace

bool is_cookie_name(std::string_view name) {
  return ends_with_nocase(name, "cookie") || ends_with_nocase(name, "cookies");
}

std::size_t find_cookies(std::string_view text, std::size_t at, std::vector<Place>& found) {
  const auto skip_quotes = [&] {
    while (at < text.size() && (text[at] == ' ' || is_quote(text[at]))) ++at;
  };
  skip_quotes();
  if (at >= text.size() || (text[at] != ':' && text[at] != '=') || text.substr(at, 2) == "==") return at;
  ++at;
  skip_quotes();
  const auto goes_on = [&](std::size_t i) {
    return i < text.size() && text[i] != ';' && !kEndOfCookies.has(text[i]);
  };
  for (std::size_t limit = at + 4 * kMaxCookie; at < limit && goes_on(at);) {
    std::size_t end = at;
    while (end < limit && goes_on(end)) ++end;
    const std::string_view cookie = text.substr(at, end - at);
    const std::size_t equals = std::min(cookie.find('='), cookie.size());
    const std::string_view name = trim(cookie.substr(0, std::min(equals, kMaxCookieName)));
    if (is_secret_cookie(name, cookie.substr(std::min(equals + 1, cookie.size())))) {
      while (goes_on(end) && is(Chars::visible, text[end])) ++end;
      found.push_back({at + equals + 1, end, "cookie"});
      limit = end + 4 * kMaxCookie;
    }
    at = end;
    while (at < text.size() && (text[at] == ' ' || text[at] == ';')) ++at;
  }
  return at;
}

}  // namespace cairn::gate
