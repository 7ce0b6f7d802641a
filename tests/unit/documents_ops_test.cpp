// Documents as users meet them: save, resume, coalesce, chain, fresh start, undo. The whole engine, a
// simulated disk.
#include <gtest/gtest.h>

#include "archive_fixture.h"

namespace cairn::test {
namespace {

class DocumentsTest : public ArchiveTest {
 protected:
  Json in_project(std::initializer_list<Json::Member> more = {}) {
    Json args = Json::object({{"cwd", chat.cwd}});
    for (const Json::Member& member : more) args.set(member.first, member.second);
    return args;
  }
  Json save(std::initializer_list<Json::Member> more = {}) { return must(m.run("save", in_project(more))); }
  Json resume(std::initializer_list<Json::Member> more = {}) {
    return must(m.run("resume", in_project(more)));
  }
  Json coalesce() { return must(m.run("coalesce", in_project())); }
  std::string body(std::string_view id) {
    return std::string(must(m.run("docs.show", in_project({{"id", id}})))["text"].as_string());
  }

  // A turn with an edit, in hooks and in the transcript.
  void work(std::string_view words, std::string_view file, std::string_view answer) {
    const std::string n = std::to_string(++turn_);
    chat.prompt_id = "prompt-" + n;
    m.tell(chat.prompt(words));
    transcript.prompt(words);
    const std::string path = chat.cwd + "/" + std::string(file);
    m.tell(chat.tool("Write", "t" + n, Json::object({{"file_path", path}, {"content", "alpha\nbeta\n"}}),
                     Json::object({{"type", "create"}, {"filePath", path}, {"content", "alpha\nbeta\n"}})));
    transcript.wrote(file, "t" + n);
    m.tell(chat.stop(answer));
    transcript.answer(answer);
    transcript.save();
  }
  void start() {
    m.tell(chat.start());
    work("make a parser for dates", "src/dates.cpp", "The parser reads dates. Next: parse time zones.");
  }

 private:
  int turn_ = 0;
};

bool has(const Json& result, std::string_view part) {
  return result["text"].as_string().find(part) != std::string_view::npos;
}

TEST_F(DocumentsTest, ADraftTellsWhatTheSessionDidAndFollowsTheTemplate) {
  start();
  const Json saved = save();
  EXPECT_EQ(saved["id"].as_string(), "D1");
  EXPECT_TRUE(saved["problems"].items().empty()) << saved["problems"].dump();
  for (const char* part :
       {"make a parser for dates", "`src/dates.cpp`", "parse time zones", "status: in-progress",
        "previous_session: null", "transcript: B1", "## Failed Approaches\n\nNone."})
    EXPECT_TRUE(has(saved, part)) << part << "\n" << saved["text"].as_string();
  EXPECT_EQ(saved["source"].as_string(), "draft");
  EXPECT_EQ(saved["session"].as_string(), chat.session);
  EXPECT_EQ(saved["anchor_line"].as_int(), std::count(transcript.text.begin(), transcript.text.end(), '\n'));
}

TEST_F(DocumentsTest, AGivenTextIsTheDocumentAndAShortOneItsSummary) {
  start();
  const Json whole =
      save({{"text",
             "---\ntitle: Mine\ntags: [b, a]\nstatus: blocked\ndate: 1999-01-01T00:00:00Z\n---\n"
             "## Session Summary\n\nAll mine.\n"}});
  EXPECT_EQ(whole["title"].as_string(), "Mine");
  EXPECT_EQ(whole["status"].as_string(), "blocked");
  EXPECT_EQ(whole["tags"].dump(), R"(["a","b"])");
  EXPECT_EQ(whole["created_at"].as_string(), iso8601(m.clock.now())) << "nobody gives the date but the clock";
  EXPECT_FALSE(has(whole, "src/dates.cpp")) << "nothing is added to what has sections";
  const Json summary = save({{"text", "Dates work; zones are next."}, {"tag", Json::array({"dates"})}});
  EXPECT_TRUE(has(summary, "## Session Summary\n\nDates work; zones are next.\n"))
      << summary["text"].as_string();
  EXPECT_TRUE(has(summary, "`src/dates.cpp`"));
  EXPECT_EQ(summary["title"].as_string(), "Dates work; zones are next.");
  EXPECT_EQ(must(m.run("docs.list", in_project({{"tag", "Dates"}})))["documents"].items().size(), 1u);
}

TEST_F(DocumentsTest, TwoSavesInOneSecondAreTwoDocumentsAndTheSecondFollowsTheFirst) {
  start();
  EXPECT_EQ(save()["id"].as_string(), "D1");
  const Json second = save();
  EXPECT_EQ(second["id"].as_string(), "D2");
  EXPECT_EQ(second["previous"].as_string(), "D1");
  const Json chain = must(m.run("chain", in_project()));
  EXPECT_TRUE(chain["problems"].items().empty()) << chain.dump();
}

TEST_F(DocumentsTest, ADraftTellsWhatWasDoneInTheAgentsOwnWords) {
  m.tell(chat.start());
  work("make a parser for dates", "src/dates.cpp",
       "Done.\n\n## What changed\n\n- The parser reads dates of both calendars\n- Files:\n");
  EXPECT_TRUE(has(save(), "- make a parser for dates: The parser reads dates of both calendars.\n"))
      << body("D1");
}

TEST_F(DocumentsTest, ASessionThatHasOnlyStartedIsNotTheOneThatIsSaved) {
  Chat fresh;
  fresh.session = "22222222-aaaa-4bbb-8ccc-000000000002";
  m.tell(fresh.start());
  EXPECT_EQ(m.run("save", in_project()).error().code, Code::not_found);
  start();
  m.clock.advance(std::chrono::minutes(1));
  m.tell(fresh.start("resume"));
  EXPECT_EQ(save()["session"].as_string(), chat.session);
}

TEST_F(DocumentsTest, NothingToDraftFromAndNothingGivenSaysSo) {
  const auto failed = m.run("save", in_project());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::not_found);
  EXPECT_EQ(save({{"text", "Only words."}})["id"].as_string(), "D1") << "a text needs no session";
  EXPECT_EQ(m.run("save", in_project({{"text", "<private>x</private>"}})).error().code, Code::invalid);
  EXPECT_EQ(m.run("save", in_project({{"text", "x"}, {"status", "done"}})).error().code, Code::invalid);
  EXPECT_EQ(m.run("save", in_project({{"text", "x"}, {"date", "2026-01-01"}})).error().code, Code::invalid);
}

TEST_F(DocumentsTest, AUsersTemplateDecidesTheSections) {
  start();
  m.put_file(m.home.data + "/document.md", "## Was war\n\n{{summary}}\n\n## Dateien\n\n{{files}}\n");
  const Json saved = save();
  EXPECT_TRUE(has(saved, "## Was war\n"));
  EXPECT_TRUE(has(saved, "## Dateien\n\n- `src/dates.cpp`"));
  EXPECT_FALSE(has(saved, "## Next Steps"));
  EXPECT_TRUE(must(m.run("docs.lint", in_project()))["ok"].as_bool());
  m.put_file(m.home.data + "/document.md", "nothing\n");
  EXPECT_EQ(m.run("save", in_project()).error().code, Code::invalid);
}

TEST_F(DocumentsTest, ResumeTellsTheDocumentWhatCameAfterItAndWhatIsOpen) {
  start();
  save({{"text", "Dates are read."}});
  EXPECT_TRUE(has(resume(), "Nothing happened in that session after it."));
  work("parse time zones too", "src/zones.cpp", "Zones are read as well. Next: leap seconds.");
  m.tell(chat.end());
  Chat next{.session = "7e3f8a12-0000-4000-8000-000000000002", .prompt_id = "prompt-9"};
  m.tell(next.start());
  const Json told = resume({{"from", next.session}});
  for (const char* part : {"Resuming from D1", "Dates are read.", "parse time zones too", "src/zones.cpp",
                           "Zones are read as well.", "leap seconds"})
    EXPECT_TRUE(has(told, part)) << part << "\n" << told["text"].as_string();
  EXPECT_TRUE(told["pending"]["has_work"].as_bool());
  EXPECT_EQ(told["pending"]["recommended"].as_string(), "coalesce");
  EXPECT_FALSE(told["open"].items().empty());
  EXPECT_EQ(told["since"]["records"].as_int(), 4);
}

TEST_F(DocumentsTest, TheNextSessionIsToldOfWorkAfterTheDocumentAndWhatToDo) {
  start();
  save();
  m.tell(chat.prompt("thanks"));
  transcript.prompt("thanks");
  transcript.answer("You are welcome.");
  transcript.save();
  m.tell(chat.stop("You are welcome."));
  m.tell(chat.end());
  Chat next{.session = "7e3f8a12-0000-4000-8000-000000000002", .prompt_id = "prompt-9"};
  const std::string idle = m.ask(next.start()).line;
  EXPECT_NE(idle.find("recommended: `cairn resume`: D1 was saved"), std::string::npos) << idle;
  EXPECT_NE(idle.find("after it has no edits"), std::string::npos) << "words are no work: " << idle;
  m.tell(chat.start("resume"));
  work("parse time zones too", "src/zones.cpp", "Zones are read as well.");
  m.tell(chat.end());
  next.session.back() = '3';
  const std::string told = m.ask(next.start()).line;
  EXPECT_NE(told.find("recommended: `cairn coalesce`: after D1 its session edited 1 file (B"),
            std::string::npos)
      << told;
  coalesce();
  next.session.back() = '4';
  EXPECT_EQ(m.ask(next.start()).line.find("cairn coalesce"), std::string::npos);
}

TEST_F(DocumentsTest, ADryRunOfResumeWritesNothing) {
  start();
  save();
  work("parse time zones too", "src/zones.cpp", "Zones are read as well.");
  const auto before = m.rows(
      "SELECT count(*), (SELECT count(*) FROM session_documents), (SELECT count(*) FROM "
      "backup_discards), (SELECT body FROM session_documents) FROM backups");
  const std::uint64_t writes = m.disk.calls();
  const Json told = resume({{"dry_run", true}, {"pending", "coalesce"}});
  EXPECT_EQ(m.disk.calls(), writes);
  EXPECT_TRUE(told["dry_run"].as_bool());
  EXPECT_EQ(m.rows("SELECT count(*), (SELECT count(*) FROM session_documents), (SELECT count(*) FROM "
                   "backup_discards), (SELECT body FROM session_documents) FROM backups"),
            before);
}

TEST_F(DocumentsTest, ResumeChoosesBetweenTellingCoalescingAndDiscarding) {
  start();
  save();
  work("parse time zones too", "src/zones.cpp", "Zones are read as well.");
  m.tell(chat.end());
  EXPECT_TRUE(resume()["pending"].is_object()) << "telling it changes nothing";
  EXPECT_TRUE(backups().items()[0]["pending"].as_bool());
  EXPECT_FALSE(has(resume({{"pending", "discard"}}), "src/zones.cpp"));
  EXPECT_FALSE(backups().items()[0]["pending"].as_bool());
  EXPECT_EQ(must(m.run("undo", in_project()))["what"].as_string(), "discard");
  EXPECT_TRUE(backups().items()[0]["pending"].as_bool());
  const Json told = resume({{"pending", "coalesce"}});
  EXPECT_TRUE(has(told, "Session Continuation")) << told["text"].as_string();
  EXPECT_FALSE(backups().items()[0]["pending"].as_bool());
}

TEST_F(DocumentsTest, WithoutADocumentTheLastSessionIsShown) {
  EXPECT_EQ(m.run("resume", in_project()).error().code, Code::not_found);
  start();
  const Json told = resume();
  EXPECT_TRUE(has(told, "No document yet"));
  EXPECT_TRUE(has(told, "src/dates.cpp"));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_documents"), 0);
}

TEST_F(DocumentsTest, CoalescingAddsWhatCameAfterTheDocumentOnce) {
  start();
  save();
  EXPECT_FALSE(coalesce()["changed"].as_bool());
  work("parse time zones too", "src/zones.cpp", "Zones are read as well.");
  const Json done = coalesce();
  EXPECT_TRUE(done["changed"].as_bool());
  EXPECT_EQ(done["records"].as_int(), 4);
  const std::string text = body("D1");
  for (const char* part :
       {"## Session Continuation (", "> Coalesced from: B", "### Additional Work",
        "### Files Modified\n\n- `src/zones.cpp`", "### Decisions Made", "### Updated State"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_FALSE(coalesce()["changed"].as_bool()) << "its anchor says that all is told";
  EXPECT_EQ(body("D1"), text);
  EXPECT_TRUE(must(m.run("docs.lint", in_project()))["ok"].as_bool());
  EXPECT_EQ(must(m.run("undo", in_project()))["what"].as_string(), "coalesce");
  EXPECT_EQ(body("D1").find("Session Continuation"), std::string::npos);
  EXPECT_TRUE(coalesce()["changed"].as_bool()) << "the anchor went back too";
}

TEST_F(DocumentsTest, AChainWithADeletedPredecessorAForkAndACycleReportsEach) {
  start();
  for (int i = 0; i < 4; ++i) save();
  must(m.db().run("UPDATE session_documents SET previous_id = 1 WHERE id = 3"));
  must(m.db().run("UPDATE session_documents SET previous_id = 4 WHERE id = 4"));
  Json chain = must(m.run("chain", in_project()));
  EXPECT_EQ(chain["problems"].dump(),
            R"(["fork: D1 is followed by D2, D3","cycle: each of these follows another of them: D4"])");
  must(m.db().run("UPDATE session_documents SET deleted_at = 'now' WHERE id = 1"));
  chain = must(m.run("chain", in_project()));
  EXPECT_NE(chain["problems"].dump().find("gap: the predecessor of D2, D1, is missing"), std::string::npos)
      << chain.dump();
  EXPECT_TRUE(has(resume({{"id", "D2"}}), "Resuming from D2"));
}

TEST_F(DocumentsTest, AFreshStartPutsThingsAwayAndUndoBringsThemBack) {
  start();
  m.tell(chat.end());
  save();
  must(m.run("remember", in_project({{"text", "use tabs"}})));
  must(m.run("open", in_project({{"text", "write the manual"}})));
  EXPECT_EQ(must(m.run("fresh-start", in_project({{"dry_run", true}})))["documents"].as_int(), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_documents WHERE deleted_at IS NULL"), 1);
  const Json gone = must(m.run("fresh-start", in_project({{"all", true}})));
  EXPECT_EQ(gone["notes"].as_int(), 1);
  EXPECT_GE(gone["open"].as_int(), 1);
  EXPECT_TRUE(must(m.run("docs.list", in_project()))["documents"].items().empty());
  EXPECT_TRUE(must(m.run("open", in_project()))["items"].items().empty());
  must(m.run("undo", in_project()));
  EXPECT_EQ(must(m.run("docs.list", in_project()))["documents"].items().size(), 1u);
  EXPECT_EQ(std::int64_t(must(m.run("open", in_project()))["items"].items().size()), gone["open"].as_int());
  EXPECT_EQ(m.number("SELECT count(*) FROM notes WHERE done_at_epoch IS NULL"), 1);
  EXPECT_EQ(m.run("undo", in_project()).error().code, Code::not_found);
}

TEST_F(DocumentsTest, TheTrashIsEmptiedAfterThirtyDays) {
  start();
  save();
  save();
  must(m.run("fresh-start", in_project()));
  save({{"text", "After it."}});
  must(m.db().run("UPDATE session_documents SET previous_id = 2 WHERE id = 3"));
  minutes(29 * 24 * 60);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_documents"), 3);
  minutes(2 * 24 * 60);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_documents"), 1);
  EXPECT_EQ(m.run("undo", in_project()).error().code, Code::not_found);
  EXPECT_NE(must(m.run("chain", in_project()))["problems"].dump().find("D2, is missing"), std::string::npos);
}

TEST_F(DocumentsTest, ADiffNamesTheSectionsThatDiffer) {
  start();
  save({{"text", "## Session Summary\n\none\n\n## Next Steps\n\nsame\n"}});
  save({{"text", "## Session Summary\n\ntwo\n\n## Next Steps\n\nsame\n\n## Key Files\n\n- `a`\n"}});
  const Json diff = must(m.run("docs.diff", in_project()));
  ASSERT_EQ(diff["sections"].items().size(), 2u) << diff.dump();
  EXPECT_EQ(diff["sections"].items()[0]["change"].as_string(), "changed");
  EXPECT_EQ(diff["sections"].items()[1]["section"].as_string(), "Key Files");
  EXPECT_EQ(diff["sections"].items()[1]["change"].as_string(), "added");
}

}  // namespace
}  // namespace cairn::test
