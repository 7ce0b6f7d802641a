// Lists and sums over a large store, its start, and many projects.
#include <filesystem>

#include "growth.h"
#include "store/sql.h"

namespace cairn::bench {

namespace {

// Fills the store with about that many rows of a project, as a long time of work leaves them.
void fill(Home& home, int rows) {
  home.start_us();  // the project and its name
  home.drain();
  const std::string project = must(home.db().text("SELECT name FROM projects LIMIT 1")).value_or("");
  const int sessions = std::max(1, rows / 50);
  auto transaction = must(store::Transaction::begin(home.db()));
  const auto put = [&](const std::string& sql, int count) {
    must(home.db().run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) " + sql,
                       count, project, sessions));
  };
  put("INSERT INTO sdk_sessions(uuid, platform, content_session_id, memory_session_id, memory_provider, "
      "project, "
      "started_at, started_at_epoch, last_event_at_epoch, status, completed_at, completed_at_epoch, "
      "transcript_due) "
      "SELECT 'fs' || i, 'claude-code', 'f' || i, 'cairn-f' || i, 'builtin', ?2, '2026-01-01T00:00:00Z', "
      "1767225600000 + i * 60000, 1767225600000 + i * 60000, 'completed', '2026-01-01T00:00:00Z', "
      "1767225600000, 0 "
      "FROM n WHERE i <= ?3",
      sessions);
  put("INSERT INTO user_prompts(uuid, session_db_id, content_session_id, project, prompt_number, "
      "prompt_text, "
      "created_at, created_at_epoch) SELECT 'fp' || i, s.id, s.content_session_id, ?2, 1 + i / ?3, 'make "
      "part ' || i "
      "|| ' faster', date(1767225600 + i * 60, 'unixepoch') || 'T00:00:00Z', 1767225600000 + i * 60000 FROM "
      "n JOIN "
      "sdk_sessions s ON s.content_session_id = 'f' || (1 + i % ?3)",
      rows / 10);
  put("INSERT INTO session_summaries(uuid, memory_session_id, project, request, completed, prompt_number, "
      "discovery_tokens, created_at, created_at_epoch, updated_at_epoch) SELECT 'fu' || i, 'cairn-f' || (1 + "
      "i % ?3), "
      "?2, 'make part ' || i || ' faster', 'Part ' || i || ' is faster.', 1 + i / ?3, 1000, "
      "'2026-01-01T00:00:00Z', "
      "1767225600000 + i * 60000, 1767225600000 + i * 60000 FROM n",
      rows / 10);
  put("INSERT INTO observations(uuid, memory_session_id, project, type, title, narrative, content_hash, "
      "created_at, "
      "created_at_epoch) SELECT 'fo' || i, 'cairn-f' || (1 + i % ?3), ?2, 'change', 'Changed part ' || i, "
      "'It reads "
      "its tokens once.', 'h' || i, '2026-01-01T00:00:00Z', 1767225600000 + i * 60000 FROM n",
      rows / 2);
  put("INSERT INTO events(event_id, session_db_id, name, kind, outcome, prompt_number, tool_name, "
      "created_at_epoch, "
      "taken_in_at_epoch) SELECT 'fe' || i, s.id, 'PostToolUse', 'tool', 'stored', 1, 'Tool' || (i % 30), 0, "
      "0 FROM n "
      "JOIN sdk_sessions s ON s.content_session_id = 'f' || (1 + i % ?3)",
      rows / 4);
  must(transaction.commit());
}

void lists(const std::string& root, const Scale& scale, Rows& rows) {
  const int count = scale.of(40'000, 1'000'000);
  Home small(root + "/small"), large(root + "/large");
  fill(small, 5000);  // more sessions than a page shows
  fill(large, count);
  const std::string name = fmt::format("{} rows", count);
  const Json all = Json::object({{"all", true}});
  for (const auto& [operation, args] : {std::pair<std::string_view, Json>{"sessions.list", all},
                                        {"status", Json::object()},
                                        {"projects.list", Json::object()},
                                        {"stats", all}})
    rows.push_back({fmt::format("cairn {}", operation), "ms", "5000 rows",
                    small.operation_ms(operation, args), name, large.operation_ms(operation, args), 3.0});
  rows.push_back(
      {"session start", "us", "5000 rows", small.median_start_us(21), name, large.median_start_us(21), 2.0});
  rows.push_back(
      {"start of the daemon", "ms", "5000 rows", small.reopen() / 1000, name, large.reopen() / 1000, 3.0});
}

// A rename rewrites every row of the project and its entry in the search index, at once.
void rename(const std::string& root, const Scale& scale, Rows& rows) {
  const int count = scale.of(4'000, 20'000);
  Home small(root + "/rename-small"), large(root + "/rename-large");
  fill(small, 1000);
  fill(large, count);
  const Json renamed = Json::object({{"name", "proj"}, {"new_name", "other"}});
  rows.push_back({"cairn projects rename", "ms", "1000 rows",
                  small.operation_ms("projects.rename", renamed, 1), fmt::format("{} rows", count),
                  large.operation_ms("projects.rename", renamed, 1), 0});
}

// Microseconds of a SessionStart, and of an event read, in a home with that many projects.
std::pair<double, double> with_projects(const std::string& root, int count) {
  Home home(root);
  std::vector<std::string> directories;
  for (int i = 0; i < count; ++i) {
    directories.push_back(fmt::format("{}/p{}", root, i));
    std::filesystem::create_directories(directories.back());
    const std::string session = fmt::format("old-{}", i);
    home.deliver("UserPromptSubmit", session, R"(,"prompt":"make it faster")", directories.back());
    home.deliver("Stop", session, R"(,"last_assistant_message":"It is faster.")", directories.back());
    if (i % 50 == 49) home.drain();
  }
  home.drain();
  std::vector<double> starts;
  for (int i = 0; i < 21; ++i) {
    starts.push_back(home.start_us(directories[static_cast<std::size_t>(i * 7) % directories.size()]));
    home.drain();
  }
  constexpr int kEvents = 400;
  for (int i = 0; i < std::min(count, kEvents); ++i)  // each event has an open turn
    home.deliver("UserPromptSubmit", fmt::format("old-{}", i), R"(,"prompt":"go on")",
                 directories[static_cast<std::size_t>(i)]);
  home.drain();
  for (int i = 0; i < kEvents; ++i)
    home.deliver(
        "PostToolUse", fmt::format("old-{}", i % count),
        fmt::format(
            R"(,"tool_name":"Bash","tool_use_id":"u{}","tool_input":{{"command":"make"}},"tool_response":{{"stdout":"ok"}})",
            i),
        directories[static_cast<std::size_t>(i % count)]);
  const double begin = now_us();
  home.drain();
  return {at(starts, 0.5), (now_us() - begin) / kEvents};
}

}  // namespace

void measure_store(const std::string& root, const Scale& scale, Rows& rows) {
  const int projects = scale.of(200, 1000);
  const auto one = with_projects(root + "/one", 1), many = with_projects(root + "/many", projects);
  const std::string name = fmt::format("{} projects", projects);
  rows.push_back({"session start", "us", "1 project", one.first, name, many.first, 2.0});
  rows.push_back({"intake of an event", "us", "1 project", one.second, name, many.second, 0});
  lists(root, scale, rows);
  rename(root, scale, rows);
}

}  // namespace cairn::bench
