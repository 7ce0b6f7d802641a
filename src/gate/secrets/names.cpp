#include "gate/secrets/names.h"

#include <array>
#include <cstdint>

#include "base/result.h"
#include "gate/secrets/rules.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kLongest = 128;  // characters of a name that are looked at

// The last sixteen letters and digits of a name, small, the last one in the lowest bits: two comparisons tell
// words and endings, and names are what hostile text asks for most.
struct Letters {
  std::uint64_t low = 0, high = 0;
  std::size_t size = 0;  // with those that had no room

  void put_before(char c) {
    const std::uint64_t letter = static_cast<unsigned char>(c) | 0x20u;
    if (size < 8)
      low |= letter << 8 * size;
    else if (size < 16)
      high |= letter << 8 * (size - 8);
    ++size;
  }
};

Letters letters_of(std::string_view word) {
  Letters out;
  for (std::size_t i = word.size(); i > 0; --i) out.put_before(word[i - 1]);
  return out;
}

// secretAccessKey, SECRET_ACCESS_KEY, secret-access-key: key, access, secret. From the end, because the last
// words of a name tell.
class Words {
 public:
  explicit Words(std::string_view name) : name_(name.substr(0, kLongest)) { skip_signs(); }

  bool more() const { return !name_.empty(); }
  std::string_view next() {
    const auto is_hump = [&](std::size_t i) {
      return name_[i] >= 'A' && name_[i] <= 'Z' && is(Chars::lower, name_[i - 1]);
    };
    std::size_t begin = name_.size() - 1;
    while (begin > 0 && is(Chars::alnum, name_[begin - 1]) && !is_hump(begin)) --begin;
    const std::string_view word = name_.substr(begin);
    name_.remove_suffix(word.size());
    skip_signs();
    return word;
  }
  // The letters of `word` with those of the words before it: sessionid
  Letters joined(std::string_view word) const {
    Letters out = letters_of(word);
    for (std::size_t i = name_.size(); i > 0 && out.size < 16; --i)
      if (is(Chars::alnum, name_[i - 1])) out.put_before(name_[i - 1]);
    return out;
  }

 private:
  void skip_signs() {
    while (!name_.empty() && !is(Chars::alnum, name_.back())) name_.remove_suffix(1);
  }
  std::string_view name_;
};

// What a word says of the name that it ends, or of the `key` behind it.
enum Meaning : unsigned { neutral = 1, password = 2, token = 4, weak = 8, no_key = 16, secret_key = 32 };

// The words of the lists by their meaning, in a table of our own.
class Dictionary {
 public:
  Dictionary() {
    unsigned meaning = neutral;
    for (const char* list : {"neutral", "passwords", "tokens", "weak", "no-keys", "secret-keys"}) {
      for (const std::string_view word : WordList::texts(list)) {
        const Letters letters = letters_of(word);
        CAIRN_ASSERT(letters.size <= 16);
        Entry& entry = entries_[place(letters)];
        entry = {letters.low, letters.high, entry.meaning | meaning};
      }
      meaning <<= 1;
    }
  }
  // Bits of Meaning.
  unsigned meaning(std::string_view word) const {
    return word.size() <= 16 ? entries_[place(letters_of(word))].meaning : 0;
  }

 private:
  struct Entry {
    std::uint64_t low = 0, high = 0;
    unsigned meaning = 0;
  };
  // Where it stands, or would stand.
  std::size_t place(const Letters& word) const {
    std::size_t at = (word.low * 0x9e3779b97f4a7c15u + word.high * 0xc2b2ae3d27d4eb4fu) >> 55;
    while (entries_[at].low != 0 && (entries_[at].low != word.low || entries_[at].high != word.high))
      at = (at + 1) % entries_.size();
    return at;
  }
  std::array<Entry, 512> entries_{};
};

unsigned meaning_of(std::string_view word) {
  static const Dictionary kDictionary;
  return kDictionary.meaning(word);
}

// What names may end with.
class Endings {
 public:
  explicit Endings(std::string_view list) {
    for (const std::string_view word : WordList::texts(list)) {
      ends_.emplace_back(letters_of(word), letters_of(std::string(word.size(), '\xff')));
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

// nextPageToken: where a list goes on. CallSid: a number, as ids are. Neither opens anything.
bool is_no_secret(std::string_view name) {
  if (name.ends_with("Sid")) return name.size() > 3 && is(Chars::lower, name[name.size() - 4]);
  static const WordList kPlaces("places"), kPages("pages");
  if (!ends_with_nocase(name, "token")) return false;
  name.remove_suffix(5);
  while (!name.empty() && !is(Chars::alnum, name.back())) name.remove_suffix(1);
  return kPlaces.ends(name) && !kPages.ends(name);  // the page of a company has a token, too
}

}  // namespace

std::string_view kind_name(Strength strength) {
  return strength == Strength::password ? "password" : strength == Strength::token ? "token" : "key";
}

Strength strength_of(std::string_view name) {
  static const Endings kPasswordEnds("password-ends"), kTokenEnds("token-ends");
  Words words(name);
  if (!words.more()) return Strength::none;
  std::string_view last = words.next();
  unsigned meaning = meaning_of(last);
  while (words.more() && ((meaning & neutral) != 0 || is_all(Chars::digit, last)))
    meaning = meaning_of(last = words.next());
  const std::size_t size = last.size();  // with the digits behind it
  while (last.size() > 4 && is_digit(last.back())) last.remove_suffix(1);
  const bool numbered = last.size() < size;
  if (numbered) meaning = meaning_of(last);
  if ((meaning & password) != 0) return Strength::password;
  if ((meaning & token) != 0) return words.more() && is_no_secret(name) ? Strength::none : Strength::token;
  if ((meaning & weak) != 0) return Strength::weak;
  if (kPasswordEnds.end(letters_of(last))) return Strength::password;
  if (kTokenEnds.end(numbered ? letters_of(last) : words.joined(last))) return Strength::token;
  if (last.size() != 3 || !ends_with_nocase(last, "key") || !words.more()) return Strength::none;
  const unsigned what_key = meaning_of(words.next());
  if ((what_key & secret_key) != 0) return Strength::token;
  return (what_key & no_key) != 0 ? Strength::none : Strength::weak;
}

}  // namespace cairn::gate
