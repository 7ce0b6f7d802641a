// Imports an export of another home, or an earlier one of this home.
//
// All in the caller's transaction. Every text passes the gate. A record keeps its uuid, so that a second
// import changes nothing; one that is here already stays as it is, unless it was corrected in the
// exporting home after the last correction here. What was forgotten here is left out, and what was forgotten
// there is forgotten here as well. Projects are matched by their uuid, their first commit, then by place or
// name.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "exchange/export_file.h"
#include "gate/gate.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/exchange.h"
#include "store/projects.h"
#include "store/tombstones.h"

namespace cairn::exchange {

struct ImportReport {
  std::map<std::string, std::int64_t> imported, known, changed, left_out;
  struct Match {
    std::string there, here;
    bool is_new = false;
  };
  std::vector<Match> projects;
  std::int64_t tombstones = 0;         // new ones
  std::optional<std::int64_t> forget;  // number of the forget job that applies the tombstones
};

// Belongs to the writer's thread. For one file.
class Import {
 public:
  Import(store::Db& db, os::Disk& disk, os::Clock& clock, const gate::Gate& gate, std::string home_key)
      : db_(db), disk_(disk), clock_(clock), gate_(gate), home_key_(std::move(home_key)) {}

  // Fails when anything about the file is wrong; the caller then rolls back.
  Result<ImportReport> run(const std::string& path);

 private:
  // Rows of this store by the uuids of their records in the file; 0: the record was left out.
  using Rows = std::unordered_map<std::string, std::int64_t>;

  Status take(const ExportHead& head, const Json& record);
  Status take_project(const Json& record);
  Status take_link(const Json& record);
  Status take_key(const Json& record);
  Status take_tombstone(const Json& record);
  Status take_session(const Json& record);
  Status take_row(const store::ExchangeKind& kind, const Json& record);
  Status take_known(const store::ExchangeKind& kind, std::int64_t id, Json& row, const Json& standing);
  Status finish();

  // The row as this store has it; nothing: what it belongs to was left out.
  Result<std::optional<Json>> local_row(const store::ExchangeKind& kind, const Json& record);
  Result<std::optional<Json>> local_value(const store::ExchangeColumn& column, const Json& value);
  Result<Json> local_standing(const Json& standing) const;
  Result<std::optional<store::Project>> match(const store::Project& there);
  Result<std::int64_t> row_named(std::string_view reference, char* letter) const;
  bool was_forgotten(const store::ExchangeKind& kind, const Json& record, const Json& row) const;
  std::string clean(std::string_view text) const;
  void leave_out(std::string_view kind, const Json& record, const std::string& why);

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  const gate::Gate& gate_;
  std::string home_key_, origin_;
  ImportReport report_;
  std::unordered_map<std::string, store::Project> projects_;  // by uuid there
  std::unordered_map<std::string, std::string> memory_ids_;   // by the session's uuid there
  std::map<std::string, Rows, std::less<>> rows_;             // by kind, then by uuid there
  std::vector<std::pair<std::int64_t, std::string>> same_as_, previous_;
  std::map<std::int64_t, std::string> keys_;
  std::vector<store::TombstoneRow> tombstones_;
};

}  // namespace cairn::exchange
