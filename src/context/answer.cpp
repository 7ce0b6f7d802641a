#include "context/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/inert.h"
#include "base/quoted.h"
#include "context/composer.h"
#include "hook/control.h"
#include "store/evidence.h"
#include "store/lists.h"
#include "store/receipts.h"
#include "store/sessions.h"

namespace cairn::context {

static Result<std::string> source_of(store::Db& db, std::int64_t seq) {
  const auto event = TRY(store::kept_event(db, seq));
  if (!event || !event->texts.extra) return std::string();
  return std::string(Json::parse_partial(*event->texts.extra).value["reason"].as_string());
}

static Result<bool> was_given(store::Db& db, SessionId session, const EventId& start) {
  return TRY(db.integer(
                 "SELECT 1 FROM injections WHERE session_db_id = ? AND event_id = ? AND given_at_epoch "
                 "IS NOT NULL",
                 session.value, start.value))
      .has_value();
}

Result<std::optional<Due>> due_to(store::Db& db, const EventId& event) {
  store::Stmt asking = TRY(db.query(
      "SELECT session_db_id, kind, name FROM events WHERE event_id = ? AND outcome = 'stored'", event.value));
  if (!TRY(asking.step())) return std::optional<Due>();
  const SessionId session{asking.integer(0)};
  const std::string kind = asking.text(1);
  if (kind != "session_start" && kind != "prompt") return std::optional<Due>();
  store::Stmt start =
      TRY(db.query("SELECT seq, event_id FROM events WHERE session_db_id = ? AND kind = 'session_start' AND "
                   "outcome = 'stored' "
                   "ORDER BY seq DESC LIMIT 1",
                   session.value));
  if (!TRY(start.step())) return std::optional<Due>();
  Due due{EventId{start.text(1)}, TRY(source_of(db, start.integer(0))), session, asking.text(2)};
  if (kind == "prompt" && TRY(was_given(db, session, due.start))) return std::optional<Due>();
  return std::optional<Due>(std::move(due));
}

// What the user sees when a session starts. `asked`: context was looked for, so that an empty one means that
// there is nothing.
static std::string notice(const Composed& composed, const std::vector<std::string>& warnings, bool asked,
                          WallTime now) {
  std::string text;
  const auto add = [&](std::string_view part) {
    text += (text.empty() ? "cairn: " : " · ") + std::string(part);
  };
  if (asked && composed.last_at) {
    std::string last = "last session " + ago(*composed.last_at, now);
    if (const std::string request = without_tags(composed.last_request); !request.empty())
      last += " " + quoted(request, '"');
    add(last);
    if (composed.interrupted) add("interrupted");
    if (composed.open > 0) add(fmt::format("{} open", composed.open));
  }
  if (asked && !composed.text.empty()) add(fmt::format("{} tokens", composed.tokens));
  if (asked && !composed.last_at && composed.text.empty()) add("recording; nothing remembered here yet");
  for (const std::string& warning : warnings) add(warning);
  return text;
}

static std::string render(std::string_view event_name, const Composed& composed, const std::string& message) {
  if (composed.text.empty() && message.empty()) return std::string(hook::kFixedAnswer);
  Json answer = Json::object({{"continue", true}, {"suppressOutput", true}});
  if (!message.empty()) answer.set("systemMessage", message);
  if (!composed.text.empty())
    answer.set("hookSpecificOutput",
               Json::object({{"hookEventName", event_name}, {"additionalContext", composed.text}}));
  return answer.dump();
}

// How much a source is owed. Nothing: none at all.
static Result<std::optional<Request>> request_for(store::Db& db, const store::Session& session,
                                                  const std::string& source, const AnswerOptions& options) {
  const std::string wanted = source.empty() ? "startup" : source;
  const bool known = wanted == "startup" || wanted == "resume" || wanted == "clear" || wanted == "compact";
  if (known && std::find(options.sources.begin(), options.sources.end(), wanted) == options.sources.end())
    return std::optional<Request>();
  Request request;
  request.project = session.project;
  request.budget_tokens = options.budget_tokens;
  request.key = options.key;
  request.own_session = session.content_id.value;
  request.disk = options.disk;
  request.working_tree = session.worktree.value_or("");
  if (wanted == "resume")
    if (const auto given = TRY(store::last_given(db, session.id))) {
      request.since = given->up_to;
      request.except_session = session.content_id.value;
    }
  return std::optional<Request>(std::move(request));
}

Result<Answer> answer(store::Db& db, const Due& due, const AnswerOptions& options,
                      const std::vector<std::string>& warnings, WallTime now) {
  const auto session = TRY(store::find_session(db, due.session));
  CAIRN_ASSERT(session.has_value());
  const auto request = TRY(request_for(db, *session, due.source, options));
  const Composed composed = request ? TRY(compose(db, *request)) : Composed{};

  store::Receipt receipt;
  receipt.event = due.start;
  receipt.session = session->id;
  receipt.project = session->project;
  receipt.event_name = due.asked_by;
  receipt.source = due.source;
  receipt.tokens = static_cast<std::int64_t>(composed.tokens);
  receipt.characters = static_cast<std::int64_t>(composed.characters);
  receipt.text_hash = content_hash(composed.text);
  receipt.items = store::list_text(composed.items);
  receipt.up_to = receipt.created_at = now;
  const std::int64_t id = TRY(store::add_receipt(db, receipt));
  const bool is_startup = due.source == "startup" || due.source.empty();
  const bool asked = options.notice && is_startup && request.has_value();
  return Answer{render(due.asked_by, composed, notice(composed, warnings, asked, now)), id};
}

}  // namespace cairn::context
