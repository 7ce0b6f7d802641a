// Documents as text: front matter, sections, templates, lint, drafts, chains.
#include <gtest/gtest.h>

#include "documents/chain.h"
#include "documents/draft.h"
#include "documents/resume.h"
#include "documents/template.h"
#include "documents/text.h"

namespace cairn::documents {
namespace {

constexpr std::string_view kOld =
    "---\r\ndate: 2026-01-15T20:45:00Z\r\nproject: shop\r\nstatus: completed\r\ntags:\r\n- parser\r\n- \"a, "
    "b\"\r\n"
    "previous_session: session-2026-01-15-1430.md\r\n---\r\n\r\n# Title\r\n\r\n## Session "
    "Summary\r\n\r\nDone.\r\n\r\n"
    "```\r\n## no heading\r\n```\r\n\r\n---\r\n\r\n## Session Continuation (2026-01-15T21:00Z)\r\n\r\n### "
    "More\r\n";

TEST(DocumentText, ReadsFrontMatterListsAndSectionsOfFilesWithCarriageReturns) {
  const DocumentText text = read_text(kOld);
  EXPECT_EQ(text.value("previous_session"), "session-2026-01-15-1430.md");
  ASSERT_TRUE(text.field("tags"));
  EXPECT_EQ(text.field("tags")->values, (std::vector<std::string>{"parser", "a, b"}));
  ASSERT_EQ(text.sections.size(), 3u);
  EXPECT_EQ(text.sections[0].text, "# Title");
  EXPECT_EQ(text.sections[1].text, "Done.\n\n```\n## no heading\n```")
      << "the rule belongs to the continuation";
  EXPECT_EQ(text.sections[2].name, "Session Continuation (2026-01-15T21:00Z)");
  // Writing and reading again changes nothing.
  const DocumentText again = read_text(write_sections(text.sections));
  ASSERT_EQ(again.sections.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(again.sections[i].text, text.sections[i].text);
}

TEST(DocumentText, FrontMatterIsReadAsItIsWritten) {
  store::Document d;
  d.id = 7;
  d.title = "a \"title\": with signs";
  d.project = "shop";
  d.tags = {"x, y", "plain"};
  d.branch = "feature/a";
  d.anchor.lines = 412;
  d.created_at = from_epoch_ms(1'790'000'000'123);
  const DocumentText text = read_text(front_matter(d, "D6"));
  EXPECT_EQ(text.value("title"), d.title);
  EXPECT_EQ(text.value("previous_session"), "D6");
  EXPECT_EQ(text.value("date"), "2026-09-21T14:13:20Z");
  EXPECT_EQ(text.value("anchor"), "line 412");
  EXPECT_EQ(read_text(front_matter(d, "")).value("previous_session"), "") << "null is none";
}

std::vector<std::string> problems(std::string_view text) {
  std::vector<std::string> out;
  const Template form =
      read_template("## Session Summary\n{{summary}}\n## Next Steps\n## Notes (optional)\n");
  for (const TextProblem& problem : lint(text, form)) out.push_back(problem.what);
  return out;
}

TEST(DocumentText, LintNamesWhatTheTemplateMissesAndWhatItDoesNotKnow) {
  const std::string front = "---\ndate: 2026-01-15T20:45:00Z\nproject: p\nstatus: completed\n---\n";
  EXPECT_TRUE(problems(front + "## Session Summary\nx\n## Next Steps\ny\n## Session Continuation (now)\nz\n")
                  .empty());
  EXPECT_EQ(problems(front + "## Session Summary\n\n## Other\nx\n## session summary\ny\n"),
            (std::vector<std::string>{"section \"Session Summary\" is empty", "unknown section \"Other\"",
                                      "section \"session summary\" occurs twice",
                                      "section \"Next Steps\" is missing"}));
  EXPECT_EQ(
      problems("---\ndate: yesterday\nstatus: done\nmood: good\n---\n## Session Summary\n[What was done]\n## "
               "Next Steps\nx\n"),
      (std::vector<std::string>{"date \"yesterday\" is not a time as 2026-11-17T04:30:00Z",
                                "status \"done\" is none of in-progress, completed, blocked",
                                "unknown key \"mood\" in the front matter",
                                "section \"Session Summary\" has only a placeholder",
                                "the front matter has no \"project\""}));
  EXPECT_EQ(problems("## Session Summary\nx\n## Next Steps\ny\n").size(), 1u) << "no front matter";
}

TEST(DocumentDraft, FollowsTheTemplateAndLeavesOutOptionalSectionsWithNothingToTell) {
  DraftInput input;
  input.material.turns = 2;
  input.material.title = "Fix the lexer";
  input.material.files = {"src/a.cpp", "src/b.cpp"};
  const Template form = read_template(
      "a remark\n## What\n{{summary}}\n## Decisions (optional)\n{{decisions}}\n## Files\n{{files}}\n## "
      "Failed\n{{failed}}\n"
      "## Odd\n{{unknown}}\n");
  const DocumentText text = read_text(draft(input, form));
  ASSERT_EQ(text.sections.size(), 4u);
  EXPECT_NE(text.section("What")->text.find("Fix the lexer."), std::string::npos);
  EXPECT_EQ(text.section("Files")->text, "- `src/b.cpp`\n- `src/a.cpp`") << "the last edited comes first";
  EXPECT_EQ(text.section("Failed")->text, "None.");
  EXPECT_FALSE(text.section("Decisions"));
}

TEST(DocumentDraft, APersonsWordsAreNeverLostWhateverTheTemplateAsksFor) {
  DraftInput input;
  input.summary = "All is well.";
  EXPECT_NE(draft(input, read_template("## Files\n{{files}}\n")).find("All is well."), std::string::npos);
}

TEST(DocumentDraft, HeadingsOfAnAnswerDoNotBecomeSections) {
  DraftInput input;
  input.material.turns = 1;
  input.material.last_answer = "Done.\n\n## Next Steps\n\n```\n## code\n```\n# Title";
  const DocumentText text = read_text(draft(input, read_template("## State\n{{state}}\n")));
  ASSERT_EQ(text.sections.size(), 1u);
  EXPECT_EQ(text.sections[0].text, "Done.\n\n### Next Steps\n\n```\n## code\n```\n### Title");
}

TEST(DocumentResume, NeverIsLongerThanAskedForAndSaysWhatWasShortened) {
  ResumeInput input;
  input.name = "D1";
  input.document.title = "Fix the lexer";
  for (int i = 0; i < 30; ++i)
    input.document.body += "## Section " + std::to_string(i) + "\n\n" + std::string(700, 'x') + ".\n\n";
  for (std::size_t most : {200u, 1000u, 5000u, 16000u}) {
    input.max_bytes = most;
    const Resumed out = resume(input);
    EXPECT_LE(out.text.size(), most);
    EXPECT_FALSE(out.shortened.empty());
  }
  input.max_bytes = 100'000;
  EXPECT_TRUE(resume(input).shortened.empty());
  input.wanted = {"section 7"};
  const std::string one = resume(input).text;
  EXPECT_NE(one.find("## Section 7\n"), std::string::npos);
  EXPECT_EQ(one.find("## Section 8\n"), std::string::npos);
}

TEST(DocumentResume, TicksWhatWasClosedSinceTheDocument) {
  ResumeInput input;
  input.name = "D1";
  input.document.body = "## Remaining Todos\n\n- [ ] one (W1)\n- [ ] two (W12)\n- [ ] three\n";
  input.closed = {12};
  const std::string text = resume(input).text;
  EXPECT_NE(text.find("- [x] two (W12)"), std::string::npos);
  EXPECT_NE(text.find("- [ ] one (W1)"), std::string::npos);
}

store::Document document(std::int64_t id, std::optional<std::int64_t> previous, int hour) {
  store::Document d;
  d.id = id;
  d.previous = previous;
  d.created_at = from_epoch_ms(1'790'000'000'000) + std::chrono::hours(hour);
  return d;
}

TEST(DocumentChain, ReportsForksGapsAndCycles) {
  auto gone = document(9, {}, 9);
  gone.previous_name = "session-2026-01-15-2000.md";
  const Chain chain =
      make_chain({document(1, {}, 1), document(2, 1, 2), document(3, 1, 3), document(4, 77, 4),
                  document(5, 6, 5), document(6, 7, 6), document(7, 5, 7), document(8, 7, 8), gone});
  EXPECT_EQ(chain.problems(),
            (std::vector<std::string>{"fork: D1 is followed by D2, D3",
                                      "gap: the predecessor of D4, D77, is missing",
                                      "fork: D7 is followed by D6, D8",
                                      "gap: the predecessor of D9, session-2026-01-15-2000.md, is missing",
                                      "cycle: each of these follows another of them: D5, D6, D7"}));
  EXPECT_FALSE(chain.find(8)->in_cycle) << "it follows a cycle and is none";
  const std::string drawn = mermaid(chain);
  EXPECT_NE(drawn.find("D1 --> D3\n"), std::string::npos);
  EXPECT_NE(drawn.find("M4[\"missing: D77\"] -.-> D4\n"), std::string::npos);
}

TEST(DocumentChain, ALongChainWithoutFaultsHasNone) {
  std::vector<store::Document> all = {document(1, {}, 1)};
  for (int i = 2; i <= 2000; ++i) all.push_back(document(i, i - 1, i));
  EXPECT_TRUE(make_chain(all).problems().empty());
}

}  // namespace
}  // namespace cairn::documents
