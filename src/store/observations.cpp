#include "store/observations.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "base/squeeze.h"
#include "base/text.h"
#include "store/projects.h"
#include "store/rows.h"
#include "store/standing.h"

// A batch is written again whenever its turn changed. put_observations() then finds for each observation the
// row where it belongs (target_of), updates or inserts it, makes the batch's evidence what the list says, and
// removes the rows that are left over. Ids stay wherever possible: people and other records refer to them.

namespace cairn::store {

namespace {

// Ignores case and spacing.
std::string hash_of(const Observation& o) {
  std::string all = o.type + "\n" + o.title + "\n" + o.narrative;
  for (const std::string& fact : o.facts) all += "\n" + fact;
  return content_hash(ascii_lower(one_line(all, all.size())));
}

struct KnownRow {
  std::int64_t id = 0;
  std::optional<std::int64_t> position;
  std::string hash;
  std::string other_batch;  // another batch with the same observation; empty: none
  bool kept = false;        // has its observation, or a person edited or rejected it: not to be removed
};

// The batch's rows so far.
Result<std::vector<KnownRow>> known_of(Db& db, const std::string& batch) {
  Stmt row = TRY(
      db.query("SELECT o.id, o.position, o.content_hash, (SELECT e.batch_id FROM observation_evidence e "
               "WHERE e.observation_id = o.id AND e.batch_id <> ?1 ORDER BY e.event_seq LIMIT 1), EXISTS "
               "(SELECT 1 FROM record_standing t WHERE t.record = 'O' || o.id AND t.text_hash <> '') FROM "
               "observations o WHERE o.batch_id = ?1 ORDER BY o.id",
               batch));
  std::vector<KnownRow> known;
  while (TRY(row.step()))
    known.push_back({row.integer(0), row.optional_integer(1), row.text(2), row.text(3), row.integer(4) != 0});
  return known;
}

// The earliest equal observation of another session of the project, also under the name that it had before.
Result<std::optional<std::int64_t>> same_elsewhere(Db& db, const MemoryId& memory, const std::string& project,
                                                   const std::string& hash) {
  return db.integer(
      "SELECT id FROM observations WHERE content_hash = ? AND project IN (SELECT member FROM project_names "
      "WHERE "
      "project = ?) AND memory_session_id <> ? ORDER BY id LIMIT 1",
      hash, project, memory.value);
}

Status put_parts(Db& db, std::int64_t id, const Observation& o) {
  // Rows of files that are still named stay, with the blob that their file had.
  TRY(
      db.run("DELETE FROM observation_files WHERE observation_id = ?1 AND path NOT IN (SELECT value FROM "
             "json_each(iif(modified, ?2, ?3)))",
             id, list_text(o.files_modified), list_text(o.files_read)));
  TRY(db.run("DELETE FROM observation_concepts WHERE observation_id = ?", id));
  for (const auto& [files, modified] : {std::pair(&o.files_read, 0), std::pair(&o.files_modified, 1)})
    for (const std::string& path : *files)
      TRY(
          db.run("INSERT INTO observation_files(observation_id, path, modified) VALUES(?,?,?) ON CONFLICT DO "
                 "NOTHING",
                 id, path, modified));
  for (const std::string& concept_name : o.concepts)
    TRY(db.run("INSERT INTO observation_concepts(observation_id, concept) VALUES(?,?) ON CONFLICT DO NOTHING",
               id, concept_name));
  return {};
}

Status add_evidence(Db& db, std::int64_t id, const std::string& batch, const Observation& o) {
  for (const std::int64_t event : o.events)
    TRY(
        db.run("INSERT INTO observation_evidence(observation_id, event_seq, batch_id) VALUES(?,?,?) ON "
               "CONFLICT DO NOTHING",
               id, event, batch));
  return {};
}

Result<std::int64_t> insert(Db& db, const MemoryId& memory, const std::optional<std::string>& batch,
                            const Observation& o) {
  const std::string hash = hash_of(o);
  const auto same_as = TRY(same_elsewhere(db, memory, o.project, hash));
  TRY(
      db.run("INSERT INTO observations(uuid, memory_session_id, project, type, title, subtitle, facts, "
             "narrative, concepts, files_read, files_modified, prompt_number, content_hash, batch_id, "
             "position, same_as, created_at, created_at_epoch, discovery_tokens) "
             "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
             new_uuid(epoch_ms(o.created_at)), memory.value, o.project, o.type, o.title, o.subtitle,
             list_text(o.facts), o.narrative, list_text(o.concepts), list_text(o.files_read),
             list_text(o.files_modified), o.prompt_number, hash, batch, o.position, same_as,
             iso8601(o.created_at), epoch_ms(o.created_at), o.discovery_tokens));
  const std::int64_t id = db.last_insert_rowid();
  TRY(put_parts(db, id, o));
  return id;
}

// Rewrites only what changed: an unchanged text keeps its entries in the search index.
Status update(Db& db, const MemoryId& memory, std::int64_t id, const Observation& o) {
  const std::string hash = hash_of(o);
  const auto same_as = TRY(same_elsewhere(db, memory, o.project, hash));
  const bool says_the_same =
      TRY(db.integer("SELECT 1 FROM observations WHERE id = ? AND (type, title, subtitle, facts, narrative, "
                     "concepts, files_read, files_modified, content_hash, same_as) IS (?,?,?,?,?,?,?,?,?,?)",
                     id, o.type, o.title, o.subtitle, list_text(o.facts), o.narrative, list_text(o.concepts),
                     list_text(o.files_read), list_text(o.files_modified), hash, same_as))
          .has_value();
  TRY(
      db.run("UPDATE observations SET position = ?, created_at = ?, created_at_epoch = ?, discovery_tokens = "
             "? WHERE id = ?",
             o.position, iso8601(o.created_at), epoch_ms(o.created_at), o.discovery_tokens, id));
  if (says_the_same) return {};
  // The text changed: bind it to the present content of its files again.
  TRY(
      db.run("UPDATE observation_files SET blob = '' WHERE observation_id = ?1 AND (SELECT content_hash FROM "
             "observations WHERE id = ?1) <> ?2",
             id, hash));
  TRY(
      db.run("UPDATE observations SET type = ?, title = ?, subtitle = ?, facts = ?, narrative = ?, concepts "
             "= ?, files_read = ?, files_modified = ?, content_hash = ?, same_as = ? WHERE id = ?",
             o.type, o.title, o.subtitle, list_text(o.facts), o.narrative, list_text(o.concepts),
             list_text(o.files_read), list_text(o.files_modified), hash, same_as, id));
  return put_parts(db, id, o);
}

// Where an observation of the batch is stored: in `row` of the batch, else in `other`, else in a new row.
struct Target {
  KnownRow* row = nullptr;
  std::optional<std::int64_t> other;
};

// The first of these rows: one that said this when a person edited or rejected it, whatever it says now; one
// of the batch with equal content; one of another batch of the session with equal content (only the evidence
// is added); one of the batch at the same position that no other batch uses.
Result<Target> target_of(Db& db, const MemoryId& memory, const std::string& batch,
                         std::vector<KnownRow>& known, const Observation& o) {
  if (const auto ruling = TRY(ruling_on(db, o.project, squeezed_hash(whole_text(o)))))
    return Target{nullptr, ruling->record.row};
  const std::string hash = hash_of(o);
  auto row =
      std::find_if(known.begin(), known.end(), [&](const KnownRow& k) { return !k.kept && k.hash == hash; });
  if (row == known.end()) {
    const auto folded =
        TRY(db.integer("SELECT id FROM observations WHERE content_hash = ? AND memory_session_id = ? AND "
                       "batch_id IS NOT ? ORDER BY id LIMIT 1",
                       hash, memory.value, batch));
    if (folded) return Target{nullptr, folded};
    row = std::find_if(known.begin(), known.end(), [&](const KnownRow& k) {
      return !k.kept && k.other_batch.empty() && k.position == o.position;
    });
  }
  if (row == known.end()) return Target{};
  row->kept = true;
  return Target{&*row, std::nullopt};
}

// Makes `wanted` the evidence of the batch: pairs of an observation and an event. A long turn has hundreds,
// and most of them stay.
Status put_evidence(Db& db, const std::string& batch,
                    const std::set<std::pair<std::int64_t, std::int64_t>>& wanted) {
  std::set<std::pair<std::int64_t, std::int64_t>> known;
  {
    Stmt row =
        TRY(db.query("SELECT observation_id, event_seq FROM observation_evidence WHERE batch_id = ?", batch));
    while (TRY(row.step())) known.emplace(row.integer(0), row.integer(1));
  }
  for (const auto& [id, event] : known)
    if (!wanted.contains({id, event}))
      TRY(db.run("DELETE FROM observation_evidence WHERE observation_id = ? AND event_seq = ?", id, event));
  for (const auto& [id, event] : wanted)
    if (!known.contains({id, event}))
      TRY(
          db.run("INSERT INTO observation_evidence(observation_id, event_seq, batch_id) VALUES(?,?,?) ON "
                 "CONFLICT DO NOTHING",
                 id, event, batch));
  return {};
}

}  // namespace

std::string equality_hash(const Observation& o) {
  return hash_of(o);
}

std::string whole_text(const Observation& o) {
  // A note's title is its first sentence: do not repeat it.
  const bool is_beginning = squeezed(o.narrative).starts_with(squeezed(o.title));
  std::string all = (is_beginning ? "" : o.title + "\n") + o.subtitle + "\n" + o.narrative;
  for (const std::string& fact : o.facts) all += "\n" + fact;
  return all;
}

Status rehash_observation(Db& db, std::int64_t id) {
  Stmt row =
      TRY(db.query("SELECT type, title, coalesce(narrative, ''), facts FROM observations WHERE id = ?", id));
  if (!TRY(row.step())) return {};
  Observation o;
  read_columns(row, o.type, o.title, o.narrative, o.facts);
  // With other words it is no longer the same as another one.
  return db.run("UPDATE observations SET content_hash = ?, same_as = NULL WHERE id = ?", hash_of(o), id);
}

// What a person rejected stays hidden when it is stored again.
Result<ObservationId> add_observation(Db& db, const MemoryId& memory, const Observation& o) {
  const std::int64_t id = TRY(insert(db, memory, std::nullopt, o));
  TRY(add_evidence(db, id, "", o));
  const std::string hash = squeezed_hash(whole_text(o));
  if (const auto ruling = TRY(ruling_on(db, o.project, hash)); ruling && ruling->hidden) {
    auto standing = TRY(standing_of(db, ruling->record));
    if (standing) TRY(put_standing(db, {'O', id}, *standing, o.created_at));
    TRY(db.run("UPDATE observations SET deleted_at = ? WHERE id = ?", iso8601(o.created_at), id));
  }
  return ObservationId{id};
}

Status put_observations(Db& db, const MemoryId& memory, const std::string& batch,
                        const std::vector<Observation>& list) {
  std::vector<KnownRow> known = TRY(known_of(db, batch));
  std::vector<Target> targets;
  bool in_place = true;  // every row keeps its position
  for (const Observation& o : list) {
    const Target& target = targets.emplace_back(TRY(target_of(db, memory, batch, known, o)));
    in_place &= target.other || (target.row && target.row->position == o.position);
  }
  // (batch_id, position) is unique: while rows swap their positions, one at a time, two would have the same.
  if (!known.empty() && !in_place)
    TRY(db.run("UPDATE observations SET position = NULL WHERE batch_id = ?", batch));
  std::set<std::pair<std::int64_t, std::int64_t>> evidence;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Target& target = targets[i];
    std::int64_t id = target.row ? target.row->id : target.other.value_or(0);
    if (target.row)
      TRY(update(db, memory, id, list[i]));
    else if (!target.other)
      id = TRY(insert(db, memory, batch, list[i]));
    for (const std::int64_t event : list[i].events) evidence.emplace(id, event);
  }
  TRY(put_evidence(db, batch, evidence));
  for (const KnownRow& row : known) {
    if (row.kept) continue;
    if (row.other_batch.empty())
      TRY(db.run("DELETE FROM observations WHERE id = ?", row.id));
    else  // another batch has the same observation and takes the row over
      TRY(db.run("UPDATE observations SET batch_id = ?, position = NULL WHERE id = ?", row.other_batch,
                 row.id));
  }
  return {};
}

std::string turn_batch(const Session& session, std::int64_t prompt_number) {
  return "turn-" + key_of(session.platform, session.content_id) + "-" + std::to_string(prompt_number);
}

// Batch '' is what people entered by hand. It replaces nothing that a distiller found.
Result<bool> is_covered_elsewhere(Db& db, const std::string& batch, const std::vector<std::int64_t>& events) {
  for (const std::int64_t event : events)
    if (!TRY(db.integer(
            "SELECT 1 FROM observation_evidence WHERE event_seq = ? AND batch_id NOT IN (?, '') LIMIT 1",
            event, batch)))
      return false;
  return !events.empty();
}

Status drop_covered(Db& db, const std::string& batch, const std::vector<Observation>& list) {
  std::set<std::int64_t> covered;
  for (const Observation& o : list) covered.insert(o.events.begin(), o.events.end());
  std::map<std::int64_t, std::vector<std::int64_t>>
      uncovered;  // by observation: events that `list` does not cover
  Stmt row = TRY(db.query(
      "SELECT observation_id, event_seq FROM observation_evidence WHERE batch_id = ? ORDER BY 1, 2", batch));
  while (TRY(row.step())) {
    auto& events = uncovered[row.integer(0)];
    if (!covered.contains(row.integer(1))) events.push_back(row.integer(1));
  }
  for (const auto& [id, events] : uncovered) {
    if (!events.empty() && !TRY(is_covered_elsewhere(db, batch, events))) continue;
    TRY(db.run("DELETE FROM observation_evidence WHERE observation_id = ? AND batch_id = ?", id, batch));
    TRY(
        db.run("DELETE FROM observations WHERE id = ?1 AND batch_id = ?2 AND NOT EXISTS (SELECT 1 FROM "
               "observation_evidence e WHERE e.observation_id = ?1) AND NOT EXISTS (SELECT 1 FROM "
               "record_standing t WHERE t.record = 'O' || ?1 AND t.text_hash <> '')",
               id, batch));
    // Still there: another batch has evidence for it and takes it over, or a person decided about it; then it
    // belongs to no batch.
    TRY(
        db.run("UPDATE observations SET position = NULL, batch_id = (SELECT e.batch_id FROM "
               "observation_evidence e WHERE e.observation_id = ?1 LIMIT 1) WHERE id = ?1 AND batch_id = ?2",
               id, batch));
  }
  return {};
}

Result<std::optional<Observation>> find_observation(Db& db, std::int64_t id) {
  Stmt row =
      TRY(db.query("SELECT o.id, s.content_session_id, o.project, o.type, o.title, o.subtitle, o.facts, "
                   "o.narrative, o.concepts, o.files_read, o.files_modified, o.prompt_number, "
                   "o.created_at_epoch, o.same_as, o.position, " TOOLS_OF_OBSERVATION(
                       "o.id") " FROM observations o JOIN sdk_sessions s ON s.memory_session_id = "
                               "o.memory_session_id WHERE o.id = ? AND o.deleted_at IS NULL",
                   id));
  if (!TRY(row.step())) return std::optional<Observation>();
  Observation o;
  read_columns(row, o.id, o.session, o.project, o.type, o.title, o.subtitle, o.facts, o.narrative, o.concepts,
               o.files_read, o.files_modified, o.prompt_number, o.created_at, o.same_as, o.position,
               o.origins);
  o.events = TRY(all<std::int64_t>(db.query(
      "SELECT event_seq FROM observation_evidence WHERE observation_id = ? ORDER BY event_seq", id)));
  return std::optional<Observation>(std::move(o));
}

Result<std::vector<Observation>> observations_of_session(Db& db, SessionId session, std::int64_t limit) {
  auto rows = TRY(all(
      db.query("SELECT o.id, o.type, o.title, o.facts, o.narrative, o.prompt_number, o.position, "
               "o.created_at_epoch FROM observations o JOIN sdk_sessions s ON s.memory_session_id = "
               "o.memory_session_id WHERE s.id = ? AND o.deleted_at IS NULL ORDER BY o.prompt_number DESC, "
               "o.position DESC, o.id DESC LIMIT ?",
               session, limit),
      [](Stmt& row) {
        Observation o;
        read_columns(row, o.id, o.type, o.title, o.facts, o.narrative, o.prompt_number, o.position,
                     o.created_at);
        return o;
      }));
  std::reverse(rows.begin(), rows.end());
  return rows;
}

Result<bool> is_type_in_use(Db& db, const std::string& type) {
  return TRY(db.integer("SELECT 1 FROM observations WHERE type = ? AND deleted_at IS NULL LIMIT 1", type))
      .has_value();
}

}  // namespace cairn::store
