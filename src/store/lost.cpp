#include "store/lost.h"

#include <algorithm>
#include <set>

#include "base/json.h"

namespace cairn::store {

static constexpr std::string_view kKey = "lost_sessions";
static constexpr std::size_t kMostSessions = 1000;

Result<std::optional<Lost>> find_lost(Db& db) {
  const auto text = TRY(db.text("SELECT value FROM meta WHERE key = ?", kKey));
  if (!text) return std::optional<Lost>();
  const Json json = Json::parse_partial(*text).value;
  Lost lost{from_epoch_ms(json["since"].as_int()), {}};
  for (const Json::Member& session : json["sessions"].members())
    lost.events[session.first] = session.second.as_int();
  if (lost.events.empty()) return std::optional<Lost>();
  return std::optional(std::move(lost));
}

static Status put_lost(Db& db, const Lost& lost) {
  if (lost.events.empty()) return db.run("DELETE FROM meta WHERE key = ?", kKey);
  Json sessions = Json::object();
  for (const auto& [session, count] : lost.events) sessions.set(session, count);
  const Json all = Json::object({{"since", epoch_ms(lost.since)}, {"sessions", std::move(sessions)}});
  return db.run("INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                kKey, all.dump());
}

Status add_lost(Db& db, const Lost& more) {
  Lost lost = TRY(find_lost(db)).value_or(Lost{more.since, {}});
  lost.since = std::min(lost.since, more.since);
  for (const auto& [session, count] : more.events)
    if (lost.events.size() < kMostSessions || lost.events.contains(session)) lost.events[session] += count;
  return put_lost(db, lost);
}

Status set_found(Db& db, const std::string& session) {
  auto lost = TRY(find_lost(db));
  if (!lost || !lost->events.contains(session)) return {};
  const std::int64_t count = lost->events[session];
  lost->events.erase(session);
  TRY(put_lost(db, *lost));
  return count_recovered(db, count);
}

Status count_recovered(Db& db, std::int64_t more) {
  return db.run(
      "INSERT INTO meta(key, value) SELECT 'failed_deliveries_made_good', min(CAST(value AS INTEGER), ?1) "
      "FROM meta WHERE key = 'failed_deliveries' ON CONFLICT DO UPDATE SET value = min((SELECT CAST(f.value "
      "AS INTEGER) FROM meta f WHERE f.key = 'failed_deliveries'), CAST(value AS INTEGER) + ?1)",
      more);
}

Status count_failed(Db& db, std::int64_t more) {
  return db.run(
      "INSERT INTO meta(key, value) VALUES('failed_deliveries', ?1) ON CONFLICT DO UPDATE SET value = value "
      "+ ?1",
      more);
}

Result<std::string> counted_of_note(Db& db, const std::string& name) {
  return TRY(db.text("SELECT value FROM meta WHERE key = ?", name + "_counted")).value_or("");
}

Status set_counted_of_note(Db& db, const std::string& name, const std::string& mark) {
  return db.run("INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                name + "_counted", mark);
}

Status give_up_lost(Db& db, WallTime time) {
  const auto lost = TRY(find_lost(db));
  return lost && lost->since < time ? put_lost(db, {}) : Status();
}

Result<std::vector<TranscriptFolder>> transcript_folders(Db& db) {
  Stmt row =
      TRY(db.query("SELECT DISTINCT t.path, s.platform FROM transcripts t JOIN sdk_sessions s ON s.id = "
                   "t.session_db_id WHERE t.path NOT LIKE '%/subagents/%'"));
  std::set<std::pair<std::string, std::string>> known;
  while (TRY(row.step())) {
    const std::string path = row.text(0);
    known.emplace(path.substr(0, path.find_last_of('/')), row.text(1));
  }
  std::vector<TranscriptFolder> folders;
  for (const auto& [path, platform] : known) folders.push_back({path, platform});
  return folders;
}

Status set_transcript_due(Db& db, SessionId session) {
  return db.run("UPDATE sdk_sessions SET transcript_due = 1 WHERE id = ?", session.value);
}

}  // namespace cairn::store
