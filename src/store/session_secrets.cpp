#include "store/session_secrets.h"

namespace cairn::store {

Result<std::vector<SessionSecret>> session_secrets(Db& db, std::string_view session) {
  Stmt row =
      TRY(db.query("SELECT hash, start, length FROM session_secrets WHERE session_db_id IN (SELECT id FROM "
                   "sdk_sessions WHERE content_session_id = ?)",
                   session));
  std::vector<SessionSecret> out;
  while (TRY(row.step()))
    out.push_back({static_cast<std::uint64_t>(row.integer(0)), static_cast<std::uint16_t>(row.integer(1)),
                   static_cast<std::uint32_t>(row.integer(2))});
  return out;
}

Status add_session_secret(Db& db, SessionId session, const SessionSecret& secret) {
  constexpr std::int64_t kMost = 4096;
  return db.run(
      "INSERT OR IGNORE INTO session_secrets (session_db_id, hash, start, length) SELECT ?1, ?2, ?3, ?4 "
      "WHERE (SELECT count(*) FROM session_secrets WHERE session_db_id = ?1) < ?5",
      session.value, static_cast<std::int64_t>(secret.hash), std::int64_t{secret.start},
      std::int64_t{secret.length}, kMost);
}

}  // namespace cairn::store
