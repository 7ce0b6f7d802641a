#include <array>
#include <cstdint>

#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

// A row for each letter: how often each letter follows it, compared with random text (one in 26). Counted
// in 255 MB of Debian's documentation, headers and Python. 'o': as often as in random text; each letter
// after 'o' means half a bit more, each letter before it half a bit less.
constexpr std::string_view kFollows =
    "koqpklniogmrprgodrqsmljjmh"
    "rooornkiqoisliqldpolrigkni"
    "rlnmrmgsoeqpmiskeomqoifekg"
    "ronounkjshiolkqkeookoiigke"
    "pmqqnnmilfiporkmksrqimkomg"
    "qnpoqrifsaeokkrkdpooofhgma"
    "qkmmukmoqgfomppmeqpnoiifjj"
    "tikktiigsejmmlskeomoogkclf"
    "ooqoomoeggkqouqmeoqqhmgkem"
    "skmmtlijqikkmmsmikpkqjkdhd"
    "qmlmukmmsgkommqmgnqmoikfmf"
    "rkkotkigsdjqkirkaiopokgeog"
    "tolmtiigreknoiqreiokoigglc"
    "qiqqqosjqgmkjmpkejqsmliejg"
    "lnppkmmilhlpqtopasoopnojig"
    "simlskknqckqkkqoesoqogigme"
    "kilkmjkgmfdpklkkinokwiiicc"
    "sknnukmgrclmomrkeoqpmkiene"
    "oiokskjpqemolkpoikqtoikeng"
    "qinktkiqsekmkiqlcroongjioi"
    "ooomqomgoekqpskparqrggekgi"
    "tjmjvjjgschkmkokckmliiiggf"
    "sknmskkotdimkpqkgrpkkgighe"
    "okqmqmkkqammqjkrelstkkimlg"
    "qmnmolmioekqprotcmsqmikhik"
    "skllvminshiomkpkeknkmijgmo";

constexpr CharSet kSeparators("-_./ ");

// How much likelier the pairs of letters in `value` are in words than in random text, in half bits; below 0:
// random. Short parts, pairs of capitals (abbreviations) and a capital after a small letter (a new word) do
// not count.
int likeness_to_words(std::string_view value) {
  constexpr std::size_t kLeast = 8;                             // shorter parts are often abbreviations
  if (run_end(Chars::salt, value, 0) < value.size()) return 0;  // code
  int sum = 0;
  for (std::size_t begin = 0; begin < value.size();) {
    std::size_t end = begin + 1;
    int part = 0;
    for (; end < value.size() && !kSeparators.has(value[end]); ++end) {
      const char first = value[end - 1], second = value[end];
      if (is_lower(second) && is(Chars::letter, first))
        part += kFollows[static_cast<std::size_t>(26 * ((first | 0x20) - 'a') + second - 'a')] - 'o';
    }
    if (end - begin >= kLeast) sum += part;
    begin = end + 1;
  }
  return sum;
}

// The parts of a name, one after the other: split where letters end and where a capital begins a word. Empty
// when there are no more.
std::string_view next_piece(std::string_view value, std::size_t& at) {
  while (at < value.size() && !is(Chars::letter, value[at])) ++at;
  if (at == value.size()) return {};
  const std::size_t begin = at++;
  const bool capitals = is_upper(value[begin]) && at < value.size() && is_upper(value[at]);
  while (at < value.size() && (capitals ? is_upper(value[at]) : is_lower(value[at]))) ++at;
  // HTTPServer: the last capital belongs to the next word.
  if (capitals && at < value.size() && is_lower(value[at]) && at - begin > 2) --at;
  return between(value, begin, at);
}

// Whether a piece can be pronounced: it has enough vowels and no long run of consonants. Short pieces count,
// too: they may be abbreviations.
bool is_spoken(std::string_view piece) {
  if (piece.size() <= 3 || (piece.size() <= 5 && is_all(Chars::upper, piece))) return true;
  static constexpr CharSet kVowels("aeiouyAEIOUY");
  std::size_t run = 0, longest = 0, vowels = 0;
  for (const char c : piece) {
    vowels += kVowels.has(c) ? 1 : 0;
    run = kVowels.has(c) ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  return vowels * 6 >= piece.size() && longest <= 4;
}

// my-app-db-v2, 2025-01-15-close-test: short words and numbers between separators.
bool is_slug(std::string_view value) {
  std::size_t words = 0, numbers = 0;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t number = run_end(Chars::letter, value, at), end = run_end(Chars::digit, value, number);
    if (end - number > 4 || (end < value.size() && !kSeparators.has(value[end]) && value[end] != ':'))
      return false;
    std::size_t next = 0;
    const std::string_view word = between(value, at, number), piece = next_piece(word, next);
    if (piece.size() < word.size() || word.size() > 16 || !is_spoken(word)) return false;
    words += word.size() >= 3 ? 1 : 0;
    numbers += end > number ? 1 : 0;
    at = end + 1;
  }
  return words > 0 && numbers <= 2 + 2 * words;
}

}  // namespace

bool is_words(std::string_view value) {
  constexpr int kAtRandom = -8;   // random text is sixteen times as likely
  constexpr int kAsInWords = 16;  // words are 256 times as likely
  const int likeness = likeness_to_words(value);
  if (likeness < kAtRandom) return false;
  std::size_t digits = 0, numbers = 0;
  for (char before = ' '; const char c : value) {
    digits += is_digit(c) ? 1 : 0;
    numbers += is_digit(c) && !is_digit(before) ? 1 : 0;
    before = c;
  }
  if ((digits == 0 && likeness > kAsInWords) || is_slug(value)) return true;
  if (numbers > 2 || digits * 3 >= value.size()) return false;
  std::size_t letters = 0, pieces = 0, at = 0;
  for (std::string_view part = next_piece(value, at); !part.empty(); part = next_piece(value, at)) {
    if (!is_spoken(part)) return false;
    letters += part.size();
    ++pieces;
  }
  return letters * 2 >= pieces * 7;  // three and a half letters on average
}

}  // namespace cairn::gate
