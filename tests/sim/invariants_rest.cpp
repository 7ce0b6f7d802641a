// The comparisons of the whole store.
#include <fmt/format.h>

#include <algorithm>

#include "archive/repair.h"
#include "archive/verify.h"
#include "ops/backup.h"
#include "sim/invariants.h"
#include "store/evidence.h"
#include "store/sql.h"

namespace cairn::sim {

using test::must;

namespace {

// Each must count nothing.
struct Never {
  const char* what;
  const char* sql;
};

// The archive is the evidence of what was imported.
#define IN_THE_ARCHIVE                                                                                    \
  "EXISTS (SELECT 1 FROM sdk_sessions s LEFT JOIN turns t ON t.session_db_id = s.id AND t.prompt_number " \
  "= e.prompt_number WHERE s.id = e.session_db_id AND (s.imported OR t.expired) AND EXISTS (SELECT 1 "    \
  "FROM backups b WHERE b.content_session_id = s.content_session_id))"

constexpr Never kNever[] = {
    {"a stored event without its texts, or texts of one that is not stored",
     "SELECT count(*) FROM events e LEFT JOIN evidence v ON v.event_seq = e.seq WHERE (e.outcome = 'stored') "
     "<> (v.event_seq IS NOT NULL) AND NOT " IN_THE_ARCHIVE},
    {"an unfinished message without its texts",
     "SELECT count(*) FROM pending_messages m LEFT JOIN evidence v ON v.event_seq = m.event_seq WHERE "
     "m.status <> 'processed' AND v.event_seq IS NULL"},
    {"a call that waits to be indexed although its message is done",
     "SELECT count(*) FROM evidence v LEFT JOIN pending_messages m ON m.event_seq = v.event_seq WHERE "
     "v.indexed = 3 AND coalesce(m.status, 'processed') = 'processed'"},
    {"a message of an event that is no work",
     "SELECT count(*) FROM pending_messages m JOIN events e ON e.seq = m.event_seq WHERE e.kind NOT IN "
     "('tool', "
     "'tool_failure', 'stop', 'stop_failure') OR e.session_db_id <> m.session_db_id"},
    {"evidence under another session",
     "SELECT count(*) FROM evidence v JOIN events e ON e.seq = v.event_seq WHERE e.session_db_id <> "
     "v.session_db_id"},
    {"a tool result that counts twice",
     "SELECT count(*) FROM (SELECT 1 FROM events WHERE outcome = 'stored' AND kind IN ('tool', "
     "'tool_failure') GROUP "
     "BY session_db_id, tool_use_id HAVING count(*) > 1)"},
    {"a start of a tool that counts twice",
     "SELECT count(*) FROM (SELECT 1 FROM events WHERE outcome = 'stored' AND kind = 'tool_start' GROUP BY "
     "session_db_id, tool_use_id HAVING count(*) > 1)"},
    {"an ended turn without its summary",
     "SELECT count(*) FROM turns t JOIN sdk_sessions s ON s.id = t.session_db_id WHERE t.ended_at_epoch IS "
     "NOT NULL AND "
     "NOT t.muted AND (EXISTS (SELECT 1 FROM user_prompts p WHERE p.session_db_id = s.id AND p.prompt_number "
     "= "
     "t.prompt_number) OR EXISTS (SELECT 1 FROM events e WHERE e.session_db_id = s.id AND e.prompt_number = "
     "t.prompt_number AND e.outcome = 'stored' AND e.kind IN ('tool', 'tool_failure'))) AND 1 <> (SELECT "
     "count(*) FROM "
     "session_summaries u WHERE u.memory_session_id = s.memory_session_id AND u.prompt_number = "
     "t.prompt_number AND "
     "NOT u.interim)"},
    {"a summary without its turn",
     "SELECT count(*) FROM session_summaries u JOIN sdk_sessions s USING(memory_session_id) LEFT JOIN turns "
     "t ON "
     "t.session_db_id = s.id AND t.prompt_number = u.prompt_number WHERE t.prompt_number IS NULL"},
    {"something kept of a private turn",
     "SELECT count(*) FROM turns t JOIN sdk_sessions s ON s.id = t.session_db_id WHERE t.muted AND (EXISTS "
     "(SELECT 1 "
     "FROM session_summaries u WHERE u.memory_session_id = s.memory_session_id AND u.prompt_number = "
     "t.prompt_number) OR EXISTS (SELECT 1 FROM pending_messages m WHERE m.session_db_id = s.id AND "
     "m.prompt_number = "
     "t.prompt_number) OR EXISTS (SELECT 1 FROM events e WHERE e.session_db_id = s.id AND e.prompt_number = "
     "t.prompt_number AND e.outcome = 'stored' AND e.kind IN ('prompt', 'tool_start', 'tool', "
     "'tool_failure', "
     "'stop', 'stop_failure')))"},
    {"an event that was learned from twice",
     "SELECT count(*) FROM (SELECT 1 FROM observations WHERE title LIKE 'learned from event %' AND "
     "deleted_at IS NULL GROUP BY title HAVING count(*) > 1)"},
    {"something learned from an event that is still to be learned from",
     "SELECT count(*) FROM observations o JOIN pending_messages m ON o.title = 'learned from event ' || "
     "m.event_seq WHERE m.status <> 'processed' AND o.deleted_at IS NULL"},
    {"a memory id that is a content id",
     "SELECT count(*) FROM sdk_sessions a JOIN sdk_sessions b ON a.memory_session_id = b.content_session_id"},
    {"an event in a turn that is not there",
     "SELECT count(*) FROM events e LEFT JOIN turns t ON t.session_db_id = e.session_db_id AND "
     "t.prompt_number = "
     "e.prompt_number WHERE e.prompt_number IS NOT NULL AND t.prompt_number IS NULL"},
    {"work in another turn than its prompt's",
     "SELECT count(*) FROM events e JOIN prompt_ids i ON i.session_db_id = e.session_db_id AND i.prompt_id = "
     "e.prompt_id WHERE e.outcome = 'stored' AND e.prompt_number IS NOT i.prompt_number AND e.kind IN "
     "('prompt', "
     "'tool_start', 'tool', 'tool_failure', 'stop', 'stop_failure')"},
    {"an ended session with an open turn",
     "SELECT count(*) FROM turns t JOIN sdk_sessions s ON s.id = t.session_db_id WHERE t.ended_at_epoch IS "
     "NULL AND "
     "s.status <> 'active' AND t.prompt_number < s.prompt_count"},
    {"a turn that is open behind the latest",
     "SELECT count(*) FROM turns t JOIN sdk_sessions s ON s.id = t.session_db_id WHERE t.ended_at_epoch IS "
     "NULL AND "
     "t.prompt_number < s.prompt_count"},
    {"a broken foreign key", "SELECT count(*) FROM pragma_foreign_key_check"},
};

}  // namespace

Wrong Invariants::counts() {
  for (const auto& [what, sql] : kNever)
    if (const std::int64_t found = count(sql); found != 0) return fmt::format("{}: {}", what, found);
  return {};
}

Wrong Invariants::at_rest() {
  const test::SimDisk::Onlooker looking(m_.disk);
  for (const char* box : {"new", "cur"})
    if (!m_.files(box).empty()) return fmt::format("at rest, and {}/ has {}", box, m_.files(box).front());
  for (const std::string& id : model_.waiting)
    if (!model_.events[id].may_be_lost) return fmt::format("at rest, and {} was not read", id);
  if (count("SELECT count(*) FROM pending_messages WHERE status = 'processing'") != 0)
    return "at rest, and a message is in work";
  SIM_CHECK(counts());
  SIM_CHECK(in_order());
  SIM_CHECK(private_turns());
  return once_each();
}

// What belongs to a private prompt by its order alone is not kept.
Wrong Invariants::private_turns() {
  for (const auto& event : model_.events) {
    const Delivered& work = event.second;
    const Meaning& meaning = work.meaning;
    const bool is_work = !meaning.tool_use.empty() || meaning.event.starts_with("Stop");
    if (!meaning.secret || !meaning.no_ids || !is_work || !work.in_order || work.seq == 0) continue;
    const bool knew = std::any_of(model_.events.begin(), model_.events.end(), [&](const auto& other) {
      const Delivered& prompt = other.second;
      return prompt.meaning.event == "UserPromptSubmit" && prompt.meaning.session == meaning.session &&
             prompt.meaning.turn == meaning.turn && prompt.order < work.order && prompt.in_order &&
             prompt.outcome == "private" && prompt.boot_id == work.boot_id;
    });
    if (knew && count("SELECT count(*) FROM events WHERE seq = ? AND outcome = 'stored'", work.seq) != 0)
      return fmt::format("{} of a private prompt is kept", meaning.key);
  }
  return {};
}

// Within a boot and a session, events are read as they were delivered.
Wrong Invariants::in_order() {
  std::map<std::string, std::vector<const Delivered*>> groups;
  for (const auto& [id, delivered] : model_.events)
    if (delivered.in_order && delivered.seq > 0 && delivered.outcome != "bad")
      groups[delivered.boot_id + delivered.meaning.session].push_back(&delivered);
  for (auto& [name, group] : groups) {
    std::sort(group.begin(), group.end(), [](auto* a, auto* b) { return a->order < b->order; });
    for (std::size_t i = 1; i < group.size(); ++i)
      if (group[i]->seq < group[i - 1]->seq)
        return fmt::format("{} was read before {}", group[i]->meaning.key, group[i - 1]->meaning.key);
  }
  return {};
}

// However often a call was delivered, it counts once, and at least once.
Wrong Invariants::once_each() {
  std::map<std::string, std::vector<const Delivered*>> calls;
  for (const auto& [id, delivered] : model_.events)
    if (delivered.seq > 0) calls[delivered.meaning.key].push_back(&delivered);
  for (const auto& [key, deliveries] : calls) {
    const Meaning& meaning = deliveries.front()->meaning;
    if (meaning.event == "SessionStart" || meaning.event == "SessionEnd") continue;
    // An event that was stored, and removed when its turn became private, counts as the original of its
    // duplicates.
    std::int64_t stored = 0, muted = 0, duplicates = 0, last = 0;
    for (const Delivered* delivered : deliveries) {
      muted += delivered->outcome == "private";
      duplicates += delivered->outcome == "duplicate";
      if (delivered->outcome != "stored") continue;
      if (++stored > 1 && std::abs(delivered->wall_ms - last) <= 5000)
        return fmt::format("{} was delivered twice and counts twice", key);
      last = delivered->wall_ms;
    }
    if (stored + muted > 0 || duplicates == 0 || meaning.secret || model_.tried.contains(key)) continue;
    const std::int64_t first = count(
        "SELECT count(*) FROM events WHERE source = 'transcript' AND outcome = 'stored' AND (tool_use_id = "
        "?1 OR "
        "(?1 = '' AND prompt_id = ?2))",
        meaning.tool_use, meaning.prompt_id);
    if (first == 0) return fmt::format("{} counts as a duplicate of nothing", key);
  }
  return {};
}

Wrong Invariants::at_end(const std::vector<TranscriptCall>& calls) {
  const test::SimDisk::Onlooker looking(m_.disk);
  for (const auto& [what, sql] :
       {std::pair("a message waits", "pending_messages WHERE status IN ('pending', 'processing')"),
        {"a turn is open", "turns WHERE ended_at_epoch IS NULL"},
        {"a session is active", "sdk_sessions WHERE status = 'active'"},
        {"a tool call waits", "transcript_calls WHERE outcome = 'waiting'"}})
    if (count(std::string("SELECT count(*) FROM ") + sql) != 0)
      return fmt::format("at the end, and {}", what);
  SIM_CHECK(prompts());
  SIM_CHECK(texts());
  SIM_CHECK(transcripts(calls));
  SIM_CHECK(backups());
  const Json status = must(m_.run("status"));
  const Json& ledger = status["ledger"];
  std::int64_t taken = model_.strangers;
  for (const auto& [id, delivered] : model_.events) taken += delivered.seq > 0;
  if (ledger["gap"].as_int() != 0 || ledger["delivered"].as_int() != taken ||
      ledger["taken_in"].as_int() != taken)
    return fmt::format("the ledger does not close over {} events: {}", taken, ledger.dump());
  if (const Status whole = m_.db().integrity_check(); !whole) return whole.error().message;
  return {};
}

// Every request is in its own turn, and the turn's summary contains it.
Wrong Invariants::prompts() {
  for (const auto& [id, delivered] : model_.events) {
    const Meaning& meaning = delivered.meaning;
    if (meaning.event != "UserPromptSubmit") continue;
    const std::string pattern = "%" + meaning.word + "%";
    if (meaning.secret) {
      if (count(
              "SELECT (SELECT count(*) FROM user_prompts WHERE prompt_text LIKE ?1) + (SELECT count(*) FROM "
              "session_summaries WHERE summary_text LIKE ?1)",
              pattern) != 0)
        return fmt::format("{} was private and is kept", meaning.key);
      continue;
    }
    if (delivered.outcome != "stored" || !meaning.word.starts_with("request")) continue;
    if (meaning.no_ids) {
      if (count("SELECT count(*) FROM user_prompts WHERE content_session_id = ? AND prompt_text LIKE ?",
                meaning.session, pattern) == 0)
        return fmt::format("the request of {} is not kept", meaning.key);
      continue;
    }
    const std::int64_t kept = count(
        "SELECT count(*) FROM user_prompts p JOIN prompt_ids i ON i.session_db_id = p.session_db_id AND "
        "i.prompt_number = p.prompt_number WHERE p.content_session_id = ? AND i.prompt_id = ? AND "
        "p.prompt_text LIKE ?",
        meaning.session, meaning.prompt_id, pattern);
    if (kept != 1) return fmt::format("the request of {} is kept {} times", meaning.key, kept);
    const std::int64_t summaries = count(
        "SELECT count(*) FROM session_summaries u JOIN sdk_sessions s USING(memory_session_id) JOIN "
        "prompt_ids i ON "
        "i.session_db_id = s.id AND i.prompt_number = u.prompt_number WHERE i.prompt_id = ? AND u.request "
        "LIKE ?",
        meaning.prompt_id, pattern);
    if (summaries != 1) return fmt::format("{} summaries have the request of {}", summaries, meaning.key);
  }
  return {};
}

// What a tool event said can be read back.
Wrong Invariants::texts() {
  for (const auto& [id, delivered] : model_.events) {
    const Meaning& meaning = delivered.meaning;
    if (delivered.outcome != "stored" || meaning.tool_use.empty() || meaning.secret ||
        may_be_private(meaning.session, meaning.noted || meaning.no_ids))
      continue;
    const auto kept = must(store::kept_event(m_.db(), delivered.seq));
    if (!kept || kept->texts.input.value_or("").find(meaning.word) == std::string::npos)
      return fmt::format("what {} said is gone", meaning.key);
  }
  return {};
}

// Whether the store must have a call that no hook delivered.
bool Invariants::must_be_recovered(const TranscriptCall& call) {
  if (model_.clock_was_set || model_.capture_was_off || call.secret || call.result.empty() ||
      may_be_private(call.session, call.noted || call.no_ids))
    return false;
  // What a session wrote before its first event, a resume, cannot be distinguished from its history.
  return count(
             "SELECT count(*) FROM events e JOIN sdk_sessions s ON s.id = e.session_db_id WHERE "
             "s.content_session_id = ? AND e.kind = 'session_start' AND e.outcome = 'stored' AND "
             "e.created_at_epoch <= s.started_at_epoch AND s.started_at_epoch <= ?",
             call.session, call.at_ms) > 0;
}

// Whether a hook of the session arrived after the call: a session that came back without any is not known to
// run.
bool Invariants::heard_after(const TranscriptCall& call) const {
  for (const auto& [id, delivered] : model_.events)
    if (delivered.meaning.session == call.session && delivered.seq > 0 && delivered.outcome != "bad" &&
        delivered.order > static_cast<std::int64_t>(call.deliveries))
      return true;
  return false;
}

// Whatever died or failed meanwhile, a registered backup is whole, and every row has its file.
Wrong Invariants::backups() {
  const archive::Places places = ops::archive_of(m_.home);
  for (const archive::Defect& defect : must(archive::find_defects(m_.db(), m_.disk, places)))
    if (defect.kind == archive::Defect::Kind::missing)
      return fmt::format("a file of the archive is missing: {}: {}", defect.file, defect.what);
  for (const std::int64_t id : must(store::backup_ids(m_.db()))) {
    const auto backup = must(store::find_backup(m_.db(), id));
    const archive::Verified found = must(archive::verify_backup(m_.db(), m_.disk, places, *backup));
    if (found.damaged) return fmt::format("backup B{} is damaged: {}", id, found.problems.front().what);
  }
  return {};
}

// Every call in a transcript has a reason or a row.
Wrong Invariants::transcripts(const std::vector<TranscriptCall>& calls) {
  for (const TranscriptCall& call : calls) {
    if (model_.ended_by_hand.contains(call.session) || (call.resumed && !heard_after(call))) continue;
    if (count("SELECT count(*) FROM sdk_sessions WHERE content_session_id = ?", call.session) == 0) continue;
    const auto bytes = os::read_file(m_.disk, call.path, 64u << 20);
    const auto has = [&](const std::string& line) {
      return !line.empty() && (bytes->starts_with(line) || bytes->find("\n" + line) != std::string::npos);
    };
    if (!bytes || !has(call.use)) continue;
    const bool whole = has(call.result);
    if (count("SELECT count(*) FROM transcript_calls c JOIN sdk_sessions s ON s.id = c.session_db_id WHERE "
              "s.content_session_id = ? AND c.tool_use_id = ?",
              call.session, call.tool_use) != 1)
      return fmt::format("the ledger does not know {} of {}", call.tool_use, call.session);
    if (!whole || !must_be_recovered(call)) continue;
    if (count("SELECT count(*) FROM events e JOIN sdk_sessions s ON s.id = e.session_db_id WHERE "
              "s.content_session_id = ? AND e.tool_use_id = ? AND e.outcome = 'stored'",
              call.session, call.tool_use) == 0)
      return fmt::format("the store has nothing of {} of {}", call.tool_use, call.session);
  }
  return {};
}

}  // namespace cairn::sim
