#include "gate/key_blocks.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "gate/char_runs.h"
#include "gate/secret_value.h"
#include "gate/telling_names.h"

namespace cairn::gate {

namespace {

using Found = std::optional<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t kMinBody = 48;   // characters of base64 that make a key rather than a mention of one
constexpr std::size_t kMinLines = 40;  // the same, behind a line that is nothing but theirs
constexpr std::size_t kMinCoded = 24;  // of base64 that can hide anything
constexpr std::size_t kMaxUserInfo = 8192;
constexpr std::size_t kMaxWithSlash = 80;  // the same, when the password holds a slash

constexpr std::array<std::int8_t, 256> kBase64 = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    table[static_cast<unsigned char>(kDigits[i])] = static_cast<std::int8_t>(i);
  table['-'] = 62;
  table['_'] = 63;
  return table;
}();

bool is_base64(char c) {
  return is(Chars::code, c);
}

// What stands between the lines of a block: breaks, quotes and signs of a patch or a listing.
bool is_filler(char c) {
  return c == '\n' || c == '\r' || c == ' ' || c == '\t' || c == '"' || c == '\'' || c == ',' || c == '>' ||
         c == '|' || c == '=' || c == '\\' || c == '`' || c == '*' || c == '#';
}

// Headers inside a block: `Proc-Type: 4,ENCRYPTED`.
bool is_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon < 32 &&
         std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](char c) { return is_base64(c) || c == ' '; });
}

// What a listing puts before every line: a number, a file, a time. Numbers and names in it differ from line
// to line, signs and blanks do not.
class ListPrefix {
 public:
  // Of the line in which a block begins at `at`.
  ListPrefix(std::string_view text, std::size_t at) {
    const std::size_t from = at - std::min(at, kMaxPrefix);
    const std::string_view before = text.substr(from, at - from);
    const std::size_t line = before.rfind('\n');
    if (line == std::string_view::npos && from > 0) return;
    sample_ = before.substr(line + 1);
    const bool plain = std::all_of(sample_.begin(), sample_.end(),
                                   [](char c) { return is_filler(c) || c == '+' || c == '-'; });
    if (plain || is_base64(sample_.back())) sample_ = {};
  }

  // The end of such a prefix at `at`; `at` itself when there is none.
  std::size_t skip(std::string_view text, std::size_t at) const {
    std::size_t mine = 0, here = at;
    // Numbers are put under each other.
    while (mine < sample_.size() && kind_of(sample_[mine]) == space) ++mine;
    while (mine > 0 && here < text.size() && kind_of(text[here]) == space) ++here;
    while (mine < sample_.size()) {
      const Kind kind = kind_of(sample_[mine]);
      if (here >= text.size() || kind_of(text[here]) != kind) return at;
      if (kind == sign) {
        if (text[here++] != sample_[mine++]) return at;
        continue;
      }
      while (mine < sample_.size() && kind_of(sample_[mine]) == kind) ++mine;
      while (here < text.size() && kind_of(text[here]) == kind) ++here;
    }
    return here;
  }

 private:
  static constexpr std::size_t kMaxPrefix = 200;
  enum Kind { word, space, sign };
  static Kind kind_of(char c) { return is(Chars::word, c) ? word : is(Chars::blank, c) ? space : sign; }
  std::string_view sample_;  // empty: nothing but what stands between lines anyway
};

// The end of a block's body that begins at `at`, and how much base64 it holds.
std::pair<std::size_t, std::size_t> read_body(std::string_view text, std::size_t at, bool headers,
                                              const ListPrefix& prefix) {
  std::size_t digits = 0, end = at;
  while (at < text.size()) {
    if (is_filler(text[at])) {
      ++at;
      if (text[at - 1] == '\n') at = prefix.skip(text, at);
      continue;
    }
    if (text.substr(at, 3) == "<br") {
      const std::size_t close = text.substr(0, at + 8).find('>', at);
      if (close == std::string_view::npos) break;
      at = close + 1;
      continue;
    }
    if (text.substr(at).starts_with("-----")) break;
    std::size_t stop = at;
    while (stop < text.size() && is_base64(text[stop]) && !text.substr(stop).starts_with("-----")) ++stop;
    if (stop < text.size() && text[stop] == ':') {
      const std::string_view line = text.substr(at, text.substr(at, 200).find('\n'));
      if (!headers || line.size() > 200 || !is_header(line)) break;
      at += line.size();
      continue;
    }
    // A word of prose ends a body that was cut off.
    if (stop == at || (stop - at < 16 && stop < text.size() && !is_filler(text[stop]) && text[stop] != '-'))
      break;
    digits += stop - at;
    at = end = stop;
  }
  const bool closed = text.substr(at).starts_with("-----END");
  return {closed ? at : end, digits};
}

bool names_a_private_key(std::string_view line) {
  return line.find("PRIVATE KEY") != std::string_view::npos ||
         line.find("SECRET KEY") != std::string_view::npos ||
         line.find("Static key") != std::string_view::npos;  // of OpenVPN
}

Found block_from_its_begin(std::string_view text, std::size_t at) {
  const std::size_t label = at + 10;
  const std::size_t dashes = text.substr(0, label + 80).find("-----", label);
  if (dashes == std::string_view::npos || dashes - label > 60 ||
      !names_a_private_key(text.substr(label, dashes - label)))
    return std::nullopt;
  const auto [end, digits] = read_body(text, dashes + 5, true, ListPrefix(text, at));
  if (digits < kMinBody) return std::nullopt;
  if (!text.substr(end).starts_with("-----END")) return std::pair(at, end);
  const std::size_t close = text.substr(0, end + 100).find("-----", end + 8);
  return std::pair(at, close == std::string_view::npos || close - end > 80 ? end : close + 5);
}

// The beginning was not shown: whatever base64 stands before the end goes.
Found block_from_its_end(std::string_view text, std::size_t at, std::size_t from) {
  const std::size_t close = text.substr(0, at + 100).find("-----", at + 8);
  if (close == std::string_view::npos || close - at > 80 || !names_a_private_key(text.substr(at, close - at)))
    return std::nullopt;
  std::size_t begin = at, digits = 0;
  while (begin > from && (is_base64(text[begin - 1]) || is_filler(text[begin - 1]))) {
    if (begin - from >= 5 && text.substr(begin - 5, 5) == "-----") break;
    digits += is_base64(text[begin - 1]) ? 1 : 0;
    --begin;
  }
  if (digits < 16) return std::nullopt;
  while (begin < at && is_filler(text[begin])) ++begin;
  return std::pair(begin, close + 5);
}

}  // namespace

Found key_block(std::string_view text, std::size_t at, std::size_t from) {
  const std::string_view here = text.substr(at);
  if (here.starts_with("-----BEGIN")) return block_from_its_begin(text, at);
  if (here.starts_with("-----END")) return block_from_its_end(text, at, from);
  // PuTTY's own format: "Private-Lines: 8", then the lines.
  const std::size_t line = std::min(here.substr(0, 60).find('\n'), here.size());
  const auto [end, digits] = read_body(text, at + line, false, ListPrefix(text, at));
  return digits < kMinLines ? Found() : std::pair(at + line, end);
}

// name:passw, before a slash: a port or a reference has none behind it.
static bool may_hold_a_slash(std::string_view info) {
  const std::size_t colon = info.find(':');
  return colon != std::string_view::npos && colon + 1 < info.size() && is(Chars::letter, info[colon + 1]) &&
         info.size() < 80;
}

// https://KEY@host/4501234 without a password: it says where errors are sent, and is published.
static bool is_public_address(std::string_view text, std::string_view key, std::size_t sign) {
  const std::size_t host = run_end(Chars::name, text, sign + 1);
  const std::size_t end =
      host < text.size() && text[host] == '/' ? run_end(Chars::digit, text, host + 1) : host;
  return key.size() == 32 && run_end(Chars::hex, key, 0) == key.size() && end > host + 1 &&
         (end == text.size() || !is(Chars::alnum, text[end]));
}

Found address_password(std::string_view text, std::size_t at) {
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
    return is_random(info) && !is_placeholder(info) && info.size() >= 16 ? Found(std::pair(begin, sign))
                                                                         : Found();
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
  static constexpr auto kWords =
      std::to_array<std::string_view>({"mypass", "dbpass", "userpass", "mysecret", "token"});
  for (const std::string_view word : kWords)
    if (lower == word) return std::nullopt;
  return std::pair(begin + colon + 1, sign);
}

static bool is_token_alone(std::string_view value) {
  return value.size() >= 20 && run_end(Chars::url, value, 0) == value.size() && is_random(value) &&
         !is_placeholder(value);
}

// Whether the command that goes on at `at` takes name:password and nothing else.
static bool takes_user(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxLine = 160;
  const std::string_view before = text.substr(at - std::min(at, kMaxLine), std::min(at, kMaxLine));
  const std::string_view line = before.substr(std::min(before.rfind('\n') + 1, before.size()));
  return line.find("curl ") != std::string_view::npos;
}

Found user_password(std::string_view text, std::size_t at) {
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
    return is_token_alone(name) ? Found(std::pair(at, at + colon)) : Found();
  if (colon == 0) return is_token_alone(password) ? Found(std::pair(at + 1, end)) : Found();
  static constexpr CharSet kReferences("$/+{<");
  if (is_placeholder(password) || kReferences.has(password[0]) || info[0] == '+' || info[0] == '%' ||
      !(certain || is_password_like(password)))
    return std::nullopt;
  return std::pair(at + colon + 1, end);
}

namespace {

constexpr std::size_t kMinDrawn = 32;  // shorter ones are ids more often than keys
constexpr std::size_t kMaxDrawn = 200;

// Where the prefix begins whose last sign stands before `rest`; `rest` itself when there is none.
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

}  // namespace

std::optional<PrefixedToken> next_prefixed_token(std::string_view text, std::size_t at) {
  for (std::size_t probe = at + kMinDrawn - 1; probe < text.size(); probe += kMinDrawn) {
    if (!is(Chars::alnum, text[probe])) continue;
    std::size_t begin = probe;
    while (begin > at && is(Chars::alnum, text[begin - 1])) --begin;
    const std::size_t end = run_end(Chars::alnum, text, probe);
    const bool goes_on =
        end < text.size() && (is(Chars::any_base64, text[end]) ||
                              (text[end] == '.' && end + 1 < text.size() && is(Chars::alnum, text[end + 1])));
    if (!goes_on && end - begin >= kMinDrawn && end - begin <= kMaxDrawn)
      if (const std::size_t prefix = prefix_begin(text, begin); prefix < begin)
        return PrefixedToken{prefix, begin, end};
    at = probe = end;
  }
  return std::nullopt;
}

// Capitals, small letters and digits all mixed up. Words that are joined change less often.
bool is_drawn(std::string_view rest) {
  const auto kind = [](char c) { return is_digit(c) ? 0u : is(Chars::lower, c) ? 1u : 2u; };
  std::array<std::size_t, 3> counts{};
  std::size_t changes = 0, numbers = 0;
  for (unsigned before = 3; const char c : rest) {
    const unsigned now = kind(c);
    ++counts[now];
    changes += now != before ? 1 : 0;
    numbers += now == 0 && now != before ? 1 : 0;
    before = now;
  }
  return counts[1] >= 3 && counts[2] >= 3 && numbers >= 2 && changes * 5 >= rest.size() * 2 &&
         is_random(rest) && !is_placeholder(rest);
}

namespace {

// The end of the run of base64 at `at`: over a line's end only when the line was long enough to have been
// wrapped.
std::size_t coded_end(std::string_view text, std::size_t at) {
  std::size_t line = at;
  for (;;) {
    at = run_end(Chars::code, text, at);
    while (at < text.size() && text[at] == '=') ++at;
    if (at - line < 56 || text[at - 1] == '=') return at;
    std::size_t next = at;
    while (next < text.size() && next - at < 24 && is_filler(text[next])) ++next;
    if (next == at || next >= text.size() || !is_base64(text[next]) ||
        text.substr(at, next - at).find('\n') == std::string_view::npos)
      return at;
    at = line = next;
  }
}

// Calls `take(byte)` for each byte that `run` codes, until it says no. What is no digit is passed over.
template <class Take>
void decode(std::string_view run, Take&& take) {
  const auto digit = [&](std::size_t i) { return int{kBase64[static_cast<unsigned char>(run[i])]}; };
  const auto give = [&](int bits) { return take(static_cast<char>(bits & 0xff)); };
  int bits = 0, count = 0;
  for (std::size_t at = 0; at < run.size();) {
    if (count == 0 && at + 4 <= run.size()) {
      // Less than nothing when one of them is no digit.
      const int four = digit(at) << 18 | digit(at + 1) << 12 | digit(at + 2) << 6 | digit(at + 3);
      if (four >= 0) {
        if (!give(four >> 16) || !give(four >> 8) || !give(four)) return;
        at += 4;
        continue;
      }
    }
    const int next = digit(at++);
    if (next < 0) continue;
    bits = (bits << 6 | next) & 0xffff;
    if ((count += 6) < 8) continue;
    count -= 8;
    if (!give(bits >> count)) return;
  }
}

// Of every four characters that code plain text the first one is of A to f: what is no code mostly fails
// here.
bool may_be_text(std::string_view run) {
  for (std::size_t at = 0; at < run.size() && at < 32; at += 4)
    if (kBase64[static_cast<unsigned char>(run[at])] >= 32) return false;
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
    if (kBase64[static_cast<unsigned char>(run[at])] >= 32) return false;
  std::array<char, kHead> room{};
  std::size_t size = 0;
  decode(run.substr(0, kHead), [&](char c) {
    room[size] = c;
    return c != '=' && c != ':' && (is(Chars::name, c) || c == '"' || c == '{') && ++size < room.size();
  });
  if (size < 4 || size >= room.size() || (room[size] != '=' && room[size] != ':')) return false;
  const std::string_view name(room.data(), size);
  return strength_of(name) == Strength::password || strength_of(name) == Strength::token || name == "admin" ||
         name == "root";
}

std::string decoded(std::string_view run) {
  std::string out(run.size() * 3 / 4, '\0');
  std::size_t count = 0;
  decode(run, [&](char c) {
    out[count++] = c;
    return count < out.size();
  });
  out.resize(count);
  return out;
}

}  // namespace

std::optional<CodedText> next_coded_text(std::string_view text, std::size_t at) {
  // A run of that length covers one of these places, so only they are looked at.
  for (std::size_t probe = at + kMinCoded - 1; probe < text.size(); probe += kMinCoded) {
    if (!is_base64(text[probe])) continue;
    std::size_t begin = probe;
    while (begin > at && is_base64(text[begin - 1])) --begin;
    const std::size_t end = coded_end(text, probe);
    if (end - begin >= kMinCoded) {
      // What stands before it may be of the same letters: /path/aGVsbG8=
      for (std::size_t shift = 0; shift < 4; ++shift) {
        const std::string_view run = text.substr(begin + shift, end - begin - shift);
        if (codes_text(run)) return CodedText{begin, end, decoded(run)};
      }
      if (const std::string_view run = text.substr(begin, end - begin); begins_with_a_name(run))
        return CodedText{begin, end, "", true};
    }
    at = end;
    probe = end;
  }
  return std::nullopt;
}

}  // namespace cairn::gate
