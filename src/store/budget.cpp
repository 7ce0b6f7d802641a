#include "store/budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/meta.h"
#include "store/rows.h"

namespace cairn::store {

static Result<std::int64_t> count_of(Db& db, const MemoryId& memory) {
  return TRY(db.integer("SELECT count(*) FROM observations WHERE memory_session_id = ?", memory.value))
      .value_or(0);
}

Result<Put> put_within(Db& db, const MemoryId& memory, const std::string& batch,
                       std::vector<Observation> list, const SessionBudget& budget) {
  if (budget.was_forgotten)
    std::erase_if(list, [&](const Observation& o) { return budget.was_forgotten(whole_text(o)); });
  const std::int64_t before = TRY(count_of(db, memory));
  // The batch replaces its own rows: they leave room for the new ones.
  const std::int64_t its_own =
      TRY(db.integer("SELECT count(*) FROM observations WHERE batch_id = ?", batch)).value_or(0);
  const auto room =
      static_cast<std::size_t>(std::max<std::int64_t>(0, budget.observations - (before - its_own)));
  Put put;
  if (list.size() > room) {
    put.left_out = static_cast<std::int64_t>(list.size() - room);
    list.resize(room);
  }
  TRY(put_observations(db, memory, batch, list));
  const std::int64_t after = TRY(count_of(db, memory));
  // Only when the line is crossed, not with each later batch of the session.
  put.near = before < budget.warn_at() && after >= budget.warn_at();
  if (put.near) TRY(add_to_meta(db, kSessionsNearLimit, 1));
  return put;
}

std::optional<std::string> warning_of(const Put& put, const SessionBudget& budget) {
  if (put.left_out > 0)
    return fmt::format("budget reached: {} observations left out, events are kept as evidence limit={}",
                       put.left_out, budget.observations);
  if (put.near)
    return fmt::format("budget near: {} % of budget.session_observations limit={}", budget.warn_percent,
                       budget.observations);
  return std::nullopt;
}

Result<bool> is_used_up(Db& db, SessionId session, const SessionBudget& budget) {
  const auto count =
      TRY(db.integer("SELECT count(*) FROM observations WHERE memory_session_id = (SELECT memory_session_id "
                     "FROM sdk_sessions WHERE id = ?)",
                     session.value));
  return count.value_or(0) >= budget.observations;
}

Result<std::vector<NearLimit>> active_near_limit(Db& db, const SessionBudget& budget) {
  return all(db.query("SELECT s.content_session_id, (SELECT count(*) FROM observations o WHERE "
                      "o.memory_session_id = s.memory_session_id) AS used FROM sdk_sessions s INDEXED BY "
                      "sessions_active WHERE s.status = 'active' AND used >= ? AND used > 0 ORDER BY s.id",
                      budget.warn_at()),
             [](Stmt& row) {
               return NearLimit{ContentId{row.text(0)}, row.integer(1)};
             });
}

Result<std::int64_t> sessions_near_limit(Db& db) {
  return TRY(meta_number(db, kSessionsNearLimit)).value_or(0);
}

}  // namespace cairn::store
