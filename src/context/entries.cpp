#include "context/entries.h"

#include <fmt/format.h>

namespace cairn::context {

using store::Summary;

std::string date(WallTime t) {
  const std::string iso = iso8601(t);
  return iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC";
}

std::string id_of(const Summary& s) {
  return "S" + std::to_string(s.id);
}

std::string_view interruption_of(const Summary& s) {
  // A turn that only the next start of its session ended: the host stopped without an end.
  if (s.turn_end == store::TurnEnd::dead_host || s.turn_end == store::TurnEnd::session_start)
    return "its process died";
  if (s.turn_end == store::TurnEnd::session_end && s.session_status == store::SessionStatus::failed)
    return "it was closed";
  if (s.turn_end == store::TurnEnd::stop_failure) return "the model's service failed";
  return {};
}

std::string first_few(const std::vector<std::string>& items, std::size_t max_items) {
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < max_items; ++i) text += (i ? ", " : "") + items[i];
  if (items.size() > max_items) text += fmt::format(" and {} more", items.size() - max_items);
  return text;
}

}  // namespace cairn::context
