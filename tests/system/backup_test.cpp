// Backups by the real programs: many ends at once, and a transcript that comes back.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "home_fixture.h"

namespace cairn::test {
namespace {

class BackupTest : public HomeTest {
 protected:
  std::string transcript(const std::string& session) const {
    return dir_ / ("user/.claude/projects/-proj/" + session + ".jsonl");
  }
  std::string write_transcript(const std::string& session) {
    const std::string text = R"({"type":"user","uuid":"u1","sessionId":")" + session +
                             R"(","message":{"role":"user","content":"words of )" + session + "\"}}\n";
    write_file(transcript(session), text);
    return text;
  }
  std::string end_of(const std::string& session, const std::string& reason) const {
    return payload(session, Json::object({{"transcript_path", transcript(session)}, {"reason", reason}}));
  }
  void process() {
    Program all = program("cairn", {"process", "--wait"});
    all.timeout = 100s;
    const Outcome outcome = run(all);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  }
};

TEST_F(BackupTest, AHundredEndsFromTwentyProcessesMakeAHundredVerifiedBackups) {
  for (int i = 0; i < 100; ++i) write_transcript("s" + std::to_string(i));
  std::vector<std::thread> hosts;
  for (int host = 0; host < 20; ++host)
    hosts.emplace_back([this, host] {
      for (int i = 0; i < 5; ++i)
        hook("SessionEnd", end_of("s" + std::to_string(host * 5 + i), "reason/" + std::to_string(i)));
    });
  for (std::thread& host : hosts) host.join();
  process();
  EXPECT_EQ(json({"status"})["archive"]["backups"].as_int(), 100);
  const Json verified = json({"backup", "verify", "--all"});
  EXPECT_EQ(verified["backups"].items().size(), 100u);
  EXPECT_TRUE(verified["ok"].as_bool());
  namespace fs = std::filesystem;
  for (const auto& entry : fs::directory_iterator(home_.data + "/archive"))
    EXPECT_EQ(entry.status().permissions() & fs::perms(0777), fs::perms(entry.is_directory() ? 0700 : 0600))
        << entry.path();
  EXPECT_NE(cairn({"doctor"}).out.find("100 backups of 100 sessions"), std::string::npos)
      << cairn({"doctor"}).out;
}

TEST_F(BackupTest, ATranscriptThatTheHostDeletedComesBackByteForByte) {
  const std::string text = write_transcript("one");
  hook("SessionEnd", end_of("one", "other"));
  process();
  std::filesystem::remove(transcript("one"));
  Outcome restored = cairn({"backup", "restore", "one", "--into-host"});
  EXPECT_EQ(restored.exit_code, 0) << restored.describe();
  EXPECT_EQ(read_text(transcript("one")), text);
  restored = cairn({"backup", "restore", "B1", "--to", "copy.jsonl"});
  EXPECT_EQ(read_text(project_ + "/copy.jsonl"), text) << restored.describe();
  EXPECT_EQ(cairn({"backup", "verify", "copy.jsonl"}).exit_code, 0);
  write_file(project_ + "/bad.jsonl", text + "{\"a\":]\n");
  const Outcome bad = cairn({"backup", "verify", "bad.jsonl"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.out.find("line 2, column 6"), std::string::npos) << bad.describe();
  EXPECT_EQ(cairn({"backup", "restore", "nobody", "--into-host"}).exit_code, 3);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"backup", "list", "--all"},
                                                {"backup", "clean", "--dry-run"},
                                                {"backup", "discard", "one"},
                                                {"backup", "repair"},
                                                {"delta", "one"}}) {
    const Outcome outcome = cairn(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_FALSE(outcome.out.empty());
  }
}

}  // namespace
}  // namespace cairn::test
