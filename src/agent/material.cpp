#include "agent/material.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "store/notes.h"
#include "store/open_items.h"
#include "store/summaries.h"
#include "store/texts.h"
#include "store/turns.h"

namespace cairn::agent {

namespace {

// Every request has these lists, and pays for them.
constexpr std::size_t kMostOpen = 12, kMostRules = 8;
constexpr std::size_t kMostSoFar = 4;  // turns in the running summary

void add_line(std::string& out, std::string_view name, std::string_view text) {
  if (!trim(text).empty()) out.append(fmt::format("{}: {}\n", name, trim(text)));
}

// What the built-in distiller knows about a turn; the answer is left out, because the request has it whole.
std::string noted_about(const store::Summary& summary, const std::string& answer) {
  std::string out;
  std::string completed = summary.completed;
  const std::size_t facts_end = completed.find("\n\n");  // the paragraph of facts comes before the answer
  if (!answer.empty()) completed.resize(std::min(facts_end, completed.size()));
  add_line(out, "looked at", summary.investigated);
  add_line(out, "done", completed);
  add_line(out, "open", summary.next_steps);
  return out;
}

// How a turn ended, for the model; empty when it ended as usual, with an answer.
std::string end_in_words(const store::Turn& turn) {
  switch (turn.end_reason) {
    case store::TurnEnd::stop_failure: return "with an error of the service: " + one_line(turn.failure, 80);
    case store::TurnEnd::session_end:
    case store::TurnEnd::session_start: return "abruptly, the session was closed";
    case store::TurnEnd::dead_host: return "abruptly, the agent's process died";
    case store::TurnEnd::idle: return "it was left idle";
    default: return turn.last_assistant_message.empty() ? "without an answer" : "";
  }
}

std::string running_summary(const std::vector<store::Summary>& summaries, std::int64_t before) {
  std::string out;
  for (const store::Summary& summary : summaries) {
    if (summary.prompt_number >= before) continue;
    out += fmt::format("Turn {}.\n", summary.prompt_number);
    add_line(out, "Request", summary.request);
    add_line(out, "Learned", summary.learned);
    add_line(out, "Completed", summary.completed);
    add_line(out, "Open", summary.next_steps);
  }
  return out;
}

// The number of the batch's last event of that turn.
std::int64_t last_of(const std::vector<store::KeptEvent>& events, std::int64_t number) {
  std::int64_t last = 0;
  for (const store::KeptEvent& event : events)
    if (event.prompt_number == number) last = std::max(last, event.seq);
  return last;
}

// `from`: remarks before this time are left out. `last`: the batch's last event of the turn.
Result<TurnMaterial> load_turn_material(store::Db& db, const store::Session& session, std::int64_t number,
                                        WallTime from, std::int64_t last) {
  TurnMaterial out;
  out.number = number;
  out.prompt = TRY(store::prompt_text(db, session.id, number));
  const auto turn = TRY(store::find_turn(db, session.id, number));
  if (!turn) return out;
  out.started_at = turn->started_at;
  // A summary is asked for only with the turn's last event: otherwise a later batch has the rest of the
  // turn, and asks for it.
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  out.wants_summary = !turn->open() && !TRY(store::has_work_between(db, session.id, number, last, kEnd));
  if (out.wants_summary) {
    out.answer = turn->last_assistant_message;
    out.ended = end_in_words(*turn);
  }
  for (const store::Text& text : TRY(store::texts_of_turn(db, session.id, number))) {
    // The turn's last message is also among its texts; it is shown as the answer, so not a second time.
    const bool by_person = text.kind == store::TextKind::objection;
    if ((by_person || text.kind == store::TextKind::remark) && text.at >= from && text.text != out.answer)
      out.remarks.push_back({text.at, text.text, by_person});
  }
  return out;
}

}  // namespace

Result<PromptMaterial> load_material(store::Db& db, const store::Session& session,
                                     std::vector<store::KeptEvent> events, bool fresh) {
  PromptMaterial out;
  out.project = session.project;
  out.host = session.platform;
  out.events = std::move(events);
  const auto summaries = TRY(store::last_summaries(db, session.id, 60));
  for (std::size_t i = 0; i < out.events.size(); ++i) {
    const std::int64_t number = out.events[i].prompt_number;
    const auto known = [&](const TurnMaterial& turn) { return turn.number == number; };
    if (std::any_of(out.turns.begin(), out.turns.end(), known)) continue;
    // Remarks before the batch's first event were sent with the turn's earlier batch. But remarks come from
    // the transcript, which may be read a little later than the events: those of the last minute are sent
    // (again).
    const auto before = TRY(store::last_work_before(db, session.id, number, out.events[i].seq));
    const WallTime from =
        before ? std::min(*before, out.events[i].at - std::chrono::minutes(1)) : WallTime::min();
    TurnMaterial turn = TRY(load_turn_material(db, session, number, from, last_of(out.events, number)));
    for (const store::Summary& summary : summaries)
      if (summary.prompt_number == number) turn.noted = noted_about(summary, turn.answer);
    out.turns.push_back(std::move(turn));
  }
  // Not yet sorted: a call that was recovered late has a high number but belongs to an earlier turn.
  std::sort(out.turns.begin(), out.turns.end(),
            [](const TurnMaterial& a, const TurnMaterial& b) { return a.number < b.number; });
  if (fresh && !out.turns.empty()) {
    const auto first = out.turns.front().number;
    std::vector<store::Summary> before;
    for (const store::Summary& summary : summaries)
      if (summary.prompt_number < first) before.push_back(summary);
    if (before.size() > kMostSoFar)
      before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(kMostSoFar));
    out.so_far = running_summary(before, first);
  }
  for (const store::OpenItem& item :
       TRY(store::open_items(db, {.project = session.project, .limit = kMostOpen}))) {
    if (item.source == event::OpenSource::plan)
      out.plan = item.detail;
    else
      out.open.push_back(one_line(item.text, 200));
  }
  for (const store::StandingOrder& order : TRY(store::standing_orders(db, session.project, kMostRules)))
    out.rules.push_back(one_line(order.text, 200));
  return out;
}

}  // namespace cairn::agent
