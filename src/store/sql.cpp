#include "store/sql.h"

#include <sqlite3.h>

#include <cerrno>

#include "os/owner.h"
#include "store/fts.h"
#include "store/payload.h"

namespace cairn::store {

namespace {

// Statements beyond this many are not cached. The program has fewer fixed ones, and generated ones must not
// accumulate.
constexpr std::size_t kCachedTexts = 256;

// The writer's lookaside memory: SQLite parses and keeps small objects there instead of calling malloc(). One
// megabyte is enough for all our statements.
constexpr int kSmallBytes = 512, kSmallPieces = 2000;

// What the caller can do about an errno: free space, fix permissions, or `otherwise`.
Code code_of_system_error(int error_number, Code otherwise) {
  switch (error_number) {
    case ENOSPC:
    case EFBIG:
    case EDQUOT: return Code::full;
    case EACCES:
    case EPERM:
    case EROFS: return Code::denied;
    case ENOENT: return Code::not_found;
    default: return otherwise;
  }
}

// The low byte of an extended result code is the primary code. A constraint that a row breaks is `invalid`:
// callers such as salvage go on with the next row.
Code code_of(sqlite3* db, int rc) {
  switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Code::busy;
    case SQLITE_FULL: return Code::full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::corrupt;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return Code::denied;
    case SQLITE_CANTOPEN: return code_of_system_error(sqlite3_system_errno(db), Code::denied);
    case SQLITE_IOERR: return code_of_system_error(sqlite3_system_errno(db), Code::internal);
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG: return Code::invalid;
    case SQLITE_INTERRUPT: return Code::canceled;
    default: return Code::internal;
  }
}

// The name of SQLite's client data that points to the connection's Trouble.
constexpr const char* kTrouble = "cairn.trouble";

Error sql_error(sqlite3* db, int rc, std::string_view what) {
  std::string message(what);
  message += ": ";
  message += db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
  Error error{db ? code_of(db, rc) : Code::internal, std::move(message)};
  auto* trouble = static_cast<DbErrors*>(db ? sqlite3_get_clientdata(db, kTrouble) : nullptr);
  if (!trouble) return error;
  if (error.code == Code::corrupt && trouble->damage.empty()) trouble->damage = error.message;
  // The code does not say whether the log was concerned. Assume it: the next sync() then costs a checkpoint.
  if ((rc & 0xff) == SQLITE_IOERR) trouble->lost_sync = true;
  return error;
}

// Enough of a statement to find it in the source.
std::string_view head(std::string_view sql) {
  sql = sql.substr(0, sql.find('\n'));
  return sql.substr(0, 60);
}

Error stmt_error(sqlite3_stmt* raw, int rc) {
  return sql_error(sqlite3_db_handle(raw), rc, head(sqlite3_sql(raw)));
}

}  // namespace

Stmt::Stmt(Stmt&& other) noexcept
    : raw_(std::exchange(other.raw_, nullptr)),
      home_(other.home_),
      bind_result_(other.bind_result_),
      done_(other.done_) {}

Stmt& Stmt::operator=(Stmt&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  raw_ = std::exchange(other.raw_, nullptr);
  home_ = other.home_;
  bind_result_ = other.bind_result_;
  done_ = other.done_;
  return *this;
}

Stmt::~Stmt() {
  give_back();
}

// The bindings are cleared so that the cache does not keep copies of large values.
void Stmt::give_back() {
  if (!raw_) return;
  sqlite3_reset(raw_);
  sqlite3_clear_bindings(raw_);
  if (home_) {
    home_->push_back(raw_);
  } else {
    sqlite3_finalize(raw_);
  }
  raw_ = nullptr;
}

static void keep_first(int& result, int rc) {
  if (result == SQLITE_OK) result = rc;
}

void Stmt::bind_null(int index) {
  keep_first(bind_result_, sqlite3_bind_null(raw_, index));
}

void Stmt::bind_integer(int index, std::int64_t value) {
  keep_first(bind_result_, sqlite3_bind_int64(raw_, index, value));
}

void Stmt::bind_real(int index, double value) {
  keep_first(bind_result_, sqlite3_bind_double(raw_, index, value));
}

// A null pointer would bind NULL, and an empty view may hold one.
void Stmt::bind_text(int index, std::string_view value) {
  const char* data = value.empty() ? "" : value.data();
  keep_first(bind_result_,
             sqlite3_bind_text64(raw_, index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Stmt::bind_blob(int index, std::string_view value) {
  const char* data = value.empty() ? "" : value.data();
  keep_first(bind_result_, sqlite3_bind_blob64(raw_, index, data, value.size(), SQLITE_TRANSIENT));
}

Stmt& Stmt::bind_column(int index, const Stmt& row, int column) {
  keep_first(bind_result_, sqlite3_bind_value(raw_, index, sqlite3_column_value(row.raw_, column)));
  return *this;
}

Status Stmt::check_bindings(std::size_t given) const {
  if (static_cast<int>(given) != sqlite3_bind_parameter_count(raw_)) {
    return Error{Code::internal, std::string(head(sqlite3_sql(raw_))) + ": wrong number of values"};
  }
  if (bind_result_ != SQLITE_OK) return stmt_error(raw_, bind_result_).in("bind");
  return {};
}

Result<bool> Stmt::step() {
  if (done_) return false;
  if (bind_result_ != SQLITE_OK) return stmt_error(raw_, bind_result_).in("bind");
  const int rc = sqlite3_step(raw_);
  if (rc == SQLITE_ROW) return true;
  done_ = true;
  if (rc == SQLITE_DONE) return false;
  // Read before the reset: it leaves the statement without locks, and may overwrite the message.
  Error error = stmt_error(raw_, rc);
  sqlite3_reset(raw_);
  return error;
}

Status Stmt::run() {
  while (TRY(step())) {
  }
  reset();
  return {};
}

// A writing statement commits after its last row, and that can fail: `PRAGMA journal_mode=WAL` has returned
// "wal" by then.
Status Stmt::finish() {
  return sqlite3_stmt_readonly(raw_) ? Status() : run();
}

void Stmt::reset() {
  sqlite3_reset(raw_);
  bind_result_ = SQLITE_OK;
  done_ = false;
}

std::int64_t Stmt::integer(int column) const {
  return sqlite3_column_int64(raw_, column);
}

double Stmt::real(int column) const {
  return sqlite3_column_double(raw_, column);
}

std::string Stmt::text(int column) const {
  const unsigned char* data = sqlite3_column_text(raw_, column);
  if (!data) return {};
  return std::string(reinterpret_cast<const char*>(data),
                     static_cast<std::size_t>(sqlite3_column_bytes(raw_, column)));
}

std::string Stmt::blob(int column) const {
  const void* data = sqlite3_column_blob(raw_, column);
  if (!data) return {};
  return std::string(static_cast<const char*>(data),
                     static_cast<std::size_t>(sqlite3_column_bytes(raw_, column)));
}

bool Stmt::is_null(int column) const {
  return sqlite3_column_type(raw_, column) == SQLITE_NULL;
}

bool Stmt::is_text(int column) const {
  return sqlite3_column_type(raw_, column) == SQLITE_TEXT;
}

std::optional<std::int64_t> Stmt::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::optional<std::string> Stmt::optional_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return text(column);
}

Db::Connection::~Connection() {
  for (auto& [sql, stmts] : idle) {
    for (sqlite3_stmt* stmt : stmts) sqlite3_finalize(stmt);
  }
  CAIRN_ASSERT(sqlite3_close(db) == SQLITE_OK);  // fails only when a Stmt outlives its Db
}

Result<Db> Db::open(const Options& options) {
  const bool writes = options.mode == Mode::read_write;
  const std::string what = "open " + options.path;
  // SQLite gives the WAL the mode of the database file, so the file is made first.
  if (writes && options.vfs.empty()) TRY(os::create_private(options.path).in(what));

  Db db(std::make_unique<Connection>());
  const int flags = (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const char* vfs = options.vfs.empty() ? nullptr : options.vfs.c_str();
  sqlite3*& raw = db.connection_->db;
  // SQLite gives a connection even when this fails; its destructor closes it.
  const int rc = sqlite3_open_v2(options.path.c_str(), &raw, flags, vfs);
  if (rc != SQLITE_OK) return sql_error(raw, rc, what);
  sqlite3_set_clientdata(raw, kTrouble, &db.connection_->trouble, nullptr);
  TRY(db.configure(options).in(what));
  // The tokenizer needs a readable schema. Salvage does without it: it does not read the search index.
  if (!options.damaged) TRY(register_tokenizer(db).in(what));
  TRY(register_payload_functions(db).in(what));
  return db;
}

Status Db::configure(const Options& options) {
  sqlite3_busy_timeout(raw(), options.busy_timeout_ms);
  if (options.mode == Mode::read_write)
    sqlite3_db_config(raw(), SQLITE_DBCONFIG_LOOKASIDE, nullptr, kSmallBytes, kSmallPieces);
  // Plans must not depend on bound values: else a statement with `LIMIT ?` is prepared again at each bind.
  sqlite3_db_config(raw(), SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
  // trusted_schema=OFF: a schema that was damaged or tampered with cannot call unsafe functions.
  TRY(exec("PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF; PRAGMA foreign_keys=ON"));
  // Before WAL: only then does SQLite keep the index of the WAL in its own memory instead of a shared file.
  if (options.exclusive) TRY(exec("PRAGMA locking_mode=EXCLUSIVE"));
  if (options.mode == Mode::read_only) {
    TRY(exec("PRAGMA query_only=ON"));
    if (options.damaged) TRY(exec("PRAGMA writable_schema=ON"));  // loads whatever of the schema it can
    TRY(integer("PRAGMA schema_version"));  // reads the file, so that a bad one is found here
    return {};
  }
  // Before WAL mode is set: that is the first change of the file.
  if (options.check) TRY(options.check(*this));
  const auto journal = TRY(text("PRAGMA journal_mode=WAL"));
  if (journal != "wal")
    return Error{Code::unsupported, "this file system does not support a write-ahead log"};
  // secure_delete: the bytes of a deleted row are overwritten, because forgotten text must not stay in the
  // file.
  TRY(exec("PRAGMA synchronous=FULL; PRAGMA secure_delete=ON"));
  // A WAL that grew in one large transaction is truncated when the log next restarts.
  TRY(exec("PRAGMA journal_size_limit=16777216"));
  TRY(exec("PRAGMA wal_autocheckpoint=" + std::to_string(options.autocheckpoint_pages)));
  return {};
}

Status Db::exec(const std::string& sql) {
  const int rc = sqlite3_exec(raw(), sql.c_str(), nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) return sql_error(raw(), rc, head(sql));
  return {};
}

Result<Stmt> Db::prepare(std::string_view sql) {
  // A text may be in use several times at once, such as in a loop within a loop over the same query. Each use
  // has a statement of its own, and all of them return to the list of that text.
  auto& idle = connection_->idle;
  auto found = idle.find(sql);
  if (found != idle.end() && !found->second.empty()) {
    sqlite3_stmt* stmt = found->second.back();
    found->second.pop_back();
    return Stmt(stmt, &found->second);
  }
  const bool cached = found != idle.end() || idle.size() < kCachedTexts;
  sqlite3_stmt* stmt = nullptr;
  // Not SQLITE_PREPARE_PERSISTENT: SQLite would then not use the lookaside memory.
  const int rc = sqlite3_prepare_v2(raw(), sql.data(), static_cast<int>(sql.size()), &stmt, nullptr);
  if (rc != SQLITE_OK) return sql_error(raw(), rc, head(sql));
  if (!stmt) return Error{Code::internal, "empty statement"};
  if (!cached) return Stmt(stmt, nullptr);
  return Stmt(stmt, &idle[std::string(sql)]);
}

std::int64_t Db::changes() const {
  return sqlite3_changes64(raw());
}

std::int64_t Db::last_insert_rowid() const {
  return sqlite3_last_insert_rowid(raw());
}

bool Db::in_transaction() const {
  return sqlite3_get_autocommit(raw()) == 0;
}

Status Db::set_synced(bool synced) {
  return exec(synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
}

// SQLite has no call that syncs the WAL without a commit. In WAL mode the "journal" is the WAL's file, so it
// is synced directly.
Status Db::sync() {
  sqlite3_file* log = nullptr;
  const int found =
      sqlite3_file_control(raw(), "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  if (found != SQLITE_OK) return sql_error(raw(), found, "sync");
  if (!log || !log->pMethods) return {};  // nothing was written yet
  bool& lost = connection_->trouble.lost_sync;
  if (lost) {
    TRY(checkpoint(true));
    lost = false;
    return {};
  }
  lost = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) != SQLITE_OK;
  return lost ? Error{Code::internal, "the write-ahead log could not be synced"} : Status();
}

Status Db::checkpoint(bool truncate) {
  const int mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  const int rc = sqlite3_wal_checkpoint_v2(raw(), nullptr, mode, nullptr, nullptr);
  if (rc != SQLITE_OK) return sql_error(raw(), rc, "checkpoint");
  return {};
}

void Db::keep_wal(bool keep) {
  sqlite3_db_config(raw(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

Status Db::integrity_check(bool indexes) {
  // A full check skips the free pages when the first table is virtual: SQLite takes its root page, 0, as a
  // sign of a partial check. A check of the schema alone includes them.
  for (const std::string_view sql :
       {std::string_view("PRAGMA quick_check('sqlite_schema')"),
        std::string_view(indexes ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)")}) {
    const auto answer = TRY(text(sql));
    if (answer != "ok") return Error{Code::corrupt, "integrity check: " + answer.value_or("no answer")};
  }
  return {};
}

Result<Transaction> Transaction::begin(Db& db) {
  TRY(db.run("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Status Transaction::commit() {
  TRY(db_->run("COMMIT"));
  db_ = nullptr;
  return {};
}

// After a full disk or an I/O error SQLite may have rolled back already.
Transaction::~Transaction() {
  if (db_ && db_->in_transaction()) ignore(db_->run("ROLLBACK"));
}

Result<Savepoint> Savepoint::begin(Db& db) {
  TRY(db.run("SAVEPOINT part"));
  return Savepoint(db);
}

Status Savepoint::commit() {
  TRY(db_->run("RELEASE part"));
  db_ = nullptr;
  return {};
}

// ROLLBACK TO undoes the changes but leaves the savepoint open: RELEASE ends it. All savepoints have the same
// name, which means the innermost.
Savepoint::~Savepoint() {
  if (db_ && db_->in_transaction()) ignore(db_->exec("ROLLBACK TO part; RELEASE part"));
}

// BEGIN alone reads nothing: the first statement after it fixes the moment that is seen.
Result<Snapshot> Snapshot::begin(Db& db) {
  if (db.in_transaction()) return Snapshot(nullptr);
  TRY(db.run("BEGIN"));
  return Snapshot(&db);
}

Snapshot::~Snapshot() {
  if (db_ && db_->in_transaction()) ignore(db_->run("ROLLBACK"));
}

}  // namespace cairn::store
