#include "recall/surroundings.h"

#include <algorithm>

namespace cairn::recall {

namespace {

constexpr std::size_t kSurrounded = 120;  // candidates whose neighbours are read
constexpr std::size_t kDeep = 50;         // candidates whose neighbours become candidates too
// Of a longer neighbour only the beginning is read.
constexpr std::size_t kNeighbourBytes = 2000;

// Summaries and open items have neighbours, but are not neighbours of others: they repeat what was said.
bool is_said(const Row& row) {
  const store::RecordKind kind = row.text.id.kind;
  return kind == store::RecordKind::prompt || kind == store::RecordKind::text ||
         kind == store::RecordKind::observation;
}

// Whether so many neighbours on that side were read, or all there are.
bool has_side(const Row& row, bool later, std::size_t reach) {
  const Row* at = &row;
  for (; reach > 0; --reach) {
    if (later ? at->is_last : at->is_first) return true;
    at = later ? at->after : at->before;
    if (!at) return false;
  }
  return true;
}

bool is_empty(const Row& row) {
  return row.title.places.empty() && row.body.places.empty() && row.names.places.empty();
}

}  // namespace

Surroundings::Key Surroundings::key_of(const store::RankedText& text) {
  return {text.at, static_cast<int>(text.id.kind), text.id.row};
}

double Surroundings::average() const {
  return rows_ == 0 ? 1 : std::max(1.0, bytes_ / static_cast<double>(rows_));
}

Status Surroundings::read(const std::vector<store::Entry>& candidates,
                          const std::vector<std::string>& scope) {
  std::vector<Row*> rows;
  // Read all candidates first: take() keeps the text of a record that it gets first, and the text of a
  // neighbour is cut.
  for (const store::Entry& entry : candidates) {
    auto text = TRY(store::ranked_text(db_, entry.id));
    // The index has only the beginning of a very long project name, so compare the whole one.
    if (!text || (!scope.empty() && std::count(scope.begin(), scope.end(), text->project) == 0)) continue;
    rows.push_back(&take(*std::move(text)));
    rows.back()->is_candidate = true;
  }
  for (std::size_t i = 0; i < std::min(rows.size(), kSurrounded); ++i) {
    if (rows[i]->text.session == 0) continue;
    // Twice as far where neighbours become candidates: these need neighbours of their own.
    TRY(surround(*rows[i], i < kDeep ? 2 * kReach : kReach));
    if (i < kDeep && add_neighbours_) add_near(*rows[i]);
  }
  return {};
}

// A record without a session gets a group of its own, so that it has no neighbours.
Row& Surroundings::take(store::RankedText text) {
  const std::int64_t session =
      text.session != 0 ? text.session : -(text.id.row * 8 + static_cast<int>(text.id.kind));
  const auto [at, is_new] = sessions_[session].try_emplace(key_of(text));
  Row& row = at->second;
  if (!is_new) return row;
  row.text = std::move(text);
  counter_.count(row.text.title, row.title);
  counter_.count(row.text.body, row.body);
  counter_.count(row.text.names, row.names);
  row.length = static_cast<double>(row.text.title.size() + row.text.body.size());
  bytes_ += row.length;
  ++rows_;
  return row;
}

Status Surroundings::surround(Row& row, std::size_t reach) {
  for (const bool later : {false, true})
    if (!has_side(row, later, reach)) TRY(read_side(row, later, reach));
  // The records before and after one that is not a neighbour are neighbours of each other.
  if (!is_said(row) && row.before && row.after) {
    row.before->after = row.after;
    row.after->before = row.before;
  }
  return {};
}

Status Surroundings::read_side(Row& row, bool later, std::size_t reach) {
  auto found = TRY(store::said_around(db_, row.text.session, row.text, later, reach, kNeighbourBytes));
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    return later ? key_of(a) < key_of(b) : key_of(b) < key_of(a);
  });
  // said_around() gives up to `reach` of each kind, so the nearest `reach` of all are among them. Fewer
  // means that the session begins or ends there.
  const bool is_all = found.size() < reach;
  if (!is_all) found.resize(reach);
  Row* last = &row;
  for (store::RankedText& text : found) {
    // A session may have worked in several projects.
    if (text.project != row.text.project) continue;
    Row& next = take(std::move(text));
    (later ? last->after : last->before) = &next;
    // A summary or an open item is not between its neighbours: they are linked to each other in surround().
    if (is_said(*last)) (later ? next.before : next.after) = last;
    last = &next;
  }
  if (is_all) (later ? last->is_last : last->is_first) = true;
  return {};
}

void Surroundings::add_near(Row& row) {
  Row *back = row.before, *on = row.after;
  for (std::size_t i = 0; i < kReach; ++i) {
    if (back && !is_empty(*back)) back->is_candidate = true;
    if (on && !is_empty(*on)) on->is_candidate = true;
    back = back ? back->before : nullptr;
    on = on ? on->after : nullptr;
  }
}

}  // namespace cairn::recall
