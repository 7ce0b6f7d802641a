// A session full of secrets in the real host: none of them may be left in any file of the home, compressed or
// not, nor in what the next session is given.
#include <gtest/gtest.h>

#include <filesystem>

#include "gate/secret_corpus.h"
#include "host/claude.h"
#include "store/walk.h"

namespace cairn::test {
namespace {

class Privacy : public HostTest {};

// Every byte below the home, and every row of the store decompressed.
std::string everything(const std::string& home) {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home))
    if (entry.is_regular_file()) all += read_text(entry.path().string()) + "\n";
  store::Db::Options options;
  options.path = home + "/cairn.db";
  options.mode = store::Db::Mode::read_only;
  auto db = store::Db::open(options);
  EXPECT_TRUE(db.ok());
  const auto add = [&](const store::StoredText& stored) { all += stored.text + "\n"; };
  EXPECT_TRUE(db.ok() && store::walk_texts(*db, add).ok());
  return all;
}

TEST_F(Privacy, NoCanaryOfAWholeSessionIsKeptAnywhere) {
  std::string env = "control_word=quokka\n";
  std::vector<std::string> canaries = {"zebra-in-a-prompt", "zebra-in-a-file", "zebra-in-an-answer"};
  for (const SecretSample& sample : one_of_each(77)) {
    env += sample.text + "\n";
    canaries.insert(canaries.end(), sample.parts.begin(), sample.parts.end());
  }
  const std::string at = machine.project() + "/";
  write_file(at + "notes/settings.txt", env + "<private>zebra-in-a-file</private>\n");
  const std::string key = canaries.back();
  machine.script("work", {call("Read", Json::object({{"file_path", at + "notes/settings.txt"}})),
                          bash("cat notes/settings.txt"), bash("cat notes/settings.txt >&2; exit 3"),
                          call("Write", Json::object({{"file_path", at + "copy.txt"}, {"content", env}})),
                          call("Edit", Json::object({{"file_path", at + "copy.txt"},
                                                     {"old_string", "control_word=quokka"},
                                                     {"new_string", "control_word=wombat"}})),
                          bash("ls"),
                          say("Done with wombat. The settings were:\n" + env +
                              "<private>zebra-in-an-answer</private>")});
  const Session session = machine.prompt(
      "work",
      "Look at quokka <private>zebra-in-a-prompt</private> with postgres://app:" + key + "@db.host.test/x");
  EXPECT_FALSE(session.failed) << session.outcome.describe();
  expect_valid_answer(session);
  machine.script("next", {say("I see.")});
  expect_valid_answer(machine.prompt("next", "What now?"));
  machine.process_and_check();

  const auto requests = machine.requests("next");
  ASSERT_FALSE(requests.empty());
  const std::string all = everything(machine.cairn_home()) + requests[0].injected();
  EXPECT_NE(all.find("quokka"), std::string::npos) << "nothing was kept at all";
  EXPECT_NE(all.find("wombat"), std::string::npos);
  for (const std::string& canary : canaries) EXPECT_EQ(all.find(canary), std::string::npos) << canary;
}

}  // namespace
}  // namespace cairn::test
