// The documented diagnostic queries (docs/reference/debug.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

struct Diagnostic {
  std::string_view name;
  std::string_view meaning;
  std::string_view sql;  // ?1 is the host's id of a session, where there is one
  bool takes_session() const { return sql.find("?1") != std::string_view::npos; }
};
std::span<const Diagnostic> diagnostics();

struct DiagnosticTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
};
Result<DiagnosticTable> run_diagnostic(Db& db, const Diagnostic& diagnostic, const std::string& session);

}  // namespace cairn::store
