#include <algorithm>

#include "base/text.h"
#include "distil/parts.h"
#include "distil/reader.h"
#include "distil/sentences.h"
#include "event/origin.h"

namespace cairn::distil {

std::vector<std::string> listed(const std::set<std::string>& files) {
  constexpr std::size_t kMaxFiles = 200;
  std::vector<std::string> out(files.begin(), files.end());
  if (out.size() > kMaxFiles) out.resize(kMaxFiles);
  return out;
}

// The texts are final: quotes get their labels, and other text that looks like a label is changed.
static void put_labels(Summary& s) {
  for (std::string* text : {&s.request, &s.investigated, &s.learned, &s.completed, &s.next_steps, &s.notes})
    *text = labelled(*text, kMaxField, shorten);
}

static void put_labels(Observation& o) {
  o.title = labelled(o.title, kMaxTitle, one_line);
  o.subtitle = labelled(o.subtitle);
  o.narrative = labelled(o.narrative, kMaxNarrative, shorten);
  for (std::string& fact : o.facts) fact = labelled(fact, kMaxField, shorten);
}

static std::vector<Carried> carried_by(const Digest& digest) {
  std::vector<Carried> out;
  for (const Command& command : digest.commands)
    for (const Commit& commit : command.commits)
      if (!commit.whole.empty()) out.push_back({Carried::Kind::commit, commit.whole, commit.mark.event});
  for (const Pull& pull : digest.pulls) out.push_back({Carried::Kind::pull, pull.text, pull.mark.event});
  std::stable_sort(out.begin(), out.end(),
                   [](const Carried& a, const Carried& b) { return a.event < b.event; });
  return out;
}

void TurnReader::add(const Step& step) {
  for (const host::Action& action : host_.read_actions({step.tool, step.input, step.response, step.error})) {
    digester_.add(step, action);
    open_.add(step, action);
  }
  empty_ = false;
}

Distilled TurnReader::distil(const Turn& turn, const Mode& mode) const {
  const Digest& facts = digester_.digest();
  // Bounds the time for an answer of any length.
  const std::string answer = visible(prefix(turn.last_answer, 50'000));
  Distilled out{summarise(turn, facts, answer, mode), observe(turn, facts, answer, mode), carried_by(facts)};
  put_labels(out.summary);
  for (Observation& o : out.observations) put_labels(o);
  return out;
}

Distilled distil(const Turn& turn, const Mode& mode) {
  TurnReader reader(turn.host, turn.root);
  for (const Step& step : turn.steps) reader.add(step);
  return reader.distil(turn, mode);
}

}  // namespace cairn::distil
