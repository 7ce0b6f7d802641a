// What happened after a document or a backup: by uuid, by line, by time.
#include <gtest/gtest.h>

#include "archive_fixture.h"

namespace cairn::test {
namespace {

class DeltaTest : public ArchiveTest {
 protected:
  void add(const std::string& line) { transcript.text += line + "\n"; }
  void record(const std::string& uuid, const std::string& at, const std::string& words) {
    add(R"({"type":"user","uuid":")" + uuid + R"(","timestamp":")" + at + R"(","message":{"content":")" +
        words + "\"}}");
  }
  Json delta(Json args) { return must(m.run("delta", std::move(args))); }
  Json after_first() { return delta(Json::object({{"id", chat.session}, {"version", 1}})); }
};

TEST_F(DeltaTest, ByTheUuidOfTheLastRecord) {
  begin();
  record("u-1", "2026-11-16T10:00:00.100Z", "one");
  end();
  record("u-2", "2026-11-16T10:00:00.200Z", "two");
  add("{broken");
  add(R"({"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Edit","input":{}}]}})");
  end_again();
  const Json found = after_first();
  EXPECT_EQ(found["anchor"].as_string(), "uuid");
  EXPECT_EQ(found["count"].as_int(), 2) << found.dump();
  EXPECT_EQ(found["malformed"].as_int(), 1);
  EXPECT_EQ(found["records"].items()[0]["text"].as_string(), "two");
  EXPECT_EQ(found["records"].items()[1]["tools"].items()[0].as_string(), "Edit");
  EXPECT_EQ(delta(Json::object({{"id", "B2"}}))["count"].as_int(), 0);
}

TEST_F(DeltaTest, FindsTheAnchorByLineWhenNoRecordHasAUuid) {
  begin();
  transcript.text = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n";
  end();
  add(R"({"type":"tool_use","tool":"Bash","input":{"command":"make"}})");
  add(R"({"type":"tool_result","output":"built"})");
  end_again();
  const Json found = after_first();
  EXPECT_EQ(found["anchor"].as_string(), "line");
  EXPECT_EQ(found["anchor_at"].as_string(), "line 1");
  ASSERT_EQ(found["count"].as_int(), 2) << found.dump();
  EXPECT_EQ(found["records"].items()[0]["tools"].items()[0].as_string(), "Bash");
  EXPECT_EQ(found["records"].items()[1]["text"].as_string(), "built");
}

TEST_F(DeltaTest, ByTheInstantWhenTheTranscriptWasRewritten) {
  begin();
  transcript.text.clear();
  record("u-1", "2026-11-16T10:00:05.000Z", "one");
  end();
  transcript.text.clear();
  record("v-0", "2026-11-16T10:00:05.000Z", "one again");
  record("v-1", "2026-11-16T10:00:05.500Z", "the same second, and later");
  add(R"({"type":"summary","summary":"without a time"})");
  end_again();
  const Json found = after_first();
  EXPECT_EQ(found["anchor"].as_string(), "instant");
  EXPECT_EQ(found["count"].as_int(), 2) << found.dump();
}

TEST_F(DeltaTest, ADocumentIsAnAnchorToo) {
  begin();
  record("u-1", "2026-11-16T10:00:00.000Z", "one");
  end();
  must(m.db().run(
      "INSERT INTO session_documents(uuid, platform, content_session_id, project, backup_id, created_at, "
      "created_at_epoch) SELECT 'd', platform, content_session_id, project, id, created_at, "
      "created_at_epoch FROM backups"));
  EXPECT_FALSE(backups().items()[0]["pending"].as_bool()) << "a document covers it";
  record("u-2", "2026-11-16T10:00:01.000Z", "two");
  end_again();
  EXPECT_TRUE(backups().items()[0]["pending"].as_bool());
  const Json found = delta(Json::object({{"id", "D1"}}));
  EXPECT_EQ(found["count"].as_int(), 1);
  EXPECT_EQ(found["anchor"].as_string(), "uuid");
  EXPECT_EQ(m.run("delta", Json::object({{"id", "D9"}})).error().code, Code::not_found);
}

}  // namespace
}  // namespace cairn::test
