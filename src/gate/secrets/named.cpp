#include <algorithm>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxCookieName = 64;
constexpr std::size_t kMaxCookie = 1024;  // of a value: its beginning is judged, and all of it is removed

// `checksum/secret: ...`, and parts of the name of a resource: arn:aws:...:secret:db-1a2b3c
bool is_part_of_an_id(std::string_view text, std::size_t name, Runs& runs) {
  if (name == 0 || (text[name - 1] != '/' && text[name - 1] != ':')) return false;
  constexpr std::size_t kMaxArn = 200;
  const std::size_t begin = std::max(runs.begin(Chars::visible, name), name - std::min(name, kMaxArn));
  return ends_with_nocase(text.substr(0, name), "checksum/") ||
         text.substr(begin, name - begin).find("arn:") != std::string_view::npos;
}

// "the api key is ...": a key of prose has its name in two words.
std::size_t with_word_before(std::string_view text, std::size_t begin, std::size_t end) {
  static const WordList kWords("words-before-key");
  if (begin == 0 || text[begin - 1] != ' ' || !starts_with_nocase(text.substr(begin, end - begin), "key"))
    return begin;
  std::size_t word = begin - 1;
  while (word > 0 && begin - word < 12 && is(Chars::letter, text[word - 1])) --word;
  return end - begin == 3 && kWords.has(text.substr(word, begin - 1 - word)) ? word : begin;
}

// "here is the key: ...": what is beside the word alone must be longer and more mixed up than any id.
std::size_t find_random_key(const Hit& hit, std::size_t end) {
  const std::string_view text = hit.text;
  constexpr std::size_t kLeast = 32, kMost = 100;
  static constexpr CharSet kBetween(" :=\"'`");
  std::size_t begin = end;
  while (begin < text.size() && begin - end < 5 && kBetween.has(text[begin])) ++begin;
  if (text.substr(begin, 3) == "is ") begin += 3;
  if (begin == end || begin + kLeast > text.size() || !is(Chars::alnum, text[begin + kLeast - 1])) return 0;
  const std::size_t stop = run_end(Chars::alnum, text.substr(0, begin + kMost), begin);
  const bool ends = stop == text.size() || !(is(Chars::any_base64, text[stop]) || text[stop] == '.');
  if (stop - begin >= kLeast && ends && is_random_code(text.substr(begin, stop - begin)))
    hit.add(begin, stop, "key");
  return stop - begin;
}

bool is_secret_cookie(std::string_view name, std::string_view value) {
  static const WordList kAttributes("cookie-attributes");
  value = value.substr(0, kMaxCookie);
  const auto of_a_session = [&] {
    const std::string lower = ascii_lower(name);
    return strength_of(name) != Strength::none || lower.find("sess") != std::string::npos ||
           lower.ends_with("id") || lower.find("auth") != std::string::npos;
  };
  return value.size() >= 8 && value.find(' ') == std::string_view::npos && !kAttributes.has(name) &&
         !is_placeholder(value) && (is_random(value) || (!is_words(value) && of_a_session()));
}

}  // namespace

bool is_cookie_name(std::string_view name) {
  return ends_with_nocase(name, "cookie") || ends_with_nocase(name, "cookies");
}

std::size_t find_cookies(const Hit& hit) {
  static constexpr CharSet kEndOfCookies("\r\n\"'`");
  const std::string_view text = hit.text;
  std::size_t at = hit.end;
  const auto skip_quotes = [&] {
    while (at < text.size() && (text[at] == ' ' || is_quote(text[at]))) ++at;
  };
  skip_quotes();
  if (at >= text.size() || (text[at] != ':' && text[at] != '=') || text.substr(at, 2) == "==") return at;
  ++at;
  skip_quotes();
  const auto goes_on = [&](std::size_t i) {
    return i < text.size() && text[i] != ';' && !kEndOfCookies.has(text[i]);
  };
  for (std::size_t limit = at + 4 * kMaxCookie; at < limit && goes_on(at);) {
    std::size_t end = at;
    while (end < limit && goes_on(end)) ++end;
    const std::string_view cookie = text.substr(at, end - at);
    const std::size_t equals = std::min(cookie.find('='), cookie.size());
    const std::string_view name = trim(cookie.substr(0, std::min(equals, kMaxCookieName)));
    if (is_secret_cookie(name, cookie.substr(std::min(equals + 1, cookie.size())))) {
      while (goes_on(end) && is(Chars::visible, text[end])) ++end;
      hit.add(at + equals + 1, end, "cookie");
      limit = end + 4 * kMaxCookie;
    }
    at = end;
    while (at < text.size() && (text[at] == ' ' || text[at] == ';')) ++at;
  }
  return at;
}

NameRead find_named(const Hit& hit) {
  const std::string_view text = hit.text;
  const std::size_t at = hit.begin;
  std::size_t begin = std::max(hit.runs.begin(Chars::name, at), at - std::min(at, kMaxName));
  std::size_t end = std::min(hit.runs.end(Chars::name, at), at + kMaxName);
  while (begin < at && !is(Chars::word, text[begin])) ++begin;
  while (end > at && !is(Chars::word, text[end - 1])) --end;
  begin = with_word_before(text, begin, end);
  const std::string_view name = text.substr(begin, end - begin);
  const Hit named{text, begin, end, hit.runs, hit.found};
  if (is_cookie_name(name)) {
    const std::size_t stop = find_cookies(named);
    return {stop, kReadingName + stop - end, stop};
  }
  const Strength strength = strength_of(name);
  const bool is_key = strength <= Strength::weak && ends_with_nocase(name, "key");
  if (strength == Strength::none) return {end, kReadingName + (is_key ? find_random_key(hit, end) : 0), end};
  if (is_part_of_an_id(text, begin, hit.runs)) return {end, kReadingName, end};
  const std::size_t known = hit.found.size();
  const std::size_t judged = find_value_of(named, strength);
  const bool key_only = is_key && hit.found.size() == known;
  return {end, judged + (key_only ? find_random_key(hit, end) : 0), begin};
}

std::size_t find_behind(const Hit& hit) {
  const std::size_t word = hit.runs.end(Chars::word, hit.end);  // l\u00f6senordet
  if (word > hit.end + 2) return kReadingName;
  return find_value_of({hit.text, hit.begin, word, hit.runs, hit.found}, Strength::password);
}

bool is_secret_under(std::string_view name, std::string_view value) {
  const Strength strength = strength_of(name);
  return strength != Strength::none && is_secret(strength, Style::quoted, value.substr(0, kMaxValue)) &&
         !is_named_otherwise(name, value);
}

}  // namespace cairn::gate
