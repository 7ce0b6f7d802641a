#include "gate/secret_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"

namespace cairn::gate {

namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::size_t distinct(std::string_view value) {
  std::array<bool, 256> seen{};
  for (const char c : value) seen[static_cast<unsigned char>(c)] = true;
  return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

// 12345678, abcdefgh, 987654: each character follows the one before.
bool is_sequence(std::string_view value) {
  if (value.size() < 4) return false;
  int steps = 0;
  for (std::size_t i = 1; i < value.size(); ++i) {
    const int step = value[i] - value[i - 1];
    steps += step == 1 || step == -1 || step == 0 || (value[i - 1] == '9' && value[i] == '0') ? 1 : 0;
  }
  return steps * 10 >= static_cast<int>(value.size() - 1) * 8;
}

// The parts of a name: split where letters end and where a capital begins a word.
std::vector<std::string_view> pieces(std::string_view value) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < value.size();) {
    if (!is_letter(value[at])) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    const bool capitals = is_upper(value[at]) && end < value.size() && is_upper(value[end]);
    while (end < value.size() && (capitals ? is_upper(value[end]) : is_lower(value[end]))) ++end;
    // HTTPServer: the last capital belongs to the next word.
    if (capitals && end < value.size() && is_lower(value[end]) && end - at > 2) --end;
    out.push_back(value.substr(at, end - at));
    at = end;
  }
  return out;
}

// A piece that can be spoken: a vowel, and no long run of consonants.
bool is_spoken(std::string_view piece) {
  std::size_t run = 0, longest = 0, vowels = 0;
  for (const char c : piece) {
    const char lower = static_cast<char>(c | 0x20);
    const bool vowel = std::string_view("aeiouy").find(lower) != std::string_view::npos;
    vowels += vowel ? 1 : 0;
    run = vowel ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  if (piece.size() <= 3 || (piece.size() <= 5 && std::all_of(piece.begin(), piece.end(), is_upper)))
    return true;
  return vowels * 6 >= piece.size() && longest <= 4;
}

// my-app-db-v2: lower-case words and short numbers between separators.
bool is_slug(std::string_view value) {
  std::size_t words = 0, mixed = 0, numbers = 0;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find_first_of("-_./: ", at), value.size());
    const std::string_view part = value.substr(at, end - at);
    const std::size_t letters =
        static_cast<std::size_t>(std::find_if_not(part.begin(), part.end(), is_letter) - part.begin());
    const std::size_t digits = part.size() - letters;
    if (digits > 4 || !std::all_of(part.begin() + static_cast<std::ptrdiff_t>(letters), part.end(), is_digit))
      return false;
    const std::string_view word = part.substr(0, letters);
    if (!std::all_of(word.begin(), word.end(), is_lower) &&
        !std::all_of(word.begin(), word.end(), is_upper) &&
        !(is_upper(word[0]) && std::all_of(word.begin() + 1, word.end(), is_lower)))
      return false;
    if (letters > 16 || !is_spoken(word)) return false;
    words += letters >= 3 ? 1 : 0;
    mixed += letters > 0 && digits > 0 ? 1 : 0;
    numbers += letters == 0 && digits > 0 ? 1 : 0;
    at = end + 1;
  }
  return words > 0 && mixed <= 1 + words && numbers <= 1 + words;
}

// SSL_CTRL_TMP_KEY: letters only, in several parts.
bool is_constant(std::string_view value) {
  const auto separators =
      std::count_if(value.begin(), value.end(), [](char c) { return c == '_' || c == '-'; });
  const bool letters =
      std::all_of(value.begin(), value.end(), [](char c) { return is_letter(c) || c == '_' || c == '-'; });
  return letters && separators > 0 && std::ssize(value) <= 12 * (separators + 1) &&
         pieces(value).size() <= static_cast<std::size_t>(2 * (separators + 1));
}

}  // namespace

bool is_placeholder(std::string_view value) {
  if (value.starts_with("[secret:") || value.starts_with("[private]")) return true;
  if (value.size() < 4 || distinct(value) <= 3 || is_sequence(value)) return true;
  const std::string lower = ascii_lower(value.substr(0, 160));
  for (const std::string_view start :
       {"your",   "my-",   "my_",   "<",     "${",    "$(",        "{{",      "{%",   "#{",     "%(",
        "%{",     "<%",    "...",   "***",   "enter", "insert",    "replace", "fake", "mock",   "env:",
        "vault:", "file:", "op://", "sm://", "arn:",  "projects/", "ref+",    "!ref", "!secret"})
    if (lower.starts_with(start)) return true;
  for (const std::string_view part : {"example",     "placeholder",
                                      "changeme",    "change-me",
                                      "change_me",   "change-this",
                                      "change_this", "redacted",
                                      "dummy",       "xxxxxx",
                                      "******",      "your-",
                                      "your_",       "-here",
                                      "_here",       "goes-here",
                                      "not-a-real",  "not_a_real",
                                      "notreal",     "deadbeefdeadbeef",
                                      "0123456789",  "1234567890abcdef",
                                      "abcdefghij",  "process.env",
                                      "os.environ",  "getenv(",
                                      "secrets.",    "env.",
                                      "sample-",     "sample_",
                                      "lorem"})
    if (lower.find(part) != std::string::npos) return true;
  for (const std::string_view whole :
       {"password", "passwd",   "passw0rd",  "password1", "password123", "secret",   "secret123",    "s3cret",
        "token",    "test",     "testing",   "test123",   "test1234",    "testpass", "testpassword", "null",
        "none",     "nil",      "undefined", "true",      "false",       "string",   "admin",        "root",
        "user",     "default",  "postgres",  "mysql",     "mongo",       "redis",    "guest",        "foobar",
        "pass",     "pass123",  "pass1234",  "letmein",   "hunter2",     "qwerty",   "qwerty123",    "todo",
        "unset",    "empty",    "required",  "optional",  "hidden",      "masked",   "username",     "abc123",
        "p@ssw0rd", "p@ssword", "bar",       "baz",       "value",       "key"})
    if (lower == whole) return true;
  return false;
}

bool is_words(std::string_view value) {
  if (is_slug(value) || is_constant(value)) return true;
  const auto parts = pieces(value);
  if (parts.empty()) return false;
  std::size_t letters = 0, groups = 0, digits = 0;
  for (const std::string_view part : parts) {
    letters += part.size();
    if (!is_spoken(part)) return false;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    digits += is_digit(value[i]) ? 1 : 0;
    groups += is_digit(value[i]) && (i == 0 || !is_digit(value[i - 1])) ? 1 : 0;
  }
  const double mean = static_cast<double>(letters) / static_cast<double>(parts.size());
  return mean >= 3.5 && groups <= 2 && digits * 3 < value.size();
}

bool is_random(std::string_view value) {
  if (value.size() < 12 || value.size() > 4096) return false;
  const bool all_digits = std::all_of(value.begin(), value.end(), [](char c) {
    return is_digit(c) || c == '.' || c == '-' || c == ':' || c == '+' || c == 'T' || c == 'Z' || c == ' ' ||
           c == '/' || c == ',';
  });
  if (all_digits || is_words(value) || distinct(value) < 7) return false;
  std::array<int, 256> counts{};
  for (const char c : value) ++counts[static_cast<unsigned char>(c)];
  double bits = 0;
  for (const int n : counts)
    if (n > 0) bits -= n * std::log2(static_cast<double>(n) / static_cast<double>(value.size()));
  const bool hex = std::all_of(value.begin(), value.end(), is_hex);
  return bits >= (hex ? 40 : 34);
}

bool is_password_like(std::string_view value) {
  if (value.size() < 6 || value.size() > 200) return false;
  if (is_random(value)) return true;
  if (std::any_of(value.begin(), value.end(), [](char c) { return c == ' '; })) return false;
  const bool digit = std::any_of(value.begin(), value.end(), is_digit);
  const bool letter = std::any_of(value.begin(), value.end(), is_letter);
  const bool symbol = std::any_of(value.begin() + 1, value.end(), [](char c) {
    return std::string_view("!@#$%^&*+=?~").find(c) != std::string_view::npos;
  });
  const bool number_only_suffix_word =
      is_slug(value) && value.find_first_of("-_./:") != std::string_view::npos;
  return letter && (digit || symbol) && !number_only_suffix_word;
}

}  // namespace cairn::gate
