#include "store/walk.h"

#include <vector>

#include "store/compress.h"

namespace cairn::store {

namespace {

constexpr int kPiece = 256;  // rows a read

struct Table {
  std::string name;
  bool has_rowid = true;
  std::vector<std::string> columns;
};

Result<std::vector<Table>> tables_of(Db& db) {
  std::vector<Table> tables;
  Stmt row =
      TRY(db.query("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name "
                   "NOT LIKE 'sqlite_%'"));
  while (TRY(row.step())) tables.push_back({row.text(0), row.integer(1) == 0, {}});
  for (Table& table : tables) {
    Stmt column =
        TRY(db.query("SELECT name FROM pragma_table_info(?) WHERE type NOT LIKE 'INT%'", table.name));
    while (TRY(column.step())) table.columns.push_back(column.text(0));
  }
  return tables;
}

using VisitText = std::function<void(const StoredText&)>;

void visit_row(const Stmt& row, const Table& table, const VisitText& visit) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::string bytes = row.blob(static_cast<int>(i) + 1);
    if (is_compressed(bytes)) bytes = decompress(bytes).value_or("");
    if (!bytes.empty()) visit({table.name, table.columns[i], row.integer(0), std::move(bytes)});
  }
}

Status walk_table(Db& db, const Table& table, const VisitText& visit) {
  if (table.columns.empty()) return {};
  std::string columns;
  for (const std::string& column : table.columns) columns += ", \"" + column + "\"";
  if (!table.has_rowid) {  // no number to go on from: read as a whole
    Stmt row = TRY(db.query("SELECT 0" + columns + " FROM \"" + table.name + "\""));
    while (TRY(row.step())) visit_row(row, table, visit);
    return {};
  }
  const std::string sql = "SELECT rowid" + columns + " FROM \"" + table.name +
                          "\" WHERE rowid > ? ORDER BY rowid LIMIT " + std::to_string(kPiece);
  std::int64_t last = 0;
  for (int read = kPiece; read == kPiece;) {
    Stmt row = TRY(db.query(sql, last));
    for (read = 0; TRY(row.step()); ++read) {
      last = row.integer(0);
      visit_row(row, table, visit);
    }
  }
  return {};
}

}  // namespace

Status walk_texts(Db& db, const std::function<void(const StoredText&)>& visit) {
  for (const Table& table : TRY(tables_of(db))) TRY(walk_table(db, table, visit).in(table.name));
  return {};
}

}  // namespace cairn::store
