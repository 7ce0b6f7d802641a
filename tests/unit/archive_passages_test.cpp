// The words of archived transcripts are found, with their place. Text that cairn itself added is not.
#include "archive_fixture.h"
#include "host/own.h"
#include "store/forget.h"
#include "store/passages.h"

namespace cairn::test {
namespace {

class PassagesTest : public ArchiveTest {
 protected:
  Json search(std::string_view query, std::initializer_list<Json::Member> more = {}) {
    Json args = Json::object({{"query", query}});
    for (const auto& [key, value] : more) args.set(key, value);
    if (!args.has("all")) args.set("cwd", chat.cwd);
    return must(m.run("search", args))["results"];
  }
  // A session whose words in the middle no observation holds.
  void work() {
    begin("make a parser");
    transcript.use("t1", "Bash", Json::object({{"command", "grep -rn zanzibar src"}}));
    transcript.result("t1", Json::object({{"stdout", ""}}), false,
                      "src/a.cpp:7: // the quagga threshold is 42");
    transcript.answer("The parser reads numbers.");
    end();
  }
};

TEST_F(PassagesTest, WordsThatOnlyATranscriptHasAreFoundWithTheWayBack) {
  work();
  const Json found = search("quagga threshold");
  ASSERT_EQ(found.items().size(), 1u) << m.log.all();
  const Json& one = found.items()[0];
  EXPECT_EQ(one["kind"].as_string(), "turn");
  EXPECT_EQ(one["id"].as_string(), "A1");
  EXPECT_EQ(one["session"].as_string(), chat.session);
  EXPECT_EQ(one["project"].as_string(), "proj");
  EXPECT_FALSE(one["time"].as_string().empty());
  EXPECT_NE(one["excerpt"].as_string().find("quagga threshold is 42"), std::string_view::npos) << one.dump();
  EXPECT_EQ(one["archive"]["restore"].as_string(), "cairn backup restore B1 --into-host");
  EXPECT_EQ(one["archive"]["first_line"].as_int(), 1);
  const Json shown = must(m.run("show", Json::object({{"ids", Json::array({"A1"})}})))["records"].items()[0];
  EXPECT_NE(shown["text"].as_string().find("grep -rn zanzibar src"), std::string_view::npos) << shown.dump();
}

TEST_F(PassagesTest, ATurnThatItsRecordsAlreadyTellAddsNothing) {
  work();
  const Json found = search("parser numbers");
  ASSERT_EQ(found.items().size(), 1u) << found.dump();
  EXPECT_NE(found.items()[0]["id"].as_string()[0], 'A');
  EXPECT_EQ(search("quagga kind:prompt").items().size(), 0u);
  EXPECT_EQ(search("quagga", {{"kind", "turn"}}).items().size(), 1u);
  EXPECT_EQ(search("\"threshold quagga\"").items().size(), 0u) << "a phrase is a phrase";
  EXPECT_EQ(search("quagga -threshold").items().size(), 0u);
}

TEST_F(PassagesTest, ATranscriptWithEveryWordIsShownBesideARecordWithSome) {
  work();
  const Json found = search("quagga numbers");
  std::string ids;
  for (const Json& one : found.items()) ids += one["id"].as_string()[0];
  EXPECT_EQ(ids.size(), 2u) << found.dump();
  EXPECT_NE(ids.find('A'), std::string::npos) << ids;
}

TEST_F(PassagesTest, ASubagentsTranscriptComesBackWithItsSession) {
  TranscriptWriter helper{m, chat, "", "a1b2"};
  helper.prompt("look at the tapir");
  helper.save();
  work();
  const Json found = search("tapir");
  ASSERT_EQ(found.items().size(), 1u);
  EXPECT_EQ(found.items()[0]["archive"]["agent"].as_string(), "a1b2");
  EXPECT_EQ(found.items()[0]["archive"]["restore"].as_string(),
            "cairn backup restore " + chat.session + " --into-host");
}

TEST_F(PassagesTest, AnIdentifierThatOnlyATranscriptHasIsNotCalledAbsent) {
  begin();
  transcript.result("t9", Json(), false, "calls frobnicateLexer twice");
  transcript.use("t1", "Bash", Json::object({{"command", "nm lib.a"}}));
  transcript.result("t1", Json(), false, "calls frobnicateLexer twice");
  end();
  const Json result =
      must(m.run("search", Json::object({{"query", "frobnicate_lexer parser"}, {"cwd", chat.cwd}})));
  EXPECT_EQ(result["absent"].dump(), "[]");
  EXPECT_EQ(result["results"].items()[0]["id"].as_string()[0], 'A') << result.dump();
}

TEST_F(PassagesTest, AGrowingTranscriptIsIndexedOnceLineByLine) {
  work();
  const std::int64_t before = m.number("SELECT count(*) FROM passages");
  end_again();
  EXPECT_EQ(m.number("SELECT count(*) FROM passages"), before) << "nothing new";
  m.tell(chat.start("resume"));
  transcript.answer("The okapi is in the index now.");
  end();
  EXPECT_EQ(m.number("SELECT count(*) FROM passages"), before + 1);
  EXPECT_EQ(m.number("SELECT count(DISTINCT first_line) FROM passages"), before + 1);
  EXPECT_EQ(search("quagga").items().size(), 1u);
}

TEST_F(PassagesTest, OtherProjectsAndOtherTimesStayOut) {
  work();
  Chat other;
  other.session = "other-session";
  other.cwd = "/elsewhere";
  m.tell(other.start());
  m.tell(other.prompt("hello"));
  EXPECT_EQ(must(m.run("search", Json::object({{"query", "quagga"}, {"cwd", "/elsewhere"}})))["results"]
                .items()
                .size(),
            0u);
  EXPECT_EQ(search("quagga", {{"all", true}}).items().size(), 1u);
  m.clock.advance(std::chrono::hours(48));
  EXPECT_EQ(search("quagga since:1d").items().size(), 0u);
  EXPECT_EQ(search("quagga since:3d").items().size(), 1u);
}

TEST_F(PassagesTest, WhatIsRemovedOrTurnsOutToBePrivateIsNotFound) {
  work();
  const std::int64_t session = m.number("SELECT id FROM sdk_sessions");
  must(store::in_transaction(m.db(), [&] { return store::forget_turn(m.db(), SessionId{session}, 1); }));
  EXPECT_EQ(search("quagga").items().size(), 0u);
  EXPECT_EQ(m.number("SELECT count(*) FROM passage_index"), 0);
}

TEST_F(PassagesTest, PassagesGoWithTheirBackups) {
  work();
  must(store::in_transaction(m.db(), [&] {
    return store::remove_session_backups(m.db(), {"claude-code", chat.session, ""});
  }));
  EXPECT_EQ(m.number("SELECT count(*) FROM passages"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM passage_progress"), 0);
  EXPECT_EQ(search("quagga").items().size(), 0u);
}

TEST_F(PassagesTest, AnIndexThatIsLostIsMadeAgainFromTheArchive) {
  work();
  must(store::in_transaction(m.db(), [&] { return store::clear_passages(m.db()); }));
  EXPECT_EQ(search("quagga").items().size(), 0u);
  minutes(1);
  EXPECT_EQ(search("quagga").items().size(), 1u);
}

TEST_F(PassagesTest, ADamagedFileOfTheArchiveIsReportedAndHarmsNoSearch) {
  work();
  m.put_file(m.home.data + "/archive/" + files()[0], "not zstd");
  const Json found = search("quagga");
  ASSERT_EQ(found.items().size(), 1u);
  EXPECT_NE(found.items()[0]["title"].as_string().find("cairn backup verify"), std::string_view::npos);
}

TEST_F(PassagesTest, SecretsAndPrivateTextAreInNoPassage) {
  begin();
  transcript.answer("<private>the walrus word</private> and the visible rest of the narwhal");
  end();
  EXPECT_EQ(search("walrus").items().size(), 0u);
  EXPECT_EQ(search("narwhal").items().size(), 1u);
}

TEST_F(PassagesTest, WhatCairnItselfGaveTheSessionIsArchivedAndNeverLearned) {
  begin();
  transcript.text +=
      Json::object({{"type", "attachment"},
                    {"attachment", Json::object({{"type", "hook_additional_context"},
                                                 {"content", Json::array({"injected capybara"})}})},
                    {"timestamp", iso8601(m.clock.now())},
                    {"sessionId", chat.session}})
          .dump() +
      "\n";
  transcript.use("t1", "Bash", Json::object({{"command", "cd /x && cairn search lexer | head -20"}}));
  transcript.result("t1", Json::object({{"stdout", "S4 the remembered pangolin"}}), false,
                    "S4 the remembered pangolin");
  transcript.use("t2", "mcp__plugin_cairn_cairn__search", Json::object({{"query", "axolotl"}}));
  transcript.result("t2", Json("axolotl remembered"), false, "axolotl remembered");
  transcript.prompt(
      "see <cairn-memory nonce=\"1\">\nfenced tapir\n</cairn-memory nonce=\"1\"> above, quokka");
  end();
  minutes(3);
  EXPECT_EQ(restored(chat.session), transcript.text) << "the archive has all of it";
  for (const char* word : {"capybara", "pangolin", "axolotl", "tapir"})
    EXPECT_EQ(search(word).items().size(), 0u) << word;
  EXPECT_EQ(search("quokka").items().size(), 1u);
  EXPECT_EQ(m.number("SELECT count(*) FROM evidence e JOIN events v ON v.seq = e.event_seq WHERE v.tool_name "
                     "IS NOT NULL"),
            0);
  EXPECT_EQ(m.number("SELECT count(*) FROM transcript_calls WHERE reason = 'asks cairn itself'"), 2);
}

TEST_F(PassagesTest, AHookThatTellsOfCairnsOwnCommandIsOnlyCounted) {
  m.tell(chat.start());
  m.tell(chat.prompt("what did we do"));
  Chat& c = chat;
  m.tell(c.call("PostToolUse", {{"tool_name", "Bash"},
                                {"tool_use_id", "t5"},
                                {"tool_input", Json::object({{"command", "cairn show S1"}})},
                                {"tool_response", Json::object({{"stdout", "the pangolin"}})}}));
  EXPECT_EQ(
      m.number("SELECT count(*) FROM evidence e JOIN events v ON v.seq = e.event_seq WHERE v.kind = 'tool'"),
      0);
  EXPECT_EQ(m.text("SELECT reason FROM events WHERE outcome = 'skipped'"), "asks cairn itself");
}

TEST(OwnCommand, ALineThatRunsOnlyCairnAndFiltersIsOurs) {
  for (const char* own :
       {"cairn search x", "/home/dev/.local/bin/cairn show S1", "cd /p && cairn status --json | jq .",
        "A=1 cairn search \"a; b | c\" 2>&1 | head -5", "cairn remember <<'E'\nmake all\nE",
        "cairn search x |& grep y", "cairn search x |& tee f | head"})
    EXPECT_TRUE(host::is_own_command(own)) << own;
  for (const char* other :
       {"", "make", "cairn search x && make", "echo cairn", "cat cairn", "make | tee cairn",
        "grep x f; cairn show S1", "cairnx show", "make |& grep y", "cairn search x |& make"})
    EXPECT_FALSE(host::is_own_command(other)) << other;
}

}  // namespace
}  // namespace cairn::test
