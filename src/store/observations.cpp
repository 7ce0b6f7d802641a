#include "store/observations.h"

#include "base/hash.h"
#include "store/lists.h"

namespace cairn::store {

Result<ObservationId> add_observation(Db& db, const MemoryId& memory, const Observation& o) {
  TRY(
      db.run("INSERT INTO observations(uuid, memory_session_id, project, type, title, subtitle, facts, "
             "narrative, concepts, files_read, "
             "files_modified, prompt_number, content_hash, created_at, created_at_epoch) "
             "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
             new_uuid(epoch_ms(o.created_at)), memory.value, o.project, o.type, o.title, o.subtitle,
             list_text(o.facts), o.narrative, list_text(o.concepts), list_text(o.files_read),
             list_text(o.files_modified), o.prompt_number,
             content_hash(o.type + "\n" + o.title + "\n" + o.narrative), iso8601(o.created_at),
             epoch_ms(o.created_at)));
  const ObservationId id{db.last_insert_rowid()};
  for (const auto& [files, modified] : {std::pair(&o.files_read, 0), std::pair(&o.files_modified, 1)})
    for (const std::string& path : *files)
      TRY(
          db.run("INSERT INTO observation_files(observation_id, path, modified) VALUES(?,?,?) ON CONFLICT DO "
                 "NOTHING",
                 id.value, path, modified));
  for (const std::string& concept_name : o.concepts)
    TRY(db.run("INSERT INTO observation_concepts(observation_id, concept) VALUES(?,?) ON CONFLICT DO NOTHING",
               id.value, concept_name));
  return id;
}

Status attribute(Db& db, ObservationId id, const std::string& batch_id, std::int64_t position,
                 const std::vector<std::int64_t>& events) {
  TRY(db.run("UPDATE observations SET batch_id = ?, position = ? WHERE id = ?", batch_id, position,
             id.value));
  for (const std::int64_t seq : events)
    TRY(db.run(
        "INSERT INTO observation_evidence(observation_id, event_seq) VALUES(?,?) ON CONFLICT DO NOTHING",
        id.value, seq));
  return {};
}

Result<std::vector<Observation>> newest_observations(Db& db, const std::string& project,
                                                     std::optional<WallTime> after, std::size_t limit) {
  Stmt row =
      TRY(db.query("SELECT id, project, type, title, created_at_epoch FROM observations WHERE project = ? "
                   "AND deleted_at IS NULL "
                   "AND created_at_epoch > ? ORDER BY created_at_epoch DESC, id DESC LIMIT ?",
                   project, after ? epoch_ms(*after) : -1, limit));
  std::vector<Observation> found;
  while (TRY(row.step())) {
    Observation o;
    o.id = row.integer(0);
    o.project = row.text(1);
    o.type = row.text(2);
    o.title = row.text(3);
    o.created_at = from_epoch_ms(row.integer(4));
    found.push_back(std::move(o));
  }
  return found;
}

Result<std::optional<Observation>> find_observation(Db& db, std::int64_t id) {
  Stmt row =
      TRY(db.query("SELECT o.id, s.content_session_id, o.project, o.type, o.title, o.subtitle, o.facts, "
                   "o.narrative, o.concepts, "
                   "o.files_read, o.files_modified, o.prompt_number, o.created_at_epoch FROM observations o "
                   "JOIN sdk_sessions s "
                   "ON s.memory_session_id = o.memory_session_id WHERE o.id = ? AND o.deleted_at IS NULL",
                   id));
  if (!TRY(row.step())) return std::optional<Observation>();
  Observation o;
  o.id = row.integer(0);
  o.session = row.text(1);
  o.project = row.text(2);
  o.type = row.text(3);
  o.title = row.text(4);
  o.subtitle = row.text(5);
  o.facts = read_list(row.text(6));
  o.narrative = row.text(7);
  o.concepts = read_list(row.text(8));
  o.files_read = read_list(row.text(9));
  o.files_modified = read_list(row.text(10));
  o.prompt_number = row.optional_integer(11);
  o.created_at = from_epoch_ms(row.integer(12));
  return std::optional<Observation>(std::move(o));
}

}  // namespace cairn::store
