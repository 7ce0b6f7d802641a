#include "context/figures.h"

namespace cairn::context {

// Whether `a` was said in a later turn than `b`.
static bool is_later(const Figures::Said& a, const Figures::Said& b) {
  return a.session != b.session ? a.session < b.session : a.turn > b.turn;
}

Figures::Said Figures::said(const std::vector<Concepts::Use>& uses, std::size_t session, std::int64_t turn) {
  constexpr int kLeastWords = 2;  // "34 passed" does not say what passed
  Said out{0, 0, session, turn};
  int words = 0;
  for (const Concepts::Use& use : uses) {
    // A sum does not depend on the order of the words.
    (use.figure ? out.figures : out.subject) += use.hash;
    words += !use.figure;
  }
  if (out.figures == 0 || words < kLeastWords) out.subject = 0;
  return out;
}

void Figures::add(const Said& said) {
  if (said.subject == 0) return;
  const auto [known, added] = latest_.try_emplace(said.subject, said);
  if (!added && is_later(said, known->second)) known->second = said;
}

bool Figures::replaced(const Said& said) const {
  if (said.subject == 0) return false;
  const auto known = latest_.find(said.subject);
  return known != latest_.end() && known->second.figures != said.figures && is_later(known->second, said);
}

}  // namespace cairn::context
