#include <algorithm>

#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxSaid = 72;   // characters from a name to what is said of it
constexpr std::size_t kMaxLogin = 56;  // the same from a user's name
constexpr int kMaxWords = 9;

bool ends_word(char c) {
  return is(Chars::blank, c) || c == '\n';
}

// A word of a sentence, and the same without the signs that the sentence puts around it.
struct SaidWord {
  std::string_view all, bare;

  SaidWord(std::string_view text, std::size_t begin, std::size_t end) : all(between(text, begin, end)) {
    static constexpr CharSet kBefore("\"'`(*"), kBehind("\"'`)*.,;:");
    // A word may end beyond the window in which it begins.
    end = skip(text, end, kMaxSaid, [](char c) { return is(Chars::visible, c); });
    begin = skip(text, begin, end - begin, kBefore);
    bare = between(text, begin, skip_back(text, end, end - begin, kBehind));
  }
};

// Calls `take(word)` for the words of the line after the hit, in a window of that size, until it returns
// false. Returns how many characters were read.
template <class Take>
std::size_t each_word(const Hit& hit, std::size_t window, Take&& take) {
  const std::string_view text = hit.text.substr(0, hit.end + window);
  std::size_t at = hit.end;
  for (int words = 0; words < kMaxWords; ++words) {
    const std::size_t begin = run_end(Chars::blank, text, at);
    at = skip(text, begin, window, [](char c) { return !ends_word(c); });
    if (at == begin || !take(SaidWord(hit.text, begin, at))) break;
  }
  return at - hit.end;
}

bool add_said(const Hit& hit, std::string_view value) {
  const auto begin = static_cast<std::size_t>(value.data() - hit.text.data());
  hit.add(begin, begin + value.size(), "password");
  return false;
}

// Whether a sentence may give `value` as a password. Text in hex counts only right beside the name: elsewhere
// it is probably a hash.
bool is_said(std::string_view value, bool beside) {
  if (value.size() < 8 || !is(Chars::alnum, value[0])) return false;
  const bool hex = value.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos;
  return is_secret(Strength::password, Style::beside, value) &&
         (beside || (!hex && (is_chosen(value) || (mixture(value) >= 3 && !is_words(value)))));
}

// The same where the sentence says less: before the name, or beside the name of a user. The value must look
// as if a person chose it; issue#12345 does not.
bool is_likely(std::string_view value) {
  static constexpr CharSet kOfOthers("()[]{}<>=,;|\\/:\"'`"), kSure("!$%^*?_");
  if (is_mixed_word(value) && mixture(value) >= 3 && !is_words(value)) return true;
  const std::size_t number = std::min(value.find_last_not_of("0123456789"), value.size());
  return is_chosen(value) && !kOfOthers.any_in(value) && !is_placeholder(value) &&
         !value.substr(number).starts_with('#') && (kSure.any_in(value) || mixture(value) >= 5);
}

// "password for the staging db is ...", "password (hex): ..."
std::size_t find_said_behind(const Hit& hit) {
  static const WordList kSays("says");
  static constexpr CharSet kEnds(".;!?<>{}|");
  int words_since = 0;  // how many words ago a word such as "is" or a colon came; 0: none
  return each_word(hit, kMaxSaid, [&](const SaidWord& word) {
    if (words_since > 0 && is_said(word.bare, words_since == 1)) return add_said(hit, word.bare);
    if (words_since > 0 && ++words_since > 2) words_since = 0;
    if (kSays.has(word.all) || word.all.back() == ':') words_since = 1;
    return words_since > 0 || !kEnds.any_in(word.all);
  });
}

// "put ... in as the root password", "... is the wifi password"
std::size_t find_said_before(const Hit& hit) {
  static const WordList kTies("ties");
  static constexpr CharSet kEnds(".;!?<>{}|:=");
  const std::size_t limit = std::max(hit.from, hit.begin - std::min(hit.begin, kMaxSaid));
  std::size_t at = hit.begin;
  bool tied = false;
  for (int words = 0; words < kMaxWords && at > limit; ++words) {
    const std::size_t end = skip_back(hit.text, at, at - limit, [](char c) { return is(Chars::blank, c); });
    at = skip_back(hit.text, end, end - limit, [](char c) { return !ends_word(c); });
    if (at == end) break;
    const SaidWord word(hit.text, at, end);
    if (tied && (is_likely(word.bare) || (is_said(word.bare, false) && is_random(word.bare)))) {
      add_said(hit, word.bare);
      break;
    }
    tied = tied || kTies.has(word.bare);
    if (kEnds.any_in(word.all)) break;
  }
  return hit.begin - at;
}

// Whether the name ends here. It does not in "password reset" and "password field".
bool ends_there(std::string_view text, std::size_t end) {
  static const WordList kNext("behind-a-name");
  static constexpr CharSet kEnds(".,;!?)\n\r");
  if (end >= text.size() || kEnds.has(text[end])) return true;
  const std::size_t begin = run_end(Chars::blank, text, end);
  return begin > end &&
         kNext.has(between(text, begin, skip(text, begin, 12, [](char c) { return !ends_word(c); })));
}

}  // namespace

std::size_t find_login_pair(const Hit& hit, const Sign& sign) {
  enum { behind, named };
  constexpr std::size_t kReadingPair = 16;
  static const WordList kBetween("between-user-and-password");
  static constexpr CharSet kCode("(){}<>=\";"), kPairs(",/");
  bool paired = sign.how == named;
  const std::size_t read = each_word(hit, kMaxLogin, [&](const SaidWord& word) {
    if (paired && is_likely(word.bare)) return add_said(hit, word.bare);
    paired = kBetween.has(word.bare) || word.bare.find('@') != std::string_view::npos ||
             kPairs.has(word.all.back());
    return sign.how != named && !kCode.any_in(word.all);
  });
  return kReadingPair + read / 2;
}

std::size_t find_said(const Hit& hit) {
  const std::string_view text = hit.text, name = between(text, hit.begin, hit.end);
  // Only a word of prose: a name in source code has signs, digits or capitals in it, and "pass" is also a
  // verb.
  bool plain = name.size() != 4;
  for (char before = ' '; const char c : name) {
    plain =
        plain && (is(Chars::letter, c) || (c & 0x80) != 0 || c == ' ') && !(is_upper(c) && is_lower(before));
    before = c;
  }
  if (!plain) return 0;
  const std::size_t known = hit.found.size();
  std::size_t cost = 0;
  if (hit.begin > hit.from && text[hit.begin - 1] == ' ' && ends_there(text, hit.end))
    cost += find_said_before(hit);
  if (hit.found.size() == known && hit.end < text.size() && text[hit.end] == ' ')
    cost += find_said_behind(hit);
  return cost;
}

}  // namespace cairn::gate
