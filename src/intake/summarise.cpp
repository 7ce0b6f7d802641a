#include "intake/summarise.h"

#include <algorithm>

#include "base/text.h"
#include "distil/distil.h"
#include "intake/open_items.h"
#include "store/evidence.h"
#include "store/identity.h"
#include "store/observations.h"
#include "store/projects.h"
#include "store/retention.h"
#include "store/summaries.h"
#include "store/texts.h"
#include "store/turns.h"

namespace cairn::intake {

static distil::Turn::End end_of(const store::Turn& turn) {
  using End = distil::Turn::End;
  if (turn.open()) return End::open;
  if (turn.end_reason == store::TurnEnd::stop) return End::stopped;
  if (turn.end_reason == store::TurnEnd::stop_failure) return End::failed;
  // A turn that was ended by the next prompt or by hand counts as answered if it has an answer.
  if (!turn.last_assistant_message.empty()) return End::stopped;
  return End::cut_off;
}

Result<std::string> root_of(store::Db& db, const store::Session& session) {
  if (session.worktree) return *session.worktree;
  const auto project = TRY(store::project_by_name(db, session.project));
  return project ? project->root : std::string();
}

// The turn without its steps.
static Result<distil::Turn> load_turn(store::Db& db, const store::Session& session, const store::Turn& turn,
                                      const std::string& root) {
  distil::Turn facts;
  facts.host = session.platform;
  facts.prompt = TRY(store::prompt_text(db, session.id, turn.number));
  facts.last_answer = turn.last_assistant_message;
  facts.end = end_of(turn);
  facts.failure = turn.failure;
  facts.root = root;
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
    row.source = store::TextSource::distiller;
    row.text = text.text;
    row.at = turn.ended_at.value_or(turn.last_event_at);
  }
  return rows;
}

// Adds what a model's summary says is still open as items of this turn, except those that the turn itself
// shows. The next turn closes them: its own summary says what is still open then.
static void add_said_open(const store::Summary& said, std::int64_t event, const distil::Mode& mode,
                          std::vector<distil::OpenItem>& items) {
  // A shorter line than kShortest is no sentence that says what to do.
  constexpr std::size_t kMost = 8, kShortest = 8;
  std::size_t added = 0;
  for (const std::string_view whole : lines(said.next_steps)) {
    const std::string text =
        one_line(trim(whole.substr(std::min(whole.find_first_not_of("-* "), whole.size()))), 240);
    const std::string folded = distil::fold(text);
    if (text.size() < kShortest || distil::begins_with_cue(folded + " ", mode.nothing_left)) continue;
    const distil::Words words = distil::key_words(text);
    const bool known = std::any_of(items.begin(), items.end(), [&](const distil::OpenItem& item) {
      const distil::Words others = distil::key_words(item.text);
      return distil::mostly_in(words, others) || distil::mostly_in(others, words);
    });
    if (known || added == kMost) continue;
    items.push_back(
        {event::OpenSource::next_step, event::OpenState::offered, distil::item_key(text), text, "", event});
    ++added;
  }
}

static bool is_empty(const distil::Turn& facts, const distil::TurnReader& reader) {
  return facts.prompt.empty() && reader.empty() && facts.last_answer.empty();
}

Result<std::optional<store::Put>> store_distilled(store::Db& db, const store::Session& session,
                                                  const store::Turn& turn, const TurnDigest& digest,
                                                  const distil::Mode& mode,
                                                  const store::SessionBudget& budget, WallTime now) {
  distil::Turn facts = TRY(load_turn(db, session, turn, digest.root()));
  facts.answer_event = digest.answer_event();
  const distil::TurnReader reader = digest.as_it_stands();
  if (is_empty(facts, reader)) return std::optional<store::Put>();
  const auto said = TRY(store::summary_of_turn(db, session.id, turn.number));
  // The order matters from here on. Open items come first, because a turn that a model has summarised still
  // opens and closes items. Then put_summary() says whether the built-in summary may be written at all.
  const bool by_model = said && said->provider != event::kBuiltin;
  distil::LeftOpen left = reader.left_open(facts, mode);
  const auto next = TRY(store::find_turn(db, session.id, turn.number + 1));
  // Once the next turn has ended, its summary says what is still open; this turn's list is out of date.
  if (by_model && !turn.open() && (!next || next->open()))
    add_said_open(*said, facts.answer_event, mode, left.items);
  TRY(keep_open_items(db, session, turn, facts, std::move(left), mode,
                      by_model ? said->rules : std::vector<std::string>())
          .in("open items"));
  const distil::Distilled distilled = reader.distil(facts, mode);
  TRY(store::put_distilled_texts(db, session.id, turn.number, text_rows(distilled.carried, turn)));
  const MemoryId memory = TRY(store::ensure_memory_id(db, session.id, now));
  store::Summary summary = summary_row(distilled.summary, session, turn);
  summary.discovery_tokens = digest.tokens();
  const bool ours = TRY(store::put_summary(db, memory, summary, now).in("summary"));
  if (!ours) return std::optional<store::Put>();  // a model has already summarised this turn
  std::vector<store::Observation> rows;
  const std::string batch = store::turn_batch(session, turn.number);
  for (const distil::Observation& observation : distilled.observations) {
    // A model has made observations of all these events.
    if (TRY(store::is_covered_elsewhere(db, batch, observation.events))) continue;
    rows.push_back(observation_row(observation, session, turn));
    for (const std::int64_t event : observation.events)
      rows.back().discovery_tokens += digest.tokens_of(event);
  }
  return std::optional(TRY(store::put_within(db, memory, batch, std::move(rows), budget).in("observations")));
}

Result<std::optional<store::Put>> distil_turn(store::Db& db, const store::Session& session,
                                              const store::Turn& turn, const distil::Mode& mode,
                                              const store::SessionBudget& budget, WallTime now,
                                              const FillTexts& fill) {
  if (turn.is_private) return std::optional<store::Put>();
  if (!fill && TRY(store::has_expired(db, session.id, turn.number))) return std::optional<store::Put>();
  TurnDigest digest(session.platform, TRY(root_of(db, session)));
  const auto take = [&](const store::KeptEvent& event) { digest.add(event); };
  // Filling needs all events at once; otherwise they are read one by one, which needs less memory.
  if (fill) {
    auto events = TRY(store::turn_events(db, session.id, turn.number));
    fill(session, events);
    std::for_each(events.begin(), events.end(), take);
  } else {
    TRY(store::for_each_turn_event(db, session.id, turn.number, take));
  }
  auto put = TRY(store_distilled(db, session, turn, digest, mode, budget, now));
  TRY(store::set_summarised(db, session.id, turn.number));
  return put;
}

}  // namespace cairn::intake
