// Documents in the real host: saved with a command, resumed with one in another session.
#include <gtest/gtest.h>

#include <cstdlib>

#include "host/claude.h"

namespace cairn::test {
namespace {

class Documents : public HostTest {
 protected:
  Session play(const std::string& script, std::string_view prompt, Json::Array turns,
               std::vector<std::string> flags = {}) {
    machine.script(script, std::move(turns));
    Session session = machine.prompt(script, prompt, std::move(flags));
    EXPECT_FALSE(session.failed) << session.outcome.describe();
    expect_polite(session);
    return session;
  }
  Json write(const std::string& file) const {
    return call("Write", Json::object({{"file_path", machine.project() + "/" + file}, {"content", "x\n"}}));
  }
  // The commands find `cairn` on the host's PATH.
  void SetUp() override {
    const char* path = std::getenv("PATH");
    setenv("PATH", (std::string(CAIRN_BIN_DIR ":") + (path ? path : "/usr/bin:/bin")).c_str(), 1);
    HostTest::SetUp();
  }
};

TEST_F(Documents, ASavedSessionIsResumedWithWhatCameAfterItAndWhatIsOpen) {
  const Session first = play("one", "make a parser",
                             {write("parser.cpp"), say("The parser is made.\n\nNext: add a benchmark.")});
  const std::string save = "cairn save - <<'END'\n## Session Summary\n\nThe parser reads dates.\nEND\n";
  play("save", "/cairn-save", {call("Bash", Json::object({{"command", save}})), say("Saved as D1.")},
       {"--resume", first.id});
  const auto asked = machine.requests("save");
  ASSERT_FALSE(asked.empty());
  EXPECT_TRUE(asked[0].has("Save it: `cairn save -`")) << "the body of the command reaches the model";
  EXPECT_TRUE(asked[0].has("## Failed Approaches")) << "and the template that it asks cairn for";
  ASSERT_EQ(machine.cairn_json({"docs", "list"})["documents"].items().size(), 1u);
  play("more", "test it", {write("parser_check.cpp"), say("It is tested.")}, {"--resume", first.id});
  machine.settle();

  play("resume", "/cairn-resume", {say("I see.")});
  const auto requests = machine.requests("resume");
  ASSERT_FALSE(requests.empty());
  for (const char* part :
       {"Resuming from D1", "The parser reads dates.", "parser_check.cpp", "add a benchmark"})
    EXPECT_TRUE(requests[0].has(part)) << part << "\n" << requests[0].text;
}

}  // namespace
}  // namespace cairn::test
