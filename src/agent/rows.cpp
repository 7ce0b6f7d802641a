#include "agent/rows.h"

#include <algorithm>

#include "base/text.h"
#include "distil/distil.h"
#include "event/origin.h"
#include "intake/summarise.h"
#include "store/texts.h"

namespace cairn::agent {

namespace {

constexpr std::size_t kMaxLine = 300, kMaxText = 2500;

// Makes rows from a model's words. A model repeats what it read, so its words pass the same steps as
// recorded text, in this order: UTF-8, gate, visible characters only, then no labels: labelled() relies on
// visible() having removed its marks.
class RowMaker {
 public:
  RowMaker(const store::Session& session, const std::vector<store::KeptEvent>& events, const gate::Gate& gate,
           std::string root)
      : session_(session), events_(events), gate_(gate), root_(std::move(root)) {}

  store::Observation observation(const Finding& finding) const {
    store::Observation row;
    row.project = session_.project;
    row.type = finding.type.empty() ? "discovery" : line(finding.type, 40);
    row.title = line(finding.title, 160);
    row.subtitle = line(finding.subtitle, kMaxLine);
    row.narrative = text(finding.narrative);
    for (const std::string& fact : finding.facts) row.facts.push_back(line(fact, 500));
    for (const std::string& name : finding.concepts) row.concepts.push_back(line(name, 40));
    add_facts(named_by(finding), row);
    return row;
  }

  std::string text(std::string_view said) const { return labelled(distil::shorten(clean(said), kMaxText)); }
  std::string line(std::string_view said, std::size_t max) const {
    return labelled(one_line(clean(said), max));
  }

 private:
  std::string clean(std::string_view said) const {
    return visible(gate_.clean(valid_utf8(std::string(said)), gate::Way::model));
  }

  // The events that the finding names; all of them when it names none that exists.
  std::vector<const store::KeptEvent*> named_by(const Finding& finding) const {
    std::vector<const store::KeptEvent*> all, named;
    for (const store::KeptEvent& event : events_) {
      all.push_back(&event);
      if (std::find(finding.events.begin(), finding.events.end(), event.seq) != finding.events.end())
        named.push_back(&event);
    }
    return named.empty() ? all : named;
  }

  // Sets what the events prove: files, turn and time. A model may name a file that it only read about.
  void add_facts(const std::vector<const store::KeptEvent*>& events, store::Observation& row) const {
    distil::TurnReader reader(session_.platform, root_);
    for (const store::KeptEvent* event : events) {
      row.events.push_back(event->seq);
      if (event->prompt_number != 0) row.prompt_number = event->prompt_number;
      row.created_at = event->at;
      const std::size_t bytes =
          event->texts.input.value_or("").size() + event->texts.response.value_or("").size();
      row.discovery_tokens += static_cast<std::int64_t>((bytes + 3) / 4);  // about four bytes a token
      if (event->kind == event::Kind::tool || event->kind == event::Kind::tool_failure)
        reader.add(intake::step_of(*event));
    }
    row.files_read.assign(reader.digest().read.begin(), reader.digest().read.end());
    row.files_modified.assign(reader.digest().edited.begin(), reader.digest().edited.end());
  }

  const store::Session& session_;
  const std::vector<store::KeptEvent>& events_;
  const gate::Gate& gate_;
  const std::string root_;
};

// A rule counts only when the person said it: a file or a web page can make a model report rules of its own.
std::vector<std::string> said_by_person(const std::vector<std::string>& rules,
                                        const std::vector<std::string>& sayings, const RowMaker& maker) {
  // A rule of one key word would match by chance.
  constexpr std::size_t kMost = 5, kLeastWords = 2;
  distil::Words spoken;
  for (const std::string& saying : sayings) spoken.merge(distil::key_words(saying));
  std::vector<std::string> out;
  for (const std::string& rule : rules) {
    const std::string text = maker.line(rule, 240);
    const distil::Words own = distil::key_words(text);
    if (own.size() >= kLeastWords && distil::mostly_in(own, spoken) && out.size() < kMost)
      out.push_back(text);
  }
  return out;
}

// Replaces fields of the turn's built-in summary with the model's words. A field that the model left empty
// keeps what the built-in distiller wrote.
void replace_fields(store::Summary& row, const TurnText& said, const RowMaker& maker) {
  const auto put = [&](std::string& field, const std::string& text) {
    if (std::string shown = maker.text(text); !shown.empty()) field = std::move(shown);
  };
  put(row.request, said.request);
  put(row.investigated, said.investigated);
  put(row.learned, said.learned);
  put(row.completed, said.completed);
  put(row.notes, said.notes);
  // Empty means that nothing is open. What the turn itself shows is among its open items.
  row.next_steps = maker.text(said.next_steps);
}

}  // namespace

Result<Rows> rows_of(store::Db& db, const Scanned& reply, const store::Session& session,
                     const std::vector<store::KeptEvent>& events, const gate::Gate& gate,
                     std::string_view provider) {
  const RowMaker maker(session, events, gate, TRY(intake::root_of(db, session)));
  Rows rows;
  for (const Finding& finding : reply.findings) {
    rows.observations.push_back(maker.observation(finding));
    rows.observations.back().position = std::ssize(rows.observations) - 1;
  }
  const auto summaries = TRY(store::last_summaries(db, session.id, 200));
  for (const TurnText& said : reply.summaries) {
    const std::int64_t turn = said.turn.value_or(events.back().prompt_number);
    const auto of_turn = [&](const auto& row) { return row.prompt_number == turn; };
    if (std::none_of(events.begin(), events.end(), of_turn)) continue;
    const auto known = std::find_if(summaries.begin(), summaries.end(), of_turn);
    if (known == summaries.end()) continue;
    store::Summary row = *known;
    row.provider = provider;
    row.interim = false;
    row.rules = said_by_person(said.rules, TRY(store::words_of_person(db, session.id, turn)), maker);
    replace_fields(row, said, maker);
    rows.summaries.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cairn::agent
