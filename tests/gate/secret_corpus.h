// Labelled text for the search for secrets, made from shapes: none of it was ever a secret of anybody, and
// none of it is stored in a file. Same seed, same corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cairn::test {

struct SecretSample {
  std::string group;        // "code hosting"
  std::string surrounding;  // "in a diff"
  std::string text;
  std::vector<std::string> parts;  // none of these may be left; more than one when it was broken over lines
};

struct BenignSample {
  std::string group;  // "lock files"
  std::string text;
};

std::vector<SecretSample> secret_samples(std::uint64_t seed);
std::vector<BenignSample> benign_samples(std::uint64_t seed, std::size_t count);

// One secret of every kind, each with a text that would carry it: for tests that look for canaries.
std::vector<SecretSample> one_of_each(std::uint64_t seed);

}  // namespace cairn::test
