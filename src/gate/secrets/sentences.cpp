#include <algorithm>

#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxSaid = 72;   // characters from a name to what is said of it
constexpr std::size_t kMaxLogin = 56;  // the same from a user's name
constexpr int kMaxWords = 9;

// A word of a sentence, and the same without the signs that the sentence puts around it.
struct SaidWord {
  std::string_view all, bare;

  SaidWord(std::string_view text, std::size_t begin, std::size_t end) : all(text.substr(begin, end - begin)) {
    static constexpr CharSet kBefore("\"'`(*"), kBehind("\"'`)*.,;:");
    // Beyond the window in which it begins.
    while (end < text.size() && end - begin < kMaxSaid && is(Chars::visible, text[end])) ++end;
    while (begin < end && kBefore.has(text[begin])) ++begin;
    while (end > begin && kBehind.has(text[end - 1])) --end;
    bare = text.substr(begin, end - begin);
  }
};

// The next word of the line; empty at its end.
std::pair<std::size_t, std::size_t> word_at(std::string_view text, std::size_t at, std::size_t limit) {
  while (at < limit && is(Chars::blank, text[at])) ++at;
  std::size_t end = at;
  while (end < limit && !is(Chars::blank, text[end]) && text[end] != '\n') ++end;
  return {at, end};
}

void add_said(const Hit& hit, std::string_view value) {
  const auto begin = static_cast<std::size_t>(value.data() - hit.text.data());
  hit.add(begin, begin + value.size(), "password");
}

// What may be said to be a password. A hash is one only right beside the name.
bool is_said(std::string_view value, bool beside) {
  static constexpr CharSet kOfCode("\"'`,;()<>{}[]");
  if (value.size() < 8 || !is(Chars::alnum, value[0]) || value.find("://") != std::string_view::npos ||
      kOfCode.any_in(value))
    return false;
  const bool hex = value.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos;
  return (beside || !hex) && is_secret(Strength::password, Style::beside, value) &&
         (is_chosen(value) || beside || (mixture(value) >= 3 && !is_words(value)));
}

// The same where the sentence says less: before the name, or beside the name of a user. Chosen by a person;
// an issue#12345 is not.
bool is_likely(std::string_view value) {
  static constexpr CharSet kOfOthers("()[]{}<>=,;|\\/:\"'`"), kSure("!$%^*?_");
  if (is_mixed_word(value) && mixture(value) >= 3 && !is_words(value)) return true;
  if (value.size() < 8 || value.size() > 40 || !is(Chars::alnum, value[0]) || !is_chosen(value)) return false;
  if (kOfOthers.any_in(value) || is_placeholder(value)) return false;
  // A reference has one of three signs; with them, it must be mixed more.
  if (!kSure.any_in(value) && mixture(value) < 5) return false;
  const std::size_t number = value.find_last_not_of("0123456789.");
  return number + 1 == value.size() || value[number] != '#';
}

// "password for the staging db is ...", "password (hex): ..."
std::size_t find_said_behind(const Hit& hit) {
  static const WordList kSays("says");
  static constexpr CharSet kEnds(".;!?<>{}|");
  const std::size_t limit = std::min(hit.text.size(), hit.end + kMaxSaid);
  std::size_t at = hit.end;
  int words_since = 0;  // how many words ago a word such as "is" or a colon came; 0: none
  for (int words = 0; words < kMaxWords; ++words) {
    const auto [begin, end] = word_at(hit.text, at, limit);
    if (begin == end) break;
    at = end;
    const SaidWord word(hit.text, begin, end);
    if (words_since > 0 && is_said(word.bare, words_since == 1)) {
      add_said(hit, word.bare);
      break;
    }
    if (words_since > 0 && ++words_since > 2) words_since = 0;
    if (kSays.has(word.all) || word.all.back() == ':') words_since = 1;
    if (words_since == 0 && kEnds.any_in(word.all)) break;
  }
  return at - hit.end;
}

// "put ... in as the root password", "... is the wifi password"
std::size_t find_said_before(const Hit& hit, std::size_t from) {
  static const WordList kTies("ties");
  static constexpr CharSet kEnds(".;!?<>{}|:=\n");
  const std::string_view text = hit.text;
  const std::size_t limit = std::max(from, hit.begin - std::min(hit.begin, kMaxSaid));
  std::size_t at = hit.begin;
  bool tied = false;
  for (int words = 0; words < kMaxWords && at > limit; ++words) {
    while (at > limit && is(Chars::blank, text[at - 1])) --at;
    const std::size_t end = at;
    while (at > limit && !is(Chars::blank, text[at - 1]) && text[at - 1] != '\n') --at;
    if (at == end) break;
    const SaidWord word(text, at, end);
    if (tied && (is_likely(word.bare) || (is_said(word.bare, false) && is_random(word.bare)))) {
      add_said(hit, word.bare);
      break;
    }
    tied = tied || kTies.has(word.bare);
    if (kEnds.any_in(word.all)) break;
  }
  return hit.begin - at;
}

// Whether nothing is called after the password: no reset, no field.
bool ends_there(std::string_view text, std::size_t end) {
  static const WordList kNext("behind-a-name");
  static constexpr CharSet kEnds(".,;!?)\n\r");
  if (end >= text.size() || kEnds.has(text[end])) return true;
  const auto [begin, stop] = word_at(text, end, std::min(text.size(), end + 12));
  return text[end] == ' ' && kNext.has(text.substr(begin, stop - begin));
}

}  // namespace

const std::vector<Sign>& login_signs() {
  static const std::vector<Sign> kSigns = [] {
    std::vector<Sign> out;
    for (const std::string_view text : WordList::texts("logins")) out.push_back({text});
    return out;
  }();
  return kSigns;
}

std::size_t find_login_pair(const Hit& hit, const Sign& sign) {
  constexpr std::size_t kReadingPair = 16;
  static const WordList kBetween("between-user-and-password");
  static constexpr CharSet kCode("(){}<>=\";"), kPairs(",/");
  const std::size_t limit = std::min(hit.text.size(), hit.end + kMaxLogin);
  // admin / and admin: have the password right behind them.
  const bool named = !is(Chars::alnum, sign.text.back());
  bool paired = named;
  std::size_t at = hit.end;
  for (int words = 0; words < kMaxWords; ++words) {
    const auto [begin, end] = word_at(hit.text, at, limit);
    if (begin == end) break;
    const SaidWord word(hit.text, begin, end);
    if (paired && is_likely(word.bare)) {
      add_said(hit, word.bare);
      break;
    }
    if (named || kCode.any_in(word.all)) break;
    paired = kBetween.has(word.bare) || word.bare.find('@') != std::string_view::npos ||
             kPairs.has(word.all.back());
    at = end;
  }
  return kReadingPair + (at - hit.end) / 2;
}

std::size_t find_said(const Hit& hit, std::size_t from) {
  const std::string_view name = hit.text.substr(hit.begin, hit.end - hit.begin);
  // A name of source has signs, digits or humps; to pass is a verb.
  bool plain = name.size() != 4;
  for (std::size_t i = 0; plain && i < name.size(); ++i)
    plain = !is_digit(name[i]) && name[i] != '_' && name[i] != '.' && name[i] != '-' &&
            (i == 0 || !(name[i] >= 'A' && name[i] <= 'Z') || !is(Chars::lower, name[i - 1]));
  if (!plain) return 0;
  const std::size_t known = hit.found.size();
  std::size_t cost = 0;
  if (hit.begin > from && hit.text[hit.begin - 1] == ' ' && ends_there(hit.text, hit.end))
    cost += find_said_before(hit, from);
  if (hit.found.size() == known && hit.end < hit.text.size() && hit.text[hit.end] == ' ')
    cost += find_said_behind(hit);
  return cost;
}

}  // namespace cairn::gate
