#include <gtest/gtest.h>

#include "distil/open_items.h"
#include "distil/plans.h"
#include "distil_steps.h"
#include "store/states.h"

namespace cairn::distil {
namespace {

Turn turn_of(std::string answer, std::vector<Step> steps = {edit("/p/src/lexer.cpp", Json::array({"+x"}))}) {
  Turn turn;
  turn.prompt = "fix the lexer";
  turn.steps = std::move(steps);
  turn.last_answer = std::move(answer);
  turn.end = Turn::End::stopped;
  turn.root = "/p";
  return turn;
}

std::vector<std::string> items_of(const Turn& turn) {
  std::vector<std::string> out;
  for (const OpenItem& item : left_open(turn).items)
    out.push_back(std::string(store::name_of(item.source)) + ": " + item.text);
  return out;
}
std::vector<std::string> items_of(std::string answer) {
  return items_of(turn_of(std::move(answer)));
}
using Lines = std::vector<std::string>;

TEST(OpenItems, TheListUnderANextStepsHeadingIsWhatIsLeft) {
  EXPECT_EQ(
      items_of("Fixed the lexer.\n\n## Next steps\n\n1. **Add a test** for tabs\n2. Update the docs\n   - of "
               "the lexer\n3. [x] Rename the file\n\nThat is all."),
      (Lines{"next_step: Add a test for tabs", "next_step: Update the docs"}));
  EXPECT_EQ(
      items_of("Done.\n\n**What I'd suggest next:**\n- Log the user's id in `access()`\n- Test the rename"),
      (Lines{"next_step: Log the user's id in `access()`", "next_step: Test the rename"}));
  EXPECT_EQ(items_of("Done.\n\n### \u25b6 Next up\n- `/check-todos` \u2014 lists them\n- Ship it"),
            Lines{"next_step: Ship it"});
  EXPECT_EQ(items_of("Done.\n\n## Next steps\n\nNone."), Lines{});
  EXPECT_EQ(items_of("Done.\n\n## Remaining files\n- a.cpp\n- b.cpp"), Lines{})
      << "a list of files is no work";
}

TEST(OpenItems, ALabelSaysItInOneLine) {
  EXPECT_EQ(items_of("Fixed.\n\nNext: write the migration."), Lines{"next_step: write the migration."});
  EXPECT_EQ(items_of("Fixed.\n\n**Discovered & filed:** `lex-5` \u2014 the reader drops the last field."),
            Lines{"next_step: `lex-5` \u2014 the reader drops the last field."});
}

TEST(OpenItems, ASentenceOfObligationCountsWhereWorkWasDone) {
  const char* kSaid = "The lexer is fixed. The fix will need to update the validator and its tests.";
  EXPECT_EQ(items_of(kSaid), Lines{"next_step: The fix will need to update the validator and its tests."});
  EXPECT_EQ(items_of(turn_of(kSaid, {bash("git status")})), Lines{}) << "an explanation";
  EXPECT_EQ(items_of("Fixed the lexer. Two parser tests still fail."),
            Lines{"next_step: Two parser tests still fail."});
  EXPECT_EQ(items_of("Fixed. Ready to commit when you are."),
            (Lines{"next_step: Ready to commit when you are."}));
}

TEST(OpenItems, TextThatOnlyLooksLikeWorkIsNotOpen) {
  for (const char* said :
       {"All tests still pass.", "The remaining files are generated.", "For a new one you'd need to:",
        "If you want the old one, you will need to set a flag.", "- **Not yet configured**: it asks.",
        "Nothing remains. No follow-up needed.", "The lock still uses the old limit.",
        "It is shown at the next prompt.", "> TODO: deferred to v3", "```\nNext: x\n```"})
    EXPECT_EQ(items_of(said), Lines{}) << said;
}

TEST(OpenItems, AClosingOfferIsAQuestionAndOthersAreNot) {
  EXPECT_EQ(items_of("Fixed. All 98 tests pass. Want me to push and open a PR?"),
            Lines{"question: Want me to push and open a PR?"});
  EXPECT_EQ(items_of("Shall I go on? I could also stop.\n\nHere is why.\n\nIt was late."), Lines{});
  for (const char* none : {"Fixed. What's next?", "Done. What would you like to work on next?",
                           "Need any help?", "Fixed. Let me know if you want to change the colour."})
    EXPECT_EQ(items_of(none), Lines{}) << none;
  EXPECT_EQ(items_of("Two ways are open. Which approach do you prefer: a queue or a lock?"),
            Lines{"question: Which approach do you prefer: a queue or a lock?"});
  EXPECT_EQ(items_of("Fixed. Would you like me to?"), Lines{}) << "it offers nothing";
}

TEST(OpenItems, AnInterruptedTurnSaysAtWhat) {
  Turn turn = turn_of("", {edit("/p/a.cpp", Json::array({"+x"})), interrupted(bash("git commit -m x"))});
  turn.end = Turn::End::cut_off;
  EXPECT_EQ(items_of(turn),
            Lines{"interruption: Interrupted at: git commit -m x; the request was: fix the lexer"});
  turn.end = Turn::End::failed;
  turn.failure = "rate_limit";
  turn.steps.pop_back();
  EXPECT_EQ(
      items_of(turn),
      Lines{"interruption: Ended by an error of the service (rate_limit); the request was: fix the lexer"});
  turn.steps.clear();
  turn.prompt = "/clear";
  EXPECT_EQ(items_of(turn), Lines{});
}

TEST(OpenItems, ARefusedCallLeavesNothingWhenTheTurnWentOn) {
  EXPECT_EQ(items_of(turn_of("I left the file alone.", {interrupted(bash("rm -rf build"))})), Lines{});
  EXPECT_EQ(items_of(turn_of("Done.", {failed(bash("make test"), "exit code 1")})), Lines{});
}

TEST(OpenItems, APlanIsKeptWholeWithWhatBecameOfIt) {
  const std::string plan =
      "# Plan: Retry uploads\n\n## Steps\n1. Add a retry to `src/upload.cpp`\n2. Test it";
  const Step proposed = step("ExitPlanMode", Json::object({{"plan", plan}}));
  const auto accepted = left_open(turn_of("Done.", {proposed})).items;
  ASSERT_EQ(accepted.size(), 1u);
  EXPECT_EQ(accepted[0].state, event::OpenState::accepted);
  EXPECT_EQ(accepted[0].text, "Retry uploads");
  EXPECT_EQ(accepted[0].detail, plan);
  const auto rejected = left_open(turn_of("As you like.", {failed(proposed, "The user said no")})).items;
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_EQ(rejected[0].state, event::OpenState::rejected);
  Turn cut = turn_of("", {interrupted(proposed)});
  cut.end = Turn::End::cut_off;
  ASSERT_EQ(left_open(cut).items.size(), 2u);
  EXPECT_EQ(left_open(cut).items[0].state, event::OpenState::proposed) << "nobody answered";
  EXPECT_EQ(left_open(cut).items[1].text,
            "Interrupted at: the plan \"Retry uploads\"; the request was: fix the lexer");
  EXPECT_TRUE(brings_plan("Implement the following plan:\n\n" + plan, plan));
  EXPECT_FALSE(brings_plan("Make another plan", plan));
  EXPECT_EQ(steps_left(plan, {"other.cpp"}), std::vector<std::string>{"1. Add a retry to `src/upload.cpp`"});
  EXPECT_EQ(steps_left(plan, {"upload.cpp"}), std::vector<std::string>{});
}

TEST(OpenItems, AStepOfAPlanNamesItsFilesBelowIt) {
  const auto steps = plan_steps(
      "# Plan: X\n## Changes\n### 1. Change the struct\n**File:** `src/a.cpp`\n```\nb.cpp\n```\n### 2. Use "
      "it\nIn `c.cpp`.\n## Files to modify\n- `d.cpp`\n## Verification\n1. Run `e.sh`\n");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].title, "1. Change the struct");
  EXPECT_EQ(steps[0].files, std::set<std::string>{"a.cpp"});
  EXPECT_EQ(steps[1].files, std::set<std::string>{"c.cpp"});
}

TEST(OpenItems, AQuestionThatNobodyAnsweredIsOpen) {
  Turn turn = turn_of("", {interrupted(step("AskUserQuestion", Json::parse(R"({"questions":[{"question":
      "Which database shall we use?"}]})")
                                                                   .value()))});
  turn.end = Turn::End::cut_off;
  EXPECT_EQ(items_of(turn), Lines{"question: Which database shall we use?"});
}

TEST(OpenItems, TasksAreReportedByTheirChanges) {
  Step create = step("TaskCreate", Json::object({{"subject", "Write docs"}}),
                     Json::object({{"task", Json::object({{"id", "3"}})}}));
  create.event = 7;
  const auto work =
      left_open(
          turn_of("Done.",
                  {create, step("TaskUpdate", Json::object({{"taskId", "3"}, {"status", "in_progress"}})),
                   step("TaskUpdate", Json::object({{"taskId", "1"}, {"status", "completed"}}))}))
          .done;
  ASSERT_EQ(work.tasks.size(), 2u);
  EXPECT_EQ(work.tasks[0].subject, "Write docs");
  EXPECT_EQ(work.tasks[0].state, host::TaskChange::State::in_progress);
  EXPECT_EQ(work.tasks[0].event, 7);
  EXPECT_EQ(work.tasks[1].id, "1");
  EXPECT_EQ(work.tasks[1].state, host::TaskChange::State::completed);
}

WorkDone done(std::string answer, std::vector<Step> steps) {
  return left_open(turn_of(std::move(answer), std::move(steps))).done;
}

TEST(OpenItems, AnItemIsDoneWhenALaterTurnSaysSo) {
  const Step work = edit("/p/src/parser_test.cpp", Json::array({"+x"}));
  EXPECT_TRUE(did(done("Added tests for the parser.", {work}), "Add tests for the parser"));
  EXPECT_FALSE(did(done("All parser tests pass.", {work}), "Add tests for the parser"));
  EXPECT_FALSE(did(done("Tests for the parser still need to be added.", {work}), "Add tests for the parser"));
  EXPECT_FALSE(did(done("Added tests for the parser.", {}), "Add tests for the parser")) << "only an answer";
  EXPECT_TRUE(
      did(done("Done.", {bash("git commit -m 'Add parser tests' && git push")}), "Add tests for the parser"));
  EXPECT_TRUE(did(done("Done.", {bash("git push -u origin x"), bash("gh pr create --title x")}),
                  "Want me to push and open a PR?"));
  EXPECT_TRUE(did(done("Done.", {bash("git commit -m 'x'")}), "Ready to commit when you are."));
  EXPECT_TRUE(did(done("The reader is faster now.", {edit("/p/src/reader.cpp", Json::array({"+x"}))}),
                  "Make `src/reader.cpp` faster"));
  EXPECT_FALSE(did(done("Renamed a variable.", {edit("/p/src/reader.cpp", Json::array({"+x"}))}),
                   "Make `src/reader.cpp` faster"));
}

TEST(OpenItems, StandingOrdersAreFewAndMeantForGood) {
  EXPECT_EQ(standing_orders("Fix it. Always run the linter before a commit. From now on use pnpm."),
            (Lines{"Always run the linter before a commit.", "From now on use pnpm."}));
  for (const char* none :
       {"Never mind.", "It never works on my machine", "Why does it always fail?", "fix the lexer"})
    EXPECT_EQ(standing_orders(none), Lines{}) << none;
  EXPECT_EQ(standing_orders("You should never push to main."), Lines{"You should never push to main."});
  EXPECT_EQ(standing_orders("Always x y. " + std::string(2000, 'a')), Lines{}) << "pasted";
}

}  // namespace
}  // namespace cairn::distil
