#include "host/pairing.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "host/turn_lines.h"

namespace cairn::host {

void make_call_id(event::Event& event) {
  if (!event.tool_name || event.tool_use_id) return;
  // The time tells two runs of the same command apart. The start of a call has another time than its end, so
  // the ids of the two differ, and they are paired by their input.
  const std::string all = event.session.value + "\n" + *event.tool_name + "\n" + event.tool_input.dump() +
                          "\n" + event.extra["timestamp"].dump();
  event.tool_use_id = "call-" + content_hash(all).substr(0, 24);
  event.pairs_by_input = true;
}

void drop_extra(event::Event& event, std::initializer_list<std::string_view> keys) {
  if (!event.extra.is_object()) return;
  std::erase_if(event.extra.mutable_members(), [&](const Json::Member& member) {
    return std::find(keys.begin(), keys.end(), member.first) != keys.end();
  });
}

std::optional<std::int64_t> exit_code_in(std::string_view text) {
  for (const std::string_view line : lines(text))
    if (const auto code = line.starts_with("Exit Code:") ? number_after(line, "Exit Code:") : std::nullopt)
      return code;
  return std::nullopt;
}

}  // namespace cairn::host
