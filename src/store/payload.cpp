#include "store/payload.h"

#include <sqlite3.h>

#include "base/hash.h"
#include "store/compress.h"

namespace cairn::store {

static constexpr std::size_t kLeastPacked = 200;

std::string payload_key(SessionId session, std::string_view text) {
  return std::to_string(session.value) + " " + content_hash(text);
}

std::string payload_key_beside(std::string_view other_key, std::string_view text) {
  const std::size_t space = other_key.find(' ');
  if (space == std::string_view::npos) return content_hash(text);
  return std::string(other_key.substr(0, space + 1)) + content_hash(text);
}

bool is_payload_key(std::string_view key, std::string_view text) {
  return key.substr(key.find(' ') + 1) == content_hash(text);
}

bool is_plain(std::string_view text) {
  return text.size() < kLeastPacked;
}

// A short text is stored as TEXT, a compressed one as a BLOB. A damaged one counts as missing, so that the
// rest of its turn can still be read.
std::optional<std::string> payload_text(Db& db, const Stmt& row, int column) {
  if (row.is_null(column) || row.is_text(column)) return row.optional_text(column);
  auto text = decompress(row.blob(column));
  if (text) return *std::move(text);
  db.met_damage("a kept text: " + text.error().message);
  return std::nullopt;
}

static std::string_view text_of(sqlite3_value* value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  return {bytes, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

static void sql_payload_key(sqlite3_context* context, int, sqlite3_value** values) {
  if (sqlite3_value_type(values[1]) == SQLITE_NULL) return sqlite3_result_null(context);
  const std::string key = payload_key(SessionId{sqlite3_value_int64(values[0])}, text_of(values[1]));
  sqlite3_result_text64(context, key.data(), key.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void sql_pack(sqlite3_context* context, int, sqlite3_value** values) {
  const std::string_view text = text_of(values[0]);
  if (is_plain(text)) return sqlite3_result_value(context, values[0]);
  const std::string frame = compress(text);
  sqlite3_result_blob64(context, frame.data(), frame.size(), SQLITE_TRANSIENT);
}

Status register_payload_functions(Db& db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  const auto add = [&](const char* name, int arguments, auto* function) {
    return sqlite3_create_function(db.raw(), name, arguments, kFlags, nullptr, function, nullptr, nullptr) ==
           SQLITE_OK;
  };
  if (add("cairn_payload_key", 2, sql_payload_key) && add("cairn_pack", 1, sql_pack)) return {};
  return Error{Code::internal, "SQL functions cannot be registered"};
}

}  // namespace cairn::store
