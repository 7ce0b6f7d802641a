#include <algorithm>

#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxArguments = 240;  // characters of a call that are read
constexpr std::size_t kMaxString = 16384;   // of one of its strings
constexpr std::size_t kMaxTyped = 160;      // to be judged as something that a person typed

// Not an address, a path, a sentence, a reference or a placeholder.
bool may_be_given(std::string_view value) {
  static constexpr CharSet kOfOthers(" \t\\(){}<>,;|"), kFirst("$/#.%");
  return !is_uuid(value) && !kFirst.has(value[0]) && !kOfOthers.any_in(value) && !is_placeholder(value) &&
         !is_path(value) && !is_name_of_something(value);
}

// What a person types where a password is asked for, behind the string `before`.
bool is_given(std::string_view value, std::string_view before = {}) {
  static constexpr CharSet kOfAddresses("/:="), kOfNames(".:="), kJoins("_-+&");
  if (value.size() < 8 || !may_be_given(value)) return false;
  if (is_chosen(value)) return !kOfAddresses.any_in(value);
  if (value.size() > 64 || kOfNames.any_in(value)) return false;
  const auto digits = count_of(Chars::digit, value);
  if (digits >= 5 && kJoins.any_in(value) && is_password_like(value)) return true;
  // Mail services give out sixteen letters.
  const bool mail = before.find('@') != std::string_view::npos;
  return is_random(value) && (mixture(value) >= (digits >= 2 ? 3 : 2) || mail);
}

// The position of the password in name:PASSWORD or name/PASSWORD@host.
std::pair<std::size_t, std::size_t> behind_name(std::string_view value, char sign) {
  const std::size_t begin = run_end(Chars::name, value, 0) + 1;
  const std::size_t end = sign == '/' ? std::min(value.rfind('@'), value.size()) : value.size();
  if (begin < 3 || begin >= end || value[begin - 1] != sign) return {};
  return is_given(between(value, begin, end)) ? std::pair(begin, end) : std::pair<std::size_t, std::size_t>();
}

// Calls `take(begin, end, index)` for at most eight strings among the arguments of the call that continues at
// `at`; `index` is the argument's. Returns the cost.
template <class Take>
std::size_t each_string(std::string_view text, std::size_t at, Take&& take) {
  static constexpr CharSet kOpening("([{"), kClosing(")]}");
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
    if (kOpening.has(c)) ++depth;
    if ((kClosing.has(c) && depth-- == 0) || c == ';' || (c == '\n' && ++lines > 6)) break;
  }
  return (std::min(at, limit) - start) / 2 + searched / 16;
}

// Whether the call makes a client from its key: DeepgramClient("..."), algoliasearch('ID', '...'). Most calls
// with a random text make an id or a hash instead. `name`: what is called, `id`: the argument before `value`.
bool is_made(std::string_view name, std::string_view value, std::string_view id) {
  static const WordList kNoClients("no-clients");
  if (kNoClients.ends(name)) return false;
  if (id.empty())
    return name.size() > 2 && is_upper(name[0]) && !is_all(Chars::upper, name) && is_random_code(value) &&
           is_random_token(value, 24);
  // Two arguments: an id, as services give them out, and then the key.
  const bool is_id = is_all(Chars::upper, id) || (count_of(Chars::digit, id) >= 3 && is_random(id));
  return id.size() >= 8 && is_id && is_all(Chars::alnum, id) && id.size() != value.size() &&
         is_random_token(value, 27);
}

// INSERT INTO users (email, password) VALUES
bool has_password_column(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxColumns = 160;
  const std::string_view columns = between(text, at - std::min(at, kMaxColumns), at);
  return columns.find("pass") != std::string_view::npos || columns.find("PASS") != std::string_view::npos;
}

}  // namespace

std::size_t find_in_call(const Hit& hit, const Sign& sign) {
  enum How { login, keyed, behind, client, pair, row, made };  // see rules.txt
  constexpr std::size_t kReadingCall = 12, kLeastMade = 8;
  const std::string_view text = hit.text;
  std::string_view name, before;
  if (sign.how == row && !has_password_column(text, hit.begin)) return kReadingCall;
  if (sign.how == made) {  // any call: most are not worth reading
    if (hit.end + kLeastMade > text.size() || !is_all(Chars::url, text.substr(hit.end, kLeastMade))) return 2;
    name =
        between(text, skip_back(text, hit.begin, 40, [](char c) { return is(Chars::word, c); }), hit.begin);
  }
  std::size_t judged = 0;
  const auto judge = [&](std::size_t begin, std::size_t end, std::size_t argument) {
    const std::string_view value = between(text, begin, end), user = std::exchange(before, value);
    if (value.size() < 8) return;
    judged += std::min(value.size(), kMaxTyped);
    const bool later = argument > 0;
    std::pair<std::size_t, std::size_t> part = {0, value.size()};
    bool secret = false;
    switch (static_cast<How>(sign.how)) {
      case login:
        secret = (later && is_given(value, user)) || is_random_token(value, later ? 20 : 28);
        if (!secret) part = behind_name(value, '/'), secret = part.second > 0;
        break;
      case keyed: secret = is_given(value) || is_random_token(value, 16); break;
      case behind: secret = later && (is_given(value) || is_random_token(value, 16)); break;
      case client: secret = is_random_token(value, 20); break;
      case pair: part = behind_name(value, ':'), secret = part.second > 0; break;
      case row: secret = is_given(value); break;
      case made: secret = argument < 2 && is_made(name, value, user); break;
    }
    if (secret) hit.add(begin + part.first, begin + part.second, "token");
  };
  const std::size_t cost = each_string(text, is_quote(text[hit.end - 1]) ? hit.end - 1 : hit.end, judge);
  return kReadingCall + cost + 2 * judged;
}

}  // namespace cairn::gate
