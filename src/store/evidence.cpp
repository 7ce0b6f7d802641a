#include "store/evidence.h"

#include <algorithm>

#include "store/compress.h"
#include "store/event_index.h"
#include "store/payload.h"
#include "store/rows.h"

namespace cairn::store {

// Stores the text, unless the session has an equal one, and returns its row. Nothing for no text.
static Result<std::optional<std::int64_t>> put_payload(Db& db, SessionId session,
                                                       const std::optional<std::string>& text) {
  if (!text) return std::optional<std::int64_t>();
  const std::string key = payload_key(session, *text);
  if (auto known = TRY(db.integer("SELECT id FROM payloads WHERE hash = ?", key))) return known;
  constexpr std::string_view kInsert = "INSERT INTO payloads(hash, bytes, body) VALUES(?,?,?)";
  if (is_plain(*text))
    TRY(db.run(kInsert, key, text->size(), *text));
  else
    TRY(db.run(kInsert, key, text->size(), Blob{compress(*text)}));
  return std::optional<std::int64_t>(db.last_insert_rowid());
}

Status keep_evidence(Db& db, std::int64_t event_seq, SessionId session, const Texts& texts, WallTime at,
                     Indexed indexed) {
  const auto input = TRY(put_payload(db, session, texts.input));
  const auto response = TRY(put_payload(db, session, texts.response));
  const auto extra = TRY(put_payload(db, session, texts.extra));
  return db.run(
      "INSERT INTO evidence(event_seq, session_db_id, input_payload, response_payload, extra_payload, "
      "created_at_epoch, indexed) VALUES(?,?,?,?,?,?,?)",
      event_seq, session.value, input, response, extra, epoch_ms(at), static_cast<int>(indexed));
}

// Removes the payload unless a kept event still refers to it.
static Status drop_unused_payload(Db& db, std::int64_t id) {
  return db.run(
      "DELETE FROM payloads WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM evidence WHERE input_payload = ?1) "
      "AND NOT EXISTS (SELECT 1 FROM evidence WHERE response_payload = ?1) AND NOT EXISTS (SELECT 1 FROM "
      "evidence WHERE extra_payload = ?1)",
      id);
}

Result<std::optional<std::int64_t>> correct_to_failure(Db& db, SessionId session,
                                                       const std::string& tool_use_id,
                                                       const std::string& response) {
  Stmt row =
      TRY(db.query("SELECT seq, prompt_number FROM events WHERE session_db_id = ? AND tool_use_id = ? AND "
                   "kind = 'tool' AND outcome = 'stored'",
                   session.value, tool_use_id));
  if (!TRY(row.step())) return std::optional<std::int64_t>();
  const std::int64_t seq = row.integer(0);
  const auto turn = row.optional_integer(1);
  TRY(db.run("UPDATE events SET kind = 'tool_failure' WHERE seq = ?", seq));
  // The new text is stored before the old one is dropped: if they are equal they share a row.
  const auto old = TRY(db.integer("SELECT response_payload FROM evidence WHERE event_seq = ?", seq));
  const auto payload = TRY(put_payload(db, session, response));
  TRY(db.run("UPDATE evidence SET response_payload = ? WHERE event_seq = ?", payload, seq));
  if (old) TRY(drop_unused_payload(db, *old));
  TRY(index_again(db, {seq}));
  return turn;
}

Status delete_evidence(Db& db, std::int64_t event_seq) {
  const auto payloads = TRY(
      all<std::int64_t>(db.query("SELECT p.id FROM evidence v JOIN payloads p ON p.id IN (v.input_payload, "
                                 "v.response_payload, v.extra_payload) WHERE v.event_seq = ?",
                                 event_seq)));
  TRY(db.run("DELETE FROM evidence WHERE event_seq = ?", event_seq));
  for (const std::int64_t id : payloads) TRY(drop_unused_payload(db, id));
  return {};
}

Status replace_payload(Db& db, std::int64_t payload, const std::string& text) {
  // `extra` is not in the index of tool calls.
  for (const char* column : {"input_payload", "response_payload"})
    TRY(index_again(
        db, TRY(all<std::int64_t>(
                db.query("SELECT event_seq FROM evidence WHERE " + std::string(column) + " = ?", payload)))));
  const std::string old = TRY(db.text("SELECT hash FROM payloads WHERE id = ?", payload)).value_or("");
  const std::string key = payload_key_beside(old, text);
  // The hash is unique. If the session has the new text already, its events refer to that row from here on.
  const auto same = TRY(db.integer("SELECT id FROM payloads WHERE hash = ? AND id <> ?", key, payload));
  if (!same)
    return db.run("UPDATE payloads SET hash = ?, bytes = ?, body = ? WHERE id = ?", key, text.size(),
                  Blob{compress(text)}, payload);
  for (const char* column : {"input_payload", "response_payload", "extra_payload"})
    TRY(db.run("UPDATE evidence SET " + std::string(column) + " = ? WHERE " + column + " = ?", *same,
               payload));
  return db.run("DELETE FROM payloads WHERE id = ?", payload);
}

// Events with their texts. The joins are LEFT joins: texts expire, and the event stays without them.
#define KEPT_EVENTS                                                                                        \
  "SELECT e.seq, e.event_id, e.session_db_id, e.prompt_number, e.source, e.name, e.kind, e.tool_name, "    \
  "e.tool_use_id, e.agent_type, e.created_at_epoch, i.body, r.body, x.body FROM events e LEFT JOIN "       \
  "evidence v ON v.event_seq = e.seq LEFT JOIN payloads i ON i.id = v.input_payload LEFT JOIN payloads r " \
  "ON r.id = v.response_payload LEFT JOIN payloads x ON x.id = v.extra_payload "

static KeptEvent read_event(Db& db, const Stmt& row) {
  KeptEvent e;
  read_columns(row, e.seq, e.id, e.session, e.prompt_number, e.source, e.name, e.kind, e.tool_name,
               e.tool_use_id, e.agent_type, e.at);
  e.texts.input = payload_text(db, row, 11);
  e.texts.response = payload_text(db, row, 12);
  e.texts.extra = payload_text(db, row, 13);
  return e;
}

static Result<std::vector<KeptEvent>> events_with_texts(Db& db, Result<Stmt> query) {
  return all(std::move(query), [&](const Stmt& row) { return read_event(db, row); });
}

Status for_each_turn_event_after(Db& db, SessionId session, std::int64_t prompt_number, std::int64_t after,
                                 const std::function<bool(const KeptEvent&)>& take) {
  Stmt row = TRY(db.query(KEPT_EVENTS
                          "WHERE e.session_db_id = ? AND e.prompt_number = ? AND e.seq > ? AND e.outcome = "
                          "'stored' ORDER BY e.seq",
                          session.value, prompt_number, after));
  while (TRY(row.step()))
    if (!take(read_event(db, row))) return {};
  return {};
}

Status for_each_turn_event(Db& db, SessionId session, std::int64_t prompt_number,
                           const std::function<void(const KeptEvent&)>& take) {
  return for_each_turn_event_after(db, session, prompt_number, 0, [&](const KeptEvent& event) {
    take(event);
    return true;
  });
}

Result<std::vector<KeptEvent>> turn_events(Db& db, SessionId session, std::int64_t prompt_number) {
  std::vector<KeptEvent> events;
  TRY(for_each_turn_event(db, session, prompt_number,
                          [&](const KeptEvent& event) { events.push_back(event); }));
  return events;
}

// The events of a turn that become messages of the queue.
#define WORK_OF_TURN                                                                                 \
  "FROM events WHERE session_db_id = ? AND prompt_number = ? AND seq > ? AND seq < ? AND outcome = " \
  "'stored' "                                                                                        \
  "AND kind IN ('tool', 'tool_failure', 'stop', 'stop_failure') "

Result<bool> has_work_between(Db& db, SessionId session, std::int64_t prompt_number, std::int64_t after,
                              std::int64_t before) {
  return TRY(db.integer("SELECT 1 " WORK_OF_TURN "LIMIT 1", session.value, prompt_number, after, before))
      .has_value();
}

Result<std::optional<WallTime>> last_work_before(Db& db, SessionId session, std::int64_t prompt_number,
                                                 std::int64_t before) {
  const auto at = TRY(db.integer("SELECT created_at_epoch " WORK_OF_TURN "ORDER BY seq DESC LIMIT 1",
                                 session.value, prompt_number, 0, before));
  return at ? std::optional(from_epoch_ms(*at)) : std::nullopt;
}

// Ordered by turn first, as the index events_by_turn is: it gives the last calls without a sort.
Result<std::vector<KeptEvent>> last_calls(Db& db, SessionId session, std::size_t limit) {
  auto calls = TRY(events_with_texts(
      db, db.query(KEPT_EVENTS "WHERE e.session_db_id = ? AND e.outcome = 'stored' AND e.kind IN ('tool', "
                               "'tool_failure') ORDER BY e.prompt_number DESC, e.seq DESC LIMIT ?",
                   session.value, static_cast<std::int64_t>(limit))));
  std::reverse(calls.begin(), calls.end());
  return calls;
}

Result<std::optional<KeptEvent>> kept_event(Db& db, std::int64_t seq) {
  auto found =
      TRY(events_with_texts(db, db.query(KEPT_EVENTS "WHERE e.seq = ? AND e.outcome = 'stored'", seq)));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

}  // namespace cairn::store
