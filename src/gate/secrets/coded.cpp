#include <algorithm>
#include <array>

#include "gate/plain_view.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMinCoded = 24;  // of base64 that can hide anything
constexpr std::size_t kMinDrawn = 32;  // shorter ones are ids more often than keys
constexpr std::size_t kMaxDrawn = 200;

// The beginning of the prefix that ends before `rest`; `rest` itself when there is none.
std::size_t prefix_begin(std::string_view text, std::size_t rest) {
  const auto separates = [&](std::size_t i) { return text[i] == '_' || text[i] == '-'; };
  if (rest < 3 || !separates(rest - 1) || separates(rest - 2)) return rest;
  std::size_t begin = rest - 1;
  const auto is_small = [&](std::size_t i) { return is(Chars::lower, text[i]) && !is_digit(text[i]); };
  while (begin > 0 && rest - begin < 24 && (is_small(begin - 1) || separates(begin - 1))) --begin;
  while (separates(begin)) ++begin;
  static constexpr CharSet kOfCodes("/.+%#@");  // of a path, an address or a code
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
  std::size_t line = at;
  for (;;) {
    at = run_end(Chars::code, text, at);
    while (at < text.size() && text[at] == '=') ++at;
    if (at - line < 56 || text[at - 1] == '=') return at;
    std::size_t next = at;
    while (next < text.size() && next - at < 24 && kBreaks.has(text[next])) ++next;
    if (next == at || next >= text.size() || !is(Chars::code, text[next]) ||
        text.substr(at, next - at).find('\n') == std::string_view::npos)
      return at;
    at = line = next;
  }
}

// Calls `take(byte)` for each byte that `run` codes, until it says no. What is no digit is passed over.
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

// Of every four characters that code plain text the first one is of A to f: what is no code mostly fails
// here.
bool may_be_text(std::string_view run) {
  for (std::size_t at = 0; at < run.size() && at < 32; at += 4)
    if (digit_of(run[at]) >= 32) return false;
  return true;
}

// Of what the first characters code, a twentieth at most cannot be read.
bool codes_text(std::string_view run) {
  if (!may_be_text(run)) return false;
  const std::size_t most = std::min<std::size_t>(run.size() * 3 / 4, 96);
  std::size_t count = 0, unreadable = 0;
  decode(run, [&](char c) {
    unreadable += (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t' ? 0 : 1;
    return ++count < most && unreadable * 20 <= most;
  });
  return unreadable * 20 <= count;
}

// DB_PASSWORD= and then whatever: a text that was cut, or is no text behind its name.
bool begins_with_a_name(std::string_view run) {
  constexpr std::size_t kHead = 36;  // digits that are looked at
  for (std::size_t at = 0; at < 8; at += 4)
    if (digit_of(run[at]) >= 32) return false;
  std::array<char, kHead> room{};
  std::size_t size = 0;
  decode(run.substr(0, kHead), [&](char c) {
    room[size] = c;
    return c != '=' && c != ':' && (is(Chars::name, c) || c == '"' || c == '{') && ++size < room.size();
  });
  if (size < 4 || size >= room.size() || (room[size] != '=' && room[size] != ':')) return false;
  const std::string_view name(room.data(), size);
  return strength_of(name) >= Strength::token || name == "admin" || name == "root";
}

// Calls `take(begin, end)` for each run of `chars` that is long enough, in order. Where a run that goes on at
// a place ends is `end_of(place)`.
template <class EndOf, class Take>
void each_run(std::string_view text, Chars chars, std::size_t least, EndOf&& end_of, Take&& take) {
  std::size_t at = 0;
  // A run of that length covers one of these places, so only they are looked at.
  for (std::size_t probe = least - 1; probe < text.size(); probe += least) {
    if (!is(chars, text[probe])) continue;
    std::size_t begin = probe;
    while (begin > at && is(chars, text[begin - 1])) --begin;
    at = probe = end_of(probe);
    if (at - begin >= least) take(begin, at);
  }
}

}  // namespace

void find_coded(std::string_view text, int depth, std::vector<FoundSecret>& found) {
  const auto end_of = [&](std::size_t at) { return coded_end(text, at); };
  each_run(text, Chars::code, kMinCoded, end_of, [&](std::size_t begin, std::size_t end) {
    // The text before it may have the same letters: /path/aGVsbG8=
    for (std::size_t shift = 0; shift < 4; ++shift) {
      const std::string_view run = text.substr(begin + shift, end - begin - shift);
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
    if (begins_with_a_name(text.substr(begin, end - begin))) found.push_back({begin, end, "token"});
  });
}

void find_prefixed(std::string_view text, std::vector<FoundSecret>& found) {
  const std::size_t known = found.size();
  std::size_t next = 0;
  const auto end_of = [&](std::size_t at) { return run_end(Chars::alnum, text, at); };
  each_run(text, Chars::alnum, kMinDrawn, end_of, [&](std::size_t begin, std::size_t end) {
    const bool goes_on =
        end < text.size() && (is(Chars::any_base64, text[end]) ||
                              (text[end] == '.' && end + 1 < text.size() && is(Chars::alnum, text[end + 1])));
    if (goes_on || end - begin > kMaxDrawn) return;
    const std::size_t prefix = prefix_begin(text, begin);
    while (next < known && found[next].end <= prefix) ++next;
    if (prefix < begin && (next == known || found[next].begin >= end) &&
        !is_placeholder(text.substr(prefix, end - prefix)) && is_random_code(text.substr(begin, end - begin)))
      found.push_back({prefix, end, "generic-token"});
  });
}

}  // namespace cairn::gate
