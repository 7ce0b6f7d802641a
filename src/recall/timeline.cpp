#include "recall/timeline.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "store/projects.h"

namespace cairn::recall {

namespace {

struct Position {
  WallTime time;
  int order = 0;  // among records of the same time
  std::int64_t row = 0;
  Kind kind = Kind::prompt;
  auto key() const { return std::tuple(time, order, row); }
};

constexpr std::array kOrder = {Kind::prompt, Kind::observation, Kind::summary};

// Kinds that are not in the list come last.
int order_of(Kind kind) {
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), kind) - kOrder.begin());
}

// The nearest `count` of every kind on one side of the anchor, nearest first.
Result<std::vector<Position>> side(store::Db& db, const Record& anchor, bool later, std::size_t count) {
  std::vector<Position> found;
  const int own = order_of(anchor.id.kind);
  const auto scope = TRY(store::scope_of(db, anchor.project));
  for (const Kind kind : kOrder) {
    // Records with the same time as the anchor: of its own kind take those after (or before) its row; of
    // another kind take all or none, according to the order of kinds.
    const std::int64_t row = order_of(kind) == own  ? anchor.id.row
                             : order_of(kind) > own ? 0
                                                    : std::numeric_limits<std::int64_t>::max();
    for (const std::string& project : scope)
      for (const auto& near : TRY(store::neighbours(db, kind, project, {anchor.time, row}, later, count)))
        found.push_back({near.time, order_of(kind), near.row, kind});
  }
  std::sort(found.begin(), found.end(), [later](const Position& a, const Position& b) {
    return later ? a.key() < b.key() : a.key() > b.key();
  });
  found.resize(std::min(found.size(), count));
  return found;
}

}  // namespace

Result<std::vector<Record>> around(store::Db& db, const Record& anchor, std::size_t before,
                                   std::size_t after) {
  std::vector<Record> records;
  const auto add = [&](const Position& place) -> Status {
    auto record = TRY(load_record(db, {place.kind, place.row}));
    if (record) records.push_back(*std::move(record));
    return {};
  };
  auto earlier = TRY(side(db, anchor, false, before));
  std::reverse(earlier.begin(), earlier.end());
  for (const Position& place : earlier) TRY(add(place));
  records.push_back(anchor);
  for (const Position& place : TRY(side(db, anchor, true, after))) TRY(add(place));
  return records;
}

}  // namespace cairn::recall
