#include "context/kept.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "distil/distil.h"
#include "store/observations.h"
#include "store/texts.h"

namespace cairn::context {

namespace {

constexpr std::size_t kMostLines = 8;
constexpr std::int64_t kLookedObservations = 60;
constexpr std::size_t kLongestLine = 300;       // bytes
constexpr std::size_t kReadTexts = 512u << 10;  // bytes of the session's texts

// The distiller has these words in facts about checks that passed and commands that worked.
bool is_worth_keeping(const store::Observation& observation, const std::string& fact) {
  if (observation.type == "decision") return true;
  return fact.find(" passed") != std::string::npos || fact.ends_with(" worked.");
}

}  // namespace

Result<std::vector<DroppedLine>> dropped_by_compaction(store::Db& db, SessionId session) {
  std::string summary;
  for (const store::Text& text : TRY(store::texts_of_session(db, session, kReadTexts)))
    if (text.kind == store::TextKind::compaction) summary = text.text;  // the newest comes last
  std::vector<DroppedLine> dropped;
  if (summary.empty()) return dropped;
  const distil::Words summary_words = distil::key_words(summary);
  auto observations = TRY(store::observations_of_session(db, session, kLookedObservations));
  // Newest first: of many lines the last ones describe the state of the work.
  std::reverse(observations.begin(), observations.end());
  std::set<std::string> seen;
  for (const store::Observation& observation : observations)
    for (const std::string& fact : observation.facts) {
      if (dropped.size() == kMostLines || fact.size() > kLongestLine) continue;
      if (!is_worth_keeping(observation, fact) || !seen.insert(fact).second) continue;
      // Leave out what the summary says in mostly the same words.
      const distil::Words words = distil::key_words(fact);
      if (words.empty() || distil::mostly_in(words, summary_words)) continue;
      dropped.push_back({"O" + std::to_string(observation.id), fact});
    }
  return dropped;
}

}  // namespace cairn::context
