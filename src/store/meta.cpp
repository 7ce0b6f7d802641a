#include "store/meta.h"

namespace cairn::store {

#define PUT_META "INSERT INTO meta(key, value) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET value = "

Result<std::optional<std::string>> meta_text(Db& db, std::string_view key) {
  return db.text("SELECT value FROM meta WHERE key = ?", key);
}

Result<std::optional<std::int64_t>> meta_number(Db& db, std::string_view key) {
  return db.integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?", key);
}

Status put_meta(Db& db, std::string_view key, std::string_view value) {
  return db.run(PUT_META "excluded.value", key, value);
}

Status put_meta(Db& db, std::string_view key, std::int64_t value) {
  return db.run(PUT_META "excluded.value", key, value);
}

Status add_to_meta(Db& db, std::string_view key, std::int64_t more) {
  return db.run(PUT_META "value + ?2", key, more);
}

Status raise_meta(Db& db, std::string_view key, std::int64_t value) {
  return db.run(PUT_META "max(CAST(value AS INTEGER), ?2)", key, value);
}

Status delete_meta(Db& db, std::string_view key) {
  return db.run("DELETE FROM meta WHERE key = ?", key);
}

}  // namespace cairn::store
