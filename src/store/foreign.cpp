#include "store/foreign.h"

#include <sqlite3.h>

#include <algorithm>

namespace cairn::store {

static std::string quoted_name(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// No other process opens the copy, so it needs no shared memory (which some file systems lack). It is opened
// with the VFS of `like`: in tests both are on the simulated disk.
static Result<Db> open_copy(const Db& like, const std::string& path) {
  sqlite3_vfs* vfs = nullptr;
  sqlite3_file_control(like.raw(), "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  const sqlite3_vfs* usual = sqlite3_vfs_find(nullptr);
  Db::Options options;
  options.path = path;
  options.exclusive = true;
  if (vfs && vfs != usual) options.vfs = vfs->zName;
  auto db = Db::open(options);
  if (!db && db.error().code == Code::corrupt) return Error{Code::invalid, "it is not a database"};
  return db;
}

Result<Foreign> Foreign::open(const Db& like, const std::string& path) {
  Foreign foreign(TRY(open_copy(like, path)));
  TRY(foreign.read_schema());
  return foreign;
}

// Plain tables only: a view or a virtual table would run what another program wrote.
Status Foreign::read_schema() {
  Stmt table =
      TRY(db_.query("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
                    "AND name NOT LIKE 'sqlite_%' ORDER BY name"));
  while (TRY(table.step())) names_.push_back(table.text(0));
  for (const std::string& name : names_) {
    Stmt column = TRY(db_.query("SELECT name FROM pragma_table_info(?)", name));
    while (TRY(column.step())) columns_[name].push_back(column.text(0));
  }
  return {};
}

Result<Foreign> Foreign::from_json(const Db& like, const std::string& path, std::string_view text,
                                   const std::map<std::string, std::string>& tables) {
  Db db = TRY(open_copy(like, path));
  if (TRY(db.text("SELECT iif(json_valid(?1), json_type(?1), '')", text)) != "object")
    return Error{Code::invalid, "it is neither a database nor a JSON object"};
  auto transaction = TRY(Transaction::begin(db));
  for (const auto& [member, table] : tables) {
    const std::string where = "$." + quoted_name(member);
    // Names of letters, digits and _ alone: they are pasted into a JSON path below.
    std::string columns, values;
    {
      Stmt row =
          TRY(db.query("SELECT DISTINCT m.key FROM json_each(?1, ?2) a, json_each(a.value) m WHERE "
                       "a.type = 'object' AND m.key NOT GLOB '*[^A-Za-z0-9_]*' LIMIT 200",
                       text, where));
      while (TRY(row.step())) {
        columns += (columns.empty() ? "" : ", ") + quoted_name(row.text(0));
        values += (values.empty() ? "" : ", ") + ("json_extract(value, '$." + row.text(0) + "')");
      }
    }
    if (columns.empty()) continue;
    TRY(db.exec("CREATE TABLE " + quoted_name(table) + "(" + columns + ")"));
    TRY(db.run("INSERT INTO " + quoted_name(table) + " SELECT " + values +
                   " FROM json_each(?1, ?2) WHERE type = 'object'",
               text, where));
  }
  TRY(transaction.commit());
  Foreign foreign(std::move(db));
  TRY(foreign.read_schema());
  return foreign;
}

bool Foreign::has(const std::string& table, const std::string& column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() &&
         std::find(found->second.begin(), found->second.end(), column) != found->second.end();
}

Result<std::vector<Json>> Foreign::read(const std::string& table, Stmt row) const {
  std::vector<Json> rows;
  const auto& columns = columns_.at(table);
  while (TRY(row.step())) {
    Json& object = rows.emplace_back(Json::object());
    for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
      const std::string& name = columns[static_cast<std::size_t>(i)];
      if (row.is_text(i))
        object.set(name, row.text(i));
      else if (!row.is_null(i))
        object.set(name, row.integer(i));
    }
  }
  return rows;
}

static std::string all_columns(const std::vector<std::string>& columns, const std::string& table) {
  std::string sql;
  for (const std::string& column : columns) sql += (sql.empty() ? "SELECT " : ", ") + quoted_name(column);
  return sql + " FROM " + quoted_name(table);
}

Result<std::vector<Json>> Foreign::rows(const std::string& table) {
  if (!has(table)) return std::vector<Json>();
  return read(table, TRY(db_.query(all_columns(columns_[table], table))));
}

Result<std::vector<Json>> Foreign::rows(const std::string& table, const std::string& column,
                                        const std::string& value) {
  if (!has(table, column)) return std::vector<Json>();
  return read(
      table,
      TRY(db_.query(all_columns(columns_[table], table) + " WHERE " + quoted_name(column) + " = ?", value)));
}

static Result<std::vector<std::string>> texts_of(Result<Stmt> query) {
  std::vector<std::string> values;
  Stmt row = TRY(std::move(query));
  while (TRY(row.step())) values.push_back(row.text(0));
  return values;
}

Result<std::vector<std::string>> Foreign::values(const std::string& table, const std::string& column) {
  if (!has(table, column)) return std::vector<std::string>();
  const std::string name = quoted_name(column);
  return texts_of(
      db_.query("SELECT DISTINCT " + name + " FROM " + quoted_name(table) + " WHERE " + name + " <> ''"));
}

Result<std::vector<std::string>> Foreign::values(const std::string& table, const std::string& column,
                                                 const std::string& where, const std::string& value,
                                                 std::size_t limit) {
  if (!has(table, column) || !has(table, where)) return std::vector<std::string>();
  const std::string name = quoted_name(column);
  return texts_of(db_.query("SELECT " + name + " FROM " + quoted_name(table) + " WHERE " +
                                quoted_name(where) + " = ? AND " + name + " <> '' LIMIT ?",
                            value, limit));
}

}  // namespace cairn::store
