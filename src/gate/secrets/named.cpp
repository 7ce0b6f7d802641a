#include <algorithm>

#include "base/text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

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
  if (begin == 0 || text[begin - 1] != ' ' || end - begin != 3 ||
      !ends_with_nocase(text.substr(0, end), "key"))
    return begin;
  const std::size_t word = skip_back(text, begin - 1, 12, [](char c) { return is(Chars::letter, c); });
  return kWords.has(between(text, word, begin - 1)) ? word : begin;
}

// "here is the key: ...": beside the bare word "key" a value counts only if it is longer and more irregular
// than any id.
std::size_t find_random_key(const Hit& hit, std::size_t end) {
  constexpr std::size_t kLeast = 32, kMost = 100;
  static constexpr CharSet kBetween(" :=\"'`");
  std::size_t begin = skip(hit.text, end, 5, kBetween);
  if (hit.text.substr(begin, 3) == "is ") begin += 3;
  const std::size_t stop = run_end(Chars::alnum, hit.text.substr(0, begin + kMost), begin);
  const bool goes_on =
      stop < hit.text.size() && (is(Chars::any_base64, hit.text[stop]) || hit.text[stop] == '.');
  if (begin > end && stop >= begin + kLeast && !goes_on && is_random_code(between(hit.text, begin, stop)))
    hit.add(begin, stop, "key");
  return stop - begin;
}

// Whether the cookie is a secret: its value is random, or it is no word and the name is that of a session.
bool is_secret_cookie(std::string_view name, std::string_view value) {
  static const WordList kSessions("cookies-of-sessions"), kAttributes("cookie-attributes");
  const auto of_a_session = [&] {
    return strength_of(name) != Strength::none || ends_with_nocase(name, "id") || kSessions.is_in(name);
  };
  return value.size() >= 8 && value.find(' ') == std::string_view::npos && !kAttributes.has(name) &&
         !is_placeholder(value) && (is_random(value) || (!is_words(value) && of_a_session()));
}

}  // namespace

bool is_cookie_name(std::string_view name) {
  return ends_with_nocase(name, "cookie") || ends_with_nocase(name, "cookies");
}

std::size_t find_cookies(const Hit& hit) {
  static constexpr CharSet kAround(" \"'`"), kEnds(";\r\n\"'`"), kBetween(" ;");
  const std::string_view text = hit.text;
  std::size_t at = skip(text, hit.end, kMaxName, kAround);
  if (at >= text.size() || (text[at] != ':' && text[at] != '=') || text.substr(at, 2) == "==") return at;
  at = skip(text, at + 1, kMaxName, kAround);
  for (std::size_t limit = at + 4 * kMaxCookie; at < limit && at < text.size() && !kEnds.has(text[at]);) {
    const std::string_view ahead = between(text, at, limit);
    const std::string_view cookie = ahead.substr(0, kEnds.first_in(ahead));
    const std::size_t equals = std::min(cookie.find('='), cookie.size() - 1);
    const std::string_view value = cookie.substr(equals + 1, kMaxCookie);
    std::size_t end = at + cookie.size();
    if (is_secret_cookie(cookie.substr(0, equals), value)) {
      end = skip(text, end, text.size(), [](char c) { return is(Chars::visible, c) && !kEnds.has(c); });
      hit.add(at + equals + 1, end, "cookie");
      limit = end + 4 * kMaxCookie;
    }
    at = skip(text, end, kMaxName, kBetween);
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

std::size_t find_after(const Hit& hit) {
  // A word may have an ending of up to two letters; a longer one makes it another word.
  const std::size_t word = hit.runs.end(Chars::word, hit.end);
  if (word > hit.end + 2) return kReadingName;
  return find_value_of({hit.text, hit.begin, word, hit.runs, hit.found}, Strength::password);
}

}  // namespace cairn::gate
