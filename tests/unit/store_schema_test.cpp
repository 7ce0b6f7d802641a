#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "store/migrate.h"
#include "store/schema.h"
#include "support/temp_dir.h"

namespace cairn::store {
namespace {

const WallTime kToday = from_epoch_ms(1'790'000'000'000);

constexpr const char* kWhatToDo =
    "What to do after adding a migration: change src/store/schema.sql to what the migration leads to (new "
    "columns, indexes "
    "and triggers stand last among those of their table), and move kSchemaNow in src/store/schema.cpp to the "
    "line of "
    "the new migration.";

std::vector<Migration> without_whole() {
  std::vector<Migration> all(schema().begin(), schema().end());
  for (Migration& migration : all) migration.whole = {};
  return all;
}

// Each row of the result as one line, after `prefix`. Bytes are hexadecimal.
void add_rows(Db& db, const std::string& prefix, const std::string& sql, std::multiset<std::string>& to) {
  sqlite3_stmt* row = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(db.raw(), sql.c_str(), -1, &row, nullptr), SQLITE_OK)
      << sql << ": " << sqlite3_errmsg(db.raw());
  while (sqlite3_step(row) == SQLITE_ROW) {
    std::string line = prefix;
    for (int i = 0; i < sqlite3_column_count(row); ++i) {
      line += i > 0 ? " | " : ": ";
      const bool bytes = sqlite3_column_type(row, i) == SQLITE_BLOB;
      const auto* text = static_cast<const unsigned char*>(sqlite3_column_blob(row, i));
      const int size = sqlite3_column_bytes(row, i);
      if (sqlite3_column_type(row, i) == SQLITE_NULL) line += "NULL";
      for (int at = 0; at < size; ++at) {
        char hex[3];
        std::snprintf(hex, sizeof hex, "%02x", text[at]);
        bytes ? line.append(hex) : line.append(1, static_cast<char>(text[at]));
      }
    }
    to.insert(std::move(line));
  }
  sqlite3_finalize(row);
}

// A statement without its comments, and with one space where it needs one.
std::string plain(std::string_view sql) {
  std::string out;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql.substr(i, 2) == "--") i = std::min(sql.find('\n', i), sql.size() - 1);
    const char c = sql[i];
    if (c == '"') continue;  // a table that a migration renamed has its name in quotes
    const bool space = c == ' ' || c == '\n';
    const bool needless = out.empty() || out.back() == ' ' || out.back() == '(' || out.back() == ',';
    if (space && needless) continue;
    if (!out.empty() && out.back() == ' ' && (c == '(' || c == ')' || c == ',')) out.pop_back();
    out += space ? ' ' : c;
  }
  return out;
}

std::vector<std::string> names(Db& db, std::string_view sql) {
  std::vector<std::string> out;
  Stmt row = db.query(sql).value();
  while (row.step().value()) out.emplace_back(row.text(0));
  return out;
}

// All that distinguishes two stores, a line for each thing.
std::multiset<std::string> description(Db& db) {
  std::multiset<std::string> out;
  for (const char* name : {"user_version", "application_id", "encoding", "page_size", "auto_vacuum"})
    add_rows(db, name, std::string("PRAGMA ") + name, out);
  {
    Stmt row = db.query("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL").value();
    while (row.step().value())
      out.insert("statement of " + std::string(row.text(0)) + " " + std::string(row.text(1)) + " on " +
                 std::string(row.text(2)) + ": " + plain(row.text(3)));
  }
  for (const std::string& table :
       names(db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")) {
    const std::string of = "('" + table + "')";
    add_rows(db, "column of " + table, "SELECT * FROM pragma_table_xinfo" + of, out);
    add_rows(db, "reference of " + table, "SELECT * FROM pragma_foreign_key_list" + of, out);
    // The planner and the order in which triggers fire depend on the order in which they were made.
    add_rows(db, "index of " + table,
             "SELECT seq, name, \"unique\", origin, partial FROM pragma_index_list" + of, out);
    add_rows(db, "trigger of " + table,
             "SELECT row_number() OVER (ORDER BY rowid), name FROM sqlite_schema WHERE type = 'trigger' AND "
             "tbl_name = '" +
                 table + "'",
             out);
  }
  for (const std::string& index : names(db, "SELECT name FROM sqlite_schema WHERE type = 'index'"))
    add_rows(db, "column of index " + index, "SELECT * FROM pragma_index_xinfo('" + index + "')", out);
  // Shadow tables of an index for text have its options, so that these are compared, too.
  for (const std::string& table :
       names(db,
             "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN "
             "('table', 'shadow') AND name NOT IN ('sqlite_schema', 'sqlite_sequence')"))
    add_rows(db, "row of " + table, "SELECT * FROM \"" + table + "\"", out);
  // 0: an INSERT of no rows counts as one that used no number.
  add_rows(db, "numbers used of", "SELECT name, seq FROM sqlite_sequence WHERE seq <> 0", out);
  return out;
}

std::string only_in(const std::multiset<std::string>& one, const std::multiset<std::string>& other) {
  std::vector<std::string> lines;
  std::ranges::set_difference(one, other, std::back_inserter(lines));
  std::string out;
  for (const std::string& line : lines) out += "  " + line + "\n";
  return out;
}

class SchemaNow : public testing::Test {
 protected:
  Db open(const char* name) { return Db::open({.path = dir_ / name}).value(); }

  test::TempDir dir_;
};

TEST_F(SchemaNow, IsOfTheNewestMigration) {
  EXPECT_TRUE(schema().back().whole == kSchemaNow)
      << "schema.sql is older than migration " << schema().back().version << ".\n"
      << kWhatToDo;
  for (const Migration& earlier : schema().first(schema().size() - 1)) EXPECT_TRUE(earlier.whole.empty());
}

TEST_F(SchemaNow, IsWhatTheMigrationsLeadTo) {
  Db migrated = open("migrated.db"), fresh = open("fresh.db");
  ASSERT_TRUE(migrate(migrated, without_whole(), kToday).ok());
  const Status created = migrate(fresh, schema(), kToday);
  ASSERT_TRUE(created.ok()) << created.error().message << "\n" << kWhatToDo;
  const auto expected = description(migrated), got = description(fresh);
  ASSERT_GT(expected.size(), 1000u);
  EXPECT_TRUE(expected == got) << "only in a store that was migrated:\n"
                               << only_in(expected, got) << "only in a store that schema.sql made:\n"
                               << only_in(got, expected) << kWhatToDo;
}

}  // namespace
}  // namespace cairn::store
