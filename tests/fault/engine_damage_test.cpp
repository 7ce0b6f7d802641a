// A store that is damaged: found at the start, renamed and rebuilt from what can be read; never served as it
// is.
#include <gtest/gtest.h>

#include <random>

#include "fault/story.h"
#include "store/open_store.h"
#include "unit/transcript_lines.h"

namespace cairn::test {
namespace {

constexpr int kStories = 12;  // two sessions, two summaries and twelve events each

// The bytes that a daemon left behind.
struct Left {
  std::string db;
  std::string wal;
};

class Damage : public testing::Test {
 protected:
  // After a clean end, or after the death of the daemon with everything of the last stories in the WAL.
  static const Left& left(bool clean) {
    static const Left all[2] = {leave(false), leave(true)};
    return all[clean];
  }

  static Left leave(bool clean) {
    Machine m;
    must(m.open());
    for (int i = 0; i < kStories; ++i) {
      deliver_story(m, "s" + std::to_string(i));
      must(m.drain());
      if (i == kStories / 2) must(m.db().checkpoint(false));
    }
    // Damage within the last transaction cannot be distinguished from a write that was cut short; nothing
    // depends on it.
    must(m.db().run("INSERT INTO meta(key, value) VALUES('last', '1')"));
    const std::string file = m.home.database();
    const std::string state = m.read(file + ".state");
    schema() = state.substr(state.find(' '), 33);
    if (!clean) return {m.read(file), m.read(file + "-wal")};
    m.close();
    return {m.read(file), ""};
  }

  static std::string& schema() {
    static std::string hash;
    return hash;
  }

  static void put(Machine& m, const Left& bytes, const std::string& state) {
    must(os::make_dirs(m.disk, m.home.data));
    m.put_file(m.home.database(), bytes.db);
    if (!bytes.wal.empty()) m.put_file(m.home.database() + "-wal", bytes.wal);
    m.put_file(m.home.database() + ".state", state + schema() + "\n");
    for (const char* part : {"", "-wal", ".state"})
      if (m.disk.stat(m.home.database() + part).ok())
        must(must(m.disk.open(m.home.database() + part, os::Open::read_write))->sync());
    for (const char* dir : {"", "/home/dev"}) must(m.disk.sync_dir(*dir ? dir : m.home.data));
  }

  static bool is_reported(Machine& m) {
    return must(m.run("status"))["problems"].dump().find("the store") != std::string::npos;
  }
  static Lines asides(Machine& m) {
    Lines found;
    for (const std::string& name : must(m.disk.list(m.home.data)))
      if (name.starts_with("cairn.db.damaged-") && !name.ends_with("-wal")) found.push_back(name);
    return found;
  }

  // It opens, is undamaged, stores a new session and gives it to the next; what is missing was reported.
  // Returns how many of the summaries are left.
  static std::int64_t expect_well(Machine& m) {
    const Status opened = m.open();
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    if (!opened.ok()) return 0;
    EXPECT_EQ(m.rows("PRAGMA integrity_check"), (Lines{"ok"}));
    EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Lines{});
    const std::int64_t summaries = m.number("SELECT count(*) FROM session_summaries");
    const bool whole = summaries == 2 * kStories &&
                       m.number("SELECT count(*) FROM sdk_sessions") == 2 * kStories &&
                       m.number("SELECT count(*) FROM user_prompts") == 2 * kStories &&
                       m.number("SELECT count(*) FROM events") == 12 * kStories &&
                       m.number("SELECT count(*) FROM evidence") == 12 * kStories;
    EXPECT_TRUE(whole || is_reported(m));
    EXPECT_TRUE(is_reported(m) || asides(m).empty());
    deliver_story(m, "new");
    must(m.drain());
    Chat next;
    next.session = "next";
    const context::Answer answer = m.ask(next.start());
    EXPECT_NE(Machine::context_of(answer).find("first requestnew"), std::string::npos);
    if (!asides(m).empty()) {
      EXPECT_NE(answer.line.find("damage of the store was found"), std::string::npos) << answer.line;
    }
    return summaries;
  }
};

// A session waits for the start: a large store is checked after it, however it was closed.
TEST_F(Damage, InALargeStoreIsFoundRightAfterTheStart) {
  Machine m;
  must(m.open());
  must(m.db().exec("CREATE TABLE filler(id INTEGER PRIMARY KEY, text TEXT)"));
  must(
      m.db().exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT "
                  "INTO filler SELECT i, printf('%03000d', i) FROM n"));
  const std::int64_t root = m.number("SELECT rootpage FROM sqlite_schema WHERE name = 'filler'");
  m.close();
  m.disk.remove(m.home.database() + ".state").ok();
  must(m.open());  // learns the schema with the table
  m.close();
  std::string bytes = m.read(m.home.database());
  ASSERT_GT(bytes.size(), 1000u * 4096);
  bytes.replace(static_cast<std::size_t>(root - 1) * 4096, 200, std::string(200, 'x'));
  const std::string state = m.read(m.home.database() + ".state");
  ASSERT_TRUE(state.starts_with("closed"));
  for (const std::string& now : {state, "open" + state.substr(6)}) {
    m.put_file(m.home.database(), bytes);
    m.put_file(m.home.database() + ".state", now);
    must(m.open());
    EXPECT_EQ(asides(m), Lines{});
    const Status checked = store::check_pages(m.clock, m.db(), std::chrono::minutes(1), nullptr);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, Code::corrupt);
    m.close();
  }
}

TEST_F(Damage, OfSomeBytesAnywhereIsFoundOrHarmlessAndCostsLittle) {
  std::int64_t kept = 0, all = 0, found = 0, found_in_log = 0;
  for (std::uint64_t seed = 1; seed <= tries(640, 4000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Left bytes = left(seed % 2 == 0);
    std::string& file = bytes.wal.empty() || seed % 3 == 0 ? bytes.db : bytes.wal;
    const std::size_t at = random() % file.size(), size = seed % 5 == 0 ? 1 + random() % 600 : 1;
    for (std::size_t i = at; i < std::min(at + size, file.size()); ++i)
      file[i] = static_cast<char>(file[i] ^ (1 + random() % 255));
    Machine m;
    put(m, bytes, seed % 2 == 0 ? "closed" : "open");
    kept += expect_well(m);
    all += 2 * kStories;
    found += static_cast<std::int64_t>(asides(m).size());
    found_in_log += &file == &bytes.wal && is_reported(m);
    if (HasFailure()) return;
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(found_in_log, 0);
  EXPECT_GE(kept * 100, all * 90) << kept << " of " << all << " summaries";
}

// No other page can be read without the first one.
TEST_F(Damage, OfTheFirstPageCostsNothing) {
  std::vector<std::size_t> places = {0, 15, 16, 18, 19, 21, 28, 47, 59, 100, 104, 109};
  if (std::getenv("CAIRN_FULL"))
    for (std::size_t at = 0; at < 4096; at += at < 112 ? 1 : 97) places.push_back(at);
  for (const bool kept : {true, false})
    for (const std::size_t at : places) {
      SCOPED_TRACE("byte " + std::to_string(at) + (kept ? ", a copy was kept" : ""));
      Left bytes = left(true);
      Machine m;
      put(m, bytes, "closed");
      if (kept) {
        must(m.open());
        m.close();
        bytes.db = m.read(m.home.database());
      } else if (at >= 100) {
        continue;
      }
      bytes.db[at] = static_cast<char>(bytes.db[at] ^ 1);
      m.put_file(m.home.database(), bytes.db);
      EXPECT_EQ(expect_well(m), 2 * kStories);
      if (HasFailure()) return;
    }
}

TEST_F(Damage, ByTruncationAnywhereIsFoundAndWhatIsLeftIsSaved) {
  const std::size_t size = left(true).db.size();
  for (std::size_t at = 0; at < size; at += size / tries(40, 400) + 1) {
    SCOPED_TRACE("cut to " + std::to_string(at) + " of " + std::to_string(size));
    Left bytes = left(true);
    bytes.db.resize(at);
    Machine m;
    put(m, bytes, "closed");
    expect_well(m);
    EXPECT_EQ(asides(m).size(), 1u);
    if (HasFailure()) return;
  }
}

// Only a page of SQLite's own catalogue, or the root of a large table, costs more than its rows.
TEST_F(Damage, APageOfAnyKindCostsNoMoreThanItsRows) {
  const std::size_t pages = left(true).db.size() / 4096;
  std::int64_t kept = 0, all = 0, costly = 0, tried = 0;
  for (std::size_t page = 1; page < pages; page += kStride) {
    SCOPED_TRACE("page " + std::to_string(page + 1) + " of " + std::to_string(pages));
    Left bytes = left(true);
    bytes.db.replace(page * 4096, 4096, std::string(4096, '\x55'));
    Machine m;
    put(m, bytes, "closed");
    const std::int64_t summaries = expect_well(m);
    kept += summaries;
    all += 2 * kStories;
    costly += summaries < 2 * kStories;
    ++tried;
    if (HasFailure()) return;
  }
  EXPECT_GE(kept * 100, all * 90) << kept << " of " << all;
  EXPECT_LE(costly * 100, tried * 15) << costly << " of " << tried;
}

TEST_F(Damage, AForeignFileIsRenamedUnchanged) {
  Machine maker;
  {
    must(os::make_dirs(maker.disk, maker.home.data));
    auto db =
        must(store::Db::open({.path = maker.home.database(), .vfs = maker.vfs.name(), .exclusive = true}));
    must(db.exec("CREATE TABLE recipes(name); INSERT INTO recipes VALUES('soup')"));
  }
  std::string without_wal = maker.read(maker.home.database());
  without_wal[18] = without_wal[19] = 1;
  for (const std::string& bytes : {std::string("a shopping list\n"), std::string(200'000, '\0'),
                                   maker.read(maker.home.database()), without_wal}) {
    Machine m;
    put(m, {bytes, ""}, "closed");
    must(m.open());
    ASSERT_EQ(asides(m).size(), 1u);
    EXPECT_EQ(m.read(m.home.data + "/" + asides(m)[0]), bytes);
    EXPECT_TRUE(is_reported(m));
    deliver_story(m);
    must(m.drain());
    EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 2);
  }
}

// A cairn that had no room for a write-ahead log at its first start worked without one.
TEST_F(Damage, AStoreThatFailedInItsFirstCommitIsCreatedAgain) {
  Machine m;
  must(m.open());
  deliver_story(m);
  must(m.drain());
  must(m.db().exec("PRAGMA journal_mode=DELETE"));
  m.disk.on_call([&](std::string_view op, std::string_view path) {
    if (op == "sync" && path == m.home.database()) m.disk.halt();
  });
  EXPECT_FALSE(m.db().run("DELETE FROM session_summaries").ok());
  m.disk.on_call(nullptr);
  m.close();
  m.disk.crash();
  ASSERT_TRUE(m.disk.stat(m.home.database() + "-journal").ok());
  must(m.open());
  EXPECT_EQ(asides(m), Lines{});
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 2);
  EXPECT_EQ(m.text("PRAGMA journal_mode"), "wal");
}

TEST_F(Damage, AMissingOrEmptyFileIsReportedAndReplaced) {
  for (const char* state : {"closed", "open"})
    for (const bool gone : {false, true}) {
      Machine m;
      put(m, {"", ""}, state);
      if (gone) must(m.disk.remove(m.home.database()));
      must(m.open());
      EXPECT_TRUE(is_reported(m));
      m.close();
      must(m.open());
      EXPECT_EQ(m.number("SELECT value FROM meta WHERE key = 'damages'"), 1);
    }
}

TEST_F(Damage, AMissingLogIsReportedAndItsEventsAreRecoveredFromTheTranscript) {
  Machine m;
  must(m.open());
  Chat chat;
  m.tell(chat.start());
  must(m.db().checkpoint(true));
  TranscriptWriter transcript{m, chat, "", ""};
  m.tell(chat.prompt("make a parser"));
  transcript.prompt("make a parser");
  m.tell(chat.wrote("a.txt", "t1"));
  transcript.wrote("a.txt", "t1");
  m.tell(chat.stop("There it is."));
  transcript.answer("There it is.");
  transcript.save();
  m.disk.halt();
  m.close();
  m.disk.crash();
  must(m.disk.remove(m.home.database() + "-wal"));
  must(m.open());
  EXPECT_TRUE(is_reported(m));
  EXPECT_EQ(asides(m), Lines{});
  m.clock.advance(std::chrono::seconds(61));
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT name, source FROM events WHERE kind <> 'session_start' ORDER BY seq"),
            (Lines{"UserPromptSubmit|transcript", "PostToolUse|transcript", "Stop|transcript"}));
  EXPECT_EQ(m.rows("SELECT request, files_edited FROM session_summaries"),
            (Lines{R"(make a parser|["a.txt"])"}));
}

TEST_F(Damage, AMissingFileIsReportedAndAnActiveSessionIsRecoveredFromItsTranscript) {
  Machine m;
  must(m.open());
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};
  m.tell(chat.start());
  m.tell(chat.prompt("make a parser"));
  transcript.prompt("make a parser");
  m.tell(chat.wrote("a.txt", "t1"));
  transcript.wrote("a.txt", "t1");
  m.close();
  must(m.disk.remove(m.home.database()));
  must(m.open());
  EXPECT_TRUE(is_reported(m));
  m.tell(chat.wrote("b.txt", "t2"));
  transcript.wrote("b.txt", "t2");
  transcript.save();
  m.clock.advance(std::chrono::seconds(61));
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts"), (Lines{"make a parser"}));
  EXPECT_EQ(m.rows("SELECT tool_use_id FROM events WHERE outcome = 'stored' AND kind = 'tool' ORDER BY 1"),
            (Lines{"t1", "t2"}));
}

TEST_F(Damage, OfEvidenceIsRepairedFromTheTranscript) {
  Machine m;
  must(m.open());
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};
  m.tell(chat.start());
  m.tell(chat.prompt("make a parser"));
  transcript.prompt("make a parser");
  for (int i = 0; i < 200; ++i) {
    const std::string id = "t" + std::to_string(i);
    m.tell(chat.wrote(id + ".txt", id));
    transcript.wrote(id + ".txt", id);
  }
  transcript.save();
  const std::int64_t page =
      m.number("SELECT max(pageno) FROM dbstat WHERE name = 'events' AND pagetype = 'leaf'");
  m.close();
  std::string bytes = m.read(m.home.database());
  bytes.replace(static_cast<std::size_t>(page - 1) * 4096, 4096, std::string(4096, '\x55'));
  m.put_file(m.home.database(), bytes);
  must(m.open());
  EXPECT_TRUE(is_reported(m));
  EXPECT_LT(m.number("SELECT count(*) FROM events WHERE kind = 'tool'"), 200);
  m.clock.advance(std::chrono::seconds(61));
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(DISTINCT tool_use_id) FROM events WHERE kind = 'tool' AND outcome = "
                     "'stored'"),
            200);
  EXPECT_EQ(must(m.run("status"))["ledger"]["gap"].as_int(), 0);
}

TEST_F(Damage, APowerCutDuringTheRebuildLeavesTheOldStoreOrTheNew) {
  Left bytes = left(true);
  bytes.db.replace(40 * 4096, 4096, std::string(4096, '\x55'));
  std::uint64_t calls = 0;
  {
    Machine m;
    put(m, bytes, "closed");
    const std::uint64_t before = m.disk.calls();
    must(m.open());
    calls = m.disk.calls() - before;
  }
  const std::uint64_t step = std::getenv("CAIRN_FULL") ? 1 : calls / (60 / kStride) + 1;
  for (std::uint64_t k = 1; k <= calls; k += step) {
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
    Machine m;
    put(m, bytes, "closed");
    m.disk.halt_at(k);
    ignore(m.open());
    m.close();
    k % 2 == 0 ? m.disk.crash() : m.disk.power_cut(k);
    expect_well(m);
    EXPECT_EQ(m.number("SELECT value FROM meta WHERE key = 'damages'"), 1);
    ASSERT_EQ(asides(m).size(), 1u);
    EXPECT_EQ(m.read(m.home.data + "/" + asides(m)[0]), bytes.db);
    if (HasFailure()) return;
  }
}

TEST_F(Damage, AFullDiskDuringTheRebuildIsReturnedAndTheNextStartGoesOn) {
  Machine m;
  Left bytes = left(true);
  bytes.db.replace(40 * 4096, 4096, std::string(4096, '\x55'));
  put(m, bytes, "closed");
  m.disk.set_capacity(m.disk.used() + 50'000);
  const Status opened = m.open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::full) << opened.error().message;
  m.disk.set_capacity(1u << 30);
  expect_well(m);
}

TEST_F(Damage, OfAStoredTextIsRecordedAndBlocksNothing) {
  Machine m;
  must(m.open());
  deliver_story(m, "one");
  must(m.drain());
  must(m.db().run("UPDATE payloads SET body = CAST(substr(body, 1, length(body) - 1) || 'x' AS BLOB)"));
  EXPECT_EQ(m.db().damage(), "");
  deliver_story(m, "two");
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 4);
  for (const std::string& seq : m.rows("SELECT event_seq FROM evidence"))
    EXPECT_TRUE(must(store::kept_event(m.db(), std::stoll(seq))));
  EXPECT_TRUE(m.db().damage().starts_with("a kept text: ")) << m.db().damage();
}

TEST_F(Damage, OfANewerStoreIsLeftForTheNewerCairn) {
  Machine m;
  must(m.open());
  must(m.db().run("INSERT INTO schema_migrations VALUES(999, 'later', 'x', '')"));
  m.close();
  const std::string before = m.read(m.home.database());
  const Status opened = m.open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::unsupported) << opened.error().message;
  EXPECT_EQ(m.read(m.home.database()), before);
  EXPECT_EQ(asides(m), Lines{});
}

}  // namespace
}  // namespace cairn::test
