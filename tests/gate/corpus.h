// The table of texts in corpus.txt: by what carries a secret, and harmless ones.
//
// A placeholder in braces is replaced by random characters: {a32} becomes 32 letters and digits. In double
// braces it is the secret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gate/corpus_random.h"

namespace cairn::test {

// The list that was written before any of its lines was tried.
inline constexpr int kFreshList = 7;

struct CorpusText {
  std::string carrier;  // "tokens", "configuration", "command lines", "sentences", "harmless"
  int list = 0;
  std::string text;
  std::vector<std::string> secrets;  // none of these may be left; none: the text is harmless
};

// Replaces the placeholders of one text. Kinds: d digits, x hex, l small letters, U capitals and digits, 2
// base32, i small letters and digits, a letters and digits, u and _ -, b base64, t what people type, m
// letters and digits with one of each at least; {@} a UUID, {w1} what a person thinks of, {} a brace.
CorpusText draw(Random& random, std::string_view text);

// All of the table; the same for the same seed.
std::vector<CorpusText> corpus(std::uint64_t seed);

}  // namespace cairn::test
