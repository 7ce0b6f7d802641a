#include "base/text.h"
#include "distil/parts.h"

namespace cairn::distil {

std::vector<std::string> listed(const std::set<std::string>& files) {
  constexpr std::size_t kMaxFiles = 200;
  std::vector<std::string> out(files.begin(), files.end());
  if (out.size() > kMaxFiles) out.resize(kMaxFiles);
  return out;
}

Distilled distil(const Turn& turn, const Mode& mode) {
  const Digest facts = digest(turn);
  const std::string answer = visible(prefix(turn.last_answer, 50'000));
  return {summarise(turn, facts, answer, mode), observe(turn, facts, answer, mode)};
}

}  // namespace cairn::distil
