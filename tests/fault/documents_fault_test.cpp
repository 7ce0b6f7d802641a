// Saving and coalescing die at any call to the disk: the old state or the new one, never something between.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <ostream>

#include "fault/story.h"
#include "ops/settings.h"
#include "os/path.h"
#include "unit/transcript_lines.h"

namespace cairn::test {
namespace {

// A session with one document, whose transcript has grown since.
struct Documented {
  Machine m;
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};
  std::string before;  // the documents before the operation

  Documented() {
    m.disk.provide_dir(os::above(transcript.path()));
    must(m.open());
    m.tell(chat.start());
    turn("make a parser", "a.cpp", "The parser is made.");
    must(run("save"));
    turn("test it", "b.cpp", "It is tested.");
    before = documents();
  }
  void turn(std::string_view words, std::string_view file, std::string_view answer) {
    m.tell(chat.prompt(words));
    transcript.prompt(words);
    transcript.wrote(file, std::string(file));
    transcript.answer(answer);
    m.tell(chat.stop(answer));
    m.disk.provide_file(transcript.path(), transcript.text);
  }
  Result<Json> run(std::string_view operation) { return m.run(operation, Json::object({{"cwd", chat.cwd}})); }
  // Every document with its links, its anchor and what undo knows of it.
  std::string documents() {
    std::string all;
    for (const char* sql :
         {"SELECT id, previous_id, backup_id, anchor_lines, anchor_sha256, behind_uuid, body FROM "
          "session_documents ORDER BY id",
          "SELECT document_id, version, body FROM document_versions ORDER BY 1, 2",
          "SELECT what FROM undo_log"})
      for (const std::string& row : m.rows(sql)) all += row + "\n";
    return all;
  }
};

struct Case {
  const char* operation;
  const char* now_there;  // in the new state
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.operation;
}

class DocumentCrash : public testing::TestWithParam<Case> {
 protected:
  std::uint64_t calls() {
    Documented one;
    const std::uint64_t before = one.m.disk.calls();
    must(one.run(GetParam().operation));
    after_ = one.documents();
    EXPECT_NE(after_.find(GetParam().now_there), std::string::npos) << after_;
    return one.m.disk.calls() - before;
  }
  // What must hold at the next start, and that the same command then succeeds.
  void expect_old_or_new(Documented& one) {
    const Status opened = one.m.open();
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const std::string now = one.documents();
    // Times in a continuation differ; nothing else does.
    const bool is_new = now.find(GetParam().now_there) != std::string::npos;
    EXPECT_TRUE(now == one.before || is_new) << now;
    EXPECT_EQ(one.m.rows("PRAGMA foreign_key_check"), Lines{});
    EXPECT_TRUE(must(one.m.run("backup.verify", Json::object({{"all", true}})))["ok"].as_bool());
    if (is_new) {
      // All of it: the document covers what its anchor says.
      EXPECT_EQ(
          one.m.number("SELECT count(*) FROM session_documents d JOIN backups b ON b.id = d.backup_id WHERE "
                       "d.anchor_lines = b.lines AND d.anchor_sha256 = b.sha256"),
          one.m.number("SELECT count(*) FROM session_documents"));
    }
    ++(is_new ? new_ : old_);
    must(one.run(GetParam().operation));
    EXPECT_NE(one.documents().find(GetParam().now_there), std::string::npos);
    const Json chain = must(one.m.run("chain", Json::object({{"cwd", one.chat.cwd}})));
    EXPECT_TRUE(chain["problems"].items().empty()) << chain.dump();
  }

  std::string after_;
  int old_ = 0, new_ = 0;
};

TEST_P(DocumentCrash, AtEveryCallLeavesTheOldStateOrTheNew) {
  const std::uint64_t count = calls();
  ASSERT_GT(count, 5u);
  // The last one is after the last call: the new state.
  for (std::uint64_t k = 1, next = 0; next <= count + 1; k = next) {
    next = k <= count ? std::min(k + kStride, count + 1) : count + 2;
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(count));
    Documented one;
    one.m.disk.halt_at(k);
    ignore(one.run(GetParam().operation));
    one.m.close();
    k % 2 == 0 ? one.m.disk.crash() : one.m.disk.power_cut(k * 31 + 7);
    expect_old_or_new(one);
    if (HasFailure()) return;
  }
  EXPECT_GT(old_, 0);
  EXPECT_GT(new_, 0);
}

TEST_P(DocumentCrash, AnErrorAtAnyCallLeavesTheOldStateOrTheNew) {
  const std::uint64_t count = calls();
  for (const int error : {ENOSPC, EIO})
    for (std::uint64_t k = 1; k <= count; k += kStride) {
      SCOPED_TRACE("errno " + std::to_string(error) + " at call " + std::to_string(k));
      Documented one;
      one.m.disk.fail_at(k, error);
      ignore(one.run(GetParam().operation));
      one.m.disk.clear_faults();
      one.m.close();
      expect_old_or_new(one);
      if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Documents, DocumentCrash,
                         testing::Values(Case{"save", "\n2|1|"}, Case{"coalesce", "## Session Continuation"}),
                         [](const testing::TestParamInfo<Case>& param) {
                           return std::string(param.param.operation);
                         });

// A session that has ended while cairn writes documents by itself: its end is in the inbox.
struct Ended {
  Machine m;
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};

  Ended() {
    m.disk.provide_dir(os::above(transcript.path()));
    must(m.open());
    must(ops::set_setting(m.disk, m.home, "automation", "auto"));
    m.engine->reload();
    m.tell(chat.start());
    m.tell(chat.prompt("make a parser"));
    transcript.prompt("make a parser");
    m.tell(chat.wrote("a.cpp", "t1"));
    transcript.wrote("a.cpp", "t1");
    transcript.answer("The parser is made.");
    m.tell(chat.stop("The parser is made."));
    m.disk.provide_file(transcript.path(), transcript.text);
    m.sync = hook::Flags::Sync::disk;  // a power cut must not lose it
    m.deliver(chat.end());
  }
  // A failed attempt is made again minutes later.
  void go_on() {
    for (int minute = 0; minute < 4; ++minute) {
      must(m.drain());
      m.clock.advance(std::chrono::minutes(1));
      must(m.engine->tick());
    }
    EXPECT_EQ(m.number("SELECT count(*) FROM session_documents"), 1);
    EXPECT_EQ(m.number("SELECT count(*) FROM document_jobs"), 0);
    EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Lines{});
  }
};

TEST(AutomaticDocument, IsWrittenOnceWhereverTheDaemonDiesOrTheDiskFails) {
  std::uint64_t count = 0;
  {
    Ended whole;
    const std::uint64_t before = whole.m.disk.calls();
    must(whole.m.drain());
    count = whole.m.disk.calls() - before;
    whole.go_on();
  }
  ASSERT_GT(count, 5u);
  for (const int error : {0, ENOSPC, EIO})  // 0: it dies
    for (std::uint64_t k = 1; k <= count; k += kStride) {
      SCOPED_TRACE("errno " + std::to_string(error) + " at call " + std::to_string(k));
      Ended one;
      error == 0 ? one.m.disk.halt_at(k) : one.m.disk.fail_at(k, error);
      ignore(one.m.drain());
      one.m.disk.clear_faults();
      one.m.close();
      if (error == 0) k % 2 == 0 ? one.m.disk.crash() : one.m.disk.power_cut(k * 31 + 7);
      must(one.m.open());
      one.go_on();
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace cairn::test
