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
      const std::size_t colon = text.substr(0, i).find(':', begin);  // what follows a port is a path
      slash = colon < i && is(Chars::letter, text[colon + 1]);
      limit = std::min(limit, begin + kMaxWithSlash);
    }
    if (!is(Chars::user_info, c) && !(slash && c == '/')) break;
    if ((c == '?' || c == '#') && sign != std::string_view::npos) break;
    if (slash && c == ':' && text.substr(i, 3) == "://") break;  // another address
  }
  return sign;
}

// https://TOKEN@host/path. But https://KEY@host/4501234 says where errors are sent, and is published.
bool is_token_alone(std::string_view text, std::string_view user, std::size_t sign) {
  if (user.size() < 16 || !is_random(user) || is_placeholder(user)) return false;
  const std::size_t host = run_end(Chars::name, text, sign + 1);
  const std::size_t project = text.substr(host, 1) == "/" ? run_end(Chars::digit, text, host + 1) : host;
  const bool ends = project == text.size() || !is(Chars::alnum, text[project]);
  return user.size() != 32 || !is_all(Chars::hex, user) || project <= host + 1 || !ends;
}

}  // namespace

std::size_t find_in_address(const Hit& hit, const Sign&) {
  static constexpr CharSet kReferences("{[]<");
  const std::size_t sign = user_end(hit.text, hit.end);
  if (sign == std::string_view::npos) return 0;
  const std::string_view info = between(hit.text, hit.end, sign);
  const std::size_t colon = info.find(':');
  if (colon == std::string_view::npos) {
    if (is_token_alone(hit.text, info, sign)) hit.add(hit.end, sign, "url-password");
    return 0;
  }
  const std::size_t begin = hit.end + colon + 1;
  if (begin + 4 > sign) return 0;
  const std::string_view password = between(hit.text, begin, sign);
  if (password[0] == '$' && !is_password_like(password.substr(1))) return 0;
  const bool slash = password.find('/') != std::string_view::npos;
  if ((slash && (mixture(password) < 3 || !is_random(password))) || kReferences.has(password[0]) ||
      is_placeholder(password) || is_label(password))
    return 0;
  hit.add(begin, sign, "url-password");
  return 0;
}

std::size_t find_user(const Hit& hit, const Sign&) {
  static constexpr CharSet kBefore(" \"'="), kEnds(" \t\r\n\"'`|;"), kReferences("$/+{<"), kFormats("+%");
  constexpr std::size_t kReadingUser = 2 * kMaxUser;
  const std::string_view text = hit.text.substr(0, hit.end + kMaxUser);
  const std::size_t begin = skip(text, hit.end, kMaxUser, kBefore);
  const std::size_t end = std::min(kEnds.first_in(text, begin), text.size());
  const std::string_view login = between(text, begin, end);
  const std::size_t colon = login.find(':');
  if (colon == std::string_view::npos) return kReadingUser;
  const std::string_view name = login.substr(0, colon), password = login.substr(colon + 1);
  if (password.size() <= 1 || password == "x-oauth-basic") {  // TOKEN: and TOKEN:x
    if (name.size() >= 20 && is_all(Chars::url, name) && is_random(name) && !is_placeholder(name))
      hit.add(begin, begin + colon, "password");
    return kReadingUser;
  }
  if (is_placeholder(password) || kReferences.has(password[0]) || kFormats.has(login[0])) return kReadingUser;
  // With this option curl gets a login and nothing else.
  const std::size_t line = skip_back(text, hit.begin, kMaxUser, [](char c) { return c != '\n'; });
  if (is_password_like(password) || between(text, line, hit.end).find("curl ") != std::string_view::npos)
    hit.add(begin + colon + 1, end, "password");
  return kReadingUser;
}

std::size_t find_members(const Hit& hit, const Sign& sign) {
  enum { private_key, password };
  constexpr std::size_t kLeast = 8, kMaxBefore = 512;
  static constexpr CharSet kBetween("\" :=\n");
  const std::string_view text = hit.text.substr(0, hit.end + sign.number);
  // Not what was found already.
  std::size_t at = std::max(hit.from, hit.begin - std::min(hit.begin, kMaxBefore));
  if (!hit.found.empty() && hit.found.back().end <= hit.begin) at = std::max(at, hit.found.back().end);
  while (at < text.size()) {
    const std::size_t begin = skip(text, at, text.size(), [](char c) { return !is(Chars::word, c); });
    at = run_end(Chars::word, text, begin);
    if (!sign.words.has(between(text, begin, at))) continue;
    const std::size_t value = skip(text, at, 40, kBetween), end = run_end(Chars::visible, hit.text, value);
    if (value < at + 3 || text[value - 1] != '"' || end < value + kLeast) continue;
    const std::string_view secret = between(hit.text, value, end);
    if (!is_placeholder(secret)) hit.add(value, end, sign.how == password ? "password" : "private-key");
    at = end;
  }
  return text.size() - hit.end;
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
        (sign.number < kSure || is_uuid(part) || is_random_token(part, sign.number, sign.number))) {
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
