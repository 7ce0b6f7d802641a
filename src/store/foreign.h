// The database of another program: a private copy of it, read as rows of names and values.
//
// Its schema is not ours and may be of any version: tables and columns that are missing read as empty, and
// what is unknown is ignored. Belongs to one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

class Foreign {
 public:
  // Opens the copy at `path`, on the same disk as `like`. Opening may change the copy: a WAL beside it is
  // moved into it. Fails with `invalid` when it is not a database.
  static Result<Foreign> open(const Db& like, const std::string& path);
  // Makes a database at `path` of a JSON object: each array of objects that `tables` names (member -> table)
  // becomes a table with a column for each member. Fails with `invalid` when the text is no such object.
  static Result<Foreign> from_json(const Db& like, const std::string& path, std::string_view text,
                                   const std::map<std::string, std::string>& tables);

  const std::vector<std::string>& tables() const { return names_; }
  bool has(const std::string& table) const { return columns_.contains(table); }
  bool has(const std::string& table, const std::string& column) const;

  // The rows of a table, or only those whose `column` is `value`. Oldest first.
  Result<std::vector<Json>> rows(const std::string& table);
  Result<std::vector<Json>> rows(const std::string& table, const std::string& column,
                                 const std::string& value);
  // The distinct texts of a column that are not empty.
  Result<std::vector<std::string>> values(const std::string& table, const std::string& column);
  // The texts of the first `limit` rows whose column `where` is `value`, with repetitions.
  Result<std::vector<std::string>> values(const std::string& table, const std::string& column,
                                          const std::string& where, const std::string& value,
                                          std::size_t limit);

 private:
  explicit Foreign(Db db) : db_(std::move(db)) {}
  Status read_schema();
  Result<std::vector<Json>> read(const std::string& table, Stmt row) const;

  Db db_;
  std::vector<std::string> names_;
  std::map<std::string, std::vector<std::string>> columns_;
};

}  // namespace cairn::store
