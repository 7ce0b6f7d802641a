#include "intake/summarise.h"

#include <map>

#include "intake/open_items.h"
#include "store/evidence.h"
#include "store/identity.h"
#include "store/observations.h"
#include "store/projects.h"
#include "store/retention.h"
#include "store/summaries.h"
#include "store/texts.h"

namespace cairn::intake {

using distil::Step;

static Json read_json(const std::optional<std::string>& text) {
  if (!text) return {};
  return Json::parse_partial(*text).value;
}

static Step step_of(const store::KeptEvent& event) {
  Step step;
  step.event = event.seq;
  step.tool = event.tool_name;
  step.input = read_json(event.texts.input);
  step.agent_type = event.agent_type;
  step.response = read_json(event.texts.response);
  if (event.kind == event::Kind::tool_failure) {
    step.outcome =
        step.response["is_interrupt"].as_bool() ? Step::Outcome::interrupted : Step::Outcome::failed;
    step.error = step.response["error"].as_string();
    step.response = {};
  } else if (event.kind == event::Kind::tool_start) {
    step.outcome = Step::Outcome::interrupted;
  } else if (step.response["interrupted"].as_bool()) {
    step.outcome = Step::Outcome::interrupted;
  }
  return step;
}

// A start is used only when no end of the same tool use follows.
static std::vector<Step> steps_of(const std::vector<store::KeptEvent>& events) {
  std::map<std::string, bool> ended;
  for (const auto& event : events)
    if (event.kind == event::Kind::tool || event.kind == event::Kind::tool_failure)
      ended[event.tool_use_id] = true;
  std::vector<Step> steps;
  for (const auto& event : events) {
    const bool is_end = event.kind == event::Kind::tool || event.kind == event::Kind::tool_failure;
    const bool is_lost_start = event.kind == event::Kind::tool_start && !ended.contains(event.tool_use_id);
    if (is_end || is_lost_start) steps.push_back(step_of(event));
  }
  return steps;
}

static distil::Turn::End end_of(const store::Turn& turn) {
  using End = distil::Turn::End;
  if (turn.open()) return End::open;
  if (turn.end_reason == store::TurnEnd::stop) return End::stopped;
  if (turn.end_reason == store::TurnEnd::stop_failure) return End::failed;
  // A turn that was ended by the next prompt or by hand counts as answered if it has an answer.
  if (!turn.last_assistant_message.empty()) return End::stopped;
  return End::cut_off;
}

Result<distil::Turn> load_turn(store::Db& db, const store::Session& session, const store::Turn& turn) {
  distil::Turn facts;
  facts.host = session.platform;
  facts.prompt = TRY(store::prompt_text(db, session.id, turn.number));
  const auto events = TRY(store::turn_events(db, session.id, turn.number));
  facts.steps = steps_of(events);
  for (const auto& event : events)
    if (event.kind == event::Kind::stop) facts.answer_event = event.seq;
  facts.last_answer = turn.last_assistant_message;
  facts.end = end_of(turn);
  facts.failure = turn.failure;
  const auto project = TRY(store::project_by_name(db, session.project));
  facts.root = session.worktree ? *session.worktree : project ? project->root : "";
  return facts;
}

static store::Summary summary_row(const distil::Summary& text, const store::Session& session,
                                  const store::Turn& turn) {
  store::Summary row;
  row.project = session.project;
  row.interim = turn.open();
  row.prompt_number = turn.number;
  row.request = text.request;
  row.investigated = text.investigated;
  row.learned = text.learned;
  row.completed = text.completed;
  row.next_steps = text.next_steps;
  row.notes = text.notes;
  row.files_read = text.files_read;
  row.files_edited = text.files_edited;
  row.created_at = turn.ended_at.value_or(turn.last_event_at);  // the newest is the one that ended last
  return row;
}

static store::Observation observation_row(const distil::Observation& observation,
                                          const store::Session& session, const store::Turn& turn) {
  store::Observation row;
  row.project = session.project;
  row.type = observation.type;
  row.title = observation.title;
  row.subtitle = observation.subtitle;
  row.narrative = observation.narrative;
  row.facts = observation.facts;
  row.concepts = observation.concepts;
  row.files_read = observation.files_read;
  row.files_modified = observation.files_modified;
  row.prompt_number = turn.number;
  row.position = static_cast<std::int64_t>(observation.slot);
  row.events = observation.events;
  row.created_at = turn.ended_at.value_or(turn.last_event_at);
  return row;
}

// Texts that calls of the turn carried.
static std::vector<store::Text> text_rows(const std::vector<distil::Carried>& carried,
                                          const store::Turn& turn) {
  std::vector<store::Text> rows;
  for (const distil::Carried& text : carried) {
    store::Text& row = rows.emplace_back();
    row.session = turn.session;
    row.prompt_number = turn.number;
    row.kind = text.kind == distil::Carried::Kind::commit ? store::TextKind::commit : store::TextKind::pull;
    row.source = "distiller";
    row.text = text.text;
    row.at = turn.ended_at.value_or(turn.last_event_at);
  }
  return rows;
}

Result<std::optional<store::Put>> distil_turn(store::Db& db, const store::Session& session,
                                              const store::Turn& turn, const distil::Mode& mode,
                                              const store::SessionBudget& budget, WallTime now) {
  if (turn.muted || TRY(store::has_expired(db, session.id, turn.number))) return std::optional<store::Put>();
  const distil::Turn facts = TRY(load_turn(db, session, turn));
  if (facts.prompt.empty() && facts.steps.empty() && facts.last_answer.empty())
    return std::optional<store::Put>();
  TRY(keep_open_items(db, session, turn, facts, mode).in("open items"));
  const distil::Distilled distilled = distil::distil(facts, mode);
  TRY(store::put_distilled_texts(db, session.id, turn.number, text_rows(distilled.carried, turn)));
  const MemoryId memory = TRY(store::ensure_memory_id(db, session.id, now));
  const bool ours =
      TRY(store::put_summary(db, memory, summary_row(distilled.summary, session, turn), now).in("summary"));
  if (!ours) return std::optional<store::Put>();  // a model has already summarised this turn
  std::vector<store::Observation> rows;
  const std::string batch = store::turn_batch(session, turn.number);
  for (const distil::Observation& observation : distilled.observations)
    if (!TRY(store::is_covered_elsewhere(db, batch, observation.events)))
      rows.push_back(observation_row(observation, session, turn));
  return std::optional(TRY(store::put_within(db, memory, batch, std::move(rows), budget).in("observations")));
}

}  // namespace cairn::intake
