// Lines of a corpus as they are written by hand, with what is drawn by lot between braces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gate/corpus_random.h"
#include "gate/secret_corpus.h"

namespace cairn::test {

// Everything between two braces of a line is drawn by lot: {a32} is 32 letters and digits, {w1} what a person
// thinks of, see `drawn`. What
// stands in double braces is drawn and is the secret.
struct Line {
  const char* group;
  const char* text;
};

inline std::string_view alphabet(char letter) {
  switch (letter) {
    case 'd': return kDigits;
    case 'x': return kHex;
    case 'l': return kLower;
    case 'U': return kUpperDigits;
    case '2': return kBase32;
    case 'i': return kBase36;
    case 'u': return kUrlSafe;
    case 'b': return kBase64;
    case 't': return kTyped;
    default: return kAlnum;
  }
}

// What a person thinks of: Copper!4711x
inline std::string chosen(Lot& lot) {
  static const std::vector<std::string> kWords = {"Copper", "Lantern", "Meadow",  "Kestrel", "Anchor",
                                                  "Velvet", "Orchid",  "Thistle", "granite", "pepper"};
  return lot.one(kWords) + lot.of("!#$*?_", 1) + lot.of(kDigits, 4) + lot.of("xQz7", 1);
}

inline std::string drawn(Lot& lot, std::string_view what) {
  if (what == "@") return lot.uuid();
  if (what == "w1") return chosen(lot);
  return lot.of(alphabet(what[0]), std::stoul(std::string(what.substr(1))));
}

inline SecretSample sample(Lot& lot, const Line& line) {
  SecretSample out{line.group, "in its line", "", {}};
  for (std::string_view rest = line.text; !rest.empty();) {
    const std::size_t open = rest.find('{');
    out.text += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const bool secret = rest.substr(open).starts_with("{{");
    const std::size_t begin = open + (secret ? 2 : 1), close = rest.find('}', begin);
    const std::string value = close == begin ? "{" : drawn(lot, rest.substr(begin, close - begin));
    out.text += value;
    if (secret) out.parts.push_back(value);
    rest.remove_prefix(close + (secret ? 2 : 1));
  }
  return out;
}

// The lines of several lists, one after the other.
template <class... Lists>
std::vector<SecretSample> samples(std::uint64_t seed, const Lists&... lists) {
  Lot lot(seed);
  std::vector<SecretSample> out;
  const auto add = [&](const auto& lines) {
    for (const Line& line : lines) out.push_back(sample(lot, line));
  };
  (add(lists), ...);
  return out;
}

}  // namespace cairn::test
