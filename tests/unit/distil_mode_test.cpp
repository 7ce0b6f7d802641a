#include <gtest/gtest.h>

#include "distil/mode.h"
#include "distil/sentences.h"
#include "distil/turn.h"

namespace cairn::distil {
namespace {

constexpr std::string_view kHead = "types = [\"bugfix\"]\nconcepts = [\"gotcha\"]\n";

std::string problem(std::string_view rest) {
  const auto mode = read_mode(std::string(kHead) + std::string(rest), "mine");
  return mode ? "" : mode.error().message;
}

TEST(Mode, TheBuiltInOneKnowsSixLanguages) {
  const std::pair<const char*, const char*> findings[] = {
      {"It failed because the lock was gone.", "en"},
      {"Das Problem war ein fehlender Index.", "de"},
      {"La cause est un verrou oubli\u00e9.", "fr"},
      {"Resulta que el \u00edndice no existe.", "es"},
      {"\u95ee\u9898\u5728\u4e8e\u7d22\u5f15\u7f3a\u5931\u3002", "zh"},
      {"\u539f\u56e0\u306f\u7d22\u5f15\u306e\u6b20\u843d\u3067\u3057\u305f\u3002", "ja"}};
  for (const auto& [sentence, language] : findings) {
    const auto found = statements(sentence, code_mode());
    ASSERT_EQ(found.size(), 1u) << language;
    EXPECT_EQ(found[0].text, sentence);
    EXPECT_FALSE(found[0].decision) << language;
  }
  for (const char* sentence :
       {"We decided to wait instead of polling.", "Wir haben uns entschieden zu warten statt zu fragen.",
        "Nous avons d\u00e9cid\u00e9 d'attendre plut\u00f4t que de demander.",
        "Decidimos esperar en vez de preguntar.",
        "\u6211\u4eec\u51b3\u5b9a\u7b49\u5f85\u800c\u4e0d\u662f\u8f6e\u8be2\u3002",
        "\u554f\u3044\u5408\u308f\u305b\u3067\u306f\u306a\u304f\u5f85\u3064\u3053\u3068\u306b\u3057"
        "\u307e\u3057\u305f\u3002"})
    EXPECT_TRUE(statements(sentence, code_mode()).at(0).decision) << sentence;
  for (const char* sentence : {"The docs are not yet written.", "Die Tests stehen noch aus.",
                               "Il reste \u00e0 \u00e9crire la documentation.",
                               "Quedan por hacer las pruebas.", "\u6587\u6863\u5c1a\u672a\u5b8c\u6210\u3002",
                               "\u30c6\u30b9\u30c8\u306f\u307e\u3060\u3067\u3059\u3002"})
    EXPECT_EQ(remaining_work(sentence, code_mode()), std::vector<std::string>{sentence});
}

TEST(Mode, ADecisionMustNameTheRejectedAlternative) {
  EXPECT_TRUE(statements("I went with the new parser.", code_mode()).empty());
  const auto two = statements("We decided to keep the queue. Polling would not scale.", code_mode());
  ASSERT_EQ(two.size(), 1u);
  EXPECT_TRUE(two[0].decision) << "the next sentence names what was not chosen";
  const auto cause = statements("We decided to wait because the lock is held.", code_mode());
  ASSERT_EQ(cause.size(), 1u);
  EXPECT_FALSE(cause[0].decision) << "a cause, and nothing else to choose";
}

TEST(Mode, WithoutListsOfPlainLanguageHasThoseOfTheBuiltInOne) {
  const Mode mine = *read_mode(std::string(kHead) + "[en]\nnothing = [\"zilch\"]\n", "mine");
  EXPECT_EQ(mine.nothing_left, Cues{"zilch"});
  EXPECT_EQ(mine.routine_requests, code_mode().routine_requests);
  EXPECT_TRUE(mine.findings.empty()) << "what is looked for is the mode's own affair";
}

TEST(Mode, SentencesEndWithoutABlankWhereTheScriptHasNone) {
  EXPECT_EQ(
      sentences("\u4fee\u597d\u4e86\u3002\u539f\u56e0\u662f\u9501\u3002\u8fd8\u6ca1\u6709\u6587\u6863\uff01"),
      (std::vector<std::string>{"\u4fee\u597d\u4e86\u3002", "\u539f\u56e0\u662f\u9501\u3002",
                                "\u8fd8\u6ca1\u6709\u6587\u6863\uff01"}));
}

TEST(Mode, ACueStandsBetweenWordBordersUnlessItsScriptHasNone) {
  EXPECT_TRUE(has_cue("we fix it", {"fix"}));
  EXPECT_FALSE(has_cue("a prefix", {"fix"}));
  EXPECT_FALSE(has_cue("fixture", {"fix"}));
  EXPECT_TRUE(has_cue("fixtures", {"fix*"}));
  EXPECT_FALSE(has_cue(fold("\u00dcberall"), {"all"}));
  EXPECT_FALSE(has_cue("all\u00e9e", {"all"}));
  EXPECT_TRUE(has_cue(fold("\u00c4ndern"), {"\u00e4ndern"}));
  EXPECT_TRUE(has_cue("\u7684\u539f\u56e0\u662f\u9501", {"\u539f\u56e0\u662f"}));
  EXPECT_TRUE(has_cue("it \u2014 because\u2026", {"because"}));
  EXPECT_FALSE(has_cue("x", {"", "*"}));
}

TEST(Mode, WhatIsSettledDoesNotRemain) {
  EXPECT_TRUE(remaining_work("All tests still pass.", code_mode()).empty());
  EXPECT_EQ(remaining_work("The tests still pass but docs are not yet done.", code_mode()).size(), 1u);
}

TEST(Mode, ABadFileIsReportedWithItsError) {
  EXPECT_EQ(problem("[en]\nfinding = [\"so\"]\n"), "");
  EXPECT_EQ(problem("[en]\nfindings = [\"so\"]\n"), "modes/mine.toml: en.findings is not known");
  EXPECT_EQ(problem("[en]\nfinding = [3]\n"), "modes/mine.toml: en.finding is not a list of words");
  EXPECT_EQ(problem("[en]\ntypes.odd = [\"x\"]\n"),
            "modes/mine.toml: en.types.odd is not in the list of names");
  EXPECT_EQ(problem("name = 3\n"), "modes/mine.toml: name is not the section of a language");
  EXPECT_NE(problem("[en\n").find("modes/mine.toml: line 3"), std::string::npos);
  EXPECT_EQ(read_mode("", "mine").error().message, "modes/mine.toml: types is not a list of names");
}

TEST(Mode, NamesTheTypesAndConceptsOfObservations) {
  Turn turn;
  turn.prompt = "dear diary";
  turn.last_answer = "We decided to rest instead of going on. It was late because of the rain.";
  turn.end = Turn::End::stopped;
  const Mode diary = *read_mode(
      "types = [\"entry\", \"decision\"]\nconcepts = [\"weather\"]\n[en]\nconcepts.weather = [\"rain\"]\n"
      "finding = [\"because\"]\ndecision = [\"decided\"]\n",
      "diary");
  const auto list = distil(turn, diary).observations;
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].type, "decision");
  EXPECT_EQ(list[1].type, "change") << "it has no discoveries";
  EXPECT_EQ(list[1].concepts, std::vector<std::string>{"weather"});
  EXPECT_TRUE(distil(turn, *read_mode("types = [\"x\"]\nconcepts = [\"y\"]\n", "mute")).observations.empty());
}

TEST(Mode, CuesAreFoundAlikeOneByOneAndAllAtOnce) {
  const Mode& mode = code_mode();
  const CueFinder finder({&mode.findings, &mode.decisions, &mode.remains});
  for (const Cues* cues : {&mode.findings, &mode.decisions, &mode.remains, &mode.resolved, &mode.headings})
    for (std::string cue : *cues) {
      if (cue.ends_with('*')) cue.pop_back();
      for (const std::string& text :
           {cue, "x " + cue + " y", "x" + cue, cue + "x", "Nothing. " + cue + "."}) {
        const std::string folded = fold(text);
        const bool alone = has_cue(folded, mode.findings) || has_cue(folded, mode.decisions) ||
                           has_cue(folded, mode.remains);
        EXPECT_EQ(finder.in(folded), alone) << text;
      }
    }
}

}  // namespace
}  // namespace cairn::distil
