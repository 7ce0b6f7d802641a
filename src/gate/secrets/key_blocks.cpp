#include <algorithm>

#include "gate/secrets/finders.h"

namespace cairn::gate {

namespace {

constexpr std::string_view kFiveDashes = "-----", kEndLine = "-----END", kPrivateKey = "private-key";
constexpr std::size_t kMaxLabel = 80;    // between the dashes
constexpr std::size_t kMaxPrefix = 120;  // what a listing, a patch or a page puts before a line
constexpr CharSet kFillers("\n\r \t\"',>|=\\`*#");

// Lines of base64.
struct Lines {
  std::size_t begin = 0, end = 0;
  std::size_t digits = 0;
};

// Whether text[begin, end) is a line of its own, without a prefix of words. `last`: the end of the line
// before.
bool is_alone(std::string_view text, std::size_t last, std::size_t begin, std::size_t end) {
  static constexpr CharSet kEnds("\r\n\"'\\"), kNumbers("+-:0123456789");
  return (end == text.size() || kEnds.has(text[end])) &&
         skip(text, last, begin - last, [](char c) { return kFillers.has(c) || kNumbers.has(c); }) == begin;
}

// The end of the headers at `at`: Version: GnuPG v2
std::size_t behind_headers(std::string_view text, std::size_t at) {
  for (;;) {
    const std::size_t word = skip(text, at, kMaxPrefix, [](char c) { return kFillers.has(c) || c == '+'; });
    const std::size_t colon = skip(text, word, 32, [](char c) { return is(Chars::url, c); });
    const std::size_t end = text.substr(0, colon + kMaxPrefix).find('\n', colon);
    if (end == std::string_view::npos || text[colon] != ':' || !is(Chars::letter, text[word])) return at;
    at = end;
  }
}

// How far away the next line of the key may begin: a listing puts a prefix of about the same length before
// each line.
std::size_t window(const Hit& hit) {
  return kMaxPrefix + hit.begin -
         skip_back(hit.text, hit.begin, 2 * kMaxPrefix, [](char c) { return c != '\n'; });
}

// The lines of base64 that begin at `at`. If the text was cut off, the last line may be short.
Lines read_lines(const Hit& hit, std::size_t at) {
  constexpr std::size_t kLeast = 16, kLong = 32;
  at = behind_headers(hit.text, at);
  Lines lines{at, at};
  for (bool more = true; more;) {
    const std::string_view ahead = hit.text.substr(lines.end, window(hit));
    const std::size_t limit = lines.end + std::min(ahead.find(kFiveDashes), ahead.size());
    more = false;
    // A run of that length covers one of these places, so only they are looked at.
    for (std::size_t probe = lines.end + kLeast - 1; !more && probe < limit; probe += kLeast) {
      if (!is(Chars::base64, hit.text[probe])) continue;
      const std::size_t begin =
          skip_back(hit.text, probe, probe - lines.end, [](char c) { return is(Chars::base64, c); });
      const std::size_t end = hit.runs.end(Chars::base64, probe);
      if (end - begin < kLong && (end - begin < kLeast || !is_alone(hit.text, lines.end, begin, end)))
        continue;
      more = true;
      lines = {lines.digits == 0 ? begin : lines.begin, end, lines.digits + end - begin};
    }
  }
  const std::size_t rest =
      skip(hit.text, lines.end, kMaxPrefix, [](char c) { return is(Chars::base64, c) || kFillers.has(c); });
  if (rest == hit.text.size()) lines.end = rest;
  return lines;
}

// The end of the line of dashes whose label begins at `at`, if the label is that of a private key.
std::size_t label_end(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(std::min(at, text.size()), kMaxLabel);
  const std::string_view label = rest.substr(0, rest.find(kFiveDashes));
  for (const std::string_view name : {"PRIVATE KEY", "SECRET KEY", "Static key"})  // the last is OpenVPN's
    if (label.size() < rest.size() && label.find(name) != std::string_view::npos)
      return at + label.size() + kFiveDashes.size();
  return 0;
}

}  // namespace

std::size_t find_key_block(const Hit& hit, const Sign& sign) {
  enum { begin, end, lines };
  constexpr std::size_t kMinBody = 48;   // characters of base64 that make a key rather than a mention of one
  constexpr std::size_t kMinLines = 40;  // the same after "Private-Lines:", which only keys of PuTTY have
  const std::string_view text = hit.text;
  if (sign.how == lines) {  // of PuTTY
    if (const Lines body = read_lines(hit, hit.end); body.digits >= kMinLines)
      hit.add(body.begin, body.end, kPrivateKey);
    return 0;
  }
  const std::size_t label = label_end(text, hit.end);
  if (label == 0) return 0;
  if (sign.how == begin) {
    const Lines body = read_lines(hit, label);
    if (body.digits < kMinBody) return 0;
    const std::size_t close = text.substr(body.end, 2 * window(hit)).find(kFiveDashes);
    const bool ends = close < text.size() && text.substr(body.end + close).starts_with(kEndLine);
    const std::size_t closed = ends ? label_end(text, body.end + close + kEndLine.size()) : std::size_t{0};
    hit.add(hit.begin, std::max(body.end, closed), kPrivateKey);
    return 0;
  }
  // The beginning was cut off: all base64 before the end line.
  const std::size_t first = skip_back(text, hit.begin, hit.begin - hit.from,
                                      [](char c) { return is(Chars::base64, c) || kFillers.has(c); });
  const std::size_t body = skip(text, first, hit.begin - first, kFillers);
  if (count_of(Chars::base64, between(text, body, hit.begin)) >= 16) hit.add(body, label, kPrivateKey);
  return 0;
}

}  // namespace cairn::gate
