#include "gate/named_secrets.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "gate/cookies.h"
#include "gate/key_blocks.h"
#include "gate/named_reader.h"
#include "gate/named_value.h"
#include "gate/telling_names.h"

namespace cairn::gate {

namespace {

bool is_within_arn(std::string_view before, std::size_t begin) {
  constexpr std::size_t kMaxArn = 200;
  return before.substr(std::max(begin, before.size() - std::min(before.size(), kMaxArn))).find("arn:") !=
         std::string_view::npos;
}

// `checksum/secret: ...`, and what stands within the name of a resource:
// arn:aws:...:secret:db-1a2b3c
bool is_part_of_an_id(std::string_view text, std::size_t name, Runs& runs) {
  if (name == 0 || (text[name - 1] != '/' && text[name - 1] != ':')) return false;
  return ends_with_nocase(text.substr(0, name), "checksum/") ||
         is_within_arn(text.substr(0, name), runs.begin(Chars::visible, name));
}

// "the api key is ...": a key of prose has its name in two words.
std::size_t with_word_before(std::string_view text, std::size_t begin, std::size_t end) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"api", "access", "secret", "private", "auth", "encryption", "signing", "license"});
  if (begin == 0 || end - begin != 3 || text[begin - 1] != ' ' ||
      !starts_with_nocase(text.substr(begin, 3), "key"))
    return begin;
  const std::string_view before = text.substr(0, begin - 1);
  for (const std::string_view word : kWords)
    if (ends_with_nocase(before, word)) return begin - 1 - word.size();
  return begin;
}

// "here is the key: ...": what is beside the word alone must be longer and more
// mixed up than any id.
std::size_t find_drawn_key(std::string_view text, std::size_t end, std::vector<Place>& found) {
  constexpr std::size_t kLeast = 32, kMost = 100;
  static constexpr CharSet kBetween(" :=\"'`");
  std::size_t begin = end;
  while (begin < text.size() && begin - end < 5 && kBetween.has(text[begin])) ++begin;
  if (begin > end && text.substr(begin, 3) == "is ") begin += 3;
  if (begin == end || begin + kLeast > text.size() || !is(Chars::alnum, text[begin + kLeast - 1])) return 0;
  const std::size_t stop = run_end(Chars::alnum, text.substr(0, begin + kMost), begin);
  const bool ends = stop == text.size() || !(is(Chars::any_base64, text[stop]) || text[stop] == '.');
  if (stop - begin >= kLeast && ends && is_drawn(text.substr(begin, stop - begin)))
    found.push_back({begin, stop, "key"});
  return stop - begin;
}

}  // namespace

NameRead find_named(std::string_view text, std::size_t at, Runs& runs, std::vector<Place>& found) {
  std::size_t begin = std::max(runs.begin(Chars::name, at), at - std::min(at, kMaxName));
  std::size_t end = std::min(runs.end(Chars::name, at), at + kMaxName);
  while (begin < at && !is(Chars::word, text[begin])) ++begin;
  while (end > at && !is(Chars::word, text[end - 1])) --end;
  begin = with_word_before(text, begin, end);
  const std::string_view name = text.substr(begin, end - begin);
  if (is_cookie_name(name)) {
    const std::size_t stop = find_cookies(text, end, found);
    return {stop, kReadingName + stop - end, stop};
  }
  const Strength strength = strength_of(name);
  if (strength == Strength::none && ends_with_nocase(name, "key"))
    return {end, kReadingName + find_drawn_key(text, end, found), end};
  if (strength == Strength::none || is_part_of_an_id(text, begin, runs)) return {end, kReadingName, end};
  const std::size_t known = found.size();
  NamedReader reader(text, begin, end, runs);
  reader.find(strength, found);
  if (strength == Strength::weak && found.size() == known && ends_with_nocase(name, "key"))
    return {end, reader.judged() + find_drawn_key(text, end, found), begin};
  return {end, reader.judged(), begin};
}

std::size_t find_behind(std::string_view text, std::size_t begin, std::size_t end, Runs& runs,
                        std::vector<Place>& found) {
  const std::size_t word = runs.end(Chars::word, end);  // l\u00f6senordet
  if (word > end + 2) return kReadingName;
  NamedReader reader(text, begin, word, runs);
  reader.find(Strength::password, found);
  return reader.judged();
}

bool is_secret_under(std::string_view name, std::string_view value) {
  const Strength strength = strength_of(name);
  return strength != Strength::none && is_secret(strength, Style::quoted, value.substr(0, kMaxValue)) &&
         !is_named_otherwise(name, value);
}

}  // namespace cairn::gate
