// An import of another memory that dies, or loses power, at any call to the disk.
#include "fault/story.h"
#include "unit/old_memory_fixture.h"

namespace cairn::test {
namespace {

const std::string kOldMemory = "/home/dev/.claude-mem/claude-mem.db";

struct Importing {
  Machine m;

  Importing() {
    must(m.open());
    m.disk.provide_dir("/home/dev/.claude-mem");
    {
      OldDatabase old(m, kOldMemory);
      for (const char* session : {"s-one", "s-two"}) {
        old.session(session, "parser", 1'750'000'000'000);
        old.prompt(session, 1, std::string("Make it fast in ") + session, 1'750'000'000'010);
        old.observation(session, "parser", std::string("Tables of ") + session, "Kept.", 1'750'000'000'020);
        old.summary(session, "parser", "Done", 1'750'000'000'030);
      }
    }
    m.disk.provide_file(kOldMemory, m.read(kOldMemory));
  }
  void import() {
    ignore(m.run("import.claude-mem", Json::object({{"path", kOldMemory}})));
    ignore(m.drain());
  }
  template <class T>
  static void ignore(const T&) {}

  // Whatever happened, a second import brings what is missing, and only that.
  void expect_whole_after_another() {
    const Status opened = m.open();
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    must(m.drain());
    must(m.run("import.claude-mem", Json::object({{"path", kOldMemory}})));
    must(m.drain());
    EXPECT_EQ(
        m.rows("SELECT (SELECT count(*) FROM sdk_sessions), (SELECT count(*) FROM user_prompts), (SELECT "
               "count(*) FROM observations), (SELECT count(*) FROM session_summaries), (SELECT count(*) "
               "FROM import_jobs WHERE state = 'pending')"),
        (Lines{"2|2|2|2|0"}));
    EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Lines{});
    const auto copies = m.disk.list("/home/dev/cairn/imports");
    EXPECT_TRUE(!copies || copies->empty());
  }
};

std::uint64_t calls_of_an_import() {
  Importing importing;
  const std::uint64_t before = importing.m.disk.calls();
  importing.import();
  return importing.m.disk.calls() - before;
}

TEST(ImportCrash, AtEveryCallIsMadeWholeByTheNextImport) {
  const std::uint64_t calls = calls_of_an_import();
  ASSERT_GT(calls, 10u);
  // A place is half a second without an optimiser: a prime step meets every kind of call.
  const std::uint64_t step = std::getenv("CAIRN_FULL") ? 1 : 13;
  for (std::uint64_t k = 1; k <= calls + 1; k += step)
    for (const bool power : {false, true}) {
      SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls) +
                   (power ? ", power cut" : ""));
      Importing importing;
      importing.m.disk.halt_at(k);
      importing.import();
      importing.m.close();
      if (power)
        importing.m.disk.power_cut(k * 31 + 7);
      else
        importing.m.disk.crash();
      importing.expect_whole_after_another();
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace cairn::test
