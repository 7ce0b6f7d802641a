#include "store/events.h"

#include "base/hash.h"
#include "store/sessions.h"

namespace cairn::store {

Result<bool> is_settled(Db& db, const EventId& id) {
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

Result<bool> is_duplicate(Db& db, const event::CleanEvent& event, const Placement& placement) {
  if (event->tool_use_id) {
    const bool is_end = event->kind == event::Kind::tool || event->kind == event::Kind::tool_failure;
    return TRY(db.integer("SELECT 1 FROM events WHERE session_db_id = ? AND tool_use_id = ? AND outcome = "
                          "'stored' AND "
                          "(kind = ? OR (? AND kind IN ('tool', 'tool_failure')))",
                          placement.session.value, *event->tool_use_id, event::kind_name(event->kind),
                          is_end))
        .has_value();
  }
  if (event->kind == event::Kind::prompt && event->prompt_id &&
      TRY(is_settled(db, transcript_event_id(event->host, event->session, *event->prompt_id, event->kind))))
    return true;
  constexpr std::int64_t kWindowMs = 5000;
  return TRY(db.integer("SELECT 1 FROM events WHERE session_db_id = ? AND payload_hash = ? AND name = ? AND "
                        "prompt_id IS ? AND "
                        "outcome = 'stored' AND abs(created_at_epoch - ?) <= ?",
                        placement.session.value, placement.payload_hash, event->name, event->prompt_id,
                        epoch_ms(event->at), kWindowMs))
      .has_value();
}

Result<std::int64_t> settle_stored(Db& db, const event::CleanEvent& event, const Placement& placement,
                                   WallTime now) {
  TRY(db.run(
      "INSERT INTO events(event_id, session_db_id, name, kind, outcome, prompt_number, prompt_id, tool_name, "
      "tool_use_id, "
      "agent_id, agent_type, cwd, payload_hash, cut, created_at_epoch, taken_in_at_epoch, source) "
      "VALUES(?,?,?,?,'stored',?,?,?,?,?,?,?,?,?,?,?,?)",
      event->id.value, placement.session.value, event->name, event::kind_name(event->kind),
      placement.prompt_number, event->prompt_id, event->tool_name, event->tool_use_id, event->agent_id,
      event->agent_type, event->cwd, placement.payload_hash, event->cut || event->incomplete,
      epoch_ms(event->at), epoch_ms(now), event->source));
  return db.last_insert_rowid();
}

Status settle_counted(Db& db, const Counted& c, WallTime now) {
  return db.run(
      "INSERT INTO events(event_id, session_db_id, name, kind, outcome, reason, prompt_number, "
      "created_at_epoch, "
      "taken_in_at_epoch, source) VALUES(?,?,?,?,?,?,?,?,?,?)",
      c.id.value, c.session, c.name, c.kind, c.outcome, c.reason, c.prompt_number, epoch_ms(c.at),
      epoch_ms(now), c.source);
}

}  // namespace cairn::store
