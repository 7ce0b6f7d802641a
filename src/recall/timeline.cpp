#include "recall/timeline.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "store/projects.h"

namespace cairn::recall {

namespace {

struct Place {
  std::int64_t time = 0;
  int order = 0;  // among records of the same time
  std::int64_t row = 0;
  Kind kind = Kind::prompt;
  auto key() const { return std::tuple(time, order, row); }
};

constexpr std::array kOrder = {Kind::prompt, Kind::observation, Kind::summary};

int order_of(Kind kind) {
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), kind) - kOrder.begin());
}

#define NEIGHBOURS(table, sign, way)                                           \
  "SELECT id, created_at_epoch FROM " table                                    \
  " WHERE project = ? AND deleted_at IS NULL AND (created_at_epoch, id) " sign \
  " (?, ?) ORDER BY created_at_epoch " way ", id " way " LIMIT ?"

std::string_view sql_of(Kind kind, bool later) {
  switch (kind) {
    case Kind::observation:
      return later ? NEIGHBOURS("observations", ">", "ASC") : NEIGHBOURS("observations", "<", "DESC");
    case Kind::summary:
      return later ? NEIGHBOURS("session_summaries", ">", "ASC")
                   : NEIGHBOURS("session_summaries", "<", "DESC");
    case Kind::prompt:
      return later ? NEIGHBOURS("user_prompts", ">", "ASC") : NEIGHBOURS("user_prompts", "<", "DESC");
    case Kind::open: break;  // has no moment: it is not in kOrder
    case Kind::turn: break;  // the summary of its turn is shown instead
  }
  return "";
}

// The nearest `count` of every kind on one side of the anchor, nearest first.
Result<std::vector<Place>> side(store::Db& db, const Record& anchor, bool later, std::size_t count) {
  std::vector<Place> found;
  const int own = order_of(anchor.id.kind);
  const auto scope = TRY(store::scope_of(db, anchor.project));
  for (const Kind kind : kOrder) {
    // Among records of the anchor's own time: of its own kind those after (or before) its row; of other kinds
    // all or none, by their order.
    const std::int64_t row = order_of(kind) == own  ? anchor.id.row
                             : order_of(kind) > own ? 0
                                                    : std::numeric_limits<std::int64_t>::max();
    for (const std::string& project : scope) {
      store::Stmt it = TRY(db.query(sql_of(kind, later), project, epoch_ms(anchor.time), row, count));
      while (TRY(it.step())) found.push_back({it.integer(1), order_of(kind), it.integer(0), kind});
    }
  }
  std::sort(found.begin(), found.end(), [later](const Place& a, const Place& b) {
    return later ? a.key() < b.key() : a.key() > b.key();
  });
  found.resize(std::min(found.size(), count));
  return found;
}

}  // namespace

Result<std::vector<Record>> around(store::Db& db, const Record& anchor, std::size_t before,
                                   std::size_t after) {
  std::vector<Record> records;
  const auto add = [&](const Place& place) -> Status {
    auto record = TRY(load_record(db, {place.kind, place.row}));
    if (record) records.push_back(*std::move(record));
    return {};
  };
  auto earlier = TRY(side(db, anchor, false, before));
  std::reverse(earlier.begin(), earlier.end());
  for (const Place& place : earlier) TRY(add(place));
  records.push_back(anchor);
  for (const Place& place : TRY(side(db, anchor, true, after))) TRY(add(place));
  return records;
}

}  // namespace cairn::recall
