#include "gate/secrets/names.h"

#include <array>
#include <cstdint>

#include "base/result.h"
#include "gate/secrets/rules.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kLongest = 128;  // characters of a name that are looked at

// The last sixteen letters and digits of a name, in lower case, the last one in the lowest bits: so a word
// or an ending is compared in two steps. Names must be cheap to judge, because a text may consist of them.
struct Letters {
  std::uint64_t low = 0, high = 0;
  std::size_t size = 0;  // of all of them, also beyond sixteen

  Letters() = default;
  explicit Letters(std::string_view word) {
    for (std::size_t i = word.size(); i > 0; --i) put_before(word[i - 1]);
  }
  void put_before(char c) {
    const std::uint64_t letter = static_cast<unsigned char>(c) | 0x20u;
    if (size < 8)
      low |= letter << 8 * size;
    else if (size < 16)
      high |= letter << 8 * (size - 8);
    ++size;
  }
};

struct Word {
  std::string_view text;
  Letters letters;
};

// secretAccessKey, SECRET_ACCESS_KEY, secret-access-key: key, access, secret. From the end, because the last
// words of a name tell.
class Words {
 public:
  explicit Words(std::string_view name) : name_(name.substr(0, kLongest)) { skip_signs(); }

  bool more() const { return !name_.empty(); }
  Word next() {
    Word word;
    std::size_t begin = name_.size();
    do word.letters.put_before(name_[--begin]);
    while (begin > 0 && is(Chars::alnum, name_[begin - 1]) &&
           !(is_upper(name_[begin]) && is(Chars::lower, name_[begin - 1])));
    word.text = name_.substr(begin);
    name_.remove_suffix(word.text.size());
    skip_signs();
    return word;
  }
  // `end` with the letters of the words before it: sessionid
  Letters joined(Letters end) const {
    for (std::size_t i = name_.size(); i > 0 && end.size < 16; --i)
      if (is(Chars::alnum, name_[i - 1])) end.put_before(name_[i - 1]);
    return end;
  }

 private:
  void skip_signs() {
    while (!name_.empty() && !is(Chars::alnum, name_.back())) name_.remove_suffix(1);
  }
  std::string_view name_;
};

// What a word says of the name that it ends, or of the `key` behind it.
enum Meaning : unsigned { neutral = 1, password = 2, token = 4, weak = 8, no_key = 16, secret_key = 32 };

// A hash table: the words of the lists with their meanings.
class Dictionary {
 public:
  Dictionary() {
    unsigned meaning = neutral;
    for (const char* list : {"neutral", "passwords", "tokens", "weak", "no-keys", "secret-keys"}) {
      for (const std::string_view word : WordList::texts(list)) {
        CAIRN_ASSERT(word.size() <= 16);
        const Letters letters(word);
        Entry& entry = entries_[place(letters)];
        entry = {letters.low, letters.high, entry.meaning | meaning};
      }
      meaning <<= 1;
    }
  }
  // Bits of Meaning.
  unsigned meaning(const Letters& word) const { return word.size <= 16 ? entries_[place(word)].meaning : 0; }

 private:
  struct Entry {
    std::uint64_t low = 0, high = 0;
    unsigned meaning = 0;
  };
  // Its position in the table, or the free position for it.
  std::size_t place(const Letters& word) const {
    std::size_t at = (word.low * 0x9e3779b97f4a7c15u + word.high * 0xc2b2ae3d27d4eb4fu) >> 55;
    while (entries_[at].low != 0 && (entries_[at].low != word.low || entries_[at].high != word.high))
      at = (at + 1) % entries_.size();
    return at;
  }
  std::array<Entry, 512> entries_{};
};

// What names may end with.
class Endings {
 public:
  explicit Endings(std::string_view list) {
    for (const std::string_view word : WordList::texts(list)) {
      ends_.emplace_back(Letters(word), Letters(std::string(word.size(), '\xff')));
      last_ |= 1u << (word.back() & 31);
    }
  }
  bool end(const Letters& name) const {
    return (last_ >> (name.low & 31) & 1) != 0 &&
           std::any_of(ends_.begin(), ends_.end(), [&](const auto& end) {
             return ((name.low ^ end.first.low) & end.second.low) == 0 &&
                    ((name.high ^ end.first.high) & end.second.high) == 0;
           });
  }

 private:
  std::vector<std::pair<Letters, Letters>> ends_;  // compared where the second has bits
  std::uint32_t last_ = 0;                         // letters: most names end with none of them
};

// nextPageToken is a position in a list, CallSid an id. Neither gives access to anything.
bool is_no_secret(std::string_view name) {
  static const WordList kPlaces("places"), kPages("pages");
  if (name.ends_with("Sid")) return name.size() > 3 && is(Chars::lower, name[name.size() - 4]);
  if (!ends_with_nocase(name, "token")) return false;
  name.remove_suffix(5);
  while (!name.empty() && !is(Chars::alnum, name.back())) name.remove_suffix(1);
  return kPlaces.ends(name) && !kPages.ends(name);  // but fb_page_token is a secret
}

}  // namespace

std::string_view kind_name(Strength strength) {
  return strength == Strength::password ? "password" : strength == Strength::token ? "token" : "key";
}

Strength strength_of(std::string_view name) {
  static const Dictionary kDictionary;
  static const Endings kPasswordEnds("password-ends"), kTokenEnds("token-ends");
  Words words(name);
  if (!words.more()) return Strength::none;
  Word last = words.next();
  unsigned meaning = kDictionary.meaning(last.letters);
  while (words.more() && ((meaning & neutral) != 0 || is_all(Chars::digit, last.text))) {
    last = words.next();
    meaning = kDictionary.meaning(last.letters);
  }
  if (last.text.size() > 4 && is_digit(last.text.back())) {  // password2
    last.text = last.text.substr(0, skip_back(last.text, last.text.size(), last.text.size() - 4, is_digit));
    meaning = kDictionary.meaning(last.letters = Letters(last.text));
  }
  if ((meaning & password) != 0) return Strength::password;
  if ((meaning & token) != 0) return words.more() && is_no_secret(name) ? Strength::none : Strength::token;
  if ((meaning & weak) != 0) return Strength::weak;
  if (kPasswordEnds.end(last.letters)) return Strength::password;
  const bool is_key = last.text.size() == 3 && ends_with_nocase(last.text, "key");
  if (is_key && !words.more()) return Strength::none;
  if (kTokenEnds.end(words.joined(last.letters))) return Strength::token;
  if (!is_key) return Strength::none;
  const unsigned what_key = kDictionary.meaning(words.next().letters);
  if ((what_key & secret_key) != 0) return Strength::token;
  return (what_key & no_key) != 0 ? Strength::none : Strength::weak;
}

}  // namespace cairn::gate
