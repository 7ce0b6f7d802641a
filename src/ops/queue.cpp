#include "store/queue.h"

#include "ops/operation.h"

namespace cairn::ops {

static Json int_or_null(const store::Stmt& row, int column) {
  return row.is_null(column) ? Json() : Json(row.integer(column));
}

#define MESSAGE_ROWS                                                                                       \
  "SELECT m.id, m.session_db_id, m.content_session_id, s.project, m.message_type, m.tool_name, m.cwd, "    \
  "m.prompt_number, m.status, "                                                                            \
  "m.retry_count, m.created_at_epoch, m.started_processing_at_epoch, m.completed_at_epoch, m.last_error, " \
  "m.tool_input, "                                                                                         \
  "m.tool_response, m.last_user_message, m.last_assistant_message, m.event_seq, m.batch_id FROM "          \
  "pending_messages m "                                                                                    \
  "LEFT JOIN sdk_sessions s ON s.id = m.session_db_id "

static Json message_json(const store::Stmt& row) {
  return Json::object({{"id", row.integer(0)},
                       {"session_db_id", row.integer(1)},
                       {"content_session_id", row.text(2)},
                       {"project", row.optional_text(3)},
                       {"message_type", row.text(4)},
                       {"tool_name", row.optional_text(5)},
                       {"cwd", row.optional_text(6)},
                       {"prompt_number", int_or_null(row, 7)},
                       {"status", row.text(8)},
                       {"retry_count", row.integer(9)},
                       {"created_at_epoch", row.integer(10)},
                       {"started_processing_at_epoch", int_or_null(row, 11)},
                       {"completed_at_epoch", int_or_null(row, 12)},
                       {"last_error", row.optional_text(13)}});
}

Result<Json> queue_list(World& world, const Json& args) {
  const auto status = args.text("status");
  if (status && *status != "pending" && *status != "processing" && *status != "processed" &&
      *status != "failed")
    return Error{Code::invalid,
                 "queue: status \"" + *status + "\" is not one of pending, processing, processed, failed"};
  // Without a status: what is not done, what needs a person first.
  store::Stmt row = TRY(world.db.query(
      MESSAGE_ROWS
      "WHERE (CASE WHEN ?1 IS NULL THEN m.status <> 'processed' ELSE m.status = ?1 END) AND (?2 IS NULL OR "
      "m.content_session_id = ?2 OR CAST(m.session_db_id AS TEXT) = ?2) ORDER BY CASE m.status WHEN 'failed' "
      "THEN 0 "
      "WHEN 'processing' THEN 1 WHEN 'pending' THEN 2 ELSE 3 END, m.created_at_epoch, m.id LIMIT ?3",
      status, args.text("session"), args["limit"].as_int(100)));
  Json messages = Json::array();
  while (TRY(row.step())) messages.push(message_json(row));
  return Json::object({{"messages", messages}});
}

// A column that holds JSON; text that is not is shown as it stands.
static Json parsed(const store::Stmt& row, int column) {
  if (row.is_null(column)) return {};
  auto value = Json::parse(row.text(column));
  return value ? *std::move(value) : Json(row.text(column));
}

Result<Json> queue_show(World& world, const Json& args) {
  const std::int64_t id = args["id"].as_int();
  store::Stmt row = TRY(world.db.query(MESSAGE_ROWS "WHERE m.id = ?", id));
  if (!TRY(row.step()))
    return Error{Code::not_found,
                 "there is no message " + std::to_string(id) + ": `cairn queue list` shows them"};
  Json out = message_json(row);
  out.set("tool_input", parsed(row, 14));
  out.set("tool_response", parsed(row, 15));
  out.set("last_user_message", row.optional_text(16));
  out.set("last_assistant_message", row.optional_text(17));
  out.set("event_seq", row.integer(18));
  out.set("batch_id", row.optional_text(19));
  return out;
}

Result<Json> queue_stats(World& world, const Json&) {
  const auto counts = TRY(store::queue_counts(world.db));
  const auto oldest =
      TRY(world.db.integer("SELECT min(created_at_epoch) FROM pending_messages WHERE status = 'pending'"));
  const auto sessions =
      TRY(world.db.integer("SELECT count(DISTINCT session_db_id) FROM pending_messages WHERE status IN "
                           "('pending', 'processing')"));
  const std::int64_t age =
      oldest ? std::max<std::int64_t>(0, (epoch_ms(world.clock.now()) - *oldest) / 1000) : 0;
  return Json::object({{"pending", counts.pending},
                       {"processing", counts.processing},
                       {"processed", counts.processed},
                       {"failed", counts.failed},
                       {"oldest_pending_s", oldest ? Json(age) : Json()},
                       {"sessions", sessions.value_or(0)}});
}

}  // namespace cairn::ops
