// A document's anchor finds its place in a transcript by each of its three ways: what lies behind it is the
// plain rest of the transcript, after any line of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "archive/delta.h"
#include "archive/json_fault.h"
#include "archive_fixture.h"
#include "ops/backup.h"

namespace cairn::test {
namespace {

class AnchorTest : public ArchiveTest {
 protected:
  // Archives the first k lines of `whole` for every k in steps of `step`, then all of it, and compares.
  void compare(const std::string& whole, std::size_t step) {
    std::vector<std::string> all;
    for (const std::string_view line : split(whole, '\n'))
      if (!line.empty()) all.emplace_back(line);
    m.tell(chat.start());
    for (std::size_t k = 0; k < all.size(); ++k) {
      transcript.text += all[k] + "\n";
      if (k % step != 0 && k + 1 != all.size()) continue;
      transcript.save();
      copy();
    }
    for (const std::int64_t id : must(store::backup_ids(m.db()))) {
      const store::Backup backup = *must(store::find_backup(m.db(), id));
      std::int64_t rest = 0;
      for (auto k = static_cast<std::size_t>(backup.lines); k < all.size(); ++k)
        if (!archive::line_fault(all[k])) ++rest;
      expect_rest(backup, rest);
    }
  }

  // Each is another event.
  void copy() { m.tell(chat.call("PreCompact", {{"trigger", "auto"}, {"number", ++copies_}})); }

  void expect_rest(const store::Backup& backup, std::int64_t rest) {
    const archive::Places places = ops::archive_of(m.home);
    const store::Anchor anchor = must(archive::whole_anchor(m.db(), m.disk, places, backup));
    store::Anchor by_uuid, by_line, by_instant;
    by_uuid.uuid = anchor.uuid;
    by_uuid.behind_uuid = anchor.behind_uuid;
    by_line.lines = anchor.lines;
    by_line.sha256 = anchor.sha256;
    by_instant.at = anchor.at;
    by_instant.behind_at = anchor.behind_at;
    by_instant.same_time = anchor.same_time;
    const auto expect = [&](const char* way, const store::Anchor& one) {
      const archive::Delta found = must(archive::delta(m.db(), m.disk, places, backup.key, one, 1));
      EXPECT_EQ(found.anchor, way);
      EXPECT_EQ(found.records, rest) << way << " after line " << backup.lines;
      if (rest > 0 && !found.shown.empty()) {
        EXPECT_GT(found.shown.front().line, backup.lines) << way;
      }
      ++compared[way];
    };
    if (!anchor.uuid.empty()) expect("uuid", by_uuid);
    expect("line", by_line);
    if (backup.last_record_at) expect("instant", by_instant);
  }

  std::map<std::string, int> compared;

 private:
  int copies_ = 0;
};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

TEST_F(AnchorTest, AfterEveryLineOfARecordedTranscript) {
  compare(
      text_of(std::filesystem::path(CAIRN_TESTS_DIR) / "recorded/c1_tui_compact_clear_exit/transcript.jsonl"),
      1);
  for (const char* way : {"uuid", "line", "instant"}) EXPECT_GT(compared[way], 5) << way;
}

TEST_F(AnchorTest, AfterEveryLineWhereLinesHaveNoTimeTheSameTimeOrAreOutOfOrder) {
  std::string text;
  const auto add = [&](const char* uuid, const char* at) {
    text += R"({"type":"user")" + (*uuid ? R"(,"uuid":")" + std::string(uuid) + "\"" : "") +
            (*at ? R"(,"timestamp":"2026-11-16T10:00:)" + std::string(at) + "Z\"" : "") +
            R"(,"message":{"content":"x"}})" + "\n";
  };
  add("u-1", "05.000");
  add("", "05.000");
  add("u-2", "05.000");
  add("", "");
  add("u-3", "04.000");
  add("", "");
  text += "{broken\n";
  add("u-4", "07.000");
  add("u-5", "06.000");
  add("", "07.000");
  compare(text, 1);
  EXPECT_GT(compared["instant"], 8);
}

TEST_F(AnchorTest, AnotherCopyOfTheConversationIsFoundByItsInstant) {
  // A fork has the same lines with other ids.
  compare(R"({"type":"user","uuid":"a-1","timestamp":"2026-11-16T10:00:01Z","message":{"content":"one"}})"
          "\n",
          1);
  const store::Backup first = *must(store::find_backup(m.db(), 1));
  const store::Anchor anchor = must(archive::whole_anchor(m.db(), m.disk, ops::archive_of(m.home), first));
  transcript.text =
      R"({"type":"user","uuid":"b-1","timestamp":"2026-11-16T10:00:01Z","message":{"content":"one"}})"
      "\n"
      R"({"type":"user","uuid":"b-2","timestamp":"2026-11-16T10:00:01.100Z","message":{"content":"two"}})"
      "\n";
  transcript.save();
  copy();
  const auto found = must(archive::delta(m.db(), m.disk, ops::archive_of(m.home), first.key, anchor, 9));
  EXPECT_EQ(found.anchor, "instant");
  EXPECT_EQ(found.records, 1);
}

}  // namespace
}  // namespace cairn::test
