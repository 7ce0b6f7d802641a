// Search and what belongs to it, as people call it.
#include "system/cli_home.h"

namespace cairn::test {
namespace {

class CliSearch : public CliHome {
 protected:
  CliSearch() {
    play_session();
    cairn({"process", "--wait"});
  }
};

TEST_F(CliSearch, FindsRanksAndPointsToTheRecord) {
  const Json found = json({"search", "wide", "words"});
  ASSERT_FALSE(found["results"].items().empty());
  const std::string id(found["results"].items()[0]["id"].as_string());
  for (const char* key : {"id", "kind", "title", "project", "time", "score"})
    EXPECT_TRUE(found["results"].items()[0].has(key)) << key;
  EXPECT_EQ(cairn({"show", id}).exit_code, 0);
  EXPECT_EQ(cairn({"timeline", id}).exit_code, 0);
  EXPECT_EQ(cairn({"timeline", "wide words"}).exit_code, 0);
  const Outcome why = cairn({"why", "S1"});
  EXPECT_NE(why.out.find("PostToolUse Edit"), std::string::npos) << why.out;
}

TEST_F(CliSearch, ShowsInAPipeThePassageThatMatchedOnceATurn) {
  const Outcome found = cairn({"search", "wide", "lexer"});
  EXPECT_EQ(found.exit_code, 0) << found.describe();
  EXPECT_NE(found.out.find("\n    The lexer now reads wide words as one token."), std::string::npos)
      << found.out;
  EXPECT_EQ(found.out.find("\nP1"), std::string::npos) << found.out;
}

TEST_F(CliSearch, TakesUnknownOptionsAfterTheFirstWordAsWords) {
  const Outcome found = cairn({"search", "lexer", "--wide", "-x", "--no-such=3"});
  EXPECT_EQ(found.exit_code, 0) << found.describe();
  EXPECT_EQ(cairn({"search", "lexer", "--limit", "1"}).exit_code, 0);
  EXPECT_EQ(cairn({"search", "--no-such", "lexer"}).exit_code, 2) << "before the first word it is a slip";
}

TEST_F(CliSearch, SaysWhenAnIdentifierOccursNowhere) {
  const Outcome found = cairn({"search", "lexer_state"});
  EXPECT_EQ(found.exit_code, 0) << found.describe();
  EXPECT_EQ(found.out.find("lexer_state occurs nowhere as such"), 0u) << found.out;
}

TEST_F(CliSearch, IsPlainAndStableInAPipe) {
  const Outcome once = cairn({"search", "lexer"}), again = cairn({"search", "lexer"});
  EXPECT_EQ(once.exit_code, 0) << once.describe();
  EXPECT_EQ(once.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(once.err, "");
  EXPECT_EQ(once.out, again.out);
}

TEST_F(CliSearch, NothingFoundIsExitCode3AndSaysSinceWhenItRemembers) {
  const Outcome none = cairn({"search", "zebra"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("nothing found in proj, remembered since 20"), std::string::npos) << none.err;
  const Outcome as_json = cairn({"search", "zebra", "--json"});
  EXPECT_EQ(as_json.exit_code, 3);
  EXPECT_EQ((*Json::parse(as_json.out))["results"].dump(), "[]");
  EXPECT_EQ(call("/usr/bin/env", {"-C", "/", kCairn, "search", "lexer"}).exit_code, 3);
}

TEST_F(CliSearch, TakesWhateverIsTypedAsAQuery) {
  for (const char* text : {"\"", "a AND (", "NEAR(", "title:x*", "-- ", "🚀", "'; DROP TABLE x"}) {
    const Outcome outcome = cairn({"search", "--", text});
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3) << text << ": " << outcome.describe();
  }
  EXPECT_EQ(cairn({"search", "x", "--since", "soon"}).exit_code, 2);
}

TEST_F(CliSearch, WhatIsRememberedByHandIsFoundAndGiven) {
  const Outcome stored = cairn(
      {"remember", "Deploys", "need the VPN.", "--type", "decision", "--file", "a.sh", "--file", "b.sh"});
  EXPECT_EQ(stored.exit_code, 0) << stored.describe();
  EXPECT_NE(stored.out.find("remembered for proj: Deploys need the VPN."), std::string::npos) << stored.out;
  EXPECT_NE(cairn({"search", "vpn", "file:b.sh"}).out.find("Deploys need the VPN."), std::string::npos);
  EXPECT_NE(cairn({"context"}).out.find("Deploys need the VPN."), std::string::npos);
  EXPECT_NE(cairn({"remember", "-"}, "from stdin, a zebra\n").out.find("from stdin"), std::string::npos);
  EXPECT_EQ(json({"search", "zebra"})["results"].items().size(), 1u);
  EXPECT_EQ(json({"sessions", "list"})["sessions"].items().size(), 1u);
  EXPECT_EQ(cairn({"remember", "<private>x</private>"}).exit_code, 2);
}

TEST_F(CliSearch, WhatIsRememberedIsGivenWholeAfterAHundredTurns) {
  const std::string note = "The staging database is shared. Never run migrations there on a Friday.";
  ASSERT_EQ(cairn({"remember", note}).exit_code, 0);
  for (int i = 0; i < 100; ++i) {
    const std::string id = "long-" + std::to_string(i), session = "22222222-2222-4333-8444-555555555555";
    deliver("UserPromptSubmit", Json::object({{"prompt", "make part " + id + " faster"}, {"prompt_id", id}}),
            session);
    deliver("Stop",
            Json::object({{"prompt_id", id},
                          {"last_assistant_message",
                           "Part " + id + " is faster now, because its reader keeps the tokens of module " +
                               id + "."}}),
            session);
  }
  cairn({"process", "--wait"});
  const std::string text = cairn({"context"}).out;
  const std::size_t at = text.find("# Notes\n");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_LT(at, text.find("# State")) << text;
  EXPECT_NE(text.find(note), std::string::npos) << text;
}

TEST_F(CliSearch, ReportsProjectsSumsAndWhatWasGiven) {
  EXPECT_EQ(json({"projects", "list"})["projects"].items()[0]["name"].as_string(), "proj");
  EXPECT_EQ(json({"projects", "show"})["sessions"].as_int(), 1);
  EXPECT_EQ(json({"stats"})["prompts"].as_int(), 1);
  EXPECT_FALSE(json({"context", "log"})["given"].items().empty());
  EXPECT_EQ(json({"sessions", "summarize", "1"})["summaries"].items().size(), 1u);
  for (const std::vector<std::string>& page : std::vector<std::vector<std::string>>{
           {"projects", "list"}, {"projects", "show"}, {"stats"}, {"stats", "--all"}, {"context", "log"}}) {
    const Outcome outcome = cairn(page);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_FALSE(outcome.out.empty());
  }
}

TEST_F(CliSearch, WhatWasTypedInAnEditorIsKeptWhenItIsRefused) {
  if (!std::filesystem::exists("/usr/bin/script")) GTEST_SKIP() << "there is no script(1) for a terminal";
  const std::string id(json({"remember", "the quokka port is 4711"})["id"].as_string());
  const auto edit = [&](const std::string& editor) {
    write_file(dir_ / "editor", editor);
    return call("/usr/bin/script", {"-qec", kCairn + " edit " + id, "/dev/null"}, "",
                {"EDITOR=sh " + (dir_ / "editor")});
  };
  const auto files = [this] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(home()))
      if (entry.path().filename().string().starts_with("edit-")) found.push_back(entry.path());
    return found;
  };
  EXPECT_EQ(edit("exit 1").exit_code, 1);
  EXPECT_EQ(edit("sed -i s/4711/5822/ \"$1\"").exit_code, 0);
  EXPECT_EQ(files(), std::vector<std::string>{});
  const Outcome refused = edit("sed -i s/5822/6933/ \"$1\"; echo someday >> \"$1\"");
  EXPECT_EQ(refused.exit_code, 2) << refused.describe();
  ASSERT_EQ(files().size(), 1u);
  EXPECT_NE(refused.out.find(files()[0]), std::string::npos) << refused.describe();
  EXPECT_NE(read_text(files()[0]).find("6933"), std::string::npos);
}

}  // namespace
}  // namespace cairn::test
