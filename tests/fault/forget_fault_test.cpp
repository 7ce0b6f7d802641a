// Forgetting and importing an export die, lose power or meet a full disk at any call: the old state or the
// new one, and what was begun goes on at the next start.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/text.h"
#include "fault/story.h"
#include "store/walk.h"

namespace cairn::test {
namespace {

constexpr const char* kCanary = "zanzibar-canary-7731";
constexpr const char* kExportFile = "/home/dev/export.json";

bool has_word(std::string_view text, std::string_view word) {
  return ascii_lower(text).find(word) != std::string_view::npos;
}

// Every row and every byte of the home.
std::vector<std::string> places_with(Machine& m, std::string_view word) {
  std::vector<std::string> found;
  must(store::walk_texts(m.db(), [&](const store::StoredText& stored) {
    if (has_word(stored.text, word)) found.push_back(stored.table + "." + stored.column);
  }));
  for (const std::string& name : must(m.disk.list(m.home.data))) {
    const std::string path = m.home.data + "/" + name;
    if (!must(m.disk.stat(path)).is_dir && has_word(m.read(path), word)) found.push_back(name);
  }
  return found;
}

struct Forgetting {
  Machine m;
  Chat chat;
  bool acknowledged = false;

  Forgetting() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt(std::string("rotate the token ") + kCanary));
    m.tell(chat.ran(std::string("echo ") + kCanary, "t1"));
    m.tell(chat.stop(std::string("Rotated ") + kCanary + ". The numbat parser is done."));
    must(remember(std::string("the token is ") + kCanary));
    must(remember("the wombat stays"));
  }
  Result<Json> remember(const std::string& text) {
    return m.run("remember", Json::object({{"cwd", chat.cwd}, {"text", text}}));
  }
  void forget() {
    acknowledged = m.run("forget", Json::object({{"all", true}, {"query", kCanary}})).ok();
    if (acknowledged) ignore(m.drain());
  }
  // After the next start: forgotten or whole; and in the end forgotten.
  void expect_done() {
    const Status opened = m.open();
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Lines{});
    if (acknowledged) {
      const Json found = must(m.run("search", Json::object({{"all", true}, {"query", kCanary}})));
      for (const Json& hit : found["results"].items())
        EXPECT_NE(hit["id"].as_string(), "O1") << "it was hidden before anything else";
      const auto denied = remember(std::string("the token is ") + kCanary);
      EXPECT_FALSE(denied.ok()) << "its tombstone holds";
    }
    m.clock.advance(std::chrono::seconds(2));
    must(m.drain());
    if (m.number("SELECT count(*) FROM forgets") == 0) {
      EXPECT_FALSE(acknowledged);
      EXPECT_FALSE(places_with(m, kCanary).empty()) << "nothing was begun, nothing is gone";
      forget();
    }
    EXPECT_EQ(m.number("SELECT count(*) FROM forgets WHERE ended_at_epoch IS NULL"), 0);
    EXPECT_EQ(places_with(m, kCanary), Lines{});
    EXPECT_FALSE(places_with(m, "wombat").empty());
    EXPECT_FALSE(must(m.run("audit.verify"))["broken"].is_int());
  }
};

struct ImportingExport {
  Machine m;
  Chat chat;

  ImportingExport() {
    must(m.open());
    static const std::string text = [] {
      Forgetting there;
      there.forget();
      return std::string(must(there.m.run("export", Json::object({{"all", true}})))["text"].as_string());
    }();
    m.disk.provide_file(kExportFile, text);
  }
  std::string rows() {
    std::string all;
    for (const char* sql :
         {"SELECT uuid, title FROM observations ORDER BY 1", "SELECT uuid FROM user_prompts",
          "SELECT uuid FROM session_summaries", "SELECT name FROM projects",
          "SELECT count(*) FROM tombstones", "SELECT count(*) FROM forgets"})
      for (const std::string& row : m.rows(sql)) all += row + "\n";
    return all;
  }
  Result<Json> import() { return m.run("import.cairn", Json::object({{"file", kExportFile}})); }
  void expect_old_or_new(const std::string& before, const std::string& after) {
    const Status opened = m.open();
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const std::string now = rows();
    EXPECT_TRUE(now == before || now == after) << now;
    EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Lines{});
    must(m.drain());
    must(import());
    must(m.drain());
    EXPECT_EQ(rows(), after);
  }
};

// A place is a fraction of a second without an optimiser: a prime step meets every kind of call.
std::uint64_t step_of(std::uint64_t prime) {
  return std::getenv("CAIRN_FULL") ? 1 : prime;
}

TEST(ForgetCrash, AtAnyCallItGoesOnAtTheNextStart) {
  std::uint64_t calls = 0;
  {
    Forgetting one;
    const std::uint64_t before = one.m.disk.calls();
    one.forget();
    calls = one.m.disk.calls() - before;
  }
  ASSERT_GT(calls, 50u);
  for (std::uint64_t k = 1; k <= calls + 1; k += step_of(calls / 12 | 1))
    for (const bool power : {false, true}) {
      SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls) +
                   (power ? ", power cut" : ""));
      Forgetting one;
      one.m.disk.halt_at(k);
      one.forget();
      one.m.close();
      if (power)
        one.m.disk.power_cut(k * 31 + 7);
      else
        one.m.disk.crash();
      one.expect_done();
      if (testing::Test::HasFailure()) return;
    }
}

TEST(ForgetFault, AFullDiskAndAnErrorAtAnyCallLeaveItToBeDone) {
  for (const int error : {ENOSPC, EIO})
    for (std::uint64_t k = 1; k < 400; k += step_of(41)) {
      SCOPED_TRACE("error " + std::to_string(error) + " at call " + std::to_string(k));
      Forgetting one;
      one.m.disk.fail_at(k, error);
      one.forget();
      one.m.close();
      one.m.disk.crash();
      one.expect_done();
      if (testing::Test::HasFailure()) return;
    }
}

TEST(ImportCairnCrash, AtAnyCallLeavesTheOldStateOrTheNew) {
  std::uint64_t calls = 0;
  std::string before, after;
  {
    ImportingExport one;
    before = one.rows();
    const std::uint64_t first = one.m.disk.calls();
    must(one.import());
    calls = one.m.disk.calls() - first;
    after = one.rows();
  }
  ASSERT_NE(before, after);
  ASSERT_GT(calls, 10u);
  for (std::uint64_t k = 1; k <= calls + 1; k += step_of(calls / 15 | 1))
    for (const bool power : {false, true}) {
      SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls) +
                   (power ? ", power cut" : ""));
      ImportingExport one;
      one.m.disk.halt_at(k);
      ignore(one.import());
      one.m.close();
      if (power)
        one.m.disk.power_cut(k * 31 + 7);
      else
        one.m.disk.crash();
      one.expect_old_or_new(before, after);
      if (testing::Test::HasFailure()) return;
    }
}

TEST(ImportCairnFault, AFullDiskOrAnErrorStoresNothingOrAll) {
  ImportingExport whole;
  const std::string before = whole.rows();
  must(whole.import());
  const std::string after = whole.rows();
  for (const int error : {ENOSPC, EIO})
    for (std::uint64_t k = 1; k < 120; k += step_of(23)) {
      SCOPED_TRACE("error " + std::to_string(error) + " at call " + std::to_string(k));
      ImportingExport one;
      one.m.disk.fail_at(k, error);
      ignore(one.import());
      one.m.close();
      one.m.disk.crash();
      one.expect_old_or_new(before, after);
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace cairn::test
