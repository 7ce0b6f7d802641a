#include "store/standing.h"

#include <array>
#include <charconv>

#include "base/text.h"
#include "store/rows.h"

namespace cairn::store {

namespace {

struct Kind {
  char letter;
  std::string_view table;
  std::string_view title;  // SQL
  std::string_view actor;  // SQL: who the row comes from, by the way it came in
};

// Who stored an observation by hand follows from the id of its session. A batch that does not begin with
// `turn-` is a model's.
constexpr std::array kKinds = {
    Kind{'O', "observations", "title",
         "CASE WHEN EXISTS (SELECT 1 FROM import_aliases a WHERE a.kind IN ('observation', 'note') AND "
         "a.row_id = r.id) THEN 'import' ELSE (SELECT CASE WHEN s.content_session_id LIKE 'agent-notes-%' "
         "THEN 'agent' WHEN s.content_session_id LIKE 'notes-%' THEN 'person' WHEN r.batch_id LIKE 'turn-%' "
         "THEN 'distiller' WHEN s.platform = 'cairn' THEN 'import' ELSE 'model' END FROM sdk_sessions s "
         "WHERE s.memory_session_id = r.memory_session_id) END"},
    Kind{'S', "session_summaries", "request",
         "CASE r.provider WHEN 'builtin' THEN 'distiller' WHEN 'person' THEN 'person' ELSE CASE WHEN EXISTS "
         "(SELECT 1 FROM import_aliases a WHERE a.kind = 'summary' AND a.row_id = r.id) THEN 'import' ELSE "
         "'model' END END"},
    Kind{'P', "user_prompts", "prompt_text", "'person'"},
    Kind{'T', "texts", "text", "iif(r.source = 'distiller', 'distiller', 'agent')"},
    Kind{'A', "passages", "'lines ' || first_line || ' to ' || last_line", "'agent'"},
    Kind{'W', "open_items", "text", "iif(r.source = 'person', 'person', 'distiller')"},
    Kind{'D', "session_documents", "title",
         "CASE r.source WHEN 'import' THEN 'import' WHEN 'agent' THEN 'agent' WHEN 'draft' THEN 'distiller' "
         "ELSE 'person' END"},
};

const Kind* kind_of(char letter) {
  for (const Kind& kind : kKinds)
    if (kind.letter == letter) return &kind;
  return nullptr;
}

std::string table_of(const RecordName& record) {
  const Kind* kind = kind_of(record.letter);
  CAIRN_ASSERT(kind != nullptr);
  return std::string(kind->table);
}

// `at`: hide since then; nothing: show. The last condition leaves rows alone that are in that state already:
// they keep their time, and the search index is not written.
Status set_hidden(Db& db, const RecordName& record, const std::optional<std::string>& at) {
  if (record.letter == 'O')
    return db.run(
        "UPDATE observations SET deleted_at = ?1 WHERE (id = ?2 OR (content_hash = (SELECT content_hash FROM "
        "observations WHERE id = ?2) AND project IN (SELECT n.member FROM observations w JOIN project_names "
        "n "
        "ON n.project = w.project WHERE w.id = ?2))) AND (deleted_at IS NULL) <> (?1 IS NULL)",
        at, record.row);
  return db.run("UPDATE " + table_of(record) +
                    " SET deleted_at = ?1 WHERE id = ?2 AND (deleted_at IS NULL) <> (?1 IS NULL)",
                at, record.row);
}

}  // namespace

std::optional<RecordName> split_record_name(std::string_view text) {
  RecordName name;
  if (text.size() < 2) return std::nullopt;
  name.letter = static_cast<char>(text.front() & ~0x20);
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), name.row);
  if (error != std::errc() || end != text.data() + text.size() || name.row < 0) return std::nullopt;
  return name;
}

std::optional<RecordName> read_record_name(std::string_view text) {
  const auto name = split_record_name(text);
  return name && kind_of(name->letter) ? name : std::nullopt;
}

Result<std::optional<Standing>> standing_of(Db& db, const RecordName& record) {
  const Kind* kind = kind_of(record.letter);
  if (!kind) return std::optional<Standing>();
  Stmt row = TRY(db.query("SELECT " + std::string(kind->actor) +
                              ", t.trust, coalesce(t.pinned, 0), coalesce(t.edited, 0), t.valid_until_epoch, "
                              "coalesce(t.hidden_by, ''), coalesce(t.reason, ''), coalesce(t.text_hash, ''), "
                              "t.changed_at_epoch FROM " +
                              std::string(kind->table) +
                              " r LEFT JOIN record_standing t ON t.record = ? WHERE r.id = ?",
                          record.text(), record.row));
  if (!TRY(row.step())) return std::optional<Standing>();
  Standing s;
  std::optional<Trust> trust;
  read_columns(row, s.actor, trust, s.pinned, s.edited, s.valid_until, s.hidden_by, s.reason, s.text_hash,
               s.changed_at);
  if (s.edited) s.actor = Actor::person;
  // What a person said is confirmed; everything else is a candidate until a person says more.
  s.trust = trust.value_or(s.actor == Actor::person ? Trust::confirmed : Trust::candidate);
  return std::optional(std::move(s));
}

Status put_standing(Db& db, const RecordName& record, const Standing& s, WallTime now) {
  return db.run(
      "INSERT OR REPLACE INTO record_standing(record, trust, pinned, edited, valid_until_epoch, hidden_by, "
      "reason, text_hash, changed_at_epoch) VALUES(?,?,?,?,?,?,?,?,?)",
      record.text(), name_of(s.trust), s.pinned, s.edited,
      s.valid_until ? std::optional(epoch_ms(*s.valid_until)) : std::nullopt, name_of(s.hidden_by), s.reason,
      s.text_hash, epoch_ms(now));
}

Status remove_standing(Db& db, const RecordName& record) {
  return db.run("DELETE FROM record_standing WHERE record = ?", record.text());
}

Result<std::optional<std::string>> project_of_record(Db& db, const RecordName& record) {
  if (record.letter == 'A')
    return db.text(
        "SELECT coalesce((SELECT project FROM sdk_sessions s WHERE s.platform = b.platform AND "
        "s.content_session_id = b.content_session_id), (SELECT project FROM backups WHERE base_id = b.id "
        "LIMIT 1), '') FROM passages p JOIN backup_bases b ON b.id = p.base_id WHERE p.id = ?",
        record.row);
  if (!kind_of(record.letter)) return std::optional<std::string>();
  return db.text("SELECT project FROM " + table_of(record) + " WHERE id = ?", record.row);
}

Result<std::optional<std::string>> uuid_of_record(Db& db, const RecordName& record) {
  if (!kind_of(record.letter) || record.letter == 'T' || record.letter == 'A')
    return std::optional<std::string>();
  return db.text("SELECT uuid FROM " + table_of(record) + " WHERE id = ?", record.row);
}

Result<std::string> imported_from(Db& db, const RecordName& record) {
  if (!kind_of(record.letter) || record.letter == 'A') return std::string();
  const std::string table = table_of(record);
  // A text has no origin of its own: it has that of its session.
  const auto origin =
      record.letter == 'T'
          ? TRY(db.text(
                "SELECT s.origin FROM texts t JOIN sdk_sessions s ON s.id = t.session_db_id WHERE t.id = ?",
                record.row))
          : TRY(db.text("SELECT origin FROM " + table + " WHERE id = ?", record.row));
  if (origin && *origin != "local") return *origin;
  const std::string kinds = record.letter == 'O'   ? "'observation', 'note'"
                            : record.letter == 'S' ? "'summary'"
                            : record.letter == 'P' ? "'prompt'"
                            : record.letter == 'D' ? "'document'"
                                                   : "''";
  return TRY(db.text("SELECT source || ' ' || old_id FROM import_aliases WHERE kind IN (" + kinds +
                         ") AND row_id = ? LIMIT 1",
                     record.row))
      .value_or("");
}

Result<std::optional<std::string>> title_of_record(Db& db, const RecordName& record) {
  constexpr std::size_t kTitle = 120;
  const Kind* kind = kind_of(record.letter);
  if (!kind) return std::optional<std::string>();
  auto title = TRY(
      db.text("SELECT " + std::string(kind->title) + " FROM " + std::string(kind->table) + " WHERE id = ?",
              record.row));
  if (title) title = one_line(visible(*title), kTitle);
  return title;
}

Status hide_record(Db& db, const RecordName& record, WallTime now) {
  return set_hidden(db, record, iso8601(now));
}

Status show_record_again(Db& db, const RecordName& record) {
  return set_hidden(db, record, std::nullopt);
}

// CROSS JOIN fixes the order: the few decisions about that text first, by the index record_standing_by_text,
// which needs the condition `text_hash <> ''`. Then their observations by id.
Result<std::optional<Ruling>> ruling_on(Db& db, const std::string& project, std::string_view text_hash) {
  Stmt row = TRY(db.query(
      "SELECT t.record, t.hidden_by FROM record_standing t CROSS JOIN observations o ON o.id = "
      "CAST(substr(t.record, 2) AS INTEGER) WHERE t.text_hash = ? AND t.text_hash <> '' AND t.record LIKE "
      "'O%' AND o.project IN (SELECT member FROM project_names WHERE project = ?) LIMIT 1",
      text_hash, project));
  if (!TRY(row.step())) return std::optional<Ruling>();
  const auto record = read_record_name(row.text(0));
  if (!record) return std::optional<Ruling>();
  return std::optional(Ruling{*record, !row.text(1).empty()});
}

Result<std::vector<RecordName>> records_over(Db& db, WallTime now, std::size_t limit) {
  auto names = TRY(all<std::string>(
      db.query("SELECT record FROM record_standing WHERE valid_until_epoch <= ? AND hidden_by = '' LIMIT ?",
               epoch_ms(now), limit)));
  std::vector<RecordName> records;
  for (const std::string& name : names)
    if (const auto record = read_record_name(name)) records.push_back(*record);
  return records;
}

}  // namespace cairn::store
