#include "store/queue.h"

#include "ops/records.h"
#include "store/queue_admin.h"

namespace cairn::ops {

using store::MessageStatus;

static Json epoch_or_null(const std::optional<WallTime>& time) {
  return time ? Json(epoch_ms(*time)) : Json();
}

static Json message_json(const store::Message& m) {
  return Json::object({{"id", m.id.value},
                       {"session_db_id", m.session.value},
                       {"content_session_id", m.content_id.value},
                       {"project", m.project},
                       {"message_type", m.type},
                       {"tool_name", m.tool_name},
                       {"cwd", m.cwd},
                       {"prompt_number", number_or_null(m.prompt_number)},
                       {"status", name_of(m.status)},
                       {"retry_count", m.retries},
                       {"created_at_epoch", epoch_ms(m.created_at)},
                       {"started_processing_at_epoch", epoch_or_null(m.started_at)},
                       {"completed_at_epoch", epoch_or_null(m.completed_at)},
                       {"last_error", m.last_error}});
}

static Result<Json> queue_list(World& world, const Args& args) {
  store::MessageQuery query;
  if (const auto status = args.optional_text("status")) query.status = store::named<MessageStatus>(*status);
  if (args.has("session")) query.session = TRY(resolve_session(world, args.name("session"))).id;
  if (const auto minutes = args.optional_integer("recent"))
    query.processed_after = world.clock.now() - std::chrono::minutes(*minutes);
  query.limit = args.integer("limit", query.processed_after ? 10 : 100);
  Json messages = Json::array();
  for (const store::Message& message : TRY(store::list_messages(world.db, query)))
    messages.push(message_json(message));
  return Json::object({{"messages", messages}});
}

// Text that should be JSON. Damaged text is shown as it is, with a note.
static Json parsed(const std::optional<std::string>& text, MessageId id, std::string_view name,
                   Json& problems) {
  if (!text) return {};
  auto value = Json::parse(*text);
  if (value) return *std::move(value);
  problems.push("message " + std::to_string(id.value) + ": " + std::string(name) + " is not JSON");
  return Json(*text);
}

static Error unknown_message(MessageId id) {
  return {Code::not_found,
          "there is no message " + std::to_string(id.value) + ": `cairn queue list` shows them"};
}

static Result<Json> queue_show(World& world, const Args& args) {
  const MessageId id{args.integer("id")};
  const auto m = TRY(store::find_message(world.db, id));
  if (!m) return unknown_message(id);
  Json out = message_json(*m), problems = Json::array();
  store::Texts texts;  // not shown of a processed message: `cairn why` shows them with the event
  if (m->status != MessageStatus::processed)
    if (auto kept = TRY(store::kept_event(world.db, m->event_seq))) texts = std::move(kept->texts);
  out.set("tool_input", parsed(texts.input, id, "tool_input", problems));
  out.set("tool_response", parsed(texts.response, id, "tool_response", problems));
  out.set("origin", origins_json(m->tool_name.value_or("")));
  out.set("last_user_message", m->last_user_message);
  out.set("last_assistant_message", m->last_assistant_message);
  out.set("event_seq", m->event_seq);
  out.set("batch_id", m->batch);
  out.set("not_before_epoch", epoch_ms(m->not_before));
  out.set("solo", m->solo);
  out.set("problems", problems);
  // Its reply waits for the memory id: show it as waiting, although it is being processed.
  const bool undone = m->status == MessageStatus::pending || m->status == MessageStatus::processing;
  if (undone && (m->last_error == store::kAwaitingId || m->last_error == store::kNeverCaptured)) {
    out.set("status", name_of(MessageStatus::pending));
    out.set("reason", store::kAwaitingId);
    out.set("retry_after_ms", std::max<std::int64_t>(0, (m->not_before - world.clock.now()).count()));
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

static Result<Json> retry_one(World& world, MessageId id) {
  if (!TRY(store::find_message(world.db, id))) return unknown_message(id);
  const bool retried = TRY(store::retry_message(world.db, id));
  return Json::object({{"id", id.value}, {"retried", retried ? 1 : 0}, {"failed", 0}});
}

static Result<Json> queue_retry(World& world, const Args& args) {
  auto transaction = TRY(store::Transaction::begin(world.db));
  Json out;
  if (args.flag("stuck")) {
    out = TRY(retry_stuck(world, args));
  } else if (args.has("id")) {
    out = TRY(retry_one(world, MessageId{args.integer("id")}));
  } else {
    const SessionId session = TRY(resolve_session(world, args.name("session"))).id;
    out = Json::object({{"session_db_id", session.value},
                        {"retried", TRY(store::retry_session(world.db, session))},
                        {"failed", 0}});
  }
  TRY(transaction.commit());
  return out;
}

static Result<Json> queue_abort(World& world, const Args& args) {
  const MessageId id{args.integer("id")};
  auto transaction = TRY(store::Transaction::begin(world.db));
  const auto message = TRY(store::find_message(world.db, id));
  // Found first: afterwards nothing says whose it was.
  if (!message || !TRY(store::abort_message(world.db, id))) return unknown_message(id);
  TRY(transaction.commit());
  return Json::object({{"id", id.value},
                       {"aborted", true},
                       {"session_db_id", message->session.value},
                       {"content_session_id", message->content_id.value}});
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
  const auto oldest = TRY(store::oldest_pending(world.db));
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
      oldest ? std::max<std::int64_t>(0, (world.clock.now() - *oldest) / std::chrono::seconds(1)) : 0;
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
                         .as("MIN")
                         .not_with("status=pending status=processing status=failed"),
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
