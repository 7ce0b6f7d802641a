#include "gate/secrets/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "gate/secrets/literals.h"
#include "gate/secrets/rules.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxRandom = 4096;
constexpr std::size_t kMaxLooked = 200;  // characters of a password that are judged

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_letter(char c) {
  return is(Chars::letter, c);
}
constexpr int kByLot = -16;     // sixteen to one
constexpr int kAsInWords = 32;  // 256 to one

bool has_distinct(std::string_view value, int wanted) {
  std::array<std::uint64_t, 4> seen{};
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint64_t& word = seen[byte >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (byte & 63);
    wanted -= (word & bit) == 0 ? 1 : 0;
    if (wanted == 0) return true;
    word |= bit;
  }
  return false;
}

// 12345678, abcdefgh, 987654: each character follows the one before, but for a few.
bool is_sequence(std::string_view value) {
  if (value.size() < 4) return false;
  std::size_t jumps = (value.size() - 1) / 5;  // that may still come
  for (std::size_t i = 1; i < value.size(); ++i) {
    const int step = value[i] - value[i - 1];
    const bool next = step + 1u <= 2u, around = (value[i - 1] == '9') & (value[i] == '0');
    if (next | around) continue;
    if (jumps-- == 0) return false;
  }
  return true;
}

// The parts of a name, one after the other: split where letters end and where a capital begins a word. Empty
// when there are no more.
std::string_view next_piece(std::string_view value, std::size_t& at) {
  while (at < value.size() && !is_letter(value[at])) ++at;
  if (at == value.size()) return {};
  const std::size_t begin = at++;
  const bool capitals = is_upper(value[begin]) && at < value.size() && is_upper(value[at]);
  while (at < value.size() && (capitals ? is_upper(value[at]) : is_lower(value[at]))) ++at;
  // HTTPServer: the last capital belongs to the next word.
  if (capitals && at < value.size() && is_lower(value[at]) && at - begin > 2) --at;
  return value.substr(begin, at - begin);
}

// A piece that can be spoken: a vowel, and no long run of consonants.
bool is_spoken(std::string_view piece) {
  std::size_t run = 0, longest = 0, vowels = 0;
  for (const char c : piece) {
    constexpr std::uint32_t kVowels = 1u << 1 | 1u << 5 | 1u << 9 | 1u << 15 | 1u << 21 | 1u << 25;  // aeiouy
    const bool vowel = (kVowels >> (c & 31) & 1) != 0;
    vowels += vowel ? 1 : 0;
    run = vowel ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  if (piece.size() <= 3 || (piece.size() <= 5 && is_all(Chars::upper, piece))) return true;
  return vowels * 6 >= piece.size() && longest <= 4;
}

bool separates(char c) {
  return c == '-' || c == '_' || c == '.' || c == '/' || c == ':' || c == ' ';
}

// Counts of the kinds of characters in a value.
struct Form {
  std::size_t letters = 0, digits = 0, numbers = 0;
  std::size_t words = 0;  // at least so many pieces
  bool humps = false;     // aB
  bool resumes = false;   // 1a
};

Form form_of(std::string_view value) {
  Form form;
  for (char before = ' '; const char c : value) {
    const bool letter = is_letter(c), digit = is_digit(c);
    const bool goes_on = is_letter(before) && (is_lower(c) || is_upper(before));
    form.letters += letter;
    form.digits += digit;
    form.numbers += digit && !is_digit(before);
    form.words += letter && !goes_on;
    form.humps |= is_lower(before) && is_upper(c);
    form.resumes |= letter && is_digit(before);
    before = c;
  }
  return form;
}

// my-app-db-v2: lower-case words and short numbers between separators.
bool is_slug(std::string_view value) {
  std::size_t words = 0, mixed = 0, numbers = 0;
  for (std::size_t at = 0; at <= value.size();) {
    std::size_t number = at;
    while (number < value.size() && is_letter(value[number])) ++number;
    std::size_t end = number;
    while (end < value.size() && is_digit(value[end])) ++end;
    const std::size_t letters = number - at, digits = end - number;
    if (digits > 4 || (end < value.size() && !separates(value[end]))) return false;
    if (letters > 16 || !is_spoken(value.substr(at, letters))) return false;
    words += letters >= 3 ? 1 : 0;
    mixed += letters > 0 && digits > 0 ? 1 : 0;
    numbers += letters == 0 && digits > 0 ? 1 : 0;
    at = end + 1;
  }
  return words > 0 && mixed <= 1 + words && numbers <= 1 + words;
}

constexpr std::size_t kTelling = 160;  // characters of a value in which they are looked for

// Letters in words, and nothing that people put into passwords.
bool is_plain_words(std::string_view rest) {
  static constexpr CharSet kSigns("!@#$%^&*+=?~");
  if (kSigns.any_in(rest)) return false;
  while (!rest.empty() && is_digit(rest.back())) rest.remove_suffix(1);
  return rest.size() < 4 || is_words(rest);
}

bool says_so(std::string_view value) {
  if (value.starts_with('<'))
    return value.find('>') != std::string_view::npos || is_plain_words(value.substr(1));
  // They count when the rest is words, too: my_password, not my_Str0ng!Pass
  static const WordList kWordStarts("placeholder-word-starts");
  if (const std::size_t size = kWordStarts.begins(value); size > 0 && is_plain_words(value.substr(size)))
    return true;
  static const auto &kStarts = WordList::texts("placeholder-starts"),
                    &kParts = WordList::texts("placeholder-parts"),
                    &kWholes = WordList::texts("placeholders");
  static const Literals kLiterals = [] {
    std::vector<Literals::Literal> all;
    for (const auto* list : {&kStarts, &kParts, &kWholes})
      for (const std::string_view text : *list) all.push_back({text});
    return Literals(all);
  }();
  const std::string_view seen = value.substr(0, kTelling);
  bool found = false;
  kLiterals.each(seen, [&](std::size_t index, std::size_t at) {
    const std::size_t whole = index - kStarts.size() - kParts.size();
    const bool fits =
        index < kStarts.size() || (whole < kWholes.size() && kWholes[whole].size() == value.size());
    found = found || (at == 0 && fits) || (index >= kStarts.size() && index < kStarts.size() + kParts.size());
    return found ? seen.size() : 0;
  });
  return found;
}

// Shannon entropy of the whole value.
double entropy(std::string_view value) {
  struct Weights {
    std::array<double, kMaxRandom + 1> of{};  // n * log2(n)
    std::array<double, kMaxRandom> step{};    // to the next
    Weights() {
      for (std::size_t i = 1; i < of.size(); ++i)
        of[i] = static_cast<double>(i) * std::log2(static_cast<double>(i));
      for (std::size_t i = 0; i < step.size(); ++i) step[i] = of[i + 1] - of[i];
    }
  };
  static const Weights kWeights;
  std::array<std::uint16_t, 256> counts{};
  double bits = kWeights.of[value.size()];
  for (const char c : value) bits -= kWeights.step[counts[static_cast<unsigned char>(c)]++];
  return bits;
}

}  // namespace

std::string_view bare(std::string_view secret, std::string& room) {
  if (run_end(Chars::bare, secret, 0) == secret.size()) return secret;
  room.resize(std::max(room.size(), secret.size()));
  std::size_t size = 0;
  for (const char c : secret) {  // no branch: each is written, and kept or not
    room[size] = c;
    size += is(Chars::bare, c) ? 1 : 0;
  }
  return std::string_view(room).substr(0, size);
}

bool is_placeholder(std::string_view value) {
  if (value.starts_with("[secret:") || value.starts_with("[private]")) return true;
  return value.size() < 4 || !has_distinct(value, 4) || is_sequence(value) || says_so(value);
}

bool is_words(std::string_view value) {
  const int likeness = likeness_to_words(value);
  if (likeness < kByLot) return false;
  const Form form = form_of(value);
  if (likeness > kAsInWords && form.digits == 0) return true;
  if (!form.humps && !form.resumes && is_slug(value)) return true;
  if (form.numbers > 2 || form.digits * 3 >= value.size() || form.letters * 2 < form.words * 7) return false;
  std::size_t letters = 0, parts = 0;
  for (std::size_t at = 0;; ++parts) {
    const std::string_view part = next_piece(value, at);
    if (part.empty()) break;
    letters += part.size();
    if (!is_spoken(part)) return false;
  }
  return parts > 0 && letters * 2 >= parts * 7;  // three and a half letters on average
}

bool is_name_of_something(std::string_view value) {
  static constexpr CharSet kDashes("-_");
  return count_of(Chars::digit, value) <= 2 && kDashes.any_in(value) && is_words(value);
}

bool is_random(std::string_view value) {
  if (value.size() < 12) return false;
  value = value.substr(0, kMaxRandom);
  const bool numbers = value.find_first_not_of("0123456789.-:+TZ /,") == std::string_view::npos;
  if (numbers || !has_distinct(value, 7) || is_words(value)) return false;
  const bool hex = is_all(Chars::any_hex, value);
  return entropy(value) >= (hex ? 40 : 34);
}

bool is_random_code(std::string_view value) {
  const auto kind = [](char c) { return is_digit(c) ? 0u : is(Chars::lower, c) ? 1u : 2u; };
  std::array<std::size_t, 3> counts{};
  std::size_t changes = 0, numbers = 0;
  for (unsigned before = 3; const char c : value) {
    const unsigned now = kind(c);
    ++counts[now];
    changes += now != before ? 1 : 0;
    numbers += now == 0 && now != before ? 1 : 0;
    before = now;
  }
  return counts[1] >= 3 && counts[2] >= 3 && numbers >= 2 && changes * 5 >= value.size() * 2 &&
         is_random(value) && !is_placeholder(value);
}

int mixture(std::string_view value) {
  static constexpr CharSet kSigns("!@#$%^?~*");
  bool small = false, capital = false, digit = false, sign = false;
  for (const char c : value) {
    digit |= is_digit(c);
    small |= is_lower(c);
    capital |= is_upper(c);
    sign |= kSigns.has(c);
  }
  return small + capital + digit + 2 * sign;
}

// Lantern_4711x: a word, a sign, a number, and one letter more. What is numbered ends with its number.
static bool is_word_and_number(std::string_view value) {
  const std::size_t sign = run_end(Chars::letter, value, 0);
  if (sign < 4 || sign + 6 != value.size() || value[sign] != '_' || !is(Chars::letter, value.back()))
    return false;
  return run_end(Chars::digit, value, sign + 1) >= sign + 5;
}

bool is_chosen(std::string_view value) {
  if (value.size() < 8 || value.size() > 64 || count_of(Chars::digit, value) == 0) return false;
  const std::size_t sign = value.find('@');
  const bool is_mail = sign != std::string_view::npos && value.find('.', sign) != std::string_view::npos;
  return count_of(Chars::letter, value) > 1 && !is_mail && (mixture(value) >= 4 || is_word_and_number(value));
}

bool is_version_or_time(std::string_view value) {
  static constexpr CharSet kOfNumbers("0123456789.:-+_/TZ");
  // jjwt-api:0.12.3: what has a version at its end is the name of a file or of a package.
  for (std::size_t at = value.find('.'); at != std::string_view::npos; at = value.find('.', at + 1)) {
    std::size_t number = at;
    while (number > 0 && at - number < 5 && is_digit(value[number - 1])) --number;
    const bool joined = number < at && number > 1 && CharSet("-:_@v").has(value[number - 1]);
    if (joined && at + 1 < value.size() && is_digit(value[at + 1])) return true;
  }
  if (value.starts_with('v') || value.starts_with('V')) value.remove_prefix(1);
  if (value.empty() || !is_digit(value[0])) return false;
  const std::size_t dot = run_end(Chars::digit, value, 0);
  if (dot < 5 && dot + 1 < value.size() && value[dot] == '.' && is_digit(value[dot + 1])) return true;
  std::size_t end = 0;
  while (end < value.size() && kOfNumbers.has(value[end])) ++end;
  // A unit may follow.
  return value.size() - end <= 3 && run_end(Chars::letter, value, end) == value.size();
}

bool is_mixed_word(std::string_view value) {
  static constexpr CharSet kOfOthers("()[]{}<>\"'`,;|\\/:=@#");
  static const WordList kAlgorithms("algorithms");  // PBKDF2WithHmacSHA256, base64url
  if (value.size() < 8 || !is(Chars::alnum, value[0]) || kOfOthers.any_in(value)) return false;
  value = value.substr(0, kMaxLooked);
  const auto digits = count_of(Chars::digit, value);
  if (digits == 0 || count_of(Chars::letter, value) < 2 || is_version_or_time(value) || is_placeholder(value))
    return false;
  if (std::any_of(value.begin(), value.end(), [](char c) { return (c & 0x80) != 0; })) return false;
  if (kAlgorithms.is_in(value.substr(0, 64))) return false;
  // sunshine99: a word with a number behind it. One with a single digit is the second of its kind.
  if (is_words(value))
    return digits >= 2 && run_end(Chars::letter, value, 0) + static_cast<std::size_t>(digits) == value.size();
  return true;
}

bool is_password_like(std::string_view value) {
  static constexpr CharSet kSymbols("!@#$%^&*+=?~"), kBetween("-_./:");
  if (value.size() < 6) return false;
  value = value.substr(0, kMaxLooked);
  if (is_random(value)) return true;
  const bool symbol = kSymbols.any_in(value.substr(1));
  return value.find(' ') == std::string_view::npos && count_of(Chars::letter, value) > 0 &&
         (symbol || count_of(Chars::digit, value) > 0) && !(kBetween.any_in(value) && is_slug(value));
}

}  // namespace cairn::gate
