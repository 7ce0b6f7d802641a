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

// Messages processed in the last minutes, newest first.
static Result<Json> recently_processed(World& world, const Args& args,
                                       const std::optional<std::int64_t>& session) {
  const auto since = world.clock.now() - std::chrono::minutes(args.integer("recent"));
  return all_messages(
      TRY(world.db.query(MESSAGE_ROWS
                         "WHERE m.status = 'processed' AND m.completed_at_epoch > ?1 AND (?2 IS NULL OR "
                         "m.session_db_id = ?2) ORDER BY m.completed_at_epoch DESC, m.id DESC LIMIT ?3",
                         epoch_ms(since), session, args.integer("limit", 10))));
}

static Result<Json> queue_list(World& world, const Args& args) {
  const auto status = args.optional_text("status");
  std::optional<std::int64_t> session;
  if (args.has("session")) session = TRY(resolve_session(world, args.session("session")));
  if (args.has("recent")) {
    if (status && *status != "processed")
      return Error{Code::invalid, "queue list: recent are those that are processed: leave the status out"};
    return recently_processed(world, args, session);
  }
  // Without a status: all that are not done, first those that need a person.
  return all_messages(TRY(world.db.query(
      MESSAGE_ROWS
      "WHERE (CASE WHEN ?1 IS NULL THEN m.status <> 'processed' ELSE m.status = ?1 END) AND (?2 IS NULL OR "
      "m.session_db_id = ?2) ORDER BY CASE m.status WHEN 'failed' THEN 0 WHEN 'processing' THEN 1 WHEN "
      "'pending' THEN 2 ELSE 3 END, m.created_at_epoch, m.id LIMIT ?3",
      status, session, args.integer("limit", 100))));
}

// A column with JSON. Damaged text is shown as it is, with a note.
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

static Result<Json> queue_show(World& world, const Args& args) {
  const std::int64_t id = args.integer("id");
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
  // Its reply waits for the memory id: show it as waiting, although it is being processed.
  const std::string status = row.text(8), why = row.text(13);
  const bool undone = status == "pending" || status == "processing";
  if (undone && (why == store::kAwaitingId || why == store::kNeverCaptured)) {
    out.set("status", "pending");
    out.set("reason", store::kAwaitingId);
    out.set("retry_after_ms", std::max<std::int64_t>(0, row.integer(20) - epoch_ms(world.clock.now())));
  }
  return out;
}

static Result<Json> retry_stuck(World& world, const Args& args) {
  const auto age =
      std::chrono::seconds(args.integer("older_than", world.settings.integer("queue.stuck_seconds")));
  const auto max_retries = static_cast<int>(world.settings.integer("queue.max_retries"));
  const auto recovered = TRY(store::recover_stuck(world.db, age, max_retries, world.clock.now()));
  return Json::object({{"retried", recovered.waiting}, {"failed", recovered.failed}});
}

static Result<Json> retry_one(World& world, std::int64_t id) {
  if (!TRY(store::owner_of(world.db, MessageId{id}))) return unknown_message(id);
  const bool retried = TRY(store::retry_message(world.db, MessageId{id}));
  return Json::object({{"id", id}, {"retried", retried ? 1 : 0}, {"failed", 0}});
}

static Result<Json> queue_retry(World& world, const Args& args) {
  auto transaction = TRY(store::Transaction::begin(world.db));
  Json out;
  if (args.flag("stuck")) {
    out = TRY(retry_stuck(world, args));
  } else if (args.has("id")) {
    out = TRY(retry_one(world, args.integer("id")));
  } else {
    const std::int64_t session = TRY(resolve_session(world, args.session("session")));
    out = Json::object({{"session_db_id", session},
                        {"retried", TRY(store::retry_session(world.db, SessionId{session}))},
                        {"failed", 0}});
  }
  TRY(transaction.commit());
  return out;
}

static Result<Json> queue_abort(World& world, const Args& args) {
  const MessageId id{args.integer("id")};
  auto transaction = TRY(store::Transaction::begin(world.db));
  const auto owner = TRY(store::owner_of(world.db, id));
  if (!owner || !TRY(store::abort_message(world.db, id))) return unknown_message(id.value);
  TRY(transaction.commit());
  return Json::object({{"id", id.value},
                       {"aborted", true},
                       {"session_db_id", owner->session.value},
                       {"content_session_id", owner->content_id.value}});
}

static Result<Json> queue_clean(World& world, const Args& args) {
  const std::int64_t keep = args.integer("keep", world.settings.integer("queue.keep_processed"));
  auto transaction = TRY(store::Transaction::begin(world.db));
  const std::int64_t deleted = TRY(store::clean(world.db, keep));
  TRY(transaction.commit());
  return Json::object({{"deleted", deleted}, {"kept", TRY(store::queue_counts(world.db)).processed}});
}

static Result<Json> queue_stats(World& world, const Args&) {
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

static Argument message(std::string_view meaning) {
  return integer("id", 1, INT64_MAX, meaning).as("ID").word();
}

std::vector<Operation> queue_operations() {
  return {
      {.name = "queue.list",
       .group = Group::work,
       .summary = "pending messages, failed ones first",
       .help = "Without --status those that are not processed; 100 unless --limit says otherwise, 10 with "
               "--recent.",
       .arguments = {session("session",
                             "only those of one session, by its number or the beginning of its id"),
                     choice("status", "pending|processing|processed|failed", "only those of that status"),
                     integer("recent", 1, 1'000'000, "those processed in the last MIN minutes, newest first")
                         .as("MIN"),
                     integer("limit", 1, kMostRows, "at most N rows")},
       .body = queue_list},
      {.name = "queue.show",
       .group = Group::work,
       .summary = "one message with all its fields",
       .arguments = {message("the message's number").needed()},
       .body = queue_show},
      {.name = "queue.retry",
       .access = Access::write,
       .group = Group::work,
       .summary = "retry messages",
       .help =
           "The message, or the session's messages, get all their tries back, whatever their status; "
           "processed "
           "ones stay as they are. With --stuck each message is tried again alone, and one that was alone "
           "before has used up a try: so the one that hangs every time ends as failed and the others do "
           "not.",
       .arguments = {message("the message's number"),
                     session("session", "all of one session that are not processed"),
                     flag("stuck", "messages that were begun and never finished"),
                     integer(
                         "older_than", 0, 1'000'000'000,
                         "with --stuck: begun more than S seconds ago (default queue.stuck_seconds; 0: all)")
                         .as("S")
                         .only_with("stuck")},
       .one_of = "id session stuck",
       .body = queue_retry},
      {.name = "queue.abort",
       .access = Access::write,
       .group = Group::work,
       .summary = "delete a message, whatever its status",
       .help =
           "Asks first. What its event said is kept as evidence and stays part of its turn; only the work "
           "that waited is gone.",
       .arguments = {message("the message's number").needed()},
       .body = queue_abort},
      {.name = "queue.clean",
       .access = Access::write,
       .group = Group::work,
       .summary = "delete processed messages",
       .help =
           "Messages that are pending, processing or failed are never deleted. What the events said is kept "
           "as evidence.",
       .arguments = {integer("keep", 0, 1'000'000'000, "keep the newest N (default queue.keep_processed)")},
       .body = queue_clean},
      {.name = "queue.stats",
       .group = Group::work,
       .summary = "how many messages, by status",
       .body = queue_stats},
  };
}

}  // namespace cairn::ops
