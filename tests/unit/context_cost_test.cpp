// A session's start costs the same however much is remembered: index look-ups, no scans.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <set>

#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

// A project with `count` observations, a tenth as many sessions and summaries, and as many events and
// finished messages.
void fill(Machine& m, int count) {
  Chat chat;
  m.tell(chat.prompt("seed"));
  m.tell(chat.ran("make", "seed"));
  m.tell(chat.stop());
  const std::string n = std::to_string(count);
  const std::string numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ";
  must(m.db().exec("BEGIN"));
  must(m.db().exec(
      numbers + n +
      ") INSERT INTO observations(uuid, memory_session_id, project, type, title, content_hash, "
      "created_at, created_at_epoch) SELECT 'o' || i, (SELECT memory_session_id FROM sdk_sessions), "
      "'proj', 'change', 'observation ' || i, i, '', 1790000000000 - i FROM n"));
  must(m.db().exec(
      numbers + n +
      "/10) INSERT INTO session_summaries(uuid, memory_session_id, project, request, prompt_number, "
      "created_at, created_at_epoch, updated_at_epoch) SELECT 's' || i, (SELECT memory_session_id "
      "FROM sdk_sessions), 'proj', 'request ' || i, 10 + i, '', 1790000000000 - i, 1790000000000 - i "
      "FROM n"));
  must(m.db().exec(numbers + n +
                   ") INSERT INTO events(event_id, session_db_id, name, kind, outcome, created_at_epoch, "
                   "taken_in_at_epoch) SELECT 'e' || i, NULL, 'PostToolUse', 'tool', 'stored', 0, 0 FROM n"));
  must(m.db().exec(
      "INSERT INTO pending_messages(event_seq, session_db_id, content_session_id, message_type, status, "
      "created_at_epoch, completed_at_epoch) SELECT seq, 1, 'x', 'observation', 'processed', 0, seq "
      "FROM events WHERE event_id GLOB 'e[0-9]*' AND session_db_id IS NULL"));
  must(m.db().exec(
      numbers + n +
      "/10) INSERT INTO sdk_sessions(uuid, platform, content_session_id, memory_session_id, "
      "memory_provider, project, started_at, started_at_epoch, last_event_at_epoch, completed_at, "
      "completed_at_epoch, status, prompt_count, transcript_due) SELECT 'u' || i, 'claude-code', 'c' || i, "
      "'m' || i, "
      "'builtin', 'proj', '', 1790000000000 - i, 1790000000000 - i, '', 1790000000000 - i, "
      "'completed', 1, 0 FROM n"));
  must(
      m.db().exec("INSERT INTO turns(session_db_id, prompt_number, started_at_epoch, last_event_at_epoch, "
                  "ended_at_epoch, "
                  "end_reason) SELECT id, 1, started_at_epoch, started_at_epoch, started_at_epoch, 'stop' "
                  "FROM sdk_sessions "
                  "WHERE uuid GLOB 'u[0-9]*'"));
  must(m.db().exec(
      "INSERT INTO session_summaries(uuid, memory_session_id, project, request, prompt_number, created_at, "
      "created_at_epoch, updated_at_epoch) SELECT 'of ' || uuid, memory_session_id, 'proj', 'request of ' || "
      "uuid, "
      "1, '', started_at_epoch, started_at_epoch FROM sdk_sessions WHERE uuid GLOB 'u[0-9]*'"));
  must(
      m.db().exec("INSERT INTO texts(session_db_id, project, prompt_number, kind, source, text, hash, "
                  "created_at_epoch) SELECT "
                  "id, 'proj', 1, 'answer', 'hook', 'Answer of session ' || substr(uuid, 2) || ' is that the "
                  "parser was fixed.', "
                  "uuid, started_at_epoch FROM sdk_sessions WHERE uuid GLOB 'u[0-9]*'"));
  must(m.db().exec("COMMIT"));
}

std::int64_t steps_of_a_start(int observations) {
  Machine m;
  must(m.open());
  fill(m, observations);
  Chat next;
  next.session = "next";
  const EventId id = m.deliver(next.start());
  std::int64_t steps = 0;
  sqlite3_progress_handler(
      m.db().raw(), 1,
      [](void* count) {
        ++*static_cast<std::int64_t*>(count);
        return 0;
      },
      &steps);
  const context::Answer answer = must(m.engine->answer(id, m.clock.boot_ns() + 3'000'000'000));
  must(m.drain());  // and the queue finds that there is nothing to do
  sqlite3_progress_handler(m.db().raw(), 0, nullptr, nullptr);
  EXPECT_NE(Machine::context_of(answer).find("Answer of session 1 "), std::string::npos);
  return steps;
}

TEST(SessionStartCost, DoesNotGrowWithTheStore) {
  const std::int64_t small = steps_of_a_start(1'000);
  const std::int64_t large = steps_of_a_start(100'000);
  EXPECT_GT(small, 100);
  EXPECT_LT(large, 3 * small) << small << " steps with 1,000 observations";
}

int note_statement(unsigned, void* seen, void*, void* sql) {
  const std::string text = static_cast<const char*>(sql);
  if (!text.starts_with("--")) static_cast<std::set<std::string>*>(seen)->insert(text);
  return 0;
}

// Partial indexes over the few rows that are odd or open may be walked from end to end.
bool is_small(const std::string& step) {
  for (const char* index : {"events_odd", "turns_open", "sessions_active", "notes_for_all"})
    if (step.find(index) != std::string::npos) return true;
  return false;
}

TEST(SessionStartCost, NoQueryScansALargeTable) {
  Machine m;
  must(m.open());
  fill(m, 100);
  std::set<std::string> statements;
  sqlite3_trace_v2(m.db().raw(), SQLITE_TRACE_STMT, note_statement, &statements);
  Chat next;
  next.session = "next";
  m.ask(next.start(), false);
  m.ask(next.prompt("hello"));
  m.tell(next.ran("make", "t1"));
  m.tell(next.stop());
  m.clock.advance(std::chrono::minutes(1));
  m.ask(next.start("resume"));
  sqlite3_trace_v2(m.db().raw(), 0, nullptr, nullptr);
  EXPECT_GT(statements.size(), 20u);

  // A full scan shows the table's name or its alias.
  const std::set<std::string> large = {"observations",
                                       "session_summaries",
                                       "events",
                                       "pending_messages",
                                       "injections",
                                       "evidence",
                                       "payloads",
                                       "user_prompts",
                                       "texts",
                                       "sdk_sessions",
                                       "o",
                                       "u",
                                       "e",
                                       "m"};
  for (const std::string& sql : statements) {
    if (!sql.starts_with("SELECT") && !sql.starts_with("UPDATE") && !sql.starts_with("DELETE")) continue;
    for (const std::string& step : m.rows("EXPLAIN QUERY PLAN " + sql)) {
      const std::size_t at = step.find("SCAN ");
      if (at == std::string::npos || is_small(step)) continue;
      const std::string table = step.substr(at + 5, step.find_first_of(" |", at + 5) - at - 5);
      EXPECT_FALSE(large.contains(table)) << step << "\n  in " << sql;
    }
  }
}

}  // namespace
}  // namespace cairn::test
