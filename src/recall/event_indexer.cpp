#include "recall/event_indexer.h"

#include <algorithm>

#include "host/host.h"
#include "recall/long_texts.h"
#include "store/event_index.h"
#include "store/evidence.h"
#include "store/meta.h"
#include "store/scrub.h"
#include "store/sessions.h"

namespace cairn::recall {

static constexpr std::size_t kCallsOfStep = 128;         // about 20 ms
static constexpr std::int64_t kWaitNs = 60'000'000'000;  // after an error

Status index_call(store::Db& db, std::int64_t seq) {
  const auto event = TRY(store::kept_event(db, seq));
  const bool is_call =
      event && (event->kind == event::Kind::tool || event->kind == event::Kind::tool_failure);
  // skip_event() marks the event, or every step would look at it again.
  if (!is_call || !event->texts.input) return store::skip_event(db, seq);
  const auto session = TRY(store::find_session(db, event->session));
  const host::Host& host = host::find_host(session ? session->platform : "");
  if (host.is_own_call(event->tool_name, Json::parse_partial(*event->texts.input).value))
    return store::skip_event(db, seq);
  const CallText text = call_text(event->tool_name, event->texts.input, event->texts.response);
  return store::index_event(db, seq, text.input, text.output);
}

bool EventIndexer::step() {
  if (clock_.boot_ns() < not_before_ns_) return false;
  // Merging first: it removes words of deleted text, which must not wait.
  auto more = merge_some();
  if (more && !*more) more = index_some();
  if (more) return *more;
  log_.error("index of tool calls: " + more.error().message);
  not_before_ns_ = clock_.boot_ns() + kWaitNs;
  return false;
}

Result<bool> EventIndexer::merge_some() {
  if (!TRY(store::meta_number(db_, store::kIndexToMerge))) return false;
  TRY(store::in_transaction(db_, [&]() -> Status {
    return TRY(store::merge_indexes(db_)) ? Status() : store::delete_meta(db_, store::kIndexToMerge);
  }));
  return true;
}

Result<bool> EventIndexer::index_some() {
  auto waiting = TRY(store::events_to_index(db_, kCallsOfStep));
  if (waiting.empty()) return false;
  // In ascending order: FTS5 flushes what it has gathered whenever a rowid is smaller than the one before.
  std::reverse(waiting.begin(), waiting.end());
  TRY(store::in_transaction(db_, [&]() -> Status {
    for (const std::int64_t seq : waiting) TRY(index_call(db_, seq));
    return {};
  }));
  return true;
}

}  // namespace cairn::recall
