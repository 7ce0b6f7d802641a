#include <algorithm>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxArguments = 240;  // characters of a call that are read
constexpr std::size_t kMaxString = 16384;   // of one of its strings
constexpr std::size_t kMaxTyped = 160;      // to be judged as something that a person typed
constexpr std::size_t kMaxMade = 100;       // of the only one of a constructor

// In order: a password after another argument; a key anywhere, or after the text that it encrypts; a random
// token; name:PASSWORD in one string; values of a row with a password; any call with a string as its first
// argument.
struct Call {
  enum How { login, keyed, behind, client, pair, row, made };
};

// Neither an address nor a path, a sentence, a reference, or what documentation writes.
bool may_be_given(std::string_view value) {
  static constexpr CharSet kOfOthers(" \t\\(){}<>,;|"), kFirst("$/#.%");
  return value.size() >= 8 && !is_uuid(value) && !kFirst.has(value[0]) && !kOfOthers.any_in(value) &&
         !is_placeholder(value) && !is_path(value) && !is_name_of_something(value);
}

// Looks random, and is not an identifier of something public: not a UUID, a version or the name of a host.
bool is_random_text(std::string_view value, std::size_t least) {
  const std::string_view body = value.starts_with("0x") ? value.substr(2) : value;
  if (body.size() < (is_all(Chars::any_hex, body) ? std::max<std::size_t>(least, 32) : least)) return false;
  // users/5f3a...: a slash is one of base64, or it divides a path.
  if (value.find('/') != std::string_view::npos && (value.size() < 32 || mixture(value) < 3)) return false;
  return count_of(Chars::digit, value) >= 2 && run_end(Chars::any_base64, value, 0) == value.size() &&
         may_be_given(value) && is_random(value) && mixture(value) >= 2;
}

// What a person types where a password is asked for.
bool is_given(std::string_view value, std::string_view before) {
  if (!may_be_given(value)) return false;
  if (value.size() > kMaxTyped) return run_end(Chars::token, value, 0) == value.size();
  if (value.size() > 64) return false;
  if (is_chosen(value)) return value.find_first_of("/:=") == std::string_view::npos;
  if (value.find_first_of(".:=") != std::string_view::npos) return false;
  const auto digits = count_of(Chars::digit, value);
  const bool sign = value.find_first_of("_-+&") != std::string_view::npos;
  if (digits >= 4 && sign && is_password_like(value) && !is_words(value)) return true;
  // Mail services give out sixteen letters.
  const bool mail = before.find('@') != std::string_view::npos;
  return is_random(value) && (mixture(value) >= (digits >= 2 ? 3 : 2) || mail);
}

// The position of the password in name:PASSWORD or name/PASSWORD@host.
std::pair<std::size_t, std::size_t> behind_name(std::string_view value, char sign) {
  const std::size_t colon = run_end(Chars::name, value, 0);
  const std::size_t end = sign == '/' ? value.rfind('@') : value.size();
  if (colon < 2 || end == std::string_view::npos || end < colon + 8 || value[colon] != sign) return {};
  return is_given(value.substr(colon + 1, end - colon - 1), "") ? std::pair(colon + 1, end)
                                                                : std::pair<std::size_t, std::size_t>();
}

// Whether the string at text[begin] has a name that shows that it is something else: sha="..."
bool is_named_so(std::string_view text, std::size_t begin) {
  const std::size_t sign = text.substr(0, begin - 1).find_last_not_of(" \t");
  if (sign == std::string_view::npos || (text[sign] != '=' && text[sign] != ':')) return false;
  return !ends_with_nocase(text.substr(0, text.substr(0, sign).find_last_not_of(" \t") + 1), "key");
}

// Calls `take(begin, end, index)` for at most eight strings among the arguments of the call that continues at
// `at`; `index` is the argument's. Returns the cost.
template <class Take>
std::size_t each_string(std::string_view text, std::size_t at, Take&& take) {
  const std::size_t start = at, limit = std::min(text.size(), at + kMaxArguments);
  std::size_t index = 0, searched = 0;
  int depth = 0, lines = 0;
  for (int strings = 0; at < limit && strings < 8; ++at) {
    const char c = text[at];
    if (is_quote(c)) {
      const std::size_t begin = at + 1, end = text.substr(0, begin + kMaxString).find(c, begin);
      searched += std::min({end - begin, kMaxString, text.size() - begin});
      if (end == std::string_view::npos) break;
      take(begin, end, index);
      at = end;
      ++strings;
    }
    if (c == ',' && depth == 0) ++index;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth-- == 0) break;
    if (c == ';' || (c == '\n' && ++lines > 6)) break;
  }
  return (std::min(at, limit) - start) / 2 + searched / 16;
}

// Github("..."), algoliasearch('ID', '...'): a call whose arguments are all random strings.
std::size_t find_made(const Hit& hit) {
  // An id or a hash is made of such a text more often than a client is.
  static const WordList kNoClients("no-clients");
  const std::string_view text = hit.text;
  const std::size_t at = hit.end;
  constexpr std::size_t kMaking = 4, kLeastId = 8, kLeast = 24;
  const char quote = text[at - 1];
  if (at + kLeastId > text.size() || !is(Chars::url, text[at + kLeastId - 1])) return 0;
  const std::size_t end = run_end(Chars::url, text.substr(0, at + kMaxMade + 1), at);
  const std::size_t size = end - at;
  if (size < kLeastId || end + 1 >= text.size() || text[end] != quote) return kMaking + size;
  std::size_t begin = at - 2;
  while (begin > 0 && at - begin < 40 && is(Chars::word, text[begin - 1])) --begin;
  const std::string_view name = text.substr(begin, at - 2 - begin);
  const std::string_view first = text.substr(at, size);
  if (text[end + 1] == ')') {
    const bool capital = name.size() > 2 && is(Chars::upper, name[0]) && !is_all(Chars::upper, name);
    if (size >= kLeast && capital && !kNoClients.ends(name) && is_random_code(first) &&
        is_random_text(first, kLeast))
      hit.add(at, end, "token");
    return kMaking + 2 * size;
  }
  const std::size_t second = end + (text[end + 1] == ',' ? text.substr(end + 2, 1) == " " ? 3 : 2 : 0);
  if (second == end || second >= text.size() || text[second] != quote || count_of(Chars::digit, first) < 1)
    return kMaking + size;
  const std::size_t stop = run_end(Chars::url, text.substr(0, second + kMaxMade + 2), second + 1);
  const std::string_view value = text.substr(second + 1, stop - second - 1);
  const bool id = is_all(Chars::upper, first) ||
                  (count_of(Chars::digit, first) >= 3 && is_all(Chars::alnum, first) && is_random(first));
  if (stop < text.size() && text[stop] == quote && value.size() != size && id && !kNoClients.ends(name) &&
      is_random_text(value, 27))
    hit.add(second + 1, stop, "token");
  return kMaking + 2 * (size + value.size());
}

// INSERT INTO users (email, password) VALUES
bool has_password_column(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxColumns = 160;
  const std::size_t from = at - std::min(at, kMaxColumns);
  const std::string_view columns = text.substr(from, at - from);
  return columns.find("pass") != std::string_view::npos || columns.find("PASS") != std::string_view::npos;
}

}  // namespace

const std::vector<Sign>& call_signs() {
  static const std::vector<Sign> kSigns =
      signs_of("calls", {"login", "keyed", "behind", "client", "pair", "row", "made"});
  return kSigns;
}

std::size_t find_in_call(const Hit& hit, const Sign& sign) {
  constexpr std::size_t kReadingCall = 12;
  const std::string_view text = hit.text;
  const std::size_t begin = hit.begin, end = hit.end;
  const auto how = static_cast<Call::How>(sign.how);
  if (how == Call::made) return find_made(hit);
  if (how == Call::row && !has_password_column(text, begin)) return kReadingCall;
  std::string_view before;
  std::size_t judged = 0;
  const auto judge = [&](std::size_t from, std::size_t to, std::size_t argument) {
    const std::string_view value = text.substr(from, to - from), user = std::exchange(before, value);
    if (value.size() < 8 || is_named_so(text, from)) return;
    judged += std::min(value.size(), kMaxTyped);
    const bool later = argument > 0;
    std::pair<std::size_t, std::size_t> part = {0, value.size()};
    bool secret = false;
    switch (how) {
      case Call::login:
        secret = (later && is_given(value, user)) || is_random_text(value, later ? 20 : 28);
        if (!secret && value.find('@') != std::string_view::npos)
          part = behind_name(value, '/'), secret = part.second > 0;
        break;
      case Call::keyed: secret = is_given(value, "") || is_random_text(value, 16); break;
      case Call::behind: secret = later && (is_given(value, "") || is_random_text(value, 16)); break;
      case Call::client: secret = is_random_text(value, 20); break;
      case Call::pair: part = behind_name(value, ':'), secret = part.second > 0; break;
      case Call::row: secret = is_given(value, ""); break;
      case Call::made: break;
    }
    if (secret) hit.add(from + part.first, from + part.second, "token");
  };
  const std::size_t cost = each_string(text, is_quote(text[end - 1]) ? end - 1 : end, judge);
  return kReadingCall + cost + 2 * judged;
}

}  // namespace cairn::gate
