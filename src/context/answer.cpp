#include "context/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/quoted.h"
#include "context/composer.h"
#include "context/inert.h"
#include "hook/control.h"
#include "host/host.h"
#include "store/events.h"
#include "store/evidence.h"
#include "store/lists.h"
#include "store/receipts.h"
#include "store/sessions.h"

namespace cairn::context {

using event::StartReason;

static Result<std::string> source_of(store::Db& db, std::int64_t seq) {
  const auto event = TRY(store::kept_event(db, seq));
  if (!event || !event->texts.extra) return std::string();
  return std::string(Json::parse_partial(*event->texts.extra).value["reason"].as_string());
}

bool allows(const std::vector<std::string>& sources, StartReason reason) {
  return reason == StartReason::other ||
         std::find(sources.begin(), sources.end(), event::start_reason_name(reason)) != sources.end();
}

Result<std::optional<Due>> due_to(store::Db& db, const EventId& event) {
  const auto asking = TRY(store::find_event(db, event));
  if (!asking || !asking->stored() || !asking->session) return std::optional<Due>();
  const bool is_prompt = asking->kind == event::Kind::prompt;
  if (asking->kind != event::Kind::session_start && !is_prompt) return std::optional<Due>();
  // A prompt asks on behalf of its session's last start: the context is composed for that one.
  const auto start = TRY(store::last_stored_start(db, *asking->session));
  if (!start) return std::optional<Due>();
  std::string source = TRY(source_of(db, start->seq));
  const StartReason reason = event::start_reason(source);
  Due due{start->id, std::move(source), reason, *asking->session, asking->name};
  if (!is_prompt) {
    const auto session = TRY(store::find_session(db, *asking->session));
    if (session && host::find_host(session->platform).drops_context(due.reason)) return std::optional<Due>();
  }
  // Only a confirmed receipt counts: an answer that came too late for its hook is given again.
  if (is_prompt && TRY(store::was_given(db, *asking->session, due.start))) return std::optional<Due>();
  return std::optional<Due>(std::move(due));
}

// The line that the user sees when a session starts. `asked`: context was composed; if it is empty, nothing
// is remembered.
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

// How much context a kind of session start gets. Nothing: none.
static Result<std::optional<Request>> request_for(store::Db& db, const store::Session& session,
                                                  StartReason reason, const AnswerOptions& options) {
  if (!allows(options.sources, reason)) return std::optional<Request>();
  Request request;
  request.project = session.project;
  request.budget_tokens = options.budget_tokens;
  request.key = options.key;
  request.own_session = session.content_id.value;
  request.disk = options.disk;
  if (reason != StartReason::resume) request.lead = options.lead;
  request.working_tree = session.worktree.value_or("");
  request.counts_bytes = host::find_host(session.platform).traits().counts_bytes;
  if (reason == StartReason::compact) request.compacted = session.id;
  if (reason == StartReason::resume)
    // It still has what it was given before, and its own turns (docs/decisions/0013).
    if (const auto given = TRY(store::last_given(db, session.id))) {
      request.since = given->up_to;
      request.except_session = session.content_id.value;
    }
  return std::optional<Request>(std::move(request));
}

// The size of our text and the instruction files, which every session loads. 0: the user is not warned,
// because it is within the limit, or not larger than at the last warning.
static std::int64_t overhead_kb(const Composed& composed, const AnswerOptions& options) {
  const std::int64_t bytes = static_cast<std::int64_t>(composed.text.size()) + options.instruction_bytes;
  const std::int64_t kb = bytes >> 10;
  return options.overhead_bytes > 0 && bytes > options.overhead_bytes && kb > options.overhead_reported_kb
             ? kb
             : 0;
}

static std::string overhead_line(std::int64_t kb, const Composed& composed, const AnswerOptions& options) {
  return fmt::format(
      "every session begins with {} KB: {} KB of cairn and {} KB in {} instruction file{} "
      "(context.overhead_kb = {}): shorten these",
      kb, composed.text.size() >> 10, options.instruction_bytes >> 10, options.instruction_files,
      options.instruction_files == 1 ? "" : "s", options.overhead_bytes >> 10);
}

Result<Answer> answer(store::Db& db, const Due& due, const AnswerOptions& options,
                      std::vector<std::string> warnings, WallTime now) {
  const auto session = TRY(store::find_session(db, due.session));
  CAIRN_ASSERT(session.has_value());
  // No request (context.sources excludes this start): the receipt is written all the same, so that no
  // prompt asks for it again.
  const auto request = TRY(request_for(db, *session, due.reason, options));
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
  const bool asked = options.notice && due.reason == StartReason::startup && request.has_value();
  const std::int64_t overhead = overhead_kb(composed, options);
  if (overhead > 0) warnings.push_back(overhead_line(overhead, composed, options));
  const std::string message = notice(composed, warnings, asked, now);
  if (composed.text.empty() && message.empty()) return Answer{std::string(hook::kFixedAnswer), id, 0};
  const host::Host& host = host::find_host(session->platform);
  return Answer{host.write_answer(due.asked_by, composed.text, message).dump(), id, overhead};
}

}  // namespace cairn::context
