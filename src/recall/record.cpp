#include "recall/record.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "store/standing.h"

namespace cairn::recall {

static constexpr std::array kKinds = {std::pair(Kind::observation, 'O'), std::pair(Kind::summary, 'S'),
                                      std::pair(Kind::prompt, 'P'),      std::pair(Kind::text, 'T'),
                                      std::pair(Kind::passage, 'A'),     std::pair(Kind::open, 'W'),
                                      std::pair(Kind::document, 'D'),    std::pair(Kind::event, 'E')};

std::string text_of(const RecordId& id) {
  for (const auto& [kind, letter] : kKinds)
    if (kind == id.kind) return letter + std::to_string(id.row);
  return {};
}

Result<RecordId> read_record_id(std::string_view text) {
  const auto name = store::split_record_name(text);
  const auto known = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const auto& kind) { return name && kind.second == name->letter; });
  if (known == kKinds.end())
    return Error{Code::invalid, "\"" + one_line(visible(valid_utf8(std::string(text))), 60) +
                                    "\" is not an id: they look like S3, O12, P7, T5, A9, E8, D2 or W4"};
  return RecordId{known->first, name->row};
}

}  // namespace cairn::recall
