#include "store/audit.h"

#include "base/hash.h"
#include "store/meta.h"
#include "store/rows.h"

namespace cairn::store {

static constexpr std::string_view kAuditEntries = "audit_entries";

// The hash of an entry covers its fields and the hash before it. It cannot be made without the home's key.
static std::string chained(const std::string& key, const AuditEntry& e, std::string_view previous) {
  std::string all = std::to_string(e.id) + "\n" + std::to_string(epoch_ms(e.at));
  for (const std::string_view part : {std::string_view(e.what), std::string_view(e.actor),
                                      std::string_view(e.subject), std::string_view(e.detail), previous})
    all.append("\n").append(part);
  return keyed_hash(key, all);
}

Status add_audit(Db& db, const std::string& key, std::string_view what, std::string_view actor,
                 std::string_view subject, std::string_view detail, WallTime now) {
  AuditEntry entry;
  entry.id = TRY(db.integer("SELECT max(id) FROM audit")).value_or(0) + 1;
  // As it is read back, in whole milliseconds: else check_audit() would compute another hash.
  entry.at = from_epoch_ms(epoch_ms(now));
  entry.what = what;
  entry.actor = actor;
  entry.subject = keyed_hash(key, subject);
  entry.detail = detail;
  const std::string previous = TRY(db.text("SELECT hash FROM audit ORDER BY id DESC LIMIT 1")).value_or("");
  TRY(
      db.run("INSERT INTO audit(id, at_epoch, what, actor, subject, detail, previous, hash) "
             "VALUES(?,?,?,?,?,?,?,?)",
             entry.id, epoch_ms(entry.at), entry.what, entry.actor, entry.subject, entry.detail, previous,
             chained(key, entry, previous)));
  return put_meta(db, kAuditEntries, entry.id);
}

Result<std::vector<AuditEntry>> audit_entries(Db& db, std::size_t limit) {
  return all(db.query("SELECT id, at_epoch, what, actor, subject, detail FROM audit ORDER BY id DESC LIMIT ?",
                      limit),
             [](Stmt& row) {
               AuditEntry e;
               read_columns(row, e.id, e.at, e.what, e.actor, e.subject, e.detail);
               return e;
             });
}

Result<AuditCheck> check_audit(Db& db, const std::string& key) {
  AuditCheck check;
  std::string previous;
  Stmt row = TRY(
      db.query("SELECT id, at_epoch, what, actor, subject, detail, previous, hash FROM audit ORDER BY id"));
  while (TRY(row.step())) {
    AuditEntry e;
    std::string before, hash;
    read_columns(row, e.id, e.at, e.what, e.actor, e.subject, e.detail, before, hash);
    ++check.entries;
    if (check.broken) continue;
    if (e.id != check.entries)
      check.why = "an entry before it is missing";
    else if (before != previous)
      check.why = "it does not follow the entry before it";
    else if (hash != chained(key, e, before))
      check.why = "it was changed";
    if (!check.why.empty()) check.broken = e.id;
    previous = hash;
  }
  // Entries that are missing at the end leave the chain valid: only the count shows them.
  const std::int64_t expected = TRY(meta_number(db, kAuditEntries)).value_or(0);
  if (!check.broken && expected > check.entries) {
    check.broken = check.entries + 1;
    check.why = "the log ends before it";
  }
  return check;
}

}  // namespace cairn::store
