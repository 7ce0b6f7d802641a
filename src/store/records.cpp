#include "store/records.h"

#include "base/text.h"
#include "store/rows.h"

namespace cairn::store {

static constexpr std::size_t kTitle = 300;

#define TOOLS TOOLS_OF_TURN("s.id", "r.prompt_number")

// The columns of a Record, in the order in which load_record() reads them. An observation that is equal to an
// earlier one (same_as) is not in the view of indexed ones: it is shown without a body.
static std::string_view record_sql(RecordKind kind) {
  switch (kind) {
    case RecordKind::observation:
      return "SELECT r.project, s.content_session_id, r.prompt_number, r.type, r.title, v.body, "
             "r.created_at_epoch, v.files || char(10) || v.concepts, " TOOLS_OF_OBSERVATION("r.id")
             " FROM observations r JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id LEFT JOIN "
             "indexed_observations v ON v.id = r.id WHERE r.id = ? AND r.deleted_at IS NULL";
    case RecordKind::summary:
      return "SELECT r.project, s.content_session_id, r.prompt_number, 'summary', r.request, v.body, "
             "r.created_at_epoch, v.files, " TOOLS
             " FROM session_summaries r JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id "
             "JOIN "
             "indexed_summaries v ON v.id = r.id WHERE r.id = ?";
    case RecordKind::prompt:
      return "SELECT project, content_session_id, prompt_number, 'prompt', substr(prompt_text, 1, 1000), "
             "prompt_text, created_at_epoch, '', NULL FROM user_prompts WHERE id = ? AND deleted_at IS NULL";
    case RecordKind::open:
      return "SELECT r.project, s.content_session_id, r.prompt_number, r.source, r.text, r.detail, "
             "r.opened_at_epoch, '', " TOOLS
             " FROM open_items r LEFT JOIN sdk_sessions s ON s.id = r.session_db_id WHERE r.id = ? AND "
             "r.deleted_at IS NULL";
    case RecordKind::passage: break;  // find_passage()
    case RecordKind::document:
      return "SELECT project, content_session_id, NULL, 'document', title, body, created_at_epoch, tags, "
             "NULL FROM session_documents WHERE id = ? AND deleted_at IS NULL";
    case RecordKind::event:
      return "SELECT s.project, s.content_session_id, e.prompt_number, coalesce(e.tool_name, e.kind), "
             "coalesce(e.tool_name, e.name), '', e.created_at_epoch, '', e.tool_name FROM events e JOIN "
             "sdk_sessions s ON s.id = e.session_db_id WHERE e.seq = ? AND e.outcome = 'stored' AND "
             "s.deleted_at IS NULL";
    case RecordKind::text:
      return "SELECT r.project, s.content_session_id, r.prompt_number, r.kind, substr(r.text, 1, 1000), "
             "r.text, r.created_at_epoch, '', " TOOLS
             " FROM texts r JOIN sdk_sessions s ON s.id = r.session_db_id WHERE r.id = ? AND r.deleted_at IS "
             "NULL";
  }
  return "";
}

Result<std::optional<Record>> load_record(Db& db, const RecordId& id) {
  if (id.kind == RecordKind::passage) return std::optional<Record>();
  Stmt row = TRY(db.query(record_sql(id.kind), id.row));
  if (!TRY(row.step())) return std::optional<Record>();
  Record r;
  r.id = id;
  read_columns(row, r.project, r.session, r.prompt_number, r.type, r.title, r.body, r.time, r.names,
               r.origins);
  r.title = one_line(visible(r.title), kTitle);
  // Prompts and answers contain no labels of ours.
  if (id.kind != RecordKind::prompt && id.kind != RecordKind::text)
    for (const std::string* text : {&r.title, &r.body}) r.origins.merge(origins_in(*text));
  return std::optional(std::move(r));
}

Result<std::optional<Record>> summary_of(Db& db, const Record& record) {
  if (!record.prompt_number) return std::optional<Record>();
  const auto id = TRY(db.integer(
      "SELECT r.id FROM session_summaries r JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id "
      "WHERE s.content_session_id = ? AND r.prompt_number = ? AND r.project = ? AND r.deleted_at IS NULL",
      record.session, *record.prompt_number, record.project));
  if (!id) return std::optional<Record>();
  return load_record(db, {RecordKind::summary, *id});
}

#define EVENTS_OF_TURN(record, session, more)                                            \
  "SELECT e.seq FROM " record " JOIN events e ON e.session_db_id = " session             \
  " AND e.prompt_number = r.prompt_number WHERE r.id = ? AND e.outcome = 'stored' " more \
  "ORDER BY e.seq LIMIT ?"

static std::string_view evidence_sql(RecordKind kind) {
  switch (kind) {
    case RecordKind::observation:
      return "SELECT event_seq FROM observation_evidence WHERE observation_id = ? ORDER BY event_seq LIMIT ?";
    case RecordKind::summary:
      return EVENTS_OF_TURN(
          "session_summaries r JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id", "s.id", "");
    case RecordKind::prompt:
      return EVENTS_OF_TURN("user_prompts r", "r.session_db_id", "AND e.kind = 'prompt' ");
    case RecordKind::text: return EVENTS_OF_TURN("texts r", "r.session_db_id", "");
    case RecordKind::passage:
    case RecordKind::document: break;
    case RecordKind::event: return "SELECT seq FROM events WHERE seq = ? AND outcome = 'stored' LIMIT ?";
    case RecordKind::open:
      return "SELECT event_seq FROM open_items WHERE id = ? AND event_seq IS NOT NULL LIMIT ?";
  }
  return "";
}

Result<std::vector<std::int64_t>> evidence_of(Db& db, const RecordId& id, std::int64_t limit) {
  // A passage is the raw text itself; a document is written by hand or drafted from a whole session.
  if (id.kind == RecordKind::passage || id.kind == RecordKind::document) return std::vector<std::int64_t>();
  return all<std::int64_t>(db.query(evidence_sql(id.kind), id.row, limit));
}

#define NEIGHBOURS(table, sign, way)                                           \
  "SELECT id, created_at_epoch FROM " table                                    \
  " WHERE project = ? AND deleted_at IS NULL AND (created_at_epoch, id) " sign \
  " (?, ?) ORDER BY created_at_epoch " way ", id " way " LIMIT ?"
#define EARLIER_OR_LATER(table) later ? NEIGHBOURS(table, ">", "ASC") : NEIGHBOURS(table, "<", "DESC")

static std::string_view neighbours_sql(RecordKind kind, bool later) {
  if (kind == RecordKind::observation) return EARLIER_OR_LATER("observations");
  if (kind == RecordKind::summary) return EARLIER_OR_LATER("session_summaries");
  CAIRN_ASSERT(kind == RecordKind::prompt);
  return EARLIER_OR_LATER("user_prompts");
}

Result<std::vector<Neighbour>> neighbours(Db& db, RecordKind kind, const std::string& project,
                                          const Neighbour& of, bool later, std::size_t limit) {
  return all(db.query(neighbours_sql(kind, later), project, epoch_ms(of.time), of.row, limit), [](Stmt& row) {
    return Neighbour{from_epoch_ms(row.integer(1)), row.integer(0)};
  });
}

#define ENTRY_TIME                                                                                         \
  "CASE memory_index.rowid & 7 WHEN 1 THEN (SELECT created_at_epoch FROM observations WHERE id = "         \
  "memory_index.rowid >> 3) WHEN 2 THEN (SELECT created_at_epoch FROM session_summaries WHERE id = "       \
  "memory_index.rowid >> 3) WHEN 6 THEN (SELECT opened_at_epoch FROM open_items WHERE id = "               \
  "memory_index.rowid >> 3) WHEN 7 THEN (SELECT created_at_epoch FROM session_documents WHERE id = "       \
  "memory_index.rowid >> 3) WHEN 3 THEN (SELECT created_at_epoch FROM user_prompts WHERE id = "            \
  "memory_index.rowid >> 3) ELSE (SELECT created_at_epoch FROM texts WHERE id = memory_index.rowid >> 3) " \
  "END"

static std::int64_t since_of(const Period& period) {
  return period.since ? epoch_ms(*period.since) : 0;
}
static std::int64_t until_of(const Period& period) {
  return period.until ? epoch_ms(*period.until) : INT64_MAX;
}

static Entry read_entry(Stmt& row) {
  const std::int64_t entry = row.integer(0);
  return {{static_cast<RecordKind>(entry & 7), entry >> 3}, std::max(0.0, -row.real(1)), row.integer(2)};
}

Result<std::vector<Entry>> best_entries(Db& db, const std::string& match, const Period& period,
                                        std::size_t limit) {
  if (!period.since && !period.until)
    return all(db.query("SELECT rowid, rank, 0 FROM memory_index WHERE memory_index MATCH ? ORDER BY rank, "
                        "rowid DESC LIMIT ?",
                        match, limit),
               read_entry);
  return all(db.query("SELECT rowid, rank, 0 FROM memory_index WHERE memory_index MATCH ? AND " ENTRY_TIME
                      " BETWEEN ? AND ? ORDER BY rank, rowid DESC LIMIT ?",
                      match, since_of(period), until_of(period), limit),
             read_entry);
}

Result<std::vector<Entry>> newest_entries(Db& db, const std::string& match, const Period& period,
                                          std::size_t limit) {
  return all(db.query("SELECT rowid, 0.0, " ENTRY_TIME
                      " FROM memory_index WHERE memory_index MATCH ? AND " ENTRY_TIME
                      " BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
                      match, since_of(period), until_of(period), limit),
             read_entry);
}

}  // namespace cairn::store
