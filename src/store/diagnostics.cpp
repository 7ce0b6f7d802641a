#include "store/diagnostics.h"

#include <sqlite3.h>

#include <array>

#include "store/rows.h"

namespace cairn::store {

static constexpr std::array kDiagnostics = {
    Diagnostic{"ids", "both ids of a session and whether the memory id is captured",
               "SELECT content_session_id, memory_session_id, CASE WHEN memory_session_id IS NULL THEN "
               "'NOT_CAPTURED' ELSE 'CAPTURED' END AS state FROM sdk_sessions WHERE content_session_id = ?1"},
    Diagnostic{"orphans", "observations without a session: always none",
               "SELECT o.id, o.memory_session_id FROM observations o LEFT JOIN sdk_sessions s ON "
               "s.memory_session_id = o.memory_session_id WHERE s.id IS NULL"},
    Diagnostic{"observations", "observations of a session",
               "SELECT o.id, o.type, o.title, o.created_at FROM observations o JOIN sdk_sessions s ON "
               "s.memory_session_id = o.memory_session_id WHERE s.content_session_id = ?1 ORDER BY o.id"},
    Diagnostic{"recent-sessions", "the last five sessions with their memory ids",
               "SELECT id, content_session_id, memory_session_id, status, started_at FROM sdk_sessions ORDER "
               "BY id DESC LIMIT 5"},
    Diagnostic{"not-captured", "sessions without a memory id",
               "SELECT id, content_session_id, status, started_at FROM sdk_sessions WHERE memory_session_id "
               "IS NULL ORDER BY id"},
    Diagnostic{"last-summary", "the newest summary",
               "SELECT id, memory_session_id, prompt_number, request, created_at FROM session_summaries "
               "ORDER BY created_at DESC, id DESC LIMIT 1"},
    Diagnostic{"active", "sessions that are active",
               "SELECT id, content_session_id, project, started_at FROM sdk_sessions WHERE status = 'active' "
               "ORDER BY id"},
    Diagnostic{"observation-counts", "observations per memory id",
               "SELECT memory_session_id, count(*) AS observations FROM observations GROUP BY "
               "memory_session_id ORDER BY 1"},
    Diagnostic{"stale-active", "active sessions without an event for 24 hours",
               "SELECT id, content_session_id, started_at FROM sdk_sessions WHERE status = 'active' AND "
               "last_event_at_epoch < (strftime('%s', 'now') - 86400) * 1000 ORDER BY id"},
};

std::span<const Diagnostic> diagnostics() {
  return kDiagnostics;
}

// Prepared once more, without running it: Stmt does not give names of columns.
static std::vector<std::string> columns_of(Db& db, std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  std::vector<std::string> columns;
  if (sqlite3_prepare_v2(db.raw(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr) == SQLITE_OK)
    for (int i = 0; i < sqlite3_column_count(raw); ++i) columns.emplace_back(sqlite3_column_name(raw, i));
  sqlite3_finalize(raw);
  return columns;
}

Result<DiagnosticTable> run_diagnostic(Db& db, const Diagnostic& diagnostic, const std::string& session) {
  DiagnosticTable table{columns_of(db, diagnostic.sql), {}};
  table.rows =
      TRY(all(diagnostic.takes_session() ? db.query(diagnostic.sql, session) : db.query(diagnostic.sql),
              [&](const Stmt& row) {
                std::vector<std::optional<std::string>> cells(table.columns.size());
                for (std::size_t i = 0; i < cells.size(); ++i)
                  cells[i] = row.optional_text(static_cast<int>(i));
                return cells;
              }));
  return table;
}

}  // namespace cairn::store
