#include "base/text.h"
#include "ops/records.h"
#include "store/evidence.h"
#include "store/sessions.h"

namespace cairn::ops {

using recall::Kind;

static constexpr std::size_t kShort = 2000;  // bytes of a text, unless all of it is asked for
static constexpr std::int64_t kMostEvents = 1000;

static Result<std::vector<std::int64_t>> numbers(Result<store::Stmt> query) {
  store::Stmt row = TRY(std::move(query));
  std::vector<std::int64_t> found;
  while (TRY(row.step())) found.push_back(row.integer(0));
  return found;
}

// The events a record came from: those that an observation names; the whole turn for a summary or a text; its
// own event for a prompt.
static Result<std::vector<std::int64_t>> events_of(store::Db& db, const recall::Record& record) {
  if (record.id.kind == Kind::observation)
    return numbers(db.query(
        "SELECT event_seq FROM observation_evidence WHERE observation_id = ? ORDER BY event_seq LIMIT ?",
        record.id.row, kMostEvents));
  if (record.id.kind == Kind::open)
    return numbers(db.query("SELECT event_seq FROM open_items WHERE id = ? AND event_seq IS NOT NULL LIMIT ?",
                            record.id.row, kMostEvents));
  if (record.id.kind == Kind::turn)
    return numbers(db.query(
        "SELECT e.seq FROM texts t JOIN events e ON e.session_db_id = t.session_db_id AND e.prompt_number = "
        "t.prompt_number WHERE t.id = ? AND e.outcome = 'stored' ORDER BY e.seq LIMIT ?",
        record.id.row, kMostEvents));
  const std::string_view sql =
      record.id.kind == Kind::prompt
          ? "SELECT e.seq FROM user_prompts p JOIN events e ON e.session_db_id = p.session_db_id AND "
            "e.prompt_number = p.prompt_number WHERE p.id = ? AND e.kind = 'prompt' AND e.outcome = 'stored' "
            "ORDER BY e.seq LIMIT ?"
          : "SELECT e.seq FROM session_summaries r JOIN sdk_sessions s ON s.memory_session_id = "
            "r.memory_session_id JOIN events e ON e.session_db_id = s.id AND e.prompt_number = "
            "r.prompt_number WHERE r.id = ? AND e.outcome = 'stored' ORDER BY e.seq LIMIT ?";
  return numbers(db.query(sql, record.id.row, kMostEvents));
}

static Json text_json(const std::optional<std::string>& text, bool full) {
  if (!text) return {};
  return full ? Json(*text) : Json(cut(valid_utf8(*text), kShort));
}

static Result<Json> event_json(store::Db& db, std::int64_t seq, bool full) {
  auto event = TRY(store::kept_event(db, seq));
  if (!event) return Json();
  // The text of a prompt is in the table of prompts.
  store::Stmt row = TRY(db.query(
      "SELECT e.event_id, e.source, p.prompt_text FROM events e LEFT JOIN user_prompts p ON "
      "p.session_db_id = e.session_db_id AND p.prompt_number = e.prompt_number AND e.kind = 'prompt' "
      "AND p.deleted_at IS NULL WHERE e.seq = ?",
      seq));
  const bool known = TRY(row.step());
  if (known && !event->texts.input) event->texts.input = row.optional_text(2);
  return Json::object({{"seq", seq},
                       {"event_id", known ? Json(row.text(0)) : Json()},
                       {"event", event->name},
                       {"kind", event->kind},
                       {"tool_name", event->tool_name.empty() ? Json() : Json(event->tool_name)},
                       {"tool_use_id", event->tool_use_id.empty() ? Json() : Json(event->tool_use_id)},
                       {"origin", origins_json(event->tool_name)},
                       {"source", known ? Json(row.text(1)) : Json()},
                       {"time", iso8601(event->at)},
                       {"input", text_json(event->texts.input, full)},
                       {"response", text_json(event->texts.response, full)},
                       {"extra", text_json(event->texts.extra, full)}});
}

Result<Json> why(World& world, const Args& args) {
  const recall::Record record = TRY(find_record(world, args.text("id")));
  Json events = Json::array();
  for (const std::int64_t seq : TRY(events_of(world.db, record))) {
    Json event = TRY(event_json(world.db, seq, args.flag("full")));
    if (!event.is_null()) events.push(std::move(event));
  }
  return record_json(record).set("events", events);
}

}  // namespace cairn::ops
