// Transcripts are copied, verified and kept; the original is never touched.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "archive/copy.h"
#include "archive/json_fault.h"
#include "archive_fixture.h"
#include "base/sha256.h"
#include "os/disk.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

TEST_F(ArchiveTest, ASessionsEndMakesAVerifiedBackupOfItsTranscript) {
  begin();
  transcript.answer("The parser reads numbers now.");
  end();
  const Json list = backups();
  ASSERT_EQ(list.items().size(), 1u) << m.log.all();
  const Json& one = list.items()[0];
  EXPECT_EQ(one["session"].as_string(), chat.session);
  EXPECT_EQ(one["version"].as_int(), 1);
  EXPECT_EQ(one["lines"].as_int(), 2);
  EXPECT_EQ(one["cause"].as_string(), "end");
  EXPECT_EQ(one["source_sha256"].as_string(), sha256(transcript.text));
  EXPECT_EQ(one["sha256"].as_string(), sha256(transcript.text));
  EXPECT_TRUE(one["pending"].as_bool());
  EXPECT_FALSE(one["verified_at"].as_string().empty());
  EXPECT_TRUE(verify()["ok"].as_bool()) << verify().dump();
  EXPECT_EQ(restored(chat.session), transcript.text);
  EXPECT_EQ(m.read(transcript.path()), transcript.text) << "the original was touched";
}

TEST_F(ArchiveTest, AListIsAskedForBySessionNumberIdOrItsBeginning) {
  begin();
  end();
  for (const std::string& name : {std::string("1"), chat.session, chat.session.substr(0, 3)})
    EXPECT_EQ(must(m.run("backup.list", Json::object({{"all", true}, {"session", name}})))["backups"]
                  .items()
                  .size(),
              1u)
        << name;
  EXPECT_EQ(m.run("backup.list", Json::object({{"all", true}, {"session", "nobody"}})).error().code,
            Code::not_found);
}

TEST_F(ArchiveTest, ACompactionIsCopiedBeforeItDropsAnything) {
  begin();
  m.tell(chat.call("PreCompact", {{"trigger", "auto"}}));
  ASSERT_EQ(count(), 1);
  EXPECT_EQ(backups().items()[0]["cause"].as_string(), "compaction");
  EXPECT_EQ(backups().items()[0]["reason"].as_string(), "auto");
}

TEST_F(ArchiveTest, AnUnfinishedLastLineIsLeftForTheNextVersion) {
  begin();
  const std::string whole = transcript.text;
  transcript.text += R"({"type":"assistant","half)";
  end();
  EXPECT_EQ(restored(chat.session), whole);
  transcript.text += "\":1}\n";
  end_again();
  EXPECT_EQ(restored(chat.session), transcript.text);
  EXPECT_EQ(restored(chat.session, 1), whole);
}

TEST_F(ArchiveTest, EveryEndIsAVersionWhateverItsReasonAndHoweverFast) {
  begin();
  for (const char* reason : {"other", "../../etc/passwd", "", "a b\nc", "'; DROP TABLE backups; --"}) {
    end(reason);
    m.tell(chat.start("resume"));
  }
  EXPECT_EQ(count(), 5);
  EXPECT_EQ(files().size(), 1u) << "equal content is stored once";
  EXPECT_EQ(m.number("SELECT count(*) FROM backups WHERE reason = '../../etc/passwd'"), 1);
  EXPECT_TRUE(verify()["ok"].as_bool());
}

TEST_F(ArchiveTest, AGrowingTranscriptIsStoredOnceAndEveryVersionComesBack) {
  begin();
  std::vector<std::string> versions;
  for (int i = 0; i < 6; ++i) {
    transcript.answer("Answer number " + std::to_string(i) + " says something new about the parser.");
    i == 0 ? end() : end_again();
    versions.push_back(transcript.text);
  }
  ASSERT_EQ(count(), 6);
  EXPECT_EQ(m.number("SELECT count(*) FROM backup_bases"), 1);
  EXPECT_EQ(m.number("SELECT sum(bytes) FROM backup_segments"),
            static_cast<std::int64_t>(transcript.text.size()));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(restored(chat.session, i + 1), versions[static_cast<std::size_t>(i)]);
}

TEST_F(ArchiveTest, ARewrittenOrTruncatedTranscriptStartsAfreshAndTheOldVersionsStay) {
  begin();
  transcript.answer("The first answer, which will be rewritten by the host.");
  end();
  const std::string first = transcript.text;
  transcript.text =
      "{\"type\":\"summary\",\"summary\":\"rewritten\"}\n" + first.substr(0, first.find('\n') + 1);
  end_again();
  const std::string second = transcript.text;
  transcript.text = second.substr(0, second.find('\n') + 1);
  end_again();
  EXPECT_EQ(m.number("SELECT count(*) FROM backup_bases"), 3);
  EXPECT_EQ(restored(chat.session, 1), first);
  EXPECT_EQ(restored(chat.session, 2), second);
  EXPECT_EQ(restored(chat.session, 3), transcript.text);
}

TEST_F(ArchiveTest, OnlyTheStringWithASecretIsRewrittenAndStructureNeverIs) {
  begin();
  const std::string key = "ghp_" + std::string("16C7e42F292c6912E7710c838347Ae178B4a");
  const std::string plain = R"({"type":"user", "uuid":"u-1" ,"message":{"content":"caf\u00e9 \/ plain"}})";
  const std::string secret =
      R"({ "uuid":")" + key + R"(","parentUuid":"u-1","message":{"content":[{"type":"text","text":"use )" +
      key + R"( now"},{"type":"thinking","thinking":"hm","signature":")" + key + R"("}]},"n":1.50})";
  transcript.text += plain + "\n" + secret + "\n";
  end();
  const std::string stored = restored(chat.session);
  EXPECT_NE(stored.find(plain + "\n"), std::string::npos) << "a line without a finding changed: " << stored;
  EXPECT_EQ(stored.find("use " + key), std::string::npos);
  EXPECT_NE(stored.find(R"({ "uuid":")" + key + R"(","parentUuid":"u-1")"), std::string::npos) << stored;
  EXPECT_NE(stored.find(R"("signature":")" + key + R"("}]},"n":1.50})"), std::string::npos) << stored;
  EXPECT_NE(stored.find(R"("text":"use [secret:)"), std::string::npos) << stored;
  EXPECT_EQ(backups().items()[0]["rewritten"].as_int(), 1);
}

TEST_F(ArchiveTest, WithoutRedactionEveryByteIsKept) {
  set("archive.redact", "false");
  begin();
  transcript.text += "{\"message\":{\"content\":\"password = hunter2hunter2\"}}\r\n\n\xff\xfe{broken\n";
  end();
  EXPECT_EQ(restored(chat.session), transcript.text);
  EXPECT_EQ(backups().items()[0]["malformed"].as_int(), 1);
}

TEST_F(ArchiveTest, SubagentsTranscriptsAreKeptAndRestoredWithTheirSession) {
  begin();
  TranscriptWriter agent{m, chat, "", "a642"};
  agent.answer("The subagent found the answer, it is forty-two.");
  agent.save();
  end();
  EXPECT_EQ(backups(Json::object({{"all", true}, {"agents", true}})).items().size(), 2u);
  must(m.disk.remove(transcript.path()));
  must(m.disk.remove(agent.path()));
  must(m.run("backup.restore", Json::object({{"id", chat.session}, {"into_host", true}})));
  EXPECT_EQ(m.read(transcript.path()), transcript.text);
  EXPECT_EQ(m.read(agent.path()), agent.text);
}

TEST_F(ArchiveTest, ARestoredTranscriptThatGoesOnContinuesItsVersions) {
  begin("my token is ghp_16C7e42F292c6912E7710c838347Ae178B4a");
  end();
  must(m.disk.remove(transcript.path()));
  must(m.run("backup.restore", Json::object({{"id", chat.session}, {"into_host", true}})));
  transcript.text = m.read(transcript.path());
  EXPECT_EQ(transcript.text.find("ghp_16C7"), std::string::npos);
  transcript.answer("The session goes on after it was restored from its backup.");
  end_again();
  EXPECT_EQ(m.number("SELECT count(*) FROM backup_bases"), 1);
  EXPECT_EQ(restored(chat.session), transcript.text);
}

TEST_F(ArchiveTest, RestoreNeverOverwritesAnotherFile) {
  begin();
  end();
  const Json args = Json::object({{"id", chat.session}, {"into_host", true}});
  EXPECT_TRUE(must(m.run("backup.restore", args))["files"].items()[0]["was_there"].as_bool());
  m.put_file(transcript.path(), "{\"somebody\":\"else\"}\n");
  const auto refused = m.run("backup.restore", args);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(m.read(transcript.path()), "{\"somebody\":\"else\"}\n");
}

TEST_F(ArchiveTest, TheSweepFindsTranscriptsThatNoHookReported) {
  begin();
  m.processes.kill(m.host.pid);
  Chat before{.session = "22222222-aaaa-4bbb-8ccc-000000000002", .prompt_id = "p"};
  TranscriptWriter old{m, before, "", ""};
  old.prompt("a session from before cairn was installed");
  old.save();
  minutes(11);
  EXPECT_EQ(count(), 2) << m.log.all();
  minutes(11);
  minutes(11);
  EXPECT_EQ(count(), 2) << "what did not change is not copied again";
  old.answer("It went on without any hook for a while.");
  old.save();
  minutes(11);
  minutes(11);
  EXPECT_EQ(restored(before.session), old.text);
}

TEST_F(ArchiveTest, TheLastLinesThatTheHostWritesAfterTheEndAreKept) {
  begin();
  end();
  transcript.answer("Written after the hook ran, as hosts do.");
  transcript.save();
  minutes(2);
  EXPECT_EQ(restored(chat.session), transcript.text);
}

TEST_F(ArchiveTest, AFailedCopyIsReportedAtOnceAndAtTheNextStartAndRetried) {
  m.disk.provide_file(m.home.data + "/archive", "in the way");
  begin();
  end();
  EXPECT_EQ(count(), 0);
  const Json status = must(m.run("status"));
  EXPECT_EQ(status["archive"]["failed"].as_int(), 1);
  EXPECT_NE(status["problems"].dump().find("could not be backed up"), std::string::npos) << status.dump();
  Chat next{.session = "next"};
  const std::string line = m.ask(next.start()).line;
  EXPECT_NE(line.find("backup of a transcript failed"), std::string::npos) << line;
  must(m.disk.remove(m.home.data + "/archive"));
  minutes(2);
  EXPECT_EQ(count(), 1) << m.log.all();
  EXPECT_EQ(must(m.run("status"))["archive"]["failed"].as_int(), 0);
}

TEST_F(ArchiveTest, WhatCaptureLeavesOutLosesItsTextHereToo) {
  set("capture.exclude", "/home/dev/vault/**");
  begin();
  transcript.use("t1", "Read", Json::object({{"file_path", "/home/dev/vault/zebra.txt"}}));
  transcript.result("t1", Json::object({{"file", Json::object({{"content", "zebra inside"}})}}), false,
                    "zebra text");
  transcript.use("t2", "Read", Json::object({{"file_path", "/home/dev/open.txt"}}));
  const std::string plain =
      transcript.text.substr(transcript.text.rfind('\n', transcript.text.size() - 2) + 1);
  end();
  const std::string stored = restored(chat.session);
  EXPECT_EQ(stored.find("zebra"), std::string::npos) << stored;
  EXPECT_NE(stored.find("\"t1\""), std::string::npos) << "ids stay";
  EXPECT_NE(stored.find(plain), std::string::npos);
}

TEST_F(ArchiveTest, APrivatePromptsTurnIsWithheld) {
  begin("<private>zebra plan</private>");
  transcript.answer("The zebra plan has three parts, as you said.");
  m.tell(chat.prompt("now something public"));
  transcript.prompt("now something public");
  transcript.answer("That is a public answer of some length.");
  end();
  const std::string stored = restored(chat.session);
  EXPECT_EQ(stored.find("zebra"), std::string::npos) << stored;
  EXPECT_NE(stored.find("public answer"), std::string::npos) << stored;
}

// A line with many calls that read the same file.
Json reads_of(const std::string& path, int count) {
  Json calls = Json::array();
  for (int i = 0; i < count; ++i)
    calls.push(Json::object({{"type", "tool_use"},
                             {"id", "c" + std::to_string(i)},
                             {"name", "Read"},
                             {"input", Json::object({{"file_path", path}})}}));
  return Json::object({{"content", calls}});
}

TEST_F(ArchiveTest, ACallThatARuleExcludesIsWithheldHoweverManyCameBefore) {
  set("capture.exclude", "/home/dev/vault/**");
  begin();
  transcript.line("assistant", reads_of("/home/dev/vault/zebra.txt", 2100));
  transcript.use("t1", "Read", Json::object({{"file_path", "/home/dev/vault/zebra.txt"}}));
  end();
  // A copy that goes on after the first one knows the newest calls, too.
  transcript.result("t1", Json::object({{"file", Json::object({{"content", "zebra inside"}})}}), false,
                    "zebra text");
  end_again();
  const std::string stored = restored(chat.session);
  EXPECT_EQ(stored.find("zebra"), std::string::npos) << stored.substr(stored.find("zebra") - 200, 400);
  EXPECT_NE(stored.find("\"t1\""), std::string::npos) << "ids stay";
  EXPECT_LT(m.number("SELECT length(state) FROM backup_bases"), 40'000);
}

TEST_F(ArchiveTest, AnEnvironmentFileIsReadAsOneHoweverManyCameBefore) {
  begin();
  transcript.line("assistant", reads_of("/home/dev/code/.env", 2100));
  transcript.use("t1", "Read", Json::object({{"file_path", "/home/dev/code/.env"}}));
  const char* text = "COLOUR_OF_MOON=xVCNprMlkC\n";
  transcript.result("t1", Json::object({{"file", Json::object({{"content", text}})}}), false, text);
  end();
  EXPECT_EQ(restored(chat.session).find("xVCNprMlkC"), std::string::npos);
}

TEST_F(ArchiveTest, ALineThatCannotBeReadIsWithheldInAPrivateTurnAndInAPause) {
  const std::string deep = std::string(300, '[') + "\"zebra\"" + std::string(300, ']');
  begin("<private>the plan</private>");
  transcript.text += "zebra, not JSON\n";
  transcript.text += "{\"type\":\"user\",\"message\":" + deep + "}\n";
  m.tell(chat.prompt("now something public"));
  transcript.prompt("now something public");
  transcript.text += "numbat, not JSON\n";
  m.clock.advance(std::chrono::minutes(10));
  const auto now = epoch_ms(m.clock.now());
  must(m.db().run("INSERT INTO capture_pauses(from_epoch, until_epoch) VALUES(?, ?)", now - 60'000,
                  now + 60'000));
  transcript.answer("An answer in the pause.");
  transcript.text += "zebra, not JSON\n";
  m.clock.advance(std::chrono::minutes(10));
  transcript.answer("The wombat after the pause.");
  transcript.text += "bandicoot, not JSON\n";
  end();
  const std::string stored = restored(chat.session);
  EXPECT_EQ(stored.find("zebra"), std::string::npos) << stored;
  for (const char* kept : {"numbat, not JSON", "wombat", "bandicoot, not JSON"})
    EXPECT_NE(stored.find(kept), std::string::npos) << kept << " in " << stored;
  EXPECT_EQ(std::count(stored.begin(), stored.end(), '\n'),
            std::count(transcript.text.begin(), transcript.text.end(), '\n'));
}

TEST_F(ArchiveTest, AProjectThatIsOffIsNotArchived) {
  set("capture.exclude", "/home/dev/code/**");
  Chat hidden{
      .session = "33333333-aaaa-4bbb-8ccc-000000000003", .cwd = "/home/dev/code/hidden", .prompt_id = "p"};
  chat.cwd = "/home/dev/open";
  begin();
  TranscriptWriter other{m, hidden, "", ""};
  other.prompt("nobody should keep this");
  other.save();
  minutes(11);
  end();
  EXPECT_EQ(m.number("SELECT count(*) FROM backups WHERE content_session_id LIKE '3333%'"), 0);
  EXPECT_GT(count(), 0);
}

TEST_F(ArchiveTest, CleanRemovesWhatIsOldAndDiscardedAndNeverWhatIsPending) {
  begin();
  end();
  const Json all = Json::object({{"older_than", 0}, {"keep_last", 0}});
  Json cleaned = must(m.run("backup.clean", all));
  EXPECT_EQ(cleaned["removed"].items().size(), 0u);
  EXPECT_EQ(cleaned["pending_kept"].as_int(), 1);
  EXPECT_FALSE(must(m.run("backup.discard", Json::object({{"id", chat.session}})))["pending"].as_bool());
  Json dry = all;
  dry.set("dry_run", true);
  EXPECT_EQ(must(m.run("backup.clean", dry))["removed"].items().size(), 1u);
  EXPECT_EQ(files().size(), 1u) << "a dry run removes nothing";
  transcript.answer("What comes after a discard is pending again.");
  end_again();
  EXPECT_EQ(must(m.run("backup.clean", all))["pending_kept"].as_int(), 1);
  must(m.run("backup.discard", Json::object({{"id", chat.session}})));
  EXPECT_EQ(must(m.run("backup.clean", all))["removed"].items().size(), 1u);
  EXPECT_EQ(files(), Lines{});
  EXPECT_EQ(count(), 0);
}

TEST_F(ArchiveTest, RetentionBySettingsRunsByItself) {
  set("archive.keep_days", "30");
  set("archive.keep_last", "0");
  begin();
  end();
  must(m.disk.remove(transcript.path()));
  must(m.run("backup.discard", Json::object({{"id", chat.session}})));
  minutes(11);
  EXPECT_EQ(count(), 1);
  m.clock.advance(std::chrono::hours(24 * 31));
  minutes(11);
  minutes(1);
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(files(), Lines{});
}

TEST_F(ArchiveTest, VerifyNotesWhenABackupWasFoundWhole) {
  begin();
  end();
  const std::string before = m.text("SELECT verified_at FROM backups");
  m.clock.advance(std::chrono::hours(5));
  verify();
  EXPECT_GT(m.text("SELECT verified_at FROM backups"), before);
  m.put_file(m.home.data + "/archive/" + files()[0], "not zstd");
  const std::string whole = m.text("SELECT verified_at FROM backups");
  m.clock.advance(std::chrono::hours(5));
  EXPECT_FALSE(verify()["ok"].as_bool());
  EXPECT_EQ(m.text("SELECT verified_at FROM backups"), whole);
}

TEST_F(ArchiveTest, VerifyNamesTheBadLineAndColumn) {
  begin();
  transcript.text += R"({"type":"user","broken":tru})"
                     "\n";
  transcript.answer("A whole line follows the broken one.");
  end();
  const Json found = must(m.run("backup.verify", Json::object({{"target", chat.session}})));
  EXPECT_FALSE(found["ok"].as_bool());
  const Json& problem = found["backups"].items()[0]["problems"].items()[0];
  EXPECT_EQ(problem["line"].as_int(), 2);
  EXPECT_EQ(problem["column"].as_int(), 25);
  EXPECT_EQ(backups().items()[0]["damaged"]["line"].as_int(), 2);
  const Json file = must(m.run("backup.verify", Json::object({{"target", transcript.path()}})));
  EXPECT_EQ(file["backups"].items()[0]["problems"].items()[0]["column"].as_int(), 25);
}

TEST_F(ArchiveTest, DamageOfAFileIsFoundAndTheOtherLinesAreSaved) {
  set("archive.redact", "false");
  begin();
  for (int i = 0; i < 3; ++i) {
    std::string words;
    while (words.size() < 600'000)
      words += std::to_string(words.size() * 7919 + static_cast<std::size_t>(i)) + " ";
    transcript.answer(words);
  }
  transcript.text += "{broken\n";
  end();
  const std::string path = m.home.data + "/archive/" + files().at(0);
  std::string bytes = m.read(path);
  bytes[1000] = static_cast<char>(bytes[1000] ^ 0x55);
  m.put_file(path, bytes);
  const Json found = verify();
  EXPECT_FALSE(found["ok"].as_bool());
  EXPECT_TRUE(found["backups"].items()[0]["damaged"].as_bool());
  EXPECT_EQ(found["backups"].items()[0]["problems"].items()[0]["line"].as_int(), 1);
  Json args = Json::object({{"id", chat.session}, {"to", "/home/dev/saved"}});
  EXPECT_EQ(m.run("backup.restore", args).error().code, Code::corrupt);
  EXPECT_FALSE(m.disk.stat("/home/dev/saved").ok());
  const Json saved = must(m.run("backup.restore", args.set("salvage", true)))["files"].items()[0];
  EXPECT_GT(saved["lines"].as_int(), 0);
  EXPECT_EQ(saved["lines"].as_int() + saved["lost"].as_int(), 5);
  EXPECT_TRUE(transcript.text.ends_with(m.read("/home/dev/saved") + "{broken\n"));
  // The transcript is still there: the next copy is whole again.
  end_again();
  EXPECT_EQ(restored(chat.session), transcript.text);
}

TEST_F(ArchiveTest, RepairRegistersFilesAgainAndCopiesWhatIsMissing) {
  begin();
  end();
  transcript.answer("A second version of the same transcript.");
  end_again();
  must(m.disk.remove(m.home.data + "/archive/" + files().at(1)));
  Json found = must(m.run("backup.repair"));
  ASSERT_EQ(found["defects"].items().size(), 1u);
  EXPECT_EQ(found["defects"].items()[0]["kind"].as_string(), "missing");
  must(m.run("backup.repair", Json::object({{"apply", true}})));
  must(m.drain());
  EXPECT_EQ(restored(chat.session), transcript.text);
  EXPECT_EQ(must(m.run("backup.repair"))["defects"].items().size(), 0u);

  // The database is lost; the files say what they are.
  m.close();
  for (const char* end : {"", "-wal", ".state", ".first"}) ignore(m.disk.remove(m.home.database() + end));
  must(m.disk.remove(transcript.path()));
  must(m.open());
  EXPECT_EQ(count(), 0);
  found = must(m.run("backup.repair", Json::object({{"apply", true}})));
  EXPECT_EQ(count(), 2) << found.dump();
  EXPECT_EQ(restored(chat.session), transcript.text);
  EXPECT_EQ(must(m.run("backup.repair"))["defects"].items().size(), 0u);
}

TEST_F(ArchiveTest, RepairRegistersFilesThatAForgetHasWritten) {
  begin("make a parser with the zanzibar-canary-7731 key");
  end();
  transcript.answer("A second version of the same transcript.");
  end_again();
  must(m.run("forget", Json::object({{"all", true}, {"secret", "zanzibar-canary-7731"}})));
  must(m.drain());
  ASSERT_NE(files().at(0).find("f1."), std::string::npos) << files().at(0);
  const std::string before = restored(chat.session);
  m.close();
  for (const char* end : {"", "-wal", ".state", ".first"}) ignore(m.disk.remove(m.home.database() + end));
  must(m.disk.remove(transcript.path()));
  must(m.open());
  const Json found = must(m.run("backup.repair", Json::object({{"apply", true}})));
  EXPECT_EQ(count(), 2) << found.dump();
  EXPECT_EQ(restored(chat.session), before);
}

TEST(ArchiveOfARealDisk, ASparseFileIsNoDanger) {
  Machine m;
  must(m.open());
  TempDir dir;
  os::RealDisk real;
  const std::string path = dir / "11111111-aaaa-4bbb-8ccc-000000000009.jsonl";
  std::ofstream(path) << "{\"type\":\"user\"}\n";
  ASSERT_EQ(::truncate(path.c_str(), 40LL << 30), 0);
  const gate::Gate gate{gate::Rules{}};
  archive::Copy::Job job;
  job.key = {"claude-code", "s", ""};
  job.path = path;
  auto copy = must(archive::Copy::open(m.db(), real, {dir / "archive"}, gate, job, {}));
  int steps = 0;
  for (bool more = true; more; ++steps) more = must(copy->step());
  const auto backup = must(copy->register_backup(m.clock.now()));
  ASSERT_TRUE(backup.has_value());
  EXPECT_EQ(backup->lines, 1);
  EXPECT_LT(steps, 2000);
}

TEST(LineFault, NamesTheFirstByteThatDoesNotFit) {
  const auto column = [](std::string_view line) {
    const auto fault = archive::line_fault(line);
    return fault ? fault->column : 0;
  };
  for (const char* good : {"", "  ", "{}", R"({"a":[1,-2.5e+3,true,null,"x\u00e9\n"],"b":{}} )"})
    EXPECT_EQ(column(good), 0u) << good;
  EXPECT_EQ(column("[1]"), 1u);
  EXPECT_EQ(column(R"({"a":1,})"), 8u);
  EXPECT_EQ(column(R"({"a" 1})"), 6u);
  EXPECT_EQ(column(R"({"a":01})"), 8u);
  EXPECT_EQ(column(R"({"a":"b)"), 8u);
  EXPECT_EQ(column(R"({"a":1}x)"), 8u);
  EXPECT_EQ(column("{\"a\":\"\x01\"}"), 7u);
  EXPECT_EQ(column(std::string(100'000, '[')), 1u);
}

}  // namespace
}  // namespace cairn::test
