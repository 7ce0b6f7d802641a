// Reads the rows of a query into values, so that no reader counts columns. For the sources of this folder.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/time.h"
#include "store/lists.h"
#include "store/origins.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

// One column as the type of `to`. A state that this version does not know leaves `to` as it is.
template <class T>
void read_column(const Stmt& row, int column, T& to) {
  if constexpr (is_optional<T>) {
    to.reset();
    if (!row.is_null(column)) read_column(row, column, to.emplace());
  } else if constexpr (std::is_same_v<T, bool>) {
    to = row.integer(column) != 0;
  } else if constexpr (std::is_enum_v<T>) {
    to = named<T>(row.text(column)).value_or(to);
  } else if constexpr (std::is_integral_v<T>) {
    to = static_cast<T>(row.integer(column));
  } else if constexpr (std::is_floating_point_v<T>) {
    to = row.real(column);
  } else if constexpr (std::is_same_v<T, std::string>) {
    to = row.text(column);
  } else if constexpr (std::is_same_v<T, WallTime>) {
    to = from_epoch_ms(row.integer(column));
  } else if constexpr (std::is_same_v<T, Origins>) {
    to = origins_of(row.text(column));
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    to = read_list(row.text(column));
  } else {
    read_column(row, column, to.value);  // an id
  }
}

// The columns from the first on, in their order.
template <class... T>
void read_columns(const Stmt& row, T&... to) {
  int column = 0;
  (read_column(row, column++, to), ...);
}

// Every row, as `read` makes it.
template <class Read>
auto all(Result<Stmt> query, Read read) -> Result<std::vector<std::decay_t<decltype(read(*query))>>> {
  Stmt row = TRY(std::move(query));
  std::vector<std::decay_t<decltype(read(row))>> rows;
  while (TRY(row.step())) rows.push_back(read(row));
  return rows;
}

// The first column of every row.
template <class T>
Result<std::vector<T>> all(Result<Stmt> query) {
  return all(std::move(query), [](const Stmt& row) {
    T value{};
    read_column(row, 0, value);
    return value;
  });
}

// Rows of a name and a number.
inline Result<Counts> counts(Result<Stmt> query) {
  return all(std::move(query), [](const Stmt& row) { return std::pair(row.text(0), row.integer(1)); });
}

}  // namespace cairn::store
