#include "store/tombstones.h"

#include "store/rows.h"

namespace cairn::store {

// at_epoch 0 marks one that does not last. On a conflict the larger time wins: a lasting one stays lasting.
Status add_tombstone(Db& db, const TombstoneRow& row, std::int64_t forget, bool lasting, WallTime now) {
  if (!row.key.empty())
    TRY(db.run("INSERT INTO tombstone_keys(key) VALUES(?) ON CONFLICT DO NOTHING", row.key));
  return db.run(
      "INSERT INTO tombstones(key_id, kind, hash, start, length, forget_id, at_epoch) "
      "VALUES(coalesce((SELECT "
      "id FROM tombstone_keys WHERE key = ?), 0),?,?,?,?,?,?) ON CONFLICT(key_id, kind, hash, length) DO "
      "UPDATE SET at_epoch = max(at_epoch, excluded.at_epoch), forget_id = excluded.forget_id",
      row.key, name_of(row.kind), static_cast<std::int64_t>(row.hash), std::int64_t{row.start},
      std::int64_t{row.length}, forget, lasting ? epoch_ms(now) : 0);
}

static TombstoneRow read_tombstone(Stmt& row) {
  return {named<TombstoneKind>(row.text(0)).value_or(TombstoneKind::text),
          static_cast<std::uint64_t>(row.integer(1)), static_cast<std::uint16_t>(row.integer(2)),
          static_cast<std::uint32_t>(row.integer(3)), row.text(4)};
}

#define TOMBSTONES                                                                                          \
  "SELECT t.kind, t.hash, t.start, t.length, k.key FROM tombstones t LEFT JOIN tombstone_keys k ON k.id = " \
  "t.key_id "

Result<std::vector<TombstoneRow>> tombstones(Db& db) {
  return all(db.query(TOMBSTONES), read_tombstone);
}

Result<std::vector<TombstoneRow>> lasting_tombstones(Db& db) {
  return all(db.query(TOMBSTONES "WHERE t.at_epoch > 0 ORDER BY t.id"), read_tombstone);
}

Result<std::vector<TombstoneRow>> tombstones_of(Db& db, std::int64_t forget) {
  return all(db.query(TOMBSTONES "WHERE t.forget_id = ?", forget), read_tombstone);
}

Result<bool> has_tombstone(Db& db, const TombstoneRow& row) {
  return TRY(db.integer("SELECT 1 FROM tombstones WHERE key_id = coalesce((SELECT id FROM tombstone_keys "
                        "WHERE key = ?), 0) AND kind = ? AND hash = ? AND length = ? AND at_epoch > 0",
                        row.key, name_of(row.kind), static_cast<std::int64_t>(row.hash),
                        std::int64_t{row.length}))
      .has_value();
}

Result<std::vector<std::string>> tombstone_keys(Db& db) {
  return all<std::string>(db.query("SELECT key FROM tombstone_keys ORDER BY id"));
}

Result<std::int64_t> lift_tombstones(Db& db, const std::vector<TombstoneRow>& rows) {
  std::int64_t lifted = 0;
  for (const TombstoneRow& row : rows) {
    TRY(db.run(
        "DELETE FROM tombstones WHERE key_id = coalesce((SELECT id FROM tombstone_keys WHERE key = ?), "
        "0) AND kind = ? AND hash = ? AND length = ?",
        row.key, name_of(row.kind), static_cast<std::int64_t>(row.hash), std::int64_t{row.length}));
    lifted += db.changes();
  }
  return lifted;
}

Result<std::int64_t> drop_temporary_tombstones(Db& db, std::int64_t forget) {
  TRY(db.run("DELETE FROM tombstones WHERE forget_id = ? AND at_epoch = 0", forget));
  return db.changes();
}

static Forget read_forget(Stmt& row) {
  Forget f;
  read_columns(row, f.id, f.way, f.phase, f.position, f.report, f.started_at, f.ended_at);
  return f;
}

#define FORGETS "SELECT id, way, phase, position, report, started_at_epoch, ended_at_epoch FROM forgets "

Result<std::int64_t> add_forget(Db& db, ForgetWay way, WallTime now) {
  TRY(db.run("INSERT INTO forgets(way, phase, started_at_epoch) VALUES(?,?,?)", name_of(way),
             name_of(ForgetPhase::rows), epoch_ms(now)));
  return db.last_insert_rowid();
}

Result<std::optional<Forget>> pending_forget(Db& db) {
  return first(db.query(FORGETS "WHERE ended_at_epoch IS NULL ORDER BY id LIMIT 1"), read_forget);
}

Result<std::optional<Forget>> find_forget(Db& db, std::int64_t id) {
  return first(db.query(FORGETS "WHERE id = ?", id), read_forget);
}

Status put_forget(Db& db, const Forget& f) {
  return db.run("UPDATE forgets SET phase = ?, position = ?, report = ?, ended_at_epoch = ? WHERE id = ?",
                name_of(f.phase), f.position, f.report,
                f.ended_at ? std::optional(epoch_ms(*f.ended_at)) : std::nullopt, f.id);
}

Status add_target(Db& db, std::int64_t forget, std::string_view target) {
  return db.run("INSERT INTO forget_targets(forget_id, target) VALUES(?,?) ON CONFLICT DO NOTHING", forget,
                target);
}

// A range from `start` to the largest character, so that the primary key is used.
Result<std::vector<std::string>> targets(Db& db, std::int64_t forget, std::string_view start,
                                         std::size_t limit) {
  return all<std::string>(
      db.query("SELECT target FROM forget_targets WHERE forget_id = ?1 AND target >= ?2 AND target < ?2 || "
               "char(1114111) ORDER BY target LIMIT ?3",
               forget, start, limit));
}

Status end_target(Db& db, std::int64_t forget, std::string_view target) {
  return db.run("DELETE FROM forget_targets WHERE forget_id = ? AND target = ?", forget, target);
}

}  // namespace cairn::store
