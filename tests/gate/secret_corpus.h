// Labelled text for the search for secrets, made from shapes: none of it was ever a secret of anybody, and
// none of it stands in a file. Same seed, same corpus.
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

// Other shapes and files, written when the rules were there already, and harmless lines as they stand beside
// them.
std::vector<SecretSample> second_secrets(std::uint64_t seed);
std::vector<BenignSample> second_benign(std::uint64_t seed, int rounds);

// The same again, when the rules had been mended by those.
std::vector<SecretSample> third_secrets(std::uint64_t seed);
std::vector<BenignSample> third_benign(std::uint64_t seed, int rounds);

// A developer's day, when the rules had been mended by those.
std::vector<SecretSample> fourth_secrets(std::uint64_t seed);
std::vector<BenignSample> fourth_benign(std::uint64_t seed, int rounds);

// What an examiner wrote who never saw the rules.
std::vector<SecretSample> fifth_secrets(std::uint64_t seed);
std::vector<SecretSample> fifth_alike(std::uint64_t seed);
std::vector<BenignSample> fifth_harmless(std::uint64_t seed);
std::vector<BenignSample> fifth_benign(std::uint64_t seed, int rounds);

// One secret of every kind, each with a text that would carry it: for tests that look for canaries.
std::vector<SecretSample> one_of_each(std::uint64_t seed);

}  // namespace cairn::test
