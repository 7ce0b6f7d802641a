#include <algorithm>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxAddress = 160;  // characters that are read of one
constexpr std::size_t kMaxKey = 4096;     // of a key in JSON
constexpr std::size_t kMaxUserInfo = 8192;
constexpr std::size_t kMaxWithSlash = 80;  // the same, when the password holds a slash

// In order: a host only for webhooks; the path of a webhook; the path of a link that is sent by mail; a
// parameter; a JSON web key; the same in XML; a password that a tool generated; the key of an account.
struct Part {
  enum How { host, hook, link, parameter, key, xml, result, account };
};

// Looks random: letters and digits, mixed.
bool is_random_part(std::string_view part, std::size_t least) {
  return part.size() >= least && count_of(Chars::digit, part) >= 2 &&
         run_end(Chars::url, part, 0) == part.size() && is_random(part) && !is_placeholder(part);
}

// Whether text[at] is inside an address.
bool is_within_address(std::string_view text, std::size_t at) {
  const std::size_t limit = at - std::min(at, kMaxAddress);
  std::size_t begin = at;
  while (begin > limit && is(Chars::visible, text[begin - 1])) --begin;
  return text.substr(begin, at - begin).find("://") != std::string_view::npos;
}

// The secret part of the path that continues at `at`, and everything after it. Short ones count only when the
// host serves nothing else.
void find_path(const Hit& hit, std::size_t at, std::size_t how) {
  const std::string_view text = hit.text.substr(0, at + kMaxAddress);
  for (int parts = 0; parts < 6; ++parts) {
    const std::size_t end = run_end(Chars::url, text, at);
    const std::string_view part = text.substr(at, end - at);
    if (how == Part::host ? part.size() >= 5 && count_of(Chars::digit, part) > 0
                          : is_uuid(part) || is_random_part(part, how == Part::hook ? 16 : 20)) {
      std::size_t stop = end;
      while (how != Part::link && stop + 1 < text.size() && text[stop] == '/' &&
             is(Chars::url, text[stop + 1]))
        stop = run_end(Chars::url, text, stop + 1);
      const std::string_view all = text.substr(at, stop - at);
      if (count_of(Chars::letter, all) > 0 && !is_placeholder(all) && !is_words(all))
        hit.add(at, stop, "webhook");
      return;
    }
    if (end >= text.size() || text[end] != '/') return;
    at = end + 1;
  }
}

// "d": "..." in the object around the hit: the member that a private key has and a public one has not.
std::size_t find_json_key(const Hit& hit) {
  static const WordList kPrivate("private-members");
  const std::size_t from = hit.begin - std::min(hit.begin, kMaxKey);
  const std::size_t open = hit.text.substr(from, hit.begin - from).rfind('{');
  const std::size_t close = hit.text.substr(hit.begin, kMaxKey).find('}');
  if (open == std::string_view::npos || close == std::string_view::npos) return kMaxKey;
  const std::string_view text = hit.text.substr(0, hit.begin + close);
  for (std::size_t quote = text.find('"', from + open); quote < text.size();
       quote = text.find('"', quote + 1)) {
    const std::size_t end = run_end(Chars::word, text, quote + 1);
    if (end >= text.size() || text[end] != '"' || !kPrivate.has(text.substr(quote + 1, end - quote - 1)))
      continue;
    const std::size_t value = text.find_first_not_of(" :", end + 1);
    if (value >= text.size() || text[value] != '"') continue;
    quote = run_end(Chars::any_base64, text, value + 1);
    if (quote > value + 16) hit.add(value + 1, quote, "private-key");
  }
  return text.size() - from - open;
}

// random_password.db.result = "...", and the same in a file of states
std::size_t find_result(const Hit& hit) {
  const std::string_view rest = hit.text.substr(hit.end, kMaxAddress);
  const std::size_t word = rest.find("result");
  const std::size_t begin = rest.find_first_not_of("\" :=", std::min(word, rest.size()) + 6);
  const std::size_t stop = rest.find('"', begin);
  if (stop < rest.size() && begin > word + 7 && rest[begin - 1] == '"' && stop >= begin + 8)
    hit.add(hit.end + begin, hit.end + stop, "password");
  return kMaxAddress;
}

// name:passw, before a slash: a port or a reference has none behind it.
bool may_hold_a_slash(std::string_view info) {
  const std::size_t colon = info.find(':');
  return colon != std::string_view::npos && colon + 1 < info.size() && is(Chars::letter, info[colon + 1]) &&
         info.size() < 80;
}

// https://KEY@host/4501234 without a password: it says where errors are sent, and is published.
bool is_public_address(std::string_view text, std::string_view key, std::size_t sign) {
  const std::size_t host = run_end(Chars::name, text, sign + 1);
  const std::size_t end =
      host < text.size() && text[host] == '/' ? run_end(Chars::digit, text, host + 1) : host;
  return key.size() == 32 && run_end(Chars::hex, key, 0) == key.size() && end > host + 1 &&
         (end == text.size() || !is(Chars::alnum, text[end]));
}

bool is_token_alone(std::string_view value) {
  return value.size() >= 20 && run_end(Chars::url, value, 0) == value.size() && is_random(value) &&
         !is_placeholder(value);
}

// Whether the command that continues at `at` takes name:password and nothing else.
bool takes_user(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxLine = 160;
  const std::string_view before = text.substr(at - std::min(at, kMaxLine), std::min(at, kMaxLine));
  const std::string_view line = before.substr(std::min(before.rfind('\n') + 1, before.size()));
  return line.find("curl ") != std::string_view::npos;
}

}  // namespace

const std::vector<Sign>& address_signs() {
  static const std::vector<Sign> kSigns =
      signs_of("addresses", {"host", "hook", "link", "parameter", "key", "xml", "result", "account"});
  return kSigns;
}

std::size_t find_in_address(const Hit& hit, const Sign& sign) {
  constexpr std::size_t kReadingPath = 64, kLookingAt = 12;
  const std::string_view text = hit.text;
  const std::size_t end = hit.end;
  switch (sign.how) {
    case Part::host: {
      const std::size_t host = run_end(Chars::name, text.substr(0, end + 80), end);
      if (host < text.size() && text[host] == '/') find_path(hit, host + 1, sign.how);
      return kReadingPath;
    }
    case Part::hook:
    case Part::link:
      if (end >= text.size() || !is(Chars::alnum, text[end])) return kLookingAt;
      if (is_within_address(text, hit.begin)) find_path(hit, end, sign.how);
      return kReadingPath;
    case Part::parameter: {
      const std::size_t stop = run_end(Chars::url, text.substr(0, end + kMaxAddress), end);
      const std::string_view value = text.substr(end, stop - end);
      if (!is_uuid(value) && is_random_part(value, 20)) hit.add(end, stop, "token");
      return kLookingAt + value.size();
    }
    case Part::account: {
      const std::size_t stop = run_end(Chars::base64, text.substr(0, end + 88), end);
      if (stop - end == 86 && text.substr(stop, 3) == "==\"") hit.add(end, stop + 2, "azure-key");
      return kLookingAt;
    }
    case Part::result: return find_result(hit);
    case Part::key: return find_json_key(hit);
    case Part::xml: {
      const std::string_view key = text.substr(end, kMaxKey);
      const std::size_t first = key.find("<P>"), last = key.find("</RSAKeyValue>");
      if (first < last && last != std::string_view::npos) hit.add(end + first + 3, end + last, "private-key");
      return kReadingPath + std::min(last, key.size());
    }
  }
  return kLookingAt;
}

Span address_password(std::string_view text, std::size_t at) {
  const std::size_t begin = at + 3;
  std::size_t limit = std::min(text.size(), begin + kMaxUserInfo);
  std::size_t sign = std::string_view::npos;
  bool slash = false;  // within the password
  for (std::size_t i = begin; i < limit; ++i) {
    if (text[i] == '@') sign = i;
    if (text[i] == '/' && !slash) {
      slash = may_hold_a_slash(text.substr(begin, i - begin));
      limit = std::min(limit, begin + kMaxWithSlash);
    }
    if (!is(Chars::user_info, text[i]) && !(slash && text[i] == '/')) break;
    if (slash && text.substr(i, 3) == "://") break;  // another address
    if ((text[i] == '?' || text[i] == '#') && sign != std::string_view::npos) break;
  }
  if (sign == std::string_view::npos) return std::nullopt;
  const std::string_view info = text.substr(begin, sign - begin);
  const std::size_t colon = info.find(':');
  if (colon == std::string_view::npos && is_public_address(text, info, sign)) return std::nullopt;
  if (colon == std::string_view::npos)  // a token as the name
    return is_random(info) && !is_placeholder(info) && info.size() >= 16 ? Span(std::pair(begin, sign))
                                                                         : Span();
  const std::string_view name = info.substr(0, colon), password = info.substr(colon + 1);
  const std::string lower = ascii_lower(password);
  const bool reference = (password.starts_with("$") && !is_password_like(password.substr(1))) ||
                         (lower.find("password") != std::string::npos && is_words(password));
  static constexpr CharSet kBrackets("{[]<");
  if (password.find('/') != std::string_view::npos && !(is_random(password) && mixture(password) >= 3))
    return std::nullopt;
  if (password == name || reference || (!password.empty() && kBrackets.has(password[0])) ||
      is_placeholder(password))
    return std::nullopt;
  static const WordList kTutorials("passwords-of-tutorials");
  if (kTutorials.has(password)) return std::nullopt;
  return std::pair(begin + colon + 1, sign);
}

Span user_password(std::string_view text, std::size_t at) {
  const bool certain = takes_user(text, at);
  text = text.substr(0, std::min(text.size(), at + kMaxUser));
  while (at < text.size() && (text[at] == ' ' || text[at] == '"' || text[at] == '\'' || text[at] == '='))
    ++at;
  static constexpr CharSet kEnds(" \t\r\n\"'`|;");
  const std::size_t end = std::min(kEnds.first_in(text, at), text.size());
  const std::string_view info = text.substr(at, end - at);
  const std::size_t colon = info.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view password = info.substr(colon + 1);
  // TOKEN: and TOKEN:x, where the token is the name of the user; :TOKEN
  const std::string_view name = info.substr(0, colon);
  if (password.size() <= 1 || password == "x-oauth-basic")
    return is_token_alone(name) ? Span(std::pair(at, at + colon)) : Span();
  if (colon == 0) return is_token_alone(password) ? Span(std::pair(at + 1, end)) : Span();
  static constexpr CharSet kReferences("$/+{<");
  if (is_placeholder(password) || kReferences.has(password[0]) || info[0] == '+' || info[0] == '%' ||
      !(certain || is_password_like(password)))
    return std::nullopt;
  return std::pair(at + colon + 1, end);
}

}  // namespace cairn::gate
