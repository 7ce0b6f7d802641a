#include <algorithm>

#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxAddress = 160;  // characters that are read of one
constexpr std::size_t kMaxUserInfo = 8192;
constexpr std::size_t kMaxWithSlash = 80;  // the same, when the password holds a slash
constexpr std::size_t kMaxUser = 160;

// The '@' that ends the name and the password of the address that continues at `begin`; npos: there is none.
std::size_t user_end(std::string_view text, std::size_t begin) {
  std::size_t limit = std::min(text.size(), begin + kMaxUserInfo), sign = std::string_view::npos;
  bool slash = false;  // within the password
  for (std::size_t i = begin; i < limit; ++i) {
    const char c = text[i];
    if (c == '@') sign = i;
    if (c == '/' && !slash) {
      slash = between(text, begin, i).find(':') != std::string_view::npos;
      limit = std::min(limit, begin + kMaxWithSlash);
    }
    if (!is(Chars::user_info, c) && !(slash && c == '/')) break;
    if ((c == '?' || c == '#') && sign != std::string_view::npos) break;
    if (slash && c == ':' && text.substr(i, 3) == "://") break;  // another address
  }
  return sign;
}

}  // namespace

std::size_t find_in_address(const Hit& hit, const Sign&) {
  static constexpr CharSet kReferences("${[]<");
  const std::size_t sign = user_end(hit.text, hit.end);
  if (sign == std::string_view::npos) return 0;
  const std::string_view info = between(hit.text, hit.end, sign);
  const std::size_t begin = hit.end + std::min(info.find(':'), info.size()) + 1;
  if (begin + 4 > sign) return 0;
  const std::string_view password = between(hit.text, begin, sign);
  const bool slash = password.find('/') != std::string_view::npos;
  if ((slash && (mixture(password) < 3 || !is_random(password))) || kReferences.has(password[0]) ||
      is_placeholder(password) || is_label(password))
    return 0;
  hit.add(begin, sign, "url-password");
  return 0;
}

std::size_t find_user(const Hit& hit, const Sign&) {
  static constexpr CharSet kBefore(" \"'="), kEnds(" \t\r\n\"'`|;"), kReferences("$/+{<%");
  constexpr std::size_t kReadingUser = 2 * kMaxUser;
  const std::string_view text = hit.text.substr(0, hit.end + kMaxUser);
  const std::size_t begin = skip(text, hit.end, kMaxUser, kBefore);
  const std::size_t end = std::min(kEnds.first_in(text, begin), text.size());
  const std::string_view login = between(text, begin, end);
  const std::size_t colon = login.find(':');
  if (colon == std::string_view::npos) return kReadingUser;
  const std::string_view name = login.substr(0, colon), password = login.substr(colon + 1);
  // TOKEN: and TOKEN:x
  if (is_random_token(name, 20)) {
    hit.add(begin, begin + colon, "password");
    return kReadingUser;
  }
  if (is_placeholder(password) || kReferences.has(password[0]) || kReferences.has(login[0]))
    return kReadingUser;
  // With this option curl gets a login and nothing else.
  const std::size_t line = skip_back(text, hit.begin, kMaxUser, [](char c) { return c != '\n'; });
  if (is_password_like(password) || between(text, line, hit.end).find("curl ") != std::string_view::npos)
    hit.add(begin + colon + 1, end, "password");
  return kReadingUser;
}

std::size_t find_in_path(const Hit& hit, const Sign& sign) {
  constexpr std::size_t kLookingAt = 12, kReadingPath = 64, kMaxParts = 8, kSure = 16;
  const std::string_view text = hit.text.substr(0, hit.end + kMaxAddress);
  if (hit.end >= text.size() || !is(Chars::name, text[hit.end])) return kLookingAt;
  const std::size_t address =
      skip_back(text, hit.begin, kMaxAddress, [](char c) { return is(Chars::visible, c); });
  if (between(text, address, hit.end).find("://") == std::string_view::npos) return kReadingPath;
  for (std::size_t at = hit.end, parts = 0; parts < kMaxParts && at < text.size(); ++parts) {
    const std::size_t end = run_end(Chars::name, text, at);
    const std::string_view part = between(text, at, end);
    const bool is_host = part.find('.') != std::string_view::npos;
    // Short ones count only where the host serves nothing else.
    if (!is_host && part.size() >= sign.number && count_of(Chars::digit, part) > 0 &&
        (sign.number < kSure || is_uuid(part) || is_random_token(part, sign.number))) {
      const std::size_t stop = run_end(Chars::token, text, end);
      if (!is_placeholder(between(text, at, stop))) hit.add(at, stop, "webhook");
      break;
    }
    if (end >= text.size() || text[end] != '/') break;
    at = end + 1;
  }
  return kReadingPath;
}

}  // namespace cairn::gate
