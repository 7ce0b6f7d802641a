// What a person says when they refuse a tool call: stored once, found, obeyed like a prompt, shown and sent
// on.
#include "catch_up_fixture.h"
#include "ops/settings.h"
#include "support/scripted_provider.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

const std::string kRefused =
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
    "edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n";
const std::string kWords =
    "Stop, that suite talks to the staging cluster. From now on always run the unit tests only.";

class Objections : public CatchUpTest {
 protected:
  // A turn in which the person refuses the call `use`, and the answer that follows.
  void refuse(const std::string& use, const std::string& words) {
    const Json input = Json::object({{"command", "make integration"}});
    m.tell(chat.before_tool("Bash", use, input));
    transcript.use(use, "Bash", input);
    transcript.result(use, "Error: " + kRefused + words, true, kRefused + words);
  }
  void turn() {
    begin("check the parser");
    refuse("t1", kWords);
    m.tell(chat.ran("make unit", "t2"));
    transcript.answer("All unit tests pass.");
    m.tell(chat.stop("All unit tests pass."));
    transcript.save();
  }
  Lines stored() { return m.rows("SELECT prompt_number, source, text FROM texts WHERE kind = 'objection'"); }
};

TEST_F(Objections, AreStoredOnceHoweverOftenTheTranscriptIsRead) {
  turn();
  minute();
  const Lines once{"1|transcript|" + kWords};
  EXPECT_EQ(stored(), once);
  minute();
  transcript.save();  // another file with the same lines
  minute();
  EXPECT_EQ(stored(), once);
  m.tell(chat.end());
  host_dies();
  EXPECT_EQ(stored(), once);
  must(m.run("import.transcripts", Json::object({{"directory", "/home/dev/.claude"}})));
  must(m.drain());
  EXPECT_EQ(stored(), once);
  EXPECT_EQ(m.number("SELECT count(*) FROM standing_orders"), 1);
}

TEST_F(Objections, AreFoundAndShownAndGiveRulesAsAPromptDoes) {
  turn();
  EXPECT_EQ(m.number("SELECT count(*) FROM standing_orders"), 0);
  minute();
  EXPECT_EQ(m.rows("SELECT text FROM standing_orders"),
            (Lines{"From now on always run the unit tests only."}));
  const Json hits = must(m.run("search", Json::object({{"query", "staging cluster"}, {"all", true}})));
  EXPECT_NE(hits.dump().find("that suite talks to the"), std::string::npos) << hits.dump();
  const std::string summary = "S" + m.text("SELECT id FROM session_summaries");
  const Json shown = must(m.run("show", Json::object({{"ids", Json::array({summary})}})));
  EXPECT_NE(shown.dump().find("talks to the staging cluster"), std::string::npos) << shown.dump();
  m.tell(chat.end());
  const std::string context = Machine::context_of(m.ask(Chat{.session = "next"}.start()));
  EXPECT_NE(context.find("that suite talks to the staging cluster"), std::string::npos) << context;
  EXPECT_NE(context.find("always run the unit tests only"), std::string::npos) << context;
}

TEST_F(Objections, ComeFromImportedSessionsToo) {
  transcript.prompt("check the parser");
  const Json input = Json::object({{"command", "make integration"}});
  transcript.use("t1", "Bash", input);
  transcript.result("t1", "Error: " + kRefused + kWords, true, kRefused + kWords);
  transcript.answer("All unit tests pass.");
  transcript.save();
  m.clock.advance(2h);
  must(m.run("import.transcripts", Json::object({{"directory", "/home/dev/.claude"}})));
  must(m.drain());
  EXPECT_EQ(stored(), (Lines{"1|transcript|" + kWords}));
  EXPECT_EQ(m.number("SELECT count(*) FROM standing_orders"), 1);
}

TEST_F(Objections, PassTheGateAndStayOutOfPrivateTurns) {
  begin("check the parser");
  refuse("t1", "Use the other account. <private>it is called magpie</private>");
  m.tell(chat.stop("Done."));
  chat.prompt_id = "p2";
  m.tell(chat.prompt("<private>secret work</private>"));
  transcript.prompt("<private>secret work</private>");
  refuse("t2", "Not the cassowary folder.");
  m.tell(chat.stop("Done."));
  transcript.save();
  minute();
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_NE(stored()[0].find("Use the other account."), std::string::npos);
  EXPECT_EQ(stored()[0].find("magpie"), std::string::npos);
}

TEST_F(Objections, AreSentToTheModelAsThePersonsWords) {
  ScriptedProvider provider{m.clock};
  provider.script = [](SessionId, const agent::Request&) {
    return Plan::says(
        "<summary><completed>Done.</completed><rules><rule>Always run the unit tests only</rule><rule>The "
        "suite talks to the staging cluster</rule><rule>Always deploy on "
        "Fridays</rule></rules></summary>");
  };
  m.provider = &provider;
  must(m.open());
  begin("check the parser");
  refuse("t1", kWords);
  transcript.save();
  minute();
  m.tell(chat.ran("make unit", "t2"));
  m.tell(chat.stop("All unit tests pass."));
  ASSERT_EQ(provider.requests.size(), 1u);
  const std::string& text = provider.requests[0].text;
  const std::size_t at = text.find("turn 1 person refuses a call and says]]\n" + kWords);
  EXPECT_NE(at, std::string::npos) << text;
  // A rule counts when the person said it, in the prompt or here.
  EXPECT_EQ(m.rows("SELECT text FROM standing_orders WHERE text LIKE '%staging%'").size(), 1u);
  EXPECT_EQ(m.number("SELECT count(*) FROM standing_orders WHERE text LIKE '%Fridays%'"), 0);
  m.close();
}

// A long turn is sent in several requests.
TEST_F(Objections, AreSentOnceHoweverLongTheNextCallTakes) {
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  must(m.open());
  must(ops::set_setting(m.disk, m.home, "agent.batch_max_events", "1"));
  m.engine->reload();
  begin("check the parser");
  m.tell(chat.ran("make unit", "t1"));
  m.clock.advance(1min);
  refuse("t2", kWords);
  transcript.save();
  minute();
  m.clock.advance(5min);
  m.tell(chat.ran("make unit", "t3"));
  m.tell(chat.stop("All unit tests pass."));
  ASSERT_EQ(provider.requests.size(), 3u);
  std::vector<bool> has;
  for (const agent::Request& request : provider.requests)
    has.push_back(request.text.find("says]]\n" + kWords) != std::string::npos);
  EXPECT_EQ(has, (std::vector<bool>{false, true, false}));
  m.close();
}

}  // namespace
}  // namespace cairn::test
