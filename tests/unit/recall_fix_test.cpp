// What fixed an error before, and which hints a prompt is given.
#include <gtest/gtest.h>

#include "base/text.h"
#include "recall/fix.h"
#include "recall/hint.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

constexpr std::string_view kOverflow =
    "Exit code 1\nsrc/cart.cpp:41: error: no matching function for call to 'round_total(Money)'\n";

class Fixes : public testing::Test {
 protected:
  Fixes() {
    must(m.open());
    m.tell(chat.start());
  }
  // A turn in which `make check` fails with `error`, `file` is changed, and it passes.
  void turn(std::string_view error, std::string_view file, bool passes = true) {
    const std::string n = std::to_string(++turns_);
    m.tell(chat.prompt("turn " + n + ": make the check pass"));
    m.tell(chat.tool_failure("Bash", "f" + n, Json::object({{"command", "make check"}}), error));
    m.tell(chat.wrote(file, "w" + n));
    if (passes) m.tell(chat.ran("make check", "p" + n));
    m.tell(chat.stop("It passes now."));
    m.clock.advance(std::chrono::minutes(5));
  }
  std::optional<recall::Fix> sure(std::string_view error) {
    return must(recall::sure_fix(m.db(), "proj", error));
  }

  Machine m;
  Chat chat;
  int turns_ = 0;
};

TEST_F(Fixes, NamesWhatWasChangedWhenTheSameErrorPassedBefore) {
  turn(kOverflow, "src/cart.cpp");
  const auto fix =
      sure("Exit code 2\nsrc/cart.cpp:77: error: no matching function for call to 'round_total(Money)'");
  ASSERT_TRUE(fix) << "the line number and the exit code may differ";
  EXPECT_NE(fix->text(600).find("src/cart.cpp"), std::string::npos) << fix->text(600);
  EXPECT_NE(fix->pass.find("passed"), std::string::npos);
  EXPECT_EQ(fix->record.kind, recall::Kind::observation);
}

TEST_F(Fixes, IsSilentWhenTheErrorIsAnotherOneOrNothingPassed) {
  turn(kOverflow, "src/cart.cpp");
  EXPECT_FALSE(sure("Exit code 1\nsrc/cart.cpp:41: error: expected ';' after expression"));
  EXPECT_FALSE(sure("Exit code 1"));
  EXPECT_FALSE(sure(""));
  EXPECT_FALSE(sure(std::string(100'000, '\0') + "\xff\xfe\""));
}

TEST_F(Fixes, IsSilentWhenNothingPassedOrFixesDisagree) {
  turn(kOverflow, "src/cart.cpp", false);
  EXPECT_FALSE(sure(kOverflow)) << "it never passed";
  turn(kOverflow, "src/cart.cpp");
  EXPECT_TRUE(sure(kOverflow));
  turn(kOverflow, "src/money.h");
  EXPECT_FALSE(sure(kOverflow)) << "two fixes of it changed different files";
  EXPECT_EQ(must(recall::find_fixes(m.db(), {"proj"}, kOverflow, 5)).size(), 2u) << "a person sees both";
}

TEST_F(Fixes, OfAnotherProjectAreNotGiven) {
  turn(kOverflow, "src/cart.cpp");
  Chat other;
  other.session = "other";
  other.cwd = "/home/dev/code/proj-two";
  m.tell(other.prompt("hello"));
  EXPECT_FALSE(must(recall::sure_fix(m.db(), "proj-two", kOverflow)));
  EXPECT_TRUE(must(recall::find_fixes(m.db(), {"proj-two"}, kOverflow, 5)).empty());
  EXPECT_EQ(must(recall::find_fixes(m.db(), {}, kOverflow, 5)).size(), 1u);
}

TEST_F(Fixes, AHintNeedsWordsThatNameSomethingRemembered) {
  m.tell(chat.prompt("why does the invoice exporter drop the currency column"));
  m.tell(chat.stop("The invoice exporter dropped the currency column because the header list was sorted."));
  for (int i = 0; i < 6; ++i) turn(kOverflow, "src/cart.cpp");
  const auto hint = [&](std::string_view prompt) { return must(recall::hint_for(m.db(), "proj", prompt)); };
  const auto given = hint("the invoice exporter drops its currency column again, why?");
  ASSERT_TRUE(given);
  EXPECT_LE(utf16_length(given->text), recall::kLongestHint);
  EXPECT_FALSE(given->records.empty());
  for (const char* talk : {"thanks, that looks good", "yes", "ok now commit it please", "run the tests", ""})
    EXPECT_FALSE(hint(talk)) << talk;
}

}  // namespace
}  // namespace cairn::test
