#include "store/lost.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "store/meta.h"

namespace cairn::store {

// All of them are one value in `meta`, which is rewritten for each change.
static constexpr std::size_t kMostSessions = 1000;

Result<std::optional<Lost>> find_lost(Db& db) {
  const auto text = TRY(meta_text(db, kLostSessions));
  if (!text) return std::optional<Lost>();
  const Json json = Json::parse_partial(*text).value;
  Lost lost{from_epoch_ms(json["since"].as_int()), {}};
  for (const Json::Member& session : json["sessions"].members())
    lost.events[session.first] = session.second.as_int();
  if (lost.events.empty()) return std::optional<Lost>();
  return std::optional(std::move(lost));
}

static Status put_lost(Db& db, const Lost& lost) {
  if (lost.events.empty()) return delete_meta(db, kLostSessions);
  Json sessions = Json::object();
  for (const auto& [session, count] : lost.events) sessions.set(session, count);
  const Json all = Json::object({{"since", epoch_ms(lost.since)}, {"sessions", std::move(sessions)}});
  return put_meta(db, kLostSessions, all.dump());
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

// Every event that was recovered from a transcript counts, also one whose hook never ran: so at most as many
// as failed.
Status count_recovered(Db& db, std::int64_t more) {
  const auto failed = TRY(meta_number(db, kFailedDeliveries));
  if (!failed) return {};
  const std::int64_t before = TRY(meta_number(db, kRecoveredDeliveries)).value_or(0);
  return put_meta(db, kRecoveredDeliveries, std::min(*failed, before + more));
}

Status count_failed(Db& db, std::int64_t more) {
  return add_to_meta(db, kFailedDeliveries, more);
}

Result<std::int64_t> count_missing(Db& db) {
  const auto failed = TRY(meta_number(db, kFailedDeliveries)),
             recovered = TRY(meta_number(db, kRecoveredDeliveries));
  return failed.value_or(0) - (failed ? recovered.value_or(0) : 0);
}

Result<std::string> counted_of_note(Db& db, const std::string& name) {
  return TRY(meta_text(db, name + "_counted")).value_or("");
}

Status set_counted_of_note(Db& db, const std::string& name, const std::string& mark) {
  return put_meta(db, name + "_counted", mark);
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
