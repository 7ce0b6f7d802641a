#include "store/scrub.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text.h"
#include "store/compress.h"
#include "store/evidence.h"
#include "store/rows.h"

namespace cairn::store {

namespace {

constexpr int kScrubPiece = 64;  // rows a read

// Columns that are not scrubbed, of every table: names that rows refer to, hashes and times. Every other
// column is scrubbed, so that a new one is included by itself.
constexpr auto kNames = std::to_array<std::string_view>(
    {"project",      "uuid",          "origin",        "platform",        "content_session_id",
     "root",         "old_key",       "old_root",      "old_name",        "memory_session_id",
     "branch",       "worktree",      "cwd",           "transcript_path", "memory_provider",
     "source_path",  "hash",          "content_hash",  "payload_hash",    "text_hash",
     "sha256",       "source_sha256", "anchor_sha256", "created_at",      "started_at",
     "completed_at", "updated_at",    "verified_at",   "deleted_at",      "opened_at",
     "closed_at",    "applied_at",    "host_boot_id",  "event_id",        "prompt_id",
     "tool_use_id",  "agent_id",      "batch_id",      "lease",           "provider",
     "last_uuid",    "anchor_uuid",   "head_commit",   "root_commit",     "blob",
     "mark",         "position",      "status",        "state",           "record"});

// Columns that hold only words of cairn's own: states, causes, types, names of values. They are not scrubbed
// either. With a table where another table has a text in a column of that name.
constexpr auto kStates = std::to_array<std::string_view>({"kind",
                                                          "outcome",
                                                          "message_type",
                                                          "purpose",
                                                          "trust",
                                                          "hidden_by",
                                                          "closed_by",
                                                          "made_by",
                                                          "event_name",
                                                          "source",
                                                          "cause",
                                                          "phase",
                                                          "way",
                                                          "what",
                                                          "actor",
                                                          "turns.end_reason",
                                                          "events.name",
                                                          "meta.key",
                                                          "index_rebuild.name",
                                                          "observations.type",
                                                          "schema_migrations.name"});

bool is_state(const std::string& table, const std::string& column) {
  return std::ranges::count(kStates, column) > 0 || std::ranges::count(kStates, table + "." + column) > 0;
}

struct ScrubTable {
  std::string name;
  bool has_rowid = true;
  std::vector<std::string> keys;     // of a table without rowid
  std::vector<std::string> columns;  // with texts
};

// Tables without texts, and those of the search index.
bool is_left_out(std::string_view name) {
  return name.starts_with("sqlite_") || name.find("_index") != std::string_view::npos ||
         any_of(name, {"schema_migrations", "tombstones", "tombstone_keys", "audit", "projects",
                       "project_history", "project_links", "transcripts", "transcript_calls", "prompt_ids",
                       "backup_bases", "backup_segments", "backup_sources", "backup_removals",
                       "backup_requests", "forgets", "forget_targets", "imports", "tallies"});
}

Result<std::vector<ScrubTable>> scrub_tables(Db& db) {
  std::vector<ScrubTable> tables;
  Stmt row = TRY(db.query(
      "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"));
  while (TRY(row.step()))
    if (!is_left_out(row.text(0))) tables.push_back({row.text(0), row.integer(1) == 0, {}, {}});
  for (ScrubTable& table : tables) {
    Stmt column = TRY(db.query("SELECT name, type, pk FROM pragma_table_info(?)", table.name));
    while (TRY(column.step())) {
      const std::string name = column.text(0);
      if (column.integer(2) > 0) table.keys.push_back(name);
      const bool is_text = !column.text(1).starts_with("INT");
      if (is_text && std::ranges::count(kNames, name) == 0 && !is_state(table.name, name))
        table.columns.push_back(name);
    }
  }
  return tables;
}

struct Hit {
  std::vector<std::pair<std::string, Changed>> columns;
  std::vector<bool> packed;
  std::int64_t rowid = 0;
  std::vector<std::string> keys;  // of a table without rowid
};

// The main text of a record: when nothing is left of it, the record is deleted.
std::string_view main_column(std::string_view table) {
  if (table == "observations") return "title";
  if (table == "texts" || table == "open_items" || table == "standing_orders") return "text";
  if (table == "session_documents" || table == "document_versions") return "body";
  if (table == "observation_files" || table == "uncommitted_edits") return "path";
  if (table == "observation_concepts") return "concept";
  if (table == "import_aliases") return "key";
  return "";
}

std::string where_of(const ScrubTable& table) {
  if (table.has_rowid) return " WHERE rowid = ?";
  std::string where;
  for (const std::string& key : table.keys)
    where += (where.empty() ? " WHERE \"" : " AND \"") + key + "\" = ?";
  return where;
}

Status bind_where(Stmt& stmt, int first, const Hit& hit, const ScrubTable& table) {
  if (table.has_rowid) {
    stmt.bind(first, hit.rowid);
    return {};
  }
  for (const std::string& key : hit.keys) stmt.bind(first++, key);
  return {};
}

// Writes the changed columns of one row. OR REPLACE: when the text becomes equal to that of another row and a
// unique index forbids that, the other row goes.
Status put_hit(Db& db, const ScrubTable& table, const Hit& hit, const RecordGone& on_gone) {
  if (table.name == "payloads") return replace_payload(db, hit.rowid, hit.columns.front().second.text);
  const std::string_view main = main_column(table.name);
  for (const auto& [column, changed] : hit.columns) {
    if (column != main || changed.left) continue;
    const bool has_uuid = any_of(table.name, {"observations", "open_items", "session_documents"});
    if (on_gone && has_uuid)
      if (const auto uuid = TRY(db.text("SELECT uuid FROM " + table.name + " WHERE id = ?", hit.rowid)))
        TRY(on_gone(*uuid));
    Stmt gone = TRY(db.prepare("DELETE FROM \"" + table.name + "\"" + where_of(table)));
    TRY(bind_where(gone, 1, hit, table));
    return gone.run();
  }
  for (std::size_t i = 0; i < hit.columns.size(); ++i) {
    const auto& [column, changed] = hit.columns[i];
    Stmt stmt = TRY(
        db.prepare("UPDATE OR REPLACE \"" + table.name + "\" SET \"" + column + "\" = ?" + where_of(table)));
    if (hit.packed[i])
      stmt.bind(1, Blob{compress(changed.text)});
    else
      stmt.bind(1, changed.text);
    TRY(bind_where(stmt, 2, hit, table));
    TRY(stmt.run());
    if (table.name == "texts" && column == main)
      TRY(db.run("UPDATE OR REPLACE texts SET hash = ? WHERE id = ?", content_hash(changed.text), hit.rowid));
  }
  // With another hash, a new observation with the forgotten text is not equal to this one.
  if (table.name == "observations")
    TRY(db.run("UPDATE observations SET content_hash = ? WHERE id = ?",
               content_hash("forgotten " + std::to_string(hit.rowid)), hit.rowid));
  return {};
}

std::optional<Hit> look_at(const Stmt& row, int first, const ScrubTable& table, const ChangeText& change,
                           ScrubStep& step) {
  Hit hit;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::string text = row.blob(first + static_cast<int>(i));
    if (text.empty()) continue;
    const bool packed = is_compressed(text);
    if (packed) text = decompress(text).value_or("");
    ++step.texts;
    auto changed = change(text);
    if (!changed) continue;
    hit.columns.emplace_back(table.columns[i], *std::move(changed));
    hit.packed.push_back(packed);
  }
  if (hit.columns.empty()) return std::nullopt;
  return hit;
}

// The hits among the next rows after `last`, which becomes the last row read. `more`: the table has more
// rows, perhaps. A table without rowid has no number to go on from: it is read as a whole.
Result<std::vector<Hit>> read_piece(Db& db, const ScrubTable& table, std::int64_t& last, bool& more,
                                    const ChangeText& change, const std::function<bool()>& enough,
                                    ScrubStep& step) {
  std::vector<Hit> hits;
  std::string columns;
  for (const std::string& column : table.columns) columns += ", \"" + column + "\"";
  if (!table.has_rowid) {
    std::string keys;
    for (const std::string& key : table.keys) keys += (keys.empty() ? "\"" : ", \"") + key + "\"";
    Stmt row = TRY(db.query("SELECT " + keys + columns + " FROM \"" + table.name + "\""));
    while (TRY(row.step()))
      if (auto hit = look_at(row, static_cast<int>(table.keys.size()), table, change, step)) {
        for (std::size_t i = 0; i < table.keys.size(); ++i)
          hit->keys.push_back(row.text(static_cast<int>(i)));
        hits.push_back(*std::move(hit));
      }
    more = false;
    return hits;
  }
  Stmt row = TRY(db.query("SELECT rowid" + columns + " FROM \"" + table.name +
                              "\" WHERE rowid > ? ORDER BY rowid LIMIT " + std::to_string(kScrubPiece),
                          last));
  int read = 0;
  for (more = false; TRY(row.step());) {
    last = row.integer(0);
    if (auto hit = look_at(row, 1, table, change, step)) {
      hit->rowid = last;
      hits.push_back(*std::move(hit));
    }
    if ((more = ++read == kScrubPiece || enough())) break;
  }
  return hits;
}

}  // namespace

Result<ScrubStep> scrub_rows(Db& db, const std::string& position, const ChangeText& change, bool only_look,
                             const std::function<bool()>& enough, const RecordGone& gone) {
  ScrubStep step;
  const auto tables = TRY(scrub_tables(db));
  const std::size_t blank = position.find(' ');
  const std::string at = position.substr(0, blank);
  // The tables are sorted by name, so that a position also holds when one was added or removed since.
  auto table = std::find_if(tables.begin(), tables.end(), [&](const ScrubTable& t) { return t.name >= at; });
  std::int64_t last = 0;
  if (table != tables.end() && table->name == at && blank != std::string::npos)
    last = std::stoll(position.substr(blank + 1));
  for (; table != tables.end(); ++table, last = 0) {
    if (table->columns.empty()) continue;
    for (bool more = true; more;) {
      const auto hits = TRY(read_piece(db, *table, last, more, change, enough, step));
      step.found += static_cast<std::int64_t>(hits.size());
      if (!hits.empty()) step.in.push_back(table->name);
      if (!hits.empty() && !only_look)
        TRY(in_transaction(db, [&]() -> Status {
          for (const Hit& hit : hits) TRY(put_hit(db, *table, hit, gone));
          return {};
        }));
      if (!enough() && hits.empty()) continue;
      const auto next = std::next(table);
      if (more)
        step.position = table->name + " " + std::to_string(last);
      else if (next != tables.end())
        step.position = next->name + " 0";
      return step;
    }
  }
  return step;
}

Result<std::string> own_words(Db& db) {
  std::string words = TRY(db.text("SELECT group_concat(sql, char(10)) FROM sqlite_schema")).value_or("");
  Stmt column = TRY(
      db.query("SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = "
               "'main' AND t.type = 'table'"));
  while (TRY(column.step())) {
    const std::string table = column.text(0), name = column.text(1);
    if (!is_state(table, name)) continue;
    Stmt row = TRY(db.query("SELECT DISTINCT \"" + name + "\" FROM \"" + table + "\""));
    while (TRY(row.step())) words += "\n" + row.text(0);
  }
  return words;
}

namespace {

struct RecordTable {
  char letter;
  std::string_view sql;  // id, project, session row, prompt number, fields...
  int fields;
};
constexpr std::array kRecordTables = {
    RecordTable{
        'O',
        "SELECT r.id, r.project, coalesce(s.id, 0), coalesce(r.prompt_number, 0), r.title, "
        "coalesce(r.subtitle, ''), coalesce(r.narrative, ''), r.facts, r.files_read, r.files_modified, "
        "r.concepts FROM observations r LEFT JOIN sdk_sessions s ON s.memory_session_id = "
        "r.memory_session_id",
        7},
    RecordTable{'S',
                "SELECT r.id, r.project, coalesce(s.id, 0), r.prompt_number, r.request, r.investigated, "
                "r.learned, r.completed, r.next_steps, r.notes, r.files_read, r.files_edited FROM "
                "session_summaries r LEFT JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id",
                8},
    RecordTable{'P',
                "SELECT r.id, r.project, r.session_db_id, r.prompt_number, r.prompt_text FROM user_prompts r",
                1},
    RecordTable{
        'T', "SELECT r.id, r.project, r.session_db_id, coalesce(r.prompt_number, 0), r.text FROM texts r", 1},
    RecordTable{'W',
                "SELECT r.id, r.project, coalesce(r.session_db_id, 0), coalesce(r.prompt_number, 0), r.text, "
                "r.detail FROM open_items r",
                2},
    RecordTable{'D', "SELECT r.id, r.project, 0, 0, r.title, r.body FROM session_documents r", 2},
};

RecordText read_record_text(const Stmt& row, const RecordTable& table) {
  RecordText text;
  text.record = {table.letter, row.integer(0)};
  text.project = row.text(1);
  text.session = row.integer(2);
  text.prompt_number = row.integer(3);
  for (int i = 0; i < table.fields; ++i) text.parts.push_back(row.text(4 + i));
  return text;
}

}  // namespace

Status for_each_record_text(Db& db, const std::optional<std::string>& project,
                            const std::function<void(const RecordText&)>& visit) {
  for (const RecordTable& table : kRecordTables) {
    Stmt row = TRY(db.query(std::string(table.sql) +
                                " WHERE (?1 IS NULL OR r.project IN (SELECT member FROM project_scope WHERE "
                                "project = ?1))",
                            project));
    while (TRY(row.step())) visit(read_record_text(row, table));
  }
  return {};
}

Result<std::optional<RecordText>> record_text(Db& db, const RecordName& record) {
  for (const RecordTable& table : kRecordTables) {
    if (table.letter != record.letter) continue;
    Stmt row = TRY(db.query(std::string(table.sql) + " WHERE r.id = ?", record.row));
    if (TRY(row.step())) return std::optional(read_record_text(row, table));
  }
  return std::optional<RecordText>();
}

// FTS5 merges 200 pages at a time (negative: also segments of different levels). A merge with nothing to do
// counts as one change; with two or more there may be work left.
Result<bool> merge_indexes(Db& db) {
  bool more = false;
  for (const char* index : {"memory_index", "passage_index", "event_index"}) {
    if (!TRY(db.integer("SELECT 1 FROM sqlite_schema WHERE name = ?", index))) continue;
    const std::string name = index;
    const std::int64_t before = TRY(db.integer("SELECT total_changes()")).value_or(0);
    TRY(db.run("INSERT INTO " + name + "(" + name + ", rank) VALUES('merge', -200)"));
    more = more || TRY(db.integer("SELECT total_changes()")).value_or(0) - before >= 2;
  }
  return more;
}

}  // namespace cairn::store
