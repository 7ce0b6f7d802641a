#include "gate/prose_secrets.h"

#include <algorithm>
#include <array>

#include "gate/named_value.h"
#include "gate/secret_value.h"
#include "gate/telling_names.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxSaid = 72;  // characters from a name to what is said of it
constexpr int kMaxWords = 9;

constexpr auto kLogins = std::to_array<std::string_view>({"log in", "login", "logon", "sign in", "signin",
                                                          "creds", "credentials", "zugangsdaten", "admin / ",
                                                          "root / ", "admin/", "root/", "admin:", "root:"});

struct Piece {
  std::size_t begin = 0, end = 0;
};

bool is_one_of(std::string_view word, const auto& list) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view known) {
    return word.size() == known.size() && ends_with_nocase(word, known);
  });
}

// A word without the signs that a sentence puts around it.
Piece without_signs(std::string_view text, Piece word) {
  static constexpr CharSet kBefore("\"'`(*"), kBehind("\"'`)*.,;:");
  while (word.begin < word.end && kBefore.has(text[word.begin])) ++word.begin;
  while (word.end > word.begin && kBehind.has(text[word.end - 1])) --word.end;
  return word;
}

// The next word of the line; empty at its end.
Piece word_at(std::string_view text, std::size_t at, std::size_t limit) {
  while (at < limit && is(Chars::blank, text[at])) ++at;
  std::size_t end = at;
  while (end < limit && !is(Chars::blank, text[end]) && text[end] != '\n') ++end;
  return {at, end};
}

// Chosen by a person; an issue#12345 or a package@5 is not.
bool is_surely_chosen(std::string_view value) {
  static constexpr CharSet kOfOthers("()[]{}<>=,;|\\/:\"'`");
  if (value.size() < 8 || value.size() > 40 || !is(Chars::alnum, value[0]) || !is_chosen(value)) return false;
  if (std::any_of(value.begin(), value.end(), [](char c) { return kOfOthers.has(c); })) return false;
  // A reference has one of three signs; with them, it must be mixed more.
  if (value.find_first_of("!$%^*?_") == std::string_view::npos && mixture(value) < 5) return false;
  const std::size_t number = value.find_last_not_of("0123456789.");
  const bool numbered = number + 1 < value.size() && (value[number] == '#' || value[number] == '@');
  return !numbered && !is_placeholder(value);
}

// What may be said to be a password. A hash is one only right beside the name.
bool is_said(std::string_view value, bool beside) {
  if (value.size() < 8 || !is(Chars::alnum, value[0]) || value.find("://") != std::string_view::npos)
    return false;
  const bool hex =
      std::all_of(value.begin(), value.end(), [](char c) { return is(Chars::any_hex, c) || c == '-'; });
  static constexpr CharSet kOfCode("\"'`,;()<>{}[]");
  if (std::any_of(value.begin(), value.end(), [](char c) { return kOfCode.has(c); })) return false;
  return (beside || !hex) && is_secret(Strength::password, Style::beside, value) &&
         (is_chosen(value) || beside || (mixture(value) >= 3 && !is_words(value)));
}

// The same where the sentence says less: before the name, or beside the name of
// a user.
bool is_likely(std::string_view value) {
  return is_surely_chosen(value) || (is_mixed_word(value) && mixture(value) >= 3 && !is_words(value));
}

// "password for the staging db is ...", "password (hex): ..."
std::size_t find_said_behind(std::string_view text, std::size_t end, std::vector<Place>& found) {
  static constexpr auto kSays = std::to_array<std::string_view>(
      {"is",     "0",      "7",      "are",    "was",    "to", "now",
       "from",   "ist",    "lautet", "est",    "es",     "er", "\u00e4r",
       "\u00e8", "\u00e9", "-",      "\u2013", "\u2014", "=",  "\u0435\u0441\u0442\u044c"});
  static constexpr CharSet kEnds(".;!?<>{}|");
  const std::size_t limit = std::min(text.size(), end + kMaxSaid);
  std::size_t at = end;
  int told = 0;
  for (int words = 0; words < kMaxWords; ++words) {
    const Piece word = word_at(text, at, limit);
    if (word.begin == word.end) break;
    at = word.end;
    std::size_t whole = word.end;
    while (whole < text.size() && whole - word.begin < kMaxSaid && is(Chars::visible, text[whole])) ++whole;
    const Piece bare = without_signs(text, {word.begin, whole});
    const std::string_view value = text.substr(bare.begin, bare.end - bare.begin);
    if (told > 0 && is_said(value, told == 1)) {
      found.push_back({bare.begin, bare.end, "password"});
      break;
    }
    if (told > 0 && ++told > 2) told = 0;
    const std::string_view all = text.substr(word.begin, word.end - word.begin);
    if (is_one_of(all, kSays) || all.back() == ':') told = 1;
    if (told == 0 && std::any_of(all.begin(), all.end(), [](char c) { return kEnds.has(c); })) break;
  }
  return at - end;
}

// "put ... in as the root password", "... is the wifi password"
std::size_t find_said_before(std::string_view text, std::size_t begin, std::size_t from,
                             std::vector<Place>& found) {
  static constexpr auto kTies =
      std::to_array<std::string_view>({"as", "is", "for", "when", "if", "was", "still"});
  static constexpr CharSet kEnds(".;!?<>{}|:=\n");
  const std::size_t limit = std::max(from, begin - std::min(begin, kMaxSaid));
  std::size_t at = begin;
  bool tied = false;
  for (int words = 0; words < kMaxWords && at > limit; ++words) {
    while (at > limit && is(Chars::blank, text[at - 1])) --at;
    Piece word = {at, at};
    while (word.begin > limit && !is(Chars::blank, text[word.begin - 1]) && text[word.begin - 1] != '\n')
      --word.begin;
    if (word.begin == word.end) break;
    const Piece bare = without_signs(text, word);
    const std::string_view value = text.substr(bare.begin, bare.end - bare.begin);
    if (tied && (is_likely(value) || (is_said(value, false) && is_random(value)))) {
      found.push_back({bare.begin, bare.end, "password"});
      break;
    }
    tied = tied || is_one_of(value, kTies);
    const std::string_view all = text.substr(word.begin, word.end - word.begin);
    if (std::any_of(all.begin(), all.end(), [](char c) { return kEnds.has(c); })) break;
    at = word.begin;
  }
  return begin - at;
}

// Whether nothing is called after the password: no reset, no field.
bool ends_there(std::string_view text, std::size_t end) {
  static constexpr auto kNext =
      std::to_array<std::string_view>({"when", "for", "on", "of", "to", "please", "and", "in", "at", "if",
                                       "here", "there", "now", "but", "so"});
  static constexpr CharSet kEnds(".,;!?)\n\r");
  if (end >= text.size() || kEnds.has(text[end])) return true;
  const Piece next = word_at(text, end, std::min(text.size(), end + 12));
  return text[end] == ' ' && is_one_of(text.substr(next.begin, next.end - next.begin), kNext);
}

}  // namespace

const std::vector<std::string_view>& login_literals() {
  static const std::vector<std::string_view> kTexts(kLogins.begin(), kLogins.end());
  return kTexts;
}

static std::size_t find_login_pair(std::string_view text, std::size_t index, std::size_t end,
                                   std::vector<Place>& found) {
  constexpr std::size_t kReading = 16, kWindow = 56;
  static constexpr auto kBetween =
      std::to_array<std::string_view>({"/", "and", "&", "und", "et", "y", "|", "with"});
  static constexpr CharSet kCode("(){}<>=\";");
  const std::size_t limit = std::min(text.size(), end + kWindow);
  // admin / and admin: have the password right behind them, and stand alone.
  const bool named = !is(Chars::alnum, kLogins[index].back());
  const std::size_t begin = end - kLogins[index].size();
  if (named && begin > 0 && (is(Chars::name, text[begin - 1]) || text[begin - 1] == '/')) return kReading;
  bool paired = named;
  std::size_t at = end;
  for (int words = 0; words < kMaxWords; ++words) {
    const Piece word = word_at(text, at, limit);
    if (word.begin == word.end || kCode.has(text[word.begin])) break;
    std::size_t whole = word.end;
    while (whole < text.size() && whole - word.begin < kWindow && is(Chars::visible, text[whole])) ++whole;
    const Piece bare = without_signs(text, {word.begin, whole});
    const std::string_view value = text.substr(bare.begin, bare.end - bare.begin);
    const std::size_t sign = std::min(value.find_first_of("/:"), value.size());
    const bool inside = !named && sign > 0 && sign < value.size() && run_end(Chars::name, value, 0) == sign;
    const std::string_view password = inside ? value.substr(sign + 1) : value;
    if ((paired || inside) && is_likely(password)) {
      found.push_back({bare.end - password.size(), bare.end, "password"});
      break;
    }
    const std::string_view all = text.substr(word.begin, word.end - word.begin);
    if (named || std::any_of(all.begin(), all.end(), [](char c) { return kCode.has(c); })) break;
    paired = is_one_of(value, kBetween) || value.find('@') != std::string_view::npos || all == "/" ||
             all.ends_with(',') || all.ends_with('/');
    at = word.end;
  }
  return kReading + (at - end) / 2;
}

std::size_t find_told_login(std::string_view text, std::size_t index, std::size_t end,
                            std::vector<Place>& found) {
  return find_login_pair(text, index, end, found);
}

std::size_t find_said(std::string_view text, std::size_t begin, std::size_t end, std::size_t from,
                      std::vector<Place>& found) {
  const std::string_view name = text.substr(begin, end - begin);
  const bool alone =
      begin == 0 || text[begin - 1] == ' ' || text[begin - 1] == '\n' || text[begin - 1] == '(';
  // A name of source has signs, digits or humps; to pass is a verb.
  bool plain = alone && name.size() != 4;
  for (std::size_t i = 0; plain && i < name.size(); ++i)
    plain = !is_digit(name[i]) && name[i] != '_' && name[i] != '.' && name[i] != '-' &&
            (i == 0 || !(name[i] >= 'A' && name[i] <= 'Z') || !is(Chars::lower, name[i - 1]));
  if (!plain) return 0;
  const std::size_t known = found.size();
  std::size_t cost = 0;
  if (begin > from && text[begin - 1] == ' ' && ends_there(text, end))
    cost += find_said_before(text, begin, from, found);
  if (found.size() == known && end < text.size() && text[end] == ' ')
    cost += find_said_behind(text, end, found);
  return cost;
}

}  // namespace cairn::gate
