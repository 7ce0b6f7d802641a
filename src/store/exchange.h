// The rows of what is remembered, as JSON objects: what an export writes and an import reads.
//
// A table of kinds says which columns a row has and what each of them is. Rows name each other by uuid,
// because numbers mean nothing in another store. Events, their evidence and the archive are not in it: a copy
// of the whole store has them (copy_store.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "store/projects.h"
#include "store/sql.h"
#include "store/standing.h"

namespace cairn::store {

struct ExchangeColumn {
  enum class Is {
    number,
    fixed,        // an id, a hash, a time, a value of a fixed set
    word,         // a name or a path
    text,         // words and texts pass the gate
    list,         // of texts
    project,      // its name here, its uuid in an export
    session,      // its number here, its uuid in an export
    memory,       // a session: its memory id here, its uuid in an export
    observation,  // its number here, its uuid in an export
    document,     // the same
    record,       // "O12" here, "observation UUID" in an export
    row,          // its number here, "observation UUID" in an export
  };
  std::string_view name;
  Is is = Is::fixed;
  std::string_view key = {};  // in an export; empty: the name
  std::string_view in_export() const { return key.empty() ? name : key; }
};

// What a record of an export is about.
enum class Exchanged {
  project,
  link,  // of two projects
  session,
  turn,
  prompt,
  text,
  observation,
  file,  // of an observation
  note,
  summary,
  open_item,
  order,
  document,
  version,  // of a document
  alias,    // the id that a row had in another tool
  request,  // an agent's, to forget a record
};
template <>
inline constexpr auto kStateTexts<Exchanged> = std::to_array<std::string_view>(
    {"project", "link", "session", "turn", "prompt", "text", "observation", "file", "note", "summary",
     "open item", "order", "document", "version", "alias", "request"});

struct ExchangeKind {
  Exchanged what = Exchanged::project;
  std::string_view table;
  std::string_view scope;  // SQL: the rows of the projects ?1, a JSON list of names
  std::span<const ExchangeColumn> columns;
  // Columns of text, separated by blanks: a row in which all of them are empty is no record.
  std::string_view main = {};
  char letter = ' ';  // of RecordName; blank: it is not a record
  // The columns, separated by blanks, that identify a row without a uuid, or whose uuid is another one in
  // this store.
  std::string_view identity = {};
  bool has_number = true;  // its table has a number for each row

  std::string_view name() const { return name_of(what); }
};

// In an order in which a row comes after those that it names, except `same_as` and `previous`.
std::span<const ExchangeKind> exchange_kinds();
const ExchangeKind& exchange_kind(Exchanged what);
// Null: there is none of that name.
const ExchangeKind* exchange_kind(std::string_view name);
// What was decided about a record: the object `standing` of its row.
std::span<const ExchangeColumn> exchange_standing();

// Gives the rows of a kind to `take`, by id where the table has one. `projects`: of these alone. `session`:
// of this one alone, for kinds that name a session.
Status read_exchange(Db& db, const ExchangeKind& kind, const std::vector<std::string>& projects,
                     const std::optional<std::int64_t>& session, const std::function<Status(Json)>& take);

// All below run in the caller's transaction, on the writer's connection. `row` has the values of this store:
// names and numbers instead of uuids, under the names of the columns.

// The number of the row that is the same one: by its uuid, else by its identity. 1 when the table has no
// numbers.
Result<std::optional<std::int64_t>> same_row(Db& db, const ExchangeKind& kind, const Json& row);
// Adds a row; of an observation with its files and concepts, and its hash. Returns its number (0: the table
// has none). Fails with `invalid` when a value is not allowed.
Result<std::int64_t> add_row(Db& db, const ExchangeKind& kind, const Json& row);
// Writes texts, lists, type, provider and `deleted_at` of an existing row.
Status change_row(Db& db, const ExchangeKind& kind, std::int64_t id, const Json& row);
// Removes an observation that was just added when its session has an equal one already; returns that one.
Result<std::optional<std::int64_t>> fold_equal(Db& db, std::int64_t observation);
// Writes what was decided about a record; `changed_at_epoch` must be there.
Status put_exchange_standing(Db& db, const RecordName& record, const Json& standing);
Status set_same_as(Db& db, std::int64_t observation, std::int64_t same_as);
Status set_previous_document(Db& db, std::int64_t document, std::int64_t previous);

// Adds a project that was known elsewhere, with its uuid. Its key and its name change if others have them.
Result<Project> add_known_project(Db& db, const Project& project, WallTime since);
Result<std::optional<Project>> project_by_uuid(Db& db, const std::string& uuid);

// When a decision about the record was made here.
Result<std::optional<WallTime>> standing_changed_at(Db& db, const RecordName& record);

}  // namespace cairn::store
