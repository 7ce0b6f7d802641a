// Sessions that ended before cairn was installed.
#include "catch_up_fixture.h"

namespace cairn::test {

class ImportTest : public CatchUpTest {
 protected:
  // A transcript of an older host: prompts have no ids, and no line says that it ends a turn.
  struct OldTranscript {
    Machine& m;
    std::string session;
    std::string text = {};
    int lines = 0;

    void line(std::string_view type, const Json& content) {
      m.clock.advance(std::chrono::seconds(5));
      text += Json::object({{"type", type},
                            {"uuid", session + "-" + std::to_string(++lines)},
                            {"isSidechain", false},
                            {"gitBranch", "feature"},
                            {"message", Json::object({{"content", content}, {"stop_reason", Json()}})},
                            {"timestamp", iso8601(m.clock.now())},
                            {"cwd", "/home/dev/old"},
                            {"sessionId", session}})
                  .dump() +
              "\n";
    }
    void prompt(std::string_view words) { line("user", Json(words)); }
    void says(std::string_view words) {
      line("assistant", Json::array({Json::object({{"type", "text"}, {"text", words}})}));
    }
    void called(const char* tool, const Json& input, const std::string& result, bool failed = false) {
      const std::string id = "toolu_" + session.substr(0, 4) + std::to_string(lines);
      line("assistant",
           Json::array({Json::object({{"type", "tool_use"}, {"id", id}, {"name", tool}, {"input", input}})}));
      line("user",
           Json::array({Json::object(
               {{"type", "tool_result"}, {"tool_use_id", id}, {"is_error", failed}, {"content", result}})}));
    }
    void wrote(const std::string& file) {
      called("Write", Json::object({{"file_path", file}, {"content", "alpha\n"}}), "File created");
    }
    void ran(const char* command, const std::string& output, bool failed = false) {
      called("Bash", Json::object({{"command", command}, {"description", "Run the tests"}}), output, failed);
    }
    std::string path() const { return "/home/dev/.claude/projects/-home-dev-old/" + session + ".jsonl"; }
    void save() const {
      must(os::make_dirs(m.disk, "/home/dev/.claude/projects/-home-dev-old"));
      m.put_file(path(), text);
    }
  };

  static constexpr const char* kFirst = "11111111-aaaa-4bbb-8ccc-000000000001";
  static constexpr const char* kSecond = "22222222-aaaa-4bbb-8ccc-000000000002";

  OldTranscript old_session(const std::string& id) {
    OldTranscript old{m, id};
    old.prompt("Make the parser faster");
    old.says("I will measure first where the time goes in the parser.");
    old.wrote("/home/dev/old/parser.c");
    old.says("The parser is twice as fast: it keeps its tables now.");
    old.prompt("Write that down");
    old.says("Written down in NOTES.");
    old.save();
    return old;
  }
  Json import(bool dry_run = false) {
    const Json args = Json::object({{"directory", "/home/dev/.claude"}, {"dry_run", dry_run}});
    const Json result = must(m.run("import.transcripts", args));
    must(m.drain());
    return result;
  }
  void later() { m.clock.advance(std::chrono::hours(1)); }
};

TEST_F(ImportTest, AnOldSessionIsRememberedWithItsTimesTurnsAndAnswers) {
  const std::string began = iso8601(m.clock.now() + std::chrono::seconds(5));
  old_session(kFirst);
  later();
  EXPECT_EQ(import()["found"].as_int(), 1);
  EXPECT_EQ(m.rows("SELECT content_session_id, project, branch, status, imported FROM sdk_sessions"),
            (Lines{std::string(kFirst) + "|old|feature|completed|1"}));
  EXPECT_EQ(m.text("SELECT started_at FROM sdk_sessions"), began);
  EXPECT_EQ(m.rows("SELECT prompt_number, end_reason FROM turns ORDER BY 1"), (Lines{"1|stop", "2|stop"}));
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts ORDER BY prompt_number"),
            (Lines{"Make the parser faster", "Write that down"}));
  EXPECT_EQ(m.rows("SELECT text FROM texts WHERE kind = 'answer' ORDER BY id"),
            (Lines{"The parser is twice as fast: it keeps its tables now.", "Written down in NOTES."}));
  EXPECT_EQ(must(m.run("import.status"))["imported"].as_int(), 1);
  EXPECT_EQ(ledger()["recovered"].as_int(), 0) << "imported is not recovered";
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
}

TEST_F(ImportTest, ANotificationAfterTheAnswerDoesNotHideIt) {
  for (const bool marked : {true, false}) {
    OldTranscript old{m, marked ? kFirst : kSecond};
    const auto user = [&](std::string_view words, std::string_view id) {
      old.prompt(words);
      const std::size_t begin = old.text.rfind('\n', old.text.size() - 2) + 1;
      Json line = Json::parse_partial(old.text.substr(begin == 0 ? 0 : begin)).value;
      old.text.erase(begin);
      old.text += line.set("promptId", id).dump() + "\n";
    };
    user("Make the parser faster", old.session + "-p1");
    old.wrote("/home/dev/old/parser.c");
    old.says("The parser is twice as fast: it keeps its tables now, and measures them.");
    if (marked)
      old.text += Json::object({{"type", "system"}, {"subtype", "turn_duration"}, {"sessionId", old.session}})
                      .dump() +
                  "\n";
    user("<task-notification>\n<task-id>b1</task-id>", old.session + "-p2");
    old.says("That was a background task of before, nothing is left to do for the parser.");
    old.save();
  }
  later();
  import();
  EXPECT_EQ(
      m.rows("SELECT s.content_session_id, t.prompt_number, t.end_reason FROM turns t JOIN sdk_sessions s ON "
             "s.id = t.session_db_id ORDER BY 1"),
      (Lines{std::string(kFirst) + "|1|stop", std::string(kSecond) + "|1|stop"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM texts WHERE text LIKE 'The parser is twice%'"), 2);
  EXPECT_EQ(m.number("SELECT count(*) FROM open_items WHERE source = 'interruption'"), 0);
}

TEST_F(ImportTest, ATranscriptIsArchivedBeforeItIsRead) {
  const OldTranscript old = old_session(kFirst);
  later();
  import();
  EXPECT_EQ(m.rows("SELECT content_session_id, project, cause FROM backups"),
            (Lines{std::string(kFirst) + "|old|import"}));
  EXPECT_LT(m.log.all().find("backup stored"), m.log.all().find("session created")) << m.log.all();
  import();
  EXPECT_EQ(m.number("SELECT count(*) FROM backups"), 1);
  const Json found = must(m.run("search", Json::object({{"query", "measure first"}, {"all", true}})));
  EXPECT_EQ(found["results"].items()[0]["session"].as_string(), kFirst) << found.dump();
}

TEST_F(ImportTest, TheArchiveIsTheEvidenceOfWhatWasImported) {
  old_session(kFirst);
  later();
  import();
  EXPECT_EQ(m.number("SELECT count(*) FROM evidence"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM payloads"), 0);
  const std::int64_t id = m.number(
      "SELECT e.observation_id FROM observation_evidence e JOIN events v ON v.seq = e.event_seq WHERE "
      "v.tool_use_id <> '' LIMIT 1");
  const Json why = must(m.run("why", Json::object({{"id", "O" + std::to_string(id)}})));
  EXPECT_NE(why["events"].dump().find("alpha"), std::string::npos) << why.dump();
  EXPECT_NE(why["events"].dump().find("File created"), std::string::npos) << why.dump();
}

TEST_F(ImportTest, ATranscriptThatCannotBeArchivedWaitsAndIsImportedOnce) {
  m.disk.provide_file(m.home.data + "/archive", "in the way");
  old_session(kFirst);
  later();
  import();
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 0);
  EXPECT_EQ(must(m.run("import.status"))["pending"].as_int(), 1);
  must(m.disk.remove(m.home.data + "/archive"));
  m.clock.advance(std::chrono::minutes(3));
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(must(m.run("import.status"))["imported"].as_int(), 1) << m.log.all();
  EXPECT_EQ(m.number("SELECT count(*) FROM backups"), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 2);
}

TEST_F(ImportTest, WordsThatOnlyAnImportedTranscriptHasAreFound) {
  OldTranscript old = old_session(kFirst);
  old.line("user", Json::array({Json::object(
                       {{"type", "tool_result"}, {"tool_use_id", "x"}, {"content", "the quagga said 42"}})}));
  old.save();
  later();
  import();
  const Json found =
      must(m.run("search", Json::object({{"query", "quagga"}, {"cwd", "/home/dev/old"}})))["results"];
  ASSERT_EQ(found.items().size(), 1u);
  EXPECT_EQ(found.items()[0]["session"].as_string(), kFirst);
  EXPECT_EQ(found.items()[0]["project"].as_string(), "old");
}

TEST_F(ImportTest, CommandsThatWorkedInAnImportedSessionAreKnown) {
  OldTranscript old = old_session(kFirst);
  old.prompt("run the tests");
  old.ran("make check", "Exit code 2\nno rule to make target check", true);
  old.ran("npm test 2>&1 | tail -20", "Test Suites: 2 failed, 3 passed, 5 total\nTests: 5 failed, 47 passed");
  old.ran("npm run test:unit", "Tests: 52 passed, 52 total");
  old.says("The tests pass.");
  old.save();
  later();
  import();
  const Json known =
      must(m.run("how", Json::object({{"words", "run the tests"}, {"cwd", "/home/dev/old"}})))["commands"];
  ASSERT_EQ(known.items().size(), 1u) << known.dump();
  EXPECT_EQ(known.items()[0]["command"].as_string(), "npm run test:unit");
  EXPECT_EQ(known.items()[0]["purpose"].as_string(), "Run the tests");
  // Without its backup nothing says what was run.
  for (const std::string& name : must(m.disk.list(m.home.data + "/archive")))
    if (name.ends_with(".zst")) must(m.disk.remove(m.home.data + "/archive/" + name));
  EXPECT_TRUE(
      must(m.run("how", Json::object({{"words", "run the tests"}, {"cwd", "/home/dev/old"}})))["commands"]
          .items()
          .empty());
}

TEST_F(ImportTest, TheNextSessionIsGivenWhatWasImported) {
  old_session(kFirst);
  later();
  import();
  Chat now;
  now.session = "33333333-aaaa-4bbb-8ccc-000000000003";
  now.cwd = "/home/dev/old";
  EXPECT_NE(Machine::context_of(m.ask(now.start())).find("twice as fast"), std::string::npos);
}

TEST_F(ImportTest, ASecondImportFindsNothingNew) {
  old_session(kFirst);
  later();
  import();
  const Json again = import();
  EXPECT_EQ(again["found"].as_int(), 0);
  EXPECT_EQ(again["known"].as_int(), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 2);
}

TEST_F(ImportTest, AnImportDuringAnImportSaysWhatIsPending) {
  old_session(kFirst);
  old_session(kSecond);
  later();
  const Json args = Json::object({{"directory", "/home/dev/.claude"}});
  must(m.run("import.transcripts", args));
  const Json again = must(m.run("import.transcripts", args));
  EXPECT_EQ(again["pending"].as_int(), 2);
  EXPECT_EQ(again["found"].as_int() + again["known"].as_int(), 0);
  must(m.drain());
  EXPECT_EQ(must(m.run("import.transcripts", args))["known"].as_int(), 2);
}

TEST_F(ImportTest, ADryRunChangesNothing) {
  old_session(kFirst);
  later();
  EXPECT_EQ(import(true)["found"].as_int(), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM imports"), 0);
}

TEST_F(ImportTest, WhatIsStillBeingWrittenAndWhatAMemoryAgentWroteIsLeftOut) {
  old_session(kFirst);
  OldTranscript agent{m, kSecond};
  agent.prompt("You are an observer of another session");
  must(os::make_dirs(m.disk, "/home/dev/.claude/projects/-home-dev-observer-sessions"));
  m.put_file("/home/dev/.claude/projects/-home-dev-observer-sessions/" + agent.session + ".jsonl",
             agent.text);
  const Json found = import();
  EXPECT_EQ(found["found"].as_int(), 0);
  EXPECT_EQ(found["left_out"]["still being written"].as_int(), 1);
  EXPECT_EQ(found["left_out"]["a memory agent's own session"].as_int(), 1);
}

TEST_F(ImportTest, ASessionOfManyPiecesIsOneEndedSession) {
  OldTranscript old{m, kFirst};
  std::string words;
  while (words.size() < 60'000) words += "some plain words ";
  constexpr int kTurns = 36;  // a little more than one piece (host::kTranscriptPiece)
  static_assert(kTurns * 60'000 > host::kTranscriptPiece);
  for (int i = 0; i < kTurns; ++i) {
    old.prompt("Request " + std::to_string(i));
    old.says("Answer " + std::to_string(i) + ". " + words);
  }
  old.save();
  later();
  import();
  EXPECT_EQ(m.number("SELECT count(*) FROM turns WHERE end_reason = 'stop'"), kTurns);
  EXPECT_EQ(m.text("SELECT status FROM sdk_sessions"), "completed");
  EXPECT_EQ(m.number("SELECT completed_at_epoch = last_event_at_epoch FROM sdk_sessions"), 1);
}

TEST_F(ImportTest, TheNewestComesFirstAndAKilledDaemonGoesOn) {
  old_session(kFirst);
  later();
  old_session(kSecond);
  later();
  const Json args = Json::object({{"directory", "/home/dev/.claude"}});
  must(m.run("import.transcripts", args));
  while (m.number("SELECT count(*) FROM sdk_sessions") == 0) ASSERT_TRUE(must(m.engine->step()));
  EXPECT_EQ(m.text("SELECT content_session_id FROM sdk_sessions"), kSecond);
  m.engine.reset();
  must(m.open());
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT state, count(*) FROM imports GROUP BY 1"), (Lines{"done|2"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 4);
}

TEST_F(ImportTest, AnImportedSessionThatIsResumedGoesOnByItsHooks) {
  old_session(kFirst);
  later();
  import();
  Chat resumed;
  resumed.session = kFirst;
  resumed.cwd = "/home/dev/old";
  m.tell(resumed.start("resume"));
  m.tell(resumed.prompt("And now the lexer"));
  EXPECT_EQ(m.text("SELECT status || imported FROM sdk_sessions"), "active0");
  EXPECT_EQ(m.number("SELECT max(prompt_number) FROM turns"), 3);
}

// A repository of the simulated disk; the transcripts of this suite are of a session on branch "feature".
class WorktreeTest : public ImportTest {
 protected:
  void repository(const std::string& path) {
    must(os::make_dirs(m.disk, path + "/.git/refs/heads"));
    must(os::make_dirs(m.disk, path + "/.git/worktrees/one"));
    m.put_file(path + "/.git/HEAD", "ref: refs/heads/main\n");
    m.put_file(path + "/.git/refs/heads/main", std::string(40, 'a') + "\n");
  }
  std::string project_of_session_in(const std::string& directory) {
    OldTranscript old{m, kFirst};
    old.prompt("Make the parser faster");
    old.says("The parser is twice as fast.");
    for (std::size_t at = 0; (at = old.text.find("/home/dev/old\"", at)) != std::string::npos;)
      old.text.replace(at, 13, directory);
    old.save();
    later();
    import();
    return m.text("SELECT p.key FROM sdk_sessions s JOIN projects p ON p.name = s.project");
  }
};

TEST_F(WorktreeTest, OneThatGitStillListsBelongsToItsRepository) {
  repository("/home/dev/shop");
  repository("/home/dev/other");
  m.put_file("/home/dev/shop/.git/worktrees/one/gitdir", "/home/dev/trees/blue/.git\n");
  must(os::make_dirs(m.disk, "/home/dev/trees"));
  EXPECT_EQ(project_of_session_in("/home/dev/trees/blue/src"), "/home/dev/shop/.git");
}

TEST_F(WorktreeTest, OneThatIsCalledAfterItsRepositoryAndABranchOfItBelongsToIt) {
  repository("/home/dev/shop");
  m.put_file("/home/dev/shop/.git/packed-refs", std::string(40, 'b') + " refs/heads/feature\n");
  EXPECT_EQ(project_of_session_in("/home/dev/shop-blue"), "/home/dev/shop/.git");
}

TEST_F(WorktreeTest, OneThatIsCalledAfterItsRepositoryAndItsBranchBelongsToIt) {
  repository("/home/dev/shop");
  EXPECT_EQ(project_of_session_in("/home/dev/shop-feature/web"), "/home/dev/shop/.git")
      << "though the branch was deleted with it";
}

TEST_F(WorktreeTest, OneInADirectoryForWorktreesBelongsToTheRepositoryOfThatName) {
  repository("/home/dev/shop");
  EXPECT_EQ(project_of_session_in("/home/dev/shop.worktrees/blue"), "/home/dev/shop/.git");
}

TEST_F(WorktreeTest, OneInsideItsRepositoryBelongsToIt) {
  repository("/home/dev/shop");
  EXPECT_EQ(project_of_session_in("/home/dev/shop/.claude/worktrees/blue"), "/home/dev/shop/.git");
}

TEST_F(WorktreeTest, AnotherProjectThatIsGoneIsNotTakenForOne) {
  repository("/home/dev/shop");
  EXPECT_EQ(project_of_session_in("/home/dev/shop-server"), "/home/dev/shop-server")
      << "no branch of the repository says so";
}

TEST_F(ImportTest, ADirectoryThatIsNotThereIsAnError) {
  const auto missing = m.run("import.transcripts", Json::object({{"directory", "/home/dev/nowhere"}}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
}

}  // namespace cairn::test
