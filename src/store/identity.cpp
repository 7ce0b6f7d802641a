#include "store/identity.h"

#include "event/provider_name.h"

namespace cairn::store {

static constexpr std::string_view kSynthesised = "cairn-";
static constexpr std::string_view kByHand = "manual-";

Result<Identity> identity_of(Db& db, SessionId session) {
  Stmt row = TRY(
      db.query("SELECT memory_session_id, memory_provider FROM sdk_sessions WHERE id = ?", session.value));
  if (!TRY(row.step())) return Error{Code::not_found, "there is no session " + std::to_string(session.value)};
  if (row.is_null(0)) return Identity(NotCaptured{});
  return Identity(Captured{MemoryId{row.text(0)}, row.text(1)});
}

static Status check(Db& db, SessionId session, const MemoryId& id) {
  if (id.empty()) return Error{Code::invalid, "a memory id is never empty"};
  if (TRY(db.integer("SELECT 1 FROM sdk_sessions WHERE content_session_id = ?", id.value)))
    return Error{Code::invalid, "memory id " + id.value + " is a session's content id"};
  const auto owner = TRY(db.integer("SELECT id FROM sdk_sessions WHERE memory_session_id = ?", id.value));
  if (owner && *owner != session.value)
    return Error{Code::invalid, "memory id " + id.value + " is session " + std::to_string(*owner) + "'s"};
  return {};
}

Result<Captured> register_memory_id(Db& db, SessionId session, const MemoryId& id, std::string_view provider,
                                    WallTime now) {
  TRY(check(db, session, id));
  TRY(
      db.run("UPDATE sdk_sessions SET memory_session_id = ?, memory_provider = ?, captured_at_epoch = "
             "coalesce(captured_at_epoch, ?) WHERE id = ?",
             id.value, provider, epoch_ms(now), session.value));
  if (db.changes() != 1)
    return Error{Code::not_found, "there is no session " + std::to_string(session.value)};
  return Captured{id, std::string(provider)};
}

Result<MemoryId> ensure_memory_id(Db& db, SessionId session, WallTime now) {
  const Identity known = TRY(identity_of(db, session));
  if (const auto* captured = std::get_if<Captured>(&known)) return captured->id;
  const MemoryId made{std::string(kSynthesised) + new_uuid(epoch_ms(now))};
  return TRY(register_memory_id(db, session, made, event::kBuiltin, now)).id;
}

Result<std::vector<Repaired>> repair_missing_ids(Db& db, WallTime now) {
  std::vector<Repaired> repaired;
  {
    Stmt row = TRY(db.query(
        "SELECT id, content_session_id FROM sdk_sessions WHERE memory_session_id IS NULL ORDER BY id"));
    while (TRY(row.step())) repaired.push_back({SessionId{row.integer(0)}, ContentId{row.text(1)}, {}});
  }
  for (Repaired& one : repaired) {
    one.memory_id.value = std::string(kByHand) + new_uuid(epoch_ms(now));
    TRY(register_memory_id(db, one.session, one.memory_id, "manual", now));
  }
  return repaired;
}

bool is_manual(const Captured& captured) {
  return captured.id.value.starts_with(kByHand);
}

// An id that a repair made has the provider `manual`, which is never that of a run.
std::optional<MemoryId> may_resume(const Identity& identity, const AgentRun& run) {
  const auto* captured = std::get_if<Captured>(&identity);
  if (!captured || run.fresh || run.prompt_number <= 1) return std::nullopt;
  if (captured->provider != run.provider || captured->id.value.starts_with(kSynthesised)) return std::nullopt;
  return captured->id;
}

}  // namespace cairn::store
