#include "store/queue.h"

#include "ops/records.h"
#include "store/queue_admin.h"

namespace cairn::ops {

static Json int_or_null(const store::Stmt& row, int column) {
  return row.is_null(column) ? Json() : Json(row.integer(column));
}

#define MESSAGE_ROWS                                                                                       \
  "SELECT m.id, m.session_db_id, m.content_session_id, s.project, m.message_type, m.tool_name, m.cwd, "    \
  "m.prompt_number, m.status, m.retry_count, m.created_at_epoch, m.started_processing_at_epoch, "          \
  "m.completed_at_epoch, m.last_error, m.tool_input, m.tool_response, m.last_user_message, "               \
  "m.last_assistant_message, m.event_seq, m.batch_id, m.not_before_epoch, m.solo FROM pending_messages m " \
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

static Result<Json> all_messages(store::Stmt row) {
  Json messages = Json::array();
  while (TRY(row.step())) messages.push(message_json(row));
  return Json::object({{"messages", messages}});
}

// Those processed in the last minutes, the newest first.
static Result<Json> recently_processed(World& world, const Json& args,
                                       const std::optional<std::int64_t>& session) {
  const auto since = world.clock.now() - std::chrono::minutes(args["recent"].as_int());
  return all_messages(
      TRY(world.db.query(MESSAGE_ROWS
                         "WHERE m.status = 'processed' AND m.completed_at_epoch > ?1 AND (?2 IS NULL OR "
                         "m.session_db_id = ?2) ORDER BY m.completed_at_epoch DESC, m.id DESC LIMIT ?3",
                         epoch_ms(since), session, args["limit"].as_int(10))));
}

Result<Json> queue_list(World& world, const Json& args) {
  const auto status = args.text("status");
  if (status && *status != "pending" && *status != "processing" && *status != "processed" &&
      *status != "failed")
    return Error{Code::invalid,
                 "queue: status \"" + *status + "\" is not one of pending, processing, processed, failed"};
  std::optional<std::int64_t> session;
  if (args.has("session")) session = TRY(resolve_session(world, args["session"]));
  if (args["recent"].is_int()) {
    if (status && *status != "processed")
      return Error{Code::invalid, "queue: recent are those that are processed: leave the status out"};
    return recently_processed(world, args, session);
  }
  // Without a status: what is not done, what needs a person first.
  return all_messages(TRY(world.db.query(
      MESSAGE_ROWS
      "WHERE (CASE WHEN ?1 IS NULL THEN m.status <> 'processed' ELSE m.status = ?1 END) AND (?2 IS NULL OR "
      "m.session_db_id = ?2) ORDER BY CASE m.status WHEN 'failed' THEN 0 WHEN 'processing' THEN 1 WHEN "
      "'pending' THEN 2 ELSE 3 END, m.created_at_epoch, m.id LIMIT ?3",
      status, session, args["limit"].as_int(100))));
}

// A column that holds JSON. Text that is not is shown as it stands, and said to be damaged.
static Json parsed(const store::Stmt& row, int column, std::string_view name, Json& problems) {
  if (row.is_null(column)) return {};
  auto value = Json::parse(row.text(column));
  if (value) return *std::move(value);
  problems.push("message " + row.text(0) + ": " + std::string(name) + " is not JSON");
  return Json(row.text(column));
}

static Error unknown_message(std::int64_t id) {
  return {Code::not_found, "there is no message " + std::to_string(id) + ": `cairn queue list` shows them"};
}

Result<Json> queue_show(World& world, const Json& args) {
  const std::int64_t id = args["id"].as_int();
  store::Stmt row = TRY(world.db.query(MESSAGE_ROWS "WHERE m.id = ?", id));
  if (!TRY(row.step())) return unknown_message(id);
  Json out = message_json(row), problems = Json::array();
  out.set("tool_input", parsed(row, 14, "tool_input", problems));
  out.set("tool_response", parsed(row, 15, "tool_response", problems));
  out.set("origin", origins_json(row.text(5)));
  out.set("last_user_message", row.optional_text(16));
  out.set("last_assistant_message", row.optional_text(17));
  out.set("event_seq", row.integer(18));
  out.set("batch_id", row.optional_text(19));
  out.set("not_before_epoch", row.integer(20));
  out.set("solo", row.integer(21) != 0);
  out.set("problems", problems);
  // While its reply waits for the memory id it is in work; for whoever asks it waits.
  const std::string status = row.text(8), why = row.text(13);
  const bool undone = status == "pending" || status == "processing";
  if (undone && (why == store::kAwaitingId || why == store::kNeverCaptured)) {
    out.set("status", "pending");
    out.set("reason", store::kAwaitingId);
    out.set("retry_after_ms", std::max<std::int64_t>(0, row.integer(20) - epoch_ms(world.clock.now())));
  }
  return out;
}

static Result<Json> retry_stuck(World& world, const Json& args) {
  const auto age =
      std::chrono::seconds(args["older_than_s"].as_int(world.settings.integer("queue.stuck_seconds")));
  const auto max_retries = static_cast<int>(world.settings.integer("queue.max_retries"));
  const auto recovered = TRY(store::recover_stuck(world.db, age, max_retries, world.clock.now()));
  return Json::object({{"retried", recovered.waiting}, {"failed", recovered.failed}});
}

static Result<Json> retry_one(World& world, std::int64_t id) {
  if (!TRY(store::owner_of(world.db, MessageId{id}))) return unknown_message(id);
  const bool retried = TRY(store::retry_message(world.db, MessageId{id}));
  return Json::object({{"id", id}, {"retried", retried ? 1 : 0}, {"failed", 0}});
}

Result<Json> queue_retry(World& world, const Json& args) {
  const bool stuck = args["stuck"].as_bool();
  if (args["id"].is_int() + args.has("session") + stuck != 1)
    return Error{Code::invalid, "queue retry: name one message, one session, or those that are stuck"};
  auto transaction = TRY(store::Transaction::begin(world.db));
  Json out;
  if (stuck) {
    out = TRY(retry_stuck(world, args));
  } else if (args["id"].is_int()) {
    out = TRY(retry_one(world, args["id"].as_int()));
  } else {
    const std::int64_t session = TRY(resolve_session(world, args["session"]));
    out = Json::object({{"session_db_id", session},
                        {"retried", TRY(store::retry_session(world.db, SessionId{session}))},
                        {"failed", 0}});
  }
  TRY(transaction.commit());
  return out;
}

Result<Json> queue_abort(World& world, const Json& args) {
  const MessageId id{args["id"].as_int()};
  auto transaction = TRY(store::Transaction::begin(world.db));
  const auto owner = TRY(store::owner_of(world.db, id));
  if (!owner || !TRY(store::abort_message(world.db, id))) return unknown_message(id.value);
  TRY(transaction.commit());
  return Json::object({{"id", id.value},
                       {"aborted", true},
                       {"session_db_id", owner->session.value},
                       {"content_session_id", owner->content_id.value}});
}

Result<Json> queue_clean(World& world, const Json& args) {
  const std::int64_t keep = args["keep"].as_int(world.settings.integer("queue.keep_processed"));
  if (keep < 0) return Error{Code::invalid, "queue clean: keep at least 0 messages"};
  auto transaction = TRY(store::Transaction::begin(world.db));
  const std::int64_t deleted = TRY(store::clean(world.db, keep));
  TRY(transaction.commit());
  return Json::object({{"deleted", deleted}, {"kept", TRY(store::queue_counts(world.db)).processed}});
}

Result<Json> queue_stats(World& world, const Json&) {
  const auto counts = TRY(store::queue_counts(world.db));
  const auto oldest =
      TRY(world.db.integer("SELECT min(created_at_epoch) FROM pending_messages WHERE status = 'pending'"));
  Json sessions = Json::array();
  for (const SessionId session : TRY(store::sessions_with_work(world.db))) {
    const auto its = TRY(store::queue_counts(world.db, session));
    sessions.push(Json::object({{"session_db_id", session.value},
                                {"pending", its.pending},
                                {"processing", its.processing},
                                {"failed", its.failed}}));
  }
  const Millis limit = std::chrono::seconds(world.settings.integer("queue.stuck_seconds"));
  const std::int64_t stuck = TRY(store::stuck_count(world.db, limit, world.clock.now()));
  const std::int64_t age =
      oldest ? std::max<std::int64_t>(0, (epoch_ms(world.clock.now()) - *oldest) / 1000) : 0;
  return Json::object({{"pending", counts.pending},
                       {"processing", counts.processing},
                       {"processed", counts.processed},
                       {"failed", counts.failed},
                       {"oldest_pending_s", oldest ? Json(age) : Json()},
                       {"stuck", stuck},
                       {"sessions", sessions.items().size()},
                       {"by_session", sessions}});
}

}  // namespace cairn::ops
