#include "store/exchange.h"

#include <array>
#include <set>

#include "base/text.h"
#include "store/lists.h"
#include "store/observations.h"
#include "store/rows.h"

namespace cairn::store {

namespace {

using Is = ExchangeColumn::Is;

#define NAMES "(SELECT value FROM json_each(?1))"

// SQL for the name of a row in an export, "observation UUID"; NULL when the row is not in the projects ?1.
// `letter_or_kind`: SQL that gives the letter of a record or the kind of an alias; `row`: the number. Texts
// have no uuid: their session's uuid and their hash name them.
std::string named_row(std::string_view letter_or_kind, const std::string& row) {
  struct Target {
    std::string_view letter, kind, table, name;
  };
  constexpr std::array kTargets = {Target{"O", "observation", "observations", "observation"},
                                   Target{"O", "note", "observations", "observation"},
                                   Target{"S", "summary", "session_summaries", "summary"},
                                   Target{"P", "prompt", "user_prompts", "prompt"},
                                   Target{"W", "open item", "open_items", "open item"},
                                   Target{"D", "document", "session_documents", "document"},
                                   Target{"", "session", "sdk_sessions", "session"}};
  const bool by_letter = letter_or_kind.starts_with("substr");
  std::string sql = "CASE " + std::string(letter_or_kind);
  std::set<std::string_view> seen;
  for (const Target& target : kTargets) {
    const std::string_view is = by_letter ? target.letter : target.kind;
    if (is.empty() || !seen.insert(is).second) continue;
    sql += " WHEN '" + std::string(is) + "' THEN (SELECT '" + std::string(target.name) +
           " ' || x.uuid FROM " + std::string(target.table) + " x WHERE x.id = " + row +
           " AND x.project IN " NAMES ")";
  }
  if (by_letter)
    sql +=
        " WHEN 'T' THEN (SELECT 'text ' || s.uuid || ' ' || x.hash FROM texts x JOIN sdk_sessions s ON s.id "
        "= x.session_db_id WHERE x.id = " +
        row + " AND x.project IN " NAMES ")";
  return sql + " END";
}

// The column as an export has it.
std::string exported(const ExchangeColumn& column) {
  const std::string name = "t.\"" + std::string(column.name) + "\"";
  switch (column.is) {
    case Is::project: return "(SELECT uuid FROM projects WHERE name = " + name + ")";
    case Is::session: return "(SELECT uuid FROM sdk_sessions WHERE id = " + name + ")";
    case Is::memory: return "(SELECT uuid FROM sdk_sessions WHERE memory_session_id = " + name + ")";
    case Is::observation: return "(SELECT uuid FROM observations WHERE id = " + name + ")";
    case Is::document: return "(SELECT uuid FROM session_documents WHERE id = " + name + ")";
    case Is::record: return named_row("substr(t.record, 1, 1)", "CAST(substr(t.record, 2) AS INTEGER)");
    case Is::row: return named_row("t.kind", "t.row_id");
    case Is::number:
    case Is::fixed:
    case Is::word:
    case Is::text:
    case Is::list: return name;
  }
  return name;
}

bool is_reference(const ExchangeColumn& column) {
  return column.is == Is::record || column.is == Is::row;
}

const ExchangeColumn* session_column(const ExchangeKind& kind) {
  for (const ExchangeColumn& column : kind.columns)
    if ((column.is == Is::session || column.is == Is::memory) && column.in_export() == "session")
      return &column;
  return nullptr;
}

std::string select_sql(const ExchangeKind& kind, bool of_session) {
  std::string columns, where(kind.scope);
  for (const ExchangeColumn& column : kind.columns) {
    columns += (columns.empty() ? "" : ", ") + exported(column);
    // A row about a record that is not exported is left out.
    if (is_reference(column)) where += (where.empty() ? "" : " AND ") + exported(column) + " IS NOT NULL";
  }
  // Links name projects by their numbers: here they are uuids as well.
  if (kind.what == Exchanged::link)
    columns =
        "(SELECT uuid FROM projects WHERE id = t.a), (SELECT uuid FROM projects WHERE id = t.b), t.state, "
        "t.made_by, t.reason, t.created_at_epoch";
  // Only files whose content is known: the others follow from the observation's lists.
  if (kind.what == Exchanged::file) where += " AND t.blob NOT IN ('', '-')";
  if (const ExchangeColumn* column = of_session ? session_column(kind) : nullptr)
    where += column->is == Is::session
                 ? " AND t.session_db_id = ?2"
                 : " AND t.memory_session_id = (SELECT memory_session_id FROM sdk_sessions WHERE id = ?2)";
  std::string from = std::string(kind.table) + " t";
  if (kind.letter != ' ') {
    for (const ExchangeColumn& column : exchange_standing()) columns += ", d." + std::string(column.name);
    from += " LEFT JOIN record_standing d ON d.record = '" + std::string(1, kind.letter) + "' || t.id";
  }
  const bool has_id =
      kind.letter != ' ' || kind.what == Exchanged::project || kind.what == Exchanged::session;
  return "SELECT " + columns + " FROM " + from + " WHERE " + where + (has_id ? " ORDER BY t.id" : "");
}

Json value_of(const Stmt& row, int at, const ExchangeColumn& column) {
  if (row.is_null(at)) return {};
  if (column.is == Is::list) {
    Json list = Json::array();
    for (const std::string& item : read_list(row.text(at))) list.push(item);
    return list;
  }
  // Links have uuids where the column is a number.
  if (column.is == Is::number && !row.is_text(at)) return Json(row.integer(at));
  return Json(valid_utf8(row.text(at)));
}

// Null: nothing was decided about the record.
Json standing_at(const Stmt& row, int first) {
  Json standing;
  for (const ExchangeColumn& column : exchange_standing()) {
    Json value = value_of(row, first++, column);
    if (!value.is_null()) standing.set(column.in_export(), std::move(value));
  }
  return standing;
}

Status bind_value(Stmt& stmt, int at, const Json& value) {
  if (value.is_null())
    stmt.bind(at, nullptr);
  else if (value.is_int())
    stmt.bind(at, value.as_int());
  else if (value.is_array())
    stmt.bind(at, value.dump());
  else
    stmt.bind(at, value.as_string());
  return {};
}

Result<Stmt> prepare_with(Db& db, const std::string& sql, const std::vector<const Json*>& values) {
  Stmt stmt = TRY(db.prepare(sql));
  int at = 0;
  for (const Json* value : values) TRY(bind_value(stmt, ++at, *value));
  return stmt;
}

// The blob '-' says that the content is not known: the files here are not those that the observation saw.
Status add_parts(Db& db, std::int64_t id) {
  for (const auto& [column, modified] : {std::pair("files_read", 0), std::pair("files_modified", 1)})
    TRY(
        db.run("INSERT INTO observation_files(observation_id, path, modified, blob) SELECT o.id, f.value, "
               "?1, '-' FROM "
               "observations o, json_each(o." +
                   std::string(column) + ") f WHERE o.id = ?2 ON CONFLICT DO NOTHING",
               modified, id));
  return db.run(
      "INSERT INTO observation_concepts(observation_id, concept) SELECT o.id, c.value FROM observations o, "
      "json_each(o.concepts) c WHERE o.id = ? ON CONFLICT DO NOTHING",
      id);
}

std::string hash_of_row(const Json& row) {
  Observation o;
  o.type = row["type"].as_string();
  o.title = row["title"].as_string();
  o.narrative = row["narrative"].as_string();
  for (const Json& fact : row["facts"].items()) o.facts.emplace_back(fact.as_string());
  return equality_hash(o);
}

// Columns of this store alone, which follow from others.
std::string derived_columns(const ExchangeKind& kind) {
  if (kind.what == Exchanged::session) return ", transcript_due";
  if (kind.what == Exchanged::prompt) return ", content_session_id";
  return "";
}

std::string derived_values(const ExchangeKind& kind, const Json& row) {
  if (kind.what == Exchanged::session) return ", 0";  // its transcript is in another home
  if (kind.what == Exchanged::prompt)
    return ", (SELECT content_session_id FROM sdk_sessions WHERE id = " +
           std::to_string(row["session_db_id"].as_int()) + ")";
  return "";
}

}  // namespace

Status read_exchange(Db& db, const ExchangeKind& kind, const std::vector<std::string>& projects,
                     const std::optional<std::int64_t>& session, const std::function<Status(Json)>& take) {
  const bool of_session = session && session_column(kind);
  Stmt row = TRY(db.prepare(select_sql(kind, of_session)));
  row.bind(1, list_text(projects));
  if (of_session) row.bind(2, *session);
  while (TRY(row.step())) {
    Json out = Json::object({{"record", kind.name()}});
    int at = 0;
    for (const ExchangeColumn& column : kind.columns) {
      Json value = value_of(row, at++, column);
      if (!value.is_null()) out.set(column.in_export(), std::move(value));
    }
    if (Json standing = kind.letter == ' ' ? Json() : standing_at(row, at); !standing.is_null())
      out.set("standing", std::move(standing));
    TRY(take(std::move(out)));
  }
  return {};
}

Result<std::optional<std::int64_t>> same_row(Db& db, const ExchangeKind& kind, const Json& row) {
  const std::string select = "SELECT " + std::string(kind.has_number ? "rowid" : "1") + " FROM " +
                             std::string(kind.table) + " WHERE ";
  if (row.has("uuid"))
    if (const auto known = TRY(db.integer(select + "uuid = ?", row["uuid"].as_string()))) return known;
  if (kind.identity.empty()) return std::optional<std::int64_t>();
  std::string where;
  std::vector<const Json*> values;
  for (const std::string_view column : split(kind.identity, ' ')) {
    where += (where.empty() ? "\"" : " AND \"") + std::string(column) + "\" = ?";
    values.push_back(&row[column]);
  }
  Stmt found = TRY(prepare_with(db, select + where, values));
  if (!TRY(found.step())) return std::optional<std::int64_t>();
  return found.optional_integer(0);
}

Result<std::int64_t> add_row(Db& db, const ExchangeKind& kind, const Json& row) {
  std::string columns, marks;
  std::vector<const Json*> values;
  // A batch has one observation at each position.
  const bool is_taken = kind.what == Exchanged::observation && row.has("batch_id") &&
                        TRY(db.integer("SELECT 1 FROM observations WHERE batch_id = ? AND position = ?",
                                       row["batch_id"].as_string(), row["position"].as_int()));
  for (const ExchangeColumn& column : kind.columns) {
    const Json& value = row[column.name];
    // The table has a default of its own.
    if (value.is_null() || (is_taken && column.name == "position")) continue;
    columns += (columns.empty() ? "\"" : ", \"") + std::string(column.name) + "\"";
    marks += marks.empty() ? "?" : ", ?";
    values.push_back(&value);
  }
  Json hash;
  if (kind.what == Exchanged::observation) {
    // The INSERT has the hash: setting it afterwards would index the row a second time.
    hash = Json(hash_of_row(row));
    columns += ", content_hash";
    marks += ", ?";
    values.push_back(&hash);
  }
  Stmt insert = TRY(prepare_with(
      db,
      "INSERT INTO " + std::string(kind.table) + "(" + columns + derived_columns(kind) + ") VALUES(" + marks +
          derived_values(kind, row) + ")" +
          (kind.what == Exchanged::file ? " ON CONFLICT DO UPDATE SET blob = excluded.blob" : ""),
      values));
  TRY(insert.run());
  const std::int64_t id = kind.has_number ? db.last_insert_rowid() : 0;
  if (kind.what == Exchanged::observation) TRY(add_parts(db, id));
  return id;
}

Status change_row(Db& db, const ExchangeKind& kind, std::int64_t id, const Json& row) {
  std::string set;
  std::vector<const Json*> values;
  for (const ExchangeColumn& column : kind.columns) {
    const bool changes = column.is == Is::text || column.is == Is::list || column.name == "type" ||
                         column.name == "provider" || column.name == "deleted_at";
    if (!changes) continue;
    const Json& value = row[column.name];
    if (value.is_null() && column.name != "deleted_at") continue;
    set += (set.empty() ? "\"" : ", \"") + std::string(column.name) + "\" = ?";
    values.push_back(&value);
  }
  const Json number(id);
  values.push_back(&number);
  TRY(TRY(prepare_with(db, "UPDATE " + std::string(kind.table) + " SET " + set + " WHERE id = ?", values))
          .run());
  if (kind.what != Exchanged::observation) return {};
  TRY(db.run("DELETE FROM observation_concepts WHERE observation_id = ?", id));
  TRY(add_parts(db, id));
  return rehash_observation(db, id);
}

Result<std::optional<std::int64_t>> fold_equal(Db& db, std::int64_t observation) {
  // The plus keeps SQLite from reading all observations of the session.
  const auto other = TRY(db.integer(
      "SELECT o.id FROM observations n JOIN observations o ON +o.memory_session_id = n.memory_session_id AND "
      "o.content_hash = n.content_hash AND o.id <> n.id WHERE n.id = ? ORDER BY o.id LIMIT 1",
      observation));
  if (other) TRY(db.run("DELETE FROM observations WHERE id = ?", observation));
  return other;
}

Status put_exchange_standing(Db& db, const RecordName& record, const Json& standing) {
  std::string columns = "record", marks = "?";
  const Json name(record.text());
  std::vector<const Json*> values = {&name};
  for (const ExchangeColumn& column : exchange_standing()) {
    const Json& value = standing[column.name];
    if (value.is_null()) continue;
    columns += ", " + std::string(column.name);
    marks += ", ?";
    values.push_back(&value);
  }
  return TRY(prepare_with(db, "INSERT OR REPLACE INTO record_standing(" + columns + ") VALUES(" + marks + ")",
                          values))
      .run();
}

Status set_same_as(Db& db, std::int64_t observation, std::int64_t same_as) {
  return db.run("UPDATE observations SET same_as = ?2 WHERE id = ?1 AND id <> ?2", observation, same_as);
}

Status set_previous_document(Db& db, std::int64_t document, std::int64_t previous) {
  return db.run("UPDATE session_documents SET previous_id = ?2 WHERE id = ?1 AND id <> ?2", document,
                previous);
}

Result<std::optional<Project>> project_by_uuid(Db& db, const std::string& uuid) {
  const auto id = TRY(db.integer("SELECT id FROM projects WHERE uuid = ?", uuid));
  if (!id) return std::optional<Project>();
  return find_project(db, *id);
}

// The project is not due for reading: its repository may be on another machine.
Result<Project> add_known_project(Db& db, const Project& project, WallTime since) {
  Place place;
  place.name = project.name;
  place.root = project.root;
  place.key = TRY(project_by_key(db, project.key)) ? "cairn:" + project.uuid : project.key;
  const Project added = TRY(add_project(db, place, since));
  TRY(db.run("UPDATE projects SET uuid = ?, root_commit = ?, remote = ?, is_due = 0 WHERE id = ?",
             project.uuid, project.root_commit, project.remote, added.id));
  auto found = TRY(find_project(db, added.id));
  CAIRN_ASSERT(found.has_value());
  return *std::move(found);
}

Result<std::optional<WallTime>> standing_changed_at(Db& db, const RecordName& record) {
  const auto at =
      TRY(db.integer("SELECT changed_at_epoch FROM record_standing WHERE record = ?", record.text()));
  return at ? std::optional(from_epoch_ms(*at)) : std::nullopt;
}

}  // namespace cairn::store
