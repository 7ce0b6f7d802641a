// Every entry of rules.txt is its own test: one example must go, the other must
// stay.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gate/corpus.h"
#include "gate/secrets.h"
#include "gate/secrets/rules.h"

namespace cairn::gate {
namespace {

class RuleEntries : public testing::TestWithParam<std::size_t> {};

std::string without_tabs(std::string_view example) {
  std::string out(example);
  for (std::size_t at = out.find("\\t"); at != std::string::npos; at = out.find("\\t"))
    out.replace(at, 2, "\t");
  return out;
}

TEST_P(RuleEntries, RemoveTheirExampleAndLeaveTheOther) {
  const RuleEntry& entry = rule_entries()[GetParam()];
  const Secrets secrets(SecretOptions{{}, {}, std::string(32, 'k')});
  int left = 0;
  constexpr int kDraws = 10;
  for (unsigned seed = 1; seed <= kDraws; ++seed) {
    test::Random random(seed);
    test::CorpusText goes = test::draw(random, without_tabs(entry.removed_example));
    ASSERT_FALSE(goes.secrets.empty()) << entry.removed_example;
    const std::string shown = goes.text;
    secrets.remove(goes.text);
    left += std::any_of(goes.secrets.begin(), goes.secrets.end(), [&](const std::string& secret) {
      return goes.text.find(secret) != std::string::npos;
    });
    test::CorpusText stays = test::draw(random, without_tabs(entry.kept_example));
    const std::string before = stays.text;
    secrets.remove(stays.text);
    EXPECT_EQ(stays.text, before) << entry.columns[0];
  }
  EXPECT_LE(left, 1) << entry.columns[0] << ": " << entry.removed_example << " was left " << left
                     << " times of " << kDraws;
}

INSTANTIATE_TEST_SUITE_P(All, RuleEntries, testing::Range<std::size_t>(0, rule_entries().size()),
                         [](const auto& tested) {
                           std::string name(rule_entries()[tested.param].columns[0]);
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !isalnum(static_cast<unsigned char>(c)); }, '_');
                           return fmt::format("{}_{}", name, tested.param);
                         });

}  // namespace
}  // namespace cairn::gate
