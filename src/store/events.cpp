#include "store/events.h"

#include "base/hash.h"
#include "store/rows.h"
#include "store/sessions.h"

namespace cairn::store {

Result<bool> is_recorded(Db& db, const EventId& id) {
  return TRY(db.integer("SELECT 1 FROM events WHERE event_id = ?", id.value)).has_value();
}

Result<bool> reopen_bad(Db& db, const EventId& id) {
  TRY(db.run("DELETE FROM events WHERE event_id = ? AND outcome = 'bad'", id.value));
  return db.changes() > 0;
}

EventId transcript_event_id(const std::string& platform, const ContentId& session, std::string_view key,
                            event::Kind kind) {
  std::string all = key_of(platform, session) + '\n';
  all.append(key).append("\n").append(event::kind_name(kind));
  return EventId{content_hash(all)};
}

// Three ways to know an event again, the surest first:
// 1. By the id of its tool use, if the host gave one. A call has one end, so a failure after a success is a
//    duplicate as well. An end with a made-up id (pairs_by_input) has not yet got the id of its start.
// 2. A prompt by its id, when the transcript was read before the hook's file.
// 3. By its content, when the same comes twice within a few seconds.
Result<bool> is_duplicate(Db& db, const event::CleanEvent& event, const Placement& placement) {
  const bool is_end = event->kind == event::Kind::tool || event->kind == event::Kind::tool_failure;
  if (event->tool_use_id && !(event->pairs_by_input && is_end)) {
    return TRY(db.integer("SELECT 1 FROM events WHERE session_db_id = ? AND tool_use_id = ? AND outcome = "
                          "'stored' AND (kind = ? OR (? AND kind IN ('tool', 'tool_failure')))",
                          placement.session.value, *event->tool_use_id, event::kind_name(event->kind),
                          is_end))
        .has_value();
  }
  if (event->kind == event::Kind::prompt && event->prompt_id &&
      TRY(is_recorded(db, transcript_event_id(event->host, event->session, *event->prompt_id, event->kind))))
    return true;
  constexpr std::int64_t kWindowMs = 5000;
  return TRY(db.integer("SELECT 1 FROM events WHERE session_db_id = ? AND payload_hash = ? AND name = ? AND "
                        "prompt_id IS ? AND outcome = 'stored' AND abs(created_at_epoch - ?) <= ?",
                        placement.session.value, placement.payload_hash, event->name, event->prompt_id,
                        epoch_ms(event->at), kWindowMs))
      .has_value();
}

// The start of a call whose end is not stored. Of several equal calls the oldest is taken first.
Result<std::optional<std::string>> open_call(Db& db, SessionId session, const std::string& start_hash) {
  Stmt row = TRY(db.query(
      "SELECT s.tool_use_id FROM events s WHERE s.session_db_id = ?1 AND s.payload_hash = ?2 AND s.kind = "
      "'tool_start' AND s.outcome = 'stored' AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session_db_id = "
      "?1 "
      "AND e.tool_use_id = s.tool_use_id AND e.kind IN ('tool', 'tool_failure')) ORDER BY s.seq LIMIT 1",
      session.value, start_hash));
  if (!TRY(row.step())) return std::optional<std::string>();
  return row.optional_text(0);
}

Result<std::int64_t> record_stored(Db& db, const event::CleanEvent& event, const Placement& placement,
                                   WallTime now) {
  const auto& use = placement.tool_use_id ? placement.tool_use_id : event->tool_use_id;
  TRY(
      db.run("INSERT INTO events(event_id, session_db_id, name, kind, outcome, prompt_number, prompt_id, "
             "tool_name, tool_use_id, agent_id, agent_type, cwd, payload_hash, cut, created_at_epoch, "
             "taken_in_at_epoch, source) VALUES(?,?,?,?,'stored',?,?,?,?,?,?,?,?,?,?,?,?)",
             event->id.value, placement.session.value, event->name, event::kind_name(event->kind),
             placement.prompt_number, event->prompt_id, event->tool_name, use, event->agent_id,
             event->agent_type, event->cwd, placement.payload_hash, event->cut || event->incomplete,
             epoch_ms(event->at), epoch_ms(now), name_of(event->source)));
  return db.last_insert_rowid();
}

Status record_counted(Db& db, const Counted& c, WallTime now) {
  return db.run(
      "INSERT INTO events(event_id, session_db_id, name, kind, outcome, reason, prompt_number, "
      "created_at_epoch, taken_in_at_epoch, source) VALUES(?,?,?,?,?,?,?,?,?,?)",
      c.id.value, c.session, c.name, c.kind, name_of(c.outcome), c.reason, c.prompt_number, epoch_ms(c.at),
      epoch_ms(now), name_of(c.source));
}

#define EVENTS                                                                                           \
  "SELECT e.seq, e.event_id, e.session_db_id, e.name, e.kind, e.outcome, e.reason, e.prompt_number, "    \
  "e.tool_name, e.tool_use_id, e.agent_id, e.agent_type, e.created_at_epoch, e.source, m.status, e.cut " \
  "FROM events e LEFT JOIN pending_messages m ON m.event_seq = e.seq "

static EventRow read_event_row(Stmt& row) {
  EventRow e;
  read_columns(row, e.seq, e.id, e.session, e.name, e.kind, e.outcome, e.reason, e.prompt_number, e.tool_name,
               e.tool_use_id, e.agent_id, e.agent_type, e.at, e.source, e.message, e.cut);
  return e;
}

Result<std::optional<EventRow>> find_event(Db& db, const EventId& id) {
  return first(db.query(EVENTS "WHERE e.event_id = ?", id), read_event_row);
}

Result<std::vector<EventRow>> events_of(Db& db, SessionId session) {
  return all(db.query(EVENTS "WHERE e.session_db_id = ? ORDER BY e.seq", session), read_event_row);
}

Result<std::optional<EventRow>> first_start(Db& db, SessionId session) {
  return first(
      db.query(EVENTS "WHERE e.session_db_id = ? AND e.kind = 'session_start' ORDER BY e.seq LIMIT 1",
               session),
      read_event_row);
}

Result<std::optional<EventRow>> last_stored_start(Db& db, SessionId session) {
  return first(db.query(EVENTS "WHERE e.session_db_id = ? AND e.kind = 'session_start' AND e.outcome = "
                               "'stored' ORDER BY e.seq DESC LIMIT 1",
                        session),
               read_event_row);
}

Result<std::vector<EventCount>> count_events(Db& db, SessionId session) {
  return all(db.query("SELECT source, outcome, reason, kind, count(*) FROM events WHERE session_db_id = ? "
                      "GROUP BY 1, 2, 3, 4 ORDER BY outcome, reason",
                      session),
             [](Stmt& row) {
               EventCount c;
               read_columns(row, c.source, c.outcome, c.reason, c.kind, c.count);
               return c;
             });
}

Result<Ledger> ledger(Db& db, WallTime until) {
  const auto count = [&](std::string_view sql, const auto&... args) -> Result<std::int64_t> {
    return TRY(db.integer(sql, args...)).value_or(0);
  };
  Ledger l;
  l.events = TRY(count_events(db));
  l.from_transcripts =
      TRY(count("SELECT count FROM tallies WHERE what = 'event' AND project = '' AND name = 'transcript'"));
  // In an imported session every event comes from the transcript: none of them was missed by a hook.
  l.recovered =
      TRY(count("SELECT count(*) FROM events WHERE source = 'transcript' AND outcome = 'stored' AND "
                "NOT EXISTS (SELECT 1 FROM sdk_sessions s WHERE s.id = session_db_id AND s.imported = 1)"));
  l.waiting_calls = TRY(count(
      "SELECT count(*) FROM transcript_calls WHERE outcome = 'waiting' AND at_epoch <= ?", epoch_ms(until)));
  l.counted =
      TRY(counts(db.query("SELECT outcome, count(*) FROM events WHERE outcome <> 'stored' AND source = "
                          "'hook' GROUP BY outcome")));
  return l;
}

Result<std::int64_t> count_events(Db& db) {
  return TRY(db.integer("SELECT sum(count) FROM tallies WHERE what = 'event' AND project = ''")).value_or(0);
}

// `outcome <> 'stored'` looks redundant, but only with it SQLite uses the partial index events_odd.
Result<std::int64_t> count_bad(Db& db) {
  return TRY(db.integer("SELECT count(*) FROM events WHERE outcome <> 'stored' AND outcome = 'bad'"))
      .value_or(0);
}

}  // namespace cairn::store
