// A session that the host has deleted continues from its backup.
#include <gtest/gtest.h>

#include <filesystem>

#include "host/claude.h"

namespace cairn::test {
namespace {

class Backups : public HostTest {};

TEST_F(Backups, ASessionWhoseTranscriptTheHostDeletedIsResumedFromItsRedactedBackup) {
  const std::string token = std::string("ghp_") + "16C7e42F292c6912E7710c838347Ae178B4a";
  machine.script("first", {bash("echo marmalade > jar.txt"), say("The jar is labelled.")});
  const Session first =
      machine.prompt("first", "Label the jar with marmalade. The token is " + token + " for the shop.");
  EXPECT_EQ(first.result, "The jar is labelled.") << first.outcome.describe();
  machine.process_and_check();
  const Json list = machine.cairn_json({"backup", "list", "--all"})["backups"];
  ASSERT_GE(list.items().size(), 1u) << list.dump(1);
  const Json& backup = list.items()[0];
  EXPECT_EQ(backup["session"].as_string(), first.id);
  EXPECT_EQ(backup["malformed"].as_int(), 0);
  EXPECT_GE(backup["rewritten"].as_int(), 1) << "the token is in the transcript";
  EXPECT_TRUE(machine.cairn_json({"backup", "verify", "--all"})["ok"].as_bool());

  const std::string transcript(backup["source_path"].as_string());
  ASSERT_TRUE(std::filesystem::remove(transcript)) << transcript;
  machine.script("gone", {say("Nobody is there.")});
  EXPECT_TRUE(machine.prompt("gone", "And now?", {"--resume", first.id}).failed);

  const Outcome restored = machine.cairn({"backup", "restore", first.id, "--into-host"});
  ASSERT_EQ(restored.exit_code, 0) << restored.describe();
  machine.script("next", {say("It goes on.")});
  const Session next = machine.prompt("next", "And now?", {"--resume", first.id});
  EXPECT_EQ(next.result, "It goes on.") << next.outcome.describe();
  EXPECT_EQ(next.id, first.id);
  const auto requests = machine.requests("next");
  ASSERT_FALSE(requests.empty());
  EXPECT_TRUE(requests[0].has("Label the jar with marmalade")) << requests[0].text;
  EXPECT_TRUE(requests[0].has("echo marmalade > jar.txt"));
  EXPECT_FALSE(requests[0].has(token)) << "the archive is redacted";
  machine.process_and_check();
  EXPECT_TRUE(machine.cairn_json({"backup", "verify", "--all"})["ok"].as_bool());
}

}  // namespace
}  // namespace cairn::test
