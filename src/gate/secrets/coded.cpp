#include <algorithm>
#include <array>

#include "gate/plain_view.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMinCoded = 24;       // characters of base64 that are worth decoding
constexpr std::size_t kMinRandomPart = 32;  // random characters; shorter ones are ids more often than keys
constexpr std::size_t kMaxRandomPart = 200;

// The beginning of the prefix that ends before `rest`; `rest` itself when there is none.
std::size_t prefix_begin(std::string_view text, std::size_t rest) {
  static constexpr CharSet kSeparators("_-"), kOfCodes("/.+%#@");  // of a path, an address or a code
  if (rest < 3 || !kSeparators.has(text[rest - 1]) || kSeparators.has(text[rest - 2])) return rest;
  std::size_t begin = skip_back(text, rest, 24, [](char c) { return is_lower(c) || kSeparators.has(c); });
  begin = skip(text, begin, 24, kSeparators);
  const bool alone = begin == 0 || !(is(Chars::alnum, text[begin - 1]) || kOfCodes.has(text[begin - 1]));
  return alone && rest - begin >= 3 ? begin : rest;
}

constexpr std::array<std::int8_t, 256> kDigitOf = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    table[static_cast<unsigned char>(kDigits[i])] = static_cast<std::int8_t>(i);
  table['-'] = 62;
  table['_'] = 63;
  return table;
}();

int digit_of(char c) {
  return kDigitOf[static_cast<unsigned char>(c)];
}

// The end of the run of base64 at `at`: over a line's end only when the line was long enough to have been
// wrapped.
std::size_t coded_end(std::string_view text, std::size_t at) {
  static constexpr CharSet kBreaks("\n\r \t\"',>|=\\`*#");
  for (;;) {
    const std::size_t end = run_end(Chars::code, text, at);
    const std::size_t padded = skip(text, end, 2, [](char c) { return c == '='; });
    if (end - at < 56 || padded > end) return padded;
    const std::size_t next = skip(text, end, 24, kBreaks);
    if (next >= text.size() || !is(Chars::code, text[next]) ||
        between(text, end, next).find('\n') == std::string_view::npos)
      return end;
    at = next;
  }
}

// Calls `take(byte)` for each byte that `run` codes, until it returns false. Other characters are skipped.
template <class Take>
void decode(std::string_view run, Take&& take) {
  unsigned bits = 0;
  int count = 0;
  for (const char c : run) {
    const int digit = digit_of(c);
    if (digit < 0) continue;
    bits = bits << 6 | static_cast<unsigned>(digit);
    if ((count += 6) < 8) continue;
    count -= 8;
    if (!take(static_cast<char>(bits >> count & 0xff))) return;
  }
}

// In base64 of ASCII text the first of every four characters is one of A to Z or a to f. Most runs that are
// no base64 fail this test.
bool may_be_text(std::string_view run, std::size_t looked_at) {
  for (std::size_t at = 0; at < run.size() && at < looked_at; at += 4)
    if (digit_of(run[at]) >= 32) return false;
  return true;
}

// Whether at most a twentieth of what the first characters decode to is unreadable.
bool codes_text(std::string_view run) {
  if (!may_be_text(run, 32)) return false;
  const std::size_t most = std::min<std::size_t>(run.size() * 3 / 4, 96);
  std::size_t count = 0, unreadable = 0;
  decode(run, [&](char c) {
    unreadable += (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t' ? 0 : 1;
    return ++count < most && unreadable * 20 <= most;
  });
  return unreadable * 20 <= count;
}

// Whether it decodes to the name of a secret and a sign, such as DB_PASSWORD=. What follows may be cut off,
// or not be text.
bool begins_with_a_name(std::string_view run) {
  constexpr std::size_t kHead = 36;  // digits that are looked at
  if (!may_be_text(run, 8)) return false;
  std::string name;
  char sign = '\0';
  decode(run.substr(0, kHead), [&](char c) {
    sign = c;
    const bool goes_on = is(Chars::name, c) || c == '"' || c == '{';
    if (goes_on) name += c;
    return goes_on;
  });
  return (sign == '=' || sign == ':') && name.size() >= 4 &&
         (strength_of(name) >= Strength::token || name == "admin" || name == "root");
}

// Calls `take(begin, end)` for each run of `chars` that is long enough, in order. `end_of(place)`: the end of
// the run that contains `place`.
template <class EndOf, class Take>
void each_run(std::string_view text, Chars chars, std::size_t least, EndOf&& end_of, Take&& take) {
  std::size_t at = 0;
  // A run of that length covers one of these places, so only they are looked at.
  for (std::size_t probe = least - 1; probe < text.size(); probe += least) {
    if (!is(chars, text[probe])) continue;
    const std::size_t begin = skip_back(text, probe, probe - at, [&](char c) { return is(chars, c); });
    at = probe = end_of(probe);
    if (at - begin >= least) take(begin, at);
  }
}

}  // namespace

void find_coded(std::string_view text, int depth, std::vector<FoundSecret>& found) {
  const auto end_of = [&](std::size_t at) { return coded_end(text, at); };
  each_run(text, Chars::code, kMinCoded, end_of, [&](std::size_t begin, std::size_t end) {
    // Characters before the base64 may belong to its alphabet, as in /path/aGVsbG8=. Four characters code
    // three bytes, so one of four alignments is right.
    for (std::size_t shift = 0; shift < 4; ++shift) {
      const std::string_view run = between(text, begin + shift, end);
      if (!codes_text(run)) continue;
      std::string decoded(run.size(), '\0');
      std::size_t size = 0;
      decode(run, [&](char c) { return decoded[size++] = c, true; });
      decoded.resize(size);
      const PlainView inner(decoded);
      std::vector<FoundSecret> within;
      search_secrets(inner.text(), depth, within);
      if (!within.empty()) found.push_back({begin, end, within.front().kind});
      return;
    }
    if (begins_with_a_name(between(text, begin, end))) found.push_back({begin, end, "token"});
  });
}

void find_prefixed(std::string_view text, std::vector<FoundSecret>& found) {
  const std::size_t known = found.size();
  std::size_t next = 0;
  const auto end_of = [&](std::size_t at) { return run_end(Chars::alnum, text, at); };
  each_run(text, Chars::alnum, kMinRandomPart, end_of, [&](std::size_t begin, std::size_t end) {
    const bool goes_on =
        end < text.size() && (is(Chars::any_base64, text[end]) ||
                              (text[end] == '.' && end + 1 < text.size() && is(Chars::alnum, text[end + 1])));
    if (goes_on || end - begin > kMaxRandomPart) return;
    const std::size_t prefix = prefix_begin(text, begin);
    while (next < known && found[next].end <= prefix) ++next;
    if (prefix < begin && (next == known || found[next].begin >= end) &&
        !is_placeholder(between(text, prefix, end)) && is_random_code(between(text, begin, end)))
      found.push_back({prefix, end, "generic-token"});
  });
}

}  // namespace cairn::gate
