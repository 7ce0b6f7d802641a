#include "sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "intake/inbox_reader.h"
#include "store/sql.h"

namespace cairn::sim {

using test::must;

Wrong Invariants::after_step(Actor actor) {
  const test::SimDisk::Onlooker looking(m_.disk);
  SIM_CHECK(stored_events());
  SIM_CHECK(nothing_lost());
  return queue(actor);
}

// Reads the events that were stored since the last time.
Wrong Invariants::stored_events() {
  store::Stmt row =
      must(m_.db().query("SELECT e.seq, e.event_id, e.outcome, coalesce(s.content_session_id, ''), e.source "
                         "FROM events e LEFT JOIN "
                         "sdk_sessions s ON s.id = e.session_db_id WHERE e.seq > ? ORDER BY e.seq",
                         last_seq_));
  while (must(row.step())) {
    last_seq_ = row.integer(0);
    ++seen_;
    if (row.text(4) != "hook") continue;
    const std::string id = row.text(1);
    const auto known = model_.events.find(id);
    if (known == model_.events.end()) {
      ++model_.strangers;
      if (model_.strangers > model_.failed_deliveries) return fmt::format("event {} was never delivered", id);
      continue;
    }
    known->second.seq = last_seq_;
    known->second.outcome = row.text(2);
    model_.waiting.erase(id);
    SIM_CHECK(stored_event(id, known->second, row.text(3)));
  }
  const std::int64_t kept = count("SELECT count(*) FROM events");
  if (kept != seen_) return fmt::format("the store had {} events and has {}", seen_, kept);
  return {};
}

Wrong Invariants::stored_event(const std::string& id, Delivered& delivered, const std::string& session) {
  const Meaning& meaning = delivered.meaning;
  const std::string& outcome = delivered.outcome;
  const auto wrong = [&](std::string_view what) {
    return fmt::format("{} {} of {} ended as {} in session {}: {}", id, meaning.key, meaning.session, outcome,
                       session, what);
  };
  if (outcome == "bad")
    return model_.suspects.contains(id) || delivered.may_be_lost ? Wrong()
                                                                 : wrong("nothing was wrong with it");
  if (session != meaning.session) return wrong("that is another session");
  const bool frames = meaning.event == "SessionStart" || meaning.event == "SessionEnd";
  // Events that are no work belong to whatever turn is current; a notification is not a request.
  const bool is_request = meaning.event == "UserPromptSubmit" && !meaning.word.starts_with("note");
  const bool is_work = is_request || meaning.event.ends_with("ToolUse") ||
                       meaning.event == "PostToolUseFailure" || meaning.event.starts_with("Stop");
  if (outcome == "private")
    return !frames && (meaning.secret || !is_work ||
                       may_be_private(meaning.session, meaning.noted || meaning.no_ids))
               ? Wrong()
               : wrong("it is not private");
  const bool compaction = meaning.event == "SubagentStop" && meaning.word.empty();
  if ((outcome == "skipped") != compaction) return wrong("only a compaction's own SubagentStop is skipped");
  if (outcome == "stored" || outcome == "duplicate" || outcome == "skipped") return {};
  return wrong("why?");
}

// A notification does not say which prompt it continues. When hooks arrived out of order, it may be stored in
// the turn of a private prompt. The same holds for an event without a prompt id whose prompt was not
// delivered.
bool Invariants::may_be_private(const std::string& session, bool noted) const {
  return noted && std::any_of(model_.events.begin(), model_.events.end(), [&](const auto& event) {
           return event.second.meaning.secret && event.second.meaning.session == session;
         });
}

// An event that is not in the store must be in the inbox.
Wrong Invariants::nothing_lost() {
  const std::string inbox = m_.home.inbox();
  for (const std::string& id : model_.waiting) {
    if (model_.events[id].may_be_lost) continue;
    bool found = m_.disk.stat(inbox + "/new/" + id).ok() || m_.disk.stat(inbox + "/cur/" + id).ok();
    for (int n = 1; n <= intake::InboxReader::kMostDeaths && !found; ++n)
      found = m_.disk.stat(fmt::format("{}/cur/{}.{}", inbox, id, n)).ok();
    if (!found) return fmt::format("{} {} was acknowledged and is gone", id, model_.events[id].meaning.key);
  }
  return {};
}

Invariants::Rows Invariants::read_queue() {
  store::Stmt row =
      must(m_.db().query("SELECT m.id, m.session_db_id, m.retry_count, m.not_before_epoch, m.batch_size, "
                         "coalesce(m.prompt_number, 0), "
                         "m.status, m.batch_id, m.solo, EXISTS (SELECT 1 FROM turns t WHERE t.session_db_id "
                         "= m.session_db_id AND "
                         "t.prompt_number = m.prompt_number AND t.ended_at_epoch IS NULL) FROM "
                         "pending_messages m ORDER BY m.id"));
  Rows rows;
  while (must(row.step()))
    rows[row.integer(0)] = {row.integer(1), row.integer(2),      row.integer(3),
                            row.integer(4), row.integer(5),      row.text(6),
                            row.text(7),    row.integer(8) != 0, row.integer(9) != 0};
  return rows;
}

Wrong Invariants::queue(Actor actor) {
  Rows now = read_queue();
  for (const auto& [id, was] : rows_) {
    const auto is = now.find(id);
    SIM_CHECK(moved(id, was, is == now.end() ? nullptr : &is->second, actor));
  }
  SIM_CHECK(batches(now));
  if (actor != Actor::person) SIM_CHECK(claimed_in_order(now));
  rows_ = std::move(now);
  return {};
}

// The transitions that a message may make within one step.
Wrong Invariants::moved(std::int64_t id, const Row& was, const Row* is, Actor actor) {
  const auto wrong = [&](std::string_view what) {
    return fmt::format("message {} went from {} to {}: {}", id, was.status, is ? is->status : "nothing",
                       what);
  };
  if (!is) {
    const bool hidden =
        count("SELECT muted FROM turns WHERE session_db_id = ? AND prompt_number = ?", was.session,
              was.prompt) == 1;  // its prompt came late, and was private
    if (was.status == "processed" || actor != Actor::engine || hidden) return {};
    return wrong("only a person removes one that is not processed");
  }
  if (was.status == "processed") {
    const bool same = is->status == "processed" && is->batch == was.batch;
    return same ? Wrong() : wrong("what is processed stays so");
  }
  if (actor == Actor::person) return is->status == "processed" ? wrong("nobody has worked on it") : Wrong();
  if (actor == Actor::both && was.retries >= is->retries) return {};  // a retry by hand restores them
  if (was.status == "failed" && is->status != "failed") return wrong("only a person takes it up again");
  if (is->retries < was.retries) return wrong("its tries went down");
  if (is->retries > was.retries + 1) return wrong("one step cost it two tries");
  constexpr std::int64_t kRetries = 3;  // queue.max_retries
  const bool fails = is->status == "failed" && was.status != "failed";
  if (fails && (model_.lost_tries <= kRetries || was.retries < kRetries)) return wrong("it had tries left");
  return {};
}

// At most one batch of a session is in work, and a message that was left behind is alone in it.
Wrong Invariants::batches(const Rows& now) const {
  std::map<std::int64_t, std::string> of_session;
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [id, row] : now) {
    if (row.status != "processing") continue;
    const auto [at, fresh] = of_session.emplace(row.session, row.batch);
    if (!fresh && at->second != row.batch)
      return fmt::format("two batches of session {} are in work", row.session);
    if (++sizes[row.batch] > row.batch_size) return fmt::format("batch {} has grown", row.batch);
    if (row.solo && row.batch_size != 1) return fmt::format("message {} was to be claimed alone", id);
  }
  return {};
}

// The messages of a session are claimed in order.
Wrong Invariants::claimed_in_order(const Rows& now) const {
  std::map<std::int64_t, std::int64_t> last;  // session -> the last that was claimed
  for (const auto& [id, row] : now) {
    const auto was = rows_.find(id);
    const bool claimed = was != rows_.end() && was->second.status == "pending" &&
                         (row.status == "processing" || row.status == "processed");
    if (claimed) last[row.session] = id;
  }
  const std::int64_t wall = epoch_ms(m_.clock.now());
  for (const auto& [id, row] : now) {
    const auto was = rows_.find(id);
    const auto later = last.find(row.session);
    if (later == last.end() || later->second < id || was == rows_.end()) continue;
    const bool due = was->second.not_before <= wall && !was->second.turn_is_open && !row.turn_is_open;
    if (was->second.status == "pending" && row.status == "pending" && due)
      return fmt::format("message {} was overtaken by {} of its session", id, later->second);
  }
  return {};
}

std::vector<std::int64_t> Invariants::messages() const {
  std::vector<std::int64_t> ids;
  for (const auto& [id, row] : rows_) ids.push_back(id);
  return ids;
}

std::string Invariants::tables() {
  const test::SimDisk::Onlooker looking(m_.disk);
  std::string text;
  for (const char* sql :
       {"SELECT id, content_session_id, status, end_reason, memory_session_id, prompt_count, transcript_due "
        "FROM "
        "sdk_sessions ORDER BY id",
        "SELECT seq, event_id, session_db_id, name, source, outcome, reason, prompt_number, prompt_id, "
        "tool_use_id, "
        "created_at_epoch FROM events ORDER BY seq",
        "SELECT session_db_id, prompt_number, ended_at_epoch, end_reason, muted FROM turns ORDER BY 1, 2",
        "SELECT session_db_id, prompt_id, prompt_number FROM prompt_ids ORDER BY 1, 3, 2",
        "SELECT id, event_seq, session_db_id, prompt_number, status, retry_count, solo, batch_id, last_error "
        "FROM "
        "pending_messages ORDER BY id",
        "SELECT uuid, memory_session_id, prompt_number, interim, summary_text FROM session_summaries ORDER "
        "BY id",
        "SELECT session_db_id, tool_use_id, outcome, reason FROM transcript_calls ORDER BY 1, 2",
        "SELECT session_db_id, path, inode, read_to, malformed FROM transcripts ORDER BY 1, 2"}) {
    const std::string_view table = sql;
    text.append("-- ").append(table.substr(table.find("FROM "))).append("\n");
    for (const std::string& row : m_.rows(sql)) text += row + "\n";
  }
  return text;
}

}  // namespace cairn::sim
