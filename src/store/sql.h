// A thin layer over SQLite: a connection, statements that return to a cache, transactions that roll back by
// themselves.
//
// The store uses its database file only through this. Every failure is an Error with a code to decide on:
// `busy` retry, `full` warn the user, `corrupt` rebuild. What a committed transaction wrote survives a power
// cut (WAL, synchronous=FULL). SQL texts are the program's own; values are always bound, never pasted in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cairn::store {

// Bytes to be bound as a BLOB instead of TEXT.
struct Blob {
  std::string_view bytes;
};

// One prepared statement, borrowed from its Db: goes back to the cache, reset and without bindings, when
// destroyed. Movable; must not outlive the Db. Bindings count from 1, columns from 0, as in SQLite.
class Stmt {
 public:
  Stmt(Stmt&& other) noexcept;
  Stmt& operator=(Stmt&& other) noexcept;
  ~Stmt();

  // Binds integers, bools, doubles, text, Blob, nullptr, an optional of these (empty is NULL), or an id by
  // its value. The value is copied. A failure is kept and reported by step().
  template <class T>
  Stmt& bind(int index, const T& value);
  // Binds what `row` has in `column`, as it is.
  Stmt& bind_column(int index, const Stmt& row, int column);
  // Binds all parameters in order. Fails with `internal` when their number is not the statement's.
  template <class... Args>
  Status bind_all(const Args&... args);

  // Moves to the next row: true while there is one; false at the end, and false again if asked again.
  Result<bool> step();
  // Runs to the end, ignoring rows, and resets: other values can be bound and run next.
  Status run();
  // Makes the statement ready to run again. Bindings stay.
  void reset();

  // The columns of the current row; SQLite converts where the type differs. NULL is 0 or empty.
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string blob(int column) const;
  bool is_null(int column) const;
  bool is_text(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<std::string> optional_text(int column) const;

 private:
  friend class Db;
  // `home` is the cache to which the statement returns; null: it is finalized.
  Stmt(sqlite3_stmt* raw, std::vector<sqlite3_stmt*>* home) : raw_(raw), home_(home) {}
  void bind_null(int index);
  void bind_integer(int index, std::int64_t value);
  void bind_real(int index, double value);
  void bind_text(int index, std::string_view value);
  void bind_blob(int index, std::string_view value);
  Status check_bindings(std::size_t given) const;
  Status finish();
  void give_back();

  sqlite3_stmt* raw_ = nullptr;
  std::vector<sqlite3_stmt*>* home_ = nullptr;
  int bind_result_ = 0;
  bool done_ = false;
};

// What went wrong in calls of a connection so far.
struct DbErrors {
  std::string damage;      // the first; empty: none
  bool lost_sync = false;  // a write failed: the disk may have dropped pages that were not synced
};

// One connection. Belongs to one thread at a time. Movable while no Stmt, Transaction or Savepoint of it is
// alive.
class Db {
 public:
  enum class Mode { read_write, read_only };
  struct Options {
    std::string path;
    Mode mode = Mode::read_write;
    std::string vfs;                  // empty: SQLite's own; tests name the simulated disk's
    bool exclusive = false;           // no other connection, no shared memory: what the simulated disk needs
    bool damaged = false;             // read_only: ignore errors in the schema or the size
    int busy_timeout_ms = 5000;       // how long to wait for another connection's lock
    int autocheckpoint_pages = 1000;  // 4 MB of WAL; tests set less to see checkpoints
    Status (*check)(Db&) = nullptr;   // may refuse the database before anything of it is changed
  };

  // Opens the database; read_write creates it with mode 0600. Fails with `not_found`, `denied`, `corrupt`
  // (not a database), `busy`, or `unsupported` when the file system cannot carry a WAL.
  static Result<Db> open(const Options& options);

  // Runs statements that take no values, one after another, up to the first failure.
  Status exec(const std::string& sql);
  // A statement ready to be bound: from the cache if this text was used before.
  Result<Stmt> prepare(std::string_view sql);

  // Prepares and binds; the caller steps.
  template <class... Args>
  Result<Stmt> query(std::string_view sql, const Args&... args);
  // Prepares, binds and runs to the end.
  template <class... Args>
  Status run(std::string_view sql, const Args&... args);
  // The first column of the first row; nothing when there is no row or it is NULL.
  template <class... Args>
  Result<std::optional<std::int64_t>> integer(std::string_view sql, const Args&... args);
  template <class... Args>
  Result<std::optional<std::string>> text(std::string_view sql, const Args&... args);

  // Rows changed by the last INSERT, UPDATE or DELETE, and the id of the last row inserted.
  std::int64_t changes() const;
  std::int64_t last_insert_rowid() const;
  bool in_transaction() const;

  // Whether a commit waits until it is on the disk, as it does from the start. Without that it survives the
  // death of this process, but not yet of the machine; the next commit that waits, sync() or a checkpoint
  // makes all earlier ones durable as well. Not within a transaction.
  Status set_synced(bool synced);
  // Waits until every commit so far is on the disk. After a write that failed, the next sync may succeed
  // although the disk dropped pages of the log: then they are written to the database file instead.
  Status sync();

  // Moves the WAL into the database file. `truncate` also waits for readers and empties the WAL; `busy` when
  // they do not end within the timeout.
  Status checkpoint(bool truncate);
  // Whether closing this connection, as the last one, leaves the WAL alone instead of moving it into the
  // file.
  void keep_wal(bool keep);
  // Reads every page and checks its structure; `indexes` compares every index with its table as well, which
  // takes several times as long. Fails with `corrupt`, naming the first damage.
  Status integrity_check(bool indexes = false);
  // The first damage that any call found; empty: none.
  const std::string& damage() const { return connection_->trouble.damage; }
  // Records damage that SQLite cannot see.
  void met_damage(std::string_view what) {
    if (damage().empty()) connection_->trouble.damage = what;
  }

  // For uses that this class does not cover, such as registering SQL functions.
  sqlite3* raw() const { return connection_->db; }

 private:
  struct Connection {
    ~Connection();
    sqlite3* db = nullptr;
    DbErrors trouble;
    // Idle statements by text. The nodes never move, so a Stmt can point at its own.
    std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle;
  };
  explicit Db(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
  Status configure(const Options& options);

  std::unique_ptr<Connection> connection_;
};

// The first row of a query as `read` makes it; nothing when there is none.
template <class T>
Result<std::optional<T>> first(Result<Stmt> query, T (*read)(Stmt&)) {
  Stmt row = TRY(std::move(query));
  if (!TRY(row.step())) return std::optional<T>();
  return std::optional<T>(read(row));
}

// A write transaction (BEGIN IMMEDIATE). Rolls back when destroyed without a successful commit().
class Transaction {
 public:
  // Fails with `busy` when another connection writes.
  static Result<Transaction> begin(Db& db);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // On success everything since begin() is durable (see Db::set_synced). On failure nothing of it is kept
  // once this is destroyed.
  Status commit();

 private:
  explicit Transaction(Db& db) : db_(&db) {}
  Db* db_;  // null: committed or moved from
};

// A part of a transaction that can be undone alone. Undone when destroyed without a successful commit(); what
// it commits is durable with the transaction around it. Savepoints end in the reverse order of their begin.
class Savepoint {
 public:
  static Result<Savepoint> begin(Db& db);
  Savepoint(Savepoint&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Savepoint& operator=(Savepoint&&) = delete;
  ~Savepoint();

  Status commit();

 private:
  explicit Savepoint(Db& db) : db_(&db) {}
  Db* db_;
};

// While this exists, all reads see the database as it was at one moment, and the file is locked once instead
// of for every statement. Do not write while it exists. Within a transaction it does nothing.
class Snapshot {
 public:
  static Result<Snapshot> begin(Db& db);
  Snapshot(Snapshot&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Snapshot& operator=(Snapshot&&) = delete;
  ~Snapshot();

 private:
  explicit Snapshot(Db* db) : db_(db) {}
  Db* db_;  // null: within a transaction or moved from
};

// Runs `body`, which gives a Status, in a write transaction: when this succeeds all of it is durable, else
// nothing of it is kept.
template <class Body>
Status in_transaction(Db& db, Body&& body) {
  auto transaction = TRY(Transaction::begin(db));
  TRY(body());
  return transaction.commit();
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
Stmt& Stmt::bind(int index, const T& value) {
  if constexpr (std::is_same_v<T, std::nullptr_t> || std::is_same_v<T, std::nullopt_t>) {
    bind_null(index);
  } else if constexpr (is_optional<T>) {
    value ? static_cast<void>(bind(index, *value)) : bind_null(index);
  } else if constexpr (std::is_integral_v<T>) {
    bind_integer(index, static_cast<std::int64_t>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    bind_real(index, value);
  } else if constexpr (std::is_same_v<T, Blob>) {
    bind_blob(index, value.bytes);
  } else if constexpr (requires { value.value; }) {
    bind(index, value.value);
  } else {
    bind_text(index, value);
  }
  return *this;
}

template <class... Args>
Status Stmt::bind_all(const Args&... args) {
  int index = 0;
  (bind(++index, args), ...);
  return check_bindings(sizeof...(args));
}

template <class... Args>
Result<Stmt> Db::query(std::string_view sql, const Args&... args) {
  Stmt stmt = TRY(prepare(sql));
  TRY(stmt.bind_all(args...));
  return stmt;
}

template <class... Args>
Status Db::run(std::string_view sql, const Args&... args) {
  return TRY(query(sql, args...)).run();
}

template <class... Args>
Result<std::optional<std::int64_t>> Db::integer(std::string_view sql, const Args&... args) {
  Stmt stmt = TRY(query(sql, args...));
  if (!TRY(stmt.step())) return std::optional<std::int64_t>();
  const auto value = stmt.optional_integer(0);
  TRY(stmt.finish());
  return value;
}

template <class... Args>
Result<std::optional<std::string>> Db::text(std::string_view sql, const Args&... args) {
  Stmt stmt = TRY(query(sql, args...));
  if (!TRY(stmt.step())) return std::optional<std::string>();
  auto value = stmt.optional_text(0);
  TRY(stmt.finish());
  return value;
}

}  // namespace cairn::store
