#include "import/memories.h"

#include <fmt/format.h>

#include "base/text.h"
#include "event/origin.h"
#include "gate/private_text.h"
#include "git/repository.h"
#include "git/worktrees.h"
#include "import/claude_mem.h"
#include "import/history.h"
#include "import/stage.h"
#include "intake/place.h"
#include "intake/project_identity.h"
#include "store/identity.h"
#include "store/imported.h"
#include "store/projects.h"
#include "store/turns.h"

namespace cairn::importer {

// A job is a row with a position: the session that is being imported, and how many of its records are done.
// Each step() opens a transaction, imports up to kPiece records and stores the new position with them. So a
// crash repeats nothing and loses nothing. Sessions are imported from the newest to the oldest; the position
// names one by its start and its id.

using store::ImportJob;
using store::JobState;

// A transaction is kept short, so that hooks do not wait for it.
static constexpr std::size_t kPiece = 50;
static constexpr std::int64_t kPieceNs = 40'000'000;
static constexpr std::size_t kMostText = 256u << 10;
static constexpr std::size_t kTitle = 120;

// The end_reason of a session without a transcript.
static constexpr std::string_view kPromptsOnly = "prompts only";

static std::string_view kind_name(OldItem::Kind kind) {
  constexpr std::string_view kNames[] = {"prompts", "observations", "summaries"};
  return kNames[static_cast<std::size_t>(kind)];
}

static std::string session_key(const OldSession& session) {
  return "session " + session.platform + " " + session.content;
}

Json Tally::json() const {
  Json all = Json::object();
  for (const auto& [name, counts] :
       {std::pair("imported", &imported), {"known", &known}, {"left_out", &left_out}}) {
    Json part = Json::object();
    for (const auto& [what, count] : *counts) part.set(what, count);
    all.set(name, part);
  }
  return all;
}

Tally Tally::read(const std::string& text) {
  Tally tally;
  const Json all = Json::parse_partial(text).value;
  for (const auto& [name, counts] :
       {std::pair("imported", &tally.imported), {"known", &tally.known}, {"left_out", &tally.left_out}})
    for (const auto& [what, count] : all[name].members()) (*counts)[what] = count.as_int();
  return tally;
}

Result<Tally> survey(store::Db& db, const std::string& source, OldMemory& memory) {
  Tally tally;
  for (const OldSession& session : memory.sessions()) {
    if (const std::string reason = memory.left_out(session); !reason.empty()) {
      ++tally.left_out[reason];
      continue;
    }
    const bool known =
        TRY(store::find_session(db, session.platform, ContentId{session.content})).has_value() ||
        TRY(store::find_alias(db, source, session_key(session))).has_value();
    ++(known ? tally.known : tally.imported)["sessions"];
    for (const OldItem& item : TRY(memory.items(session)))
      ++(TRY(store::find_alias(db, source, item.key)) ? tally.known
                                                      : tally.imported)[std::string(kind_name(item.kind))];
  }
  return tally;
}

std::string copy_of(const std::string& home, std::int64_t job) {
  return fmt::format("{}/imports/{}.db", home, job);
}

// ---- one piece of a job

struct MemoryImport::Target {
  store::Session session;
  MemoryId memory;
  bool ours = false;  // the session exists only through this import, so its turns come from the import too
};

// "1731812345000 50 content-id": when the session that is being imported started, how many of its records
// are done, and its id.
static std::string position_of(const OldSession& session, std::size_t done) {
  return fmt::format("{} {} {}", epoch_ms(session.started_at), done, session.content);
}

struct Position {
  std::int64_t started = 0;
  std::size_t done = 0;
  std::string content;
};

static std::optional<Position> read_position(const std::string& text) {
  const auto words = split(text, ' ');
  if (words.size() < 3) return std::nullopt;
  // The id is the rest of the text: it may contain blanks.
  const std::size_t content = words[0].size() + words[1].size() + 2;
  return Position{std::strtoll(text.c_str(), nullptr, 10),
                  static_cast<std::size_t>(std::strtoull(text.c_str() + words[0].size(), nullptr, 10)),
                  text.substr(content)};
}

// Copies are removed after the commit that ends their job. A crash in between leaves one.
void MemoryImport::remove_leftovers() {
  swept_ = true;
  const auto names = disk_.list(folder_);
  if (!names) return;
  for (const std::string& name : *names) {
    // "12.db" and "12.db-wal" are of job 12. When the store cannot say, the file stays.
    const auto pending = store::is_pending_job(db_, std::strtoll(name.c_str(), nullptr, 10));
    if (pending && !*pending) static_cast<void>(disk_.remove(folder_ + "/" + name));
  }
}

Result<bool> MemoryImport::step() {
  if (!swept_) remove_leftovers();
  auto job = TRY(store::pending_job(db_));
  if (!job) return false;
  const std::string copy = fmt::format("{}/{}.db", folder_, job->id);
  auto transaction = TRY(store::Transaction::begin(db_));
  const Status done = [&]() -> Status {
    // A failed piece is rolled back alone: that the job failed is still committed.
    auto piece = TRY(store::Savepoint::begin(db_));
    if (open_job_ != job->id) {
      if (!disk_.stat(copy)) return Error{Code::not_found, "the copy of it is gone: import it again"};
      memory_ = job->source.starts_with(kHistory)
                    ? TRY(open_history(disk_, job->source.substr(kHistory.size()), copy))
                    : TRY(open_claude_mem(db_, copy));
      open_job_ = job->id;
    }
    TRY(next_piece(*job));
    return piece.commit();
  }();
  if (!done) {
    open_job_ = 0;
    memory_.reset();
    const Error error = done.error();
    // A damaged source ends the job. Any other error comes from the store or the disk, and is tried again.
    if (error.code != Code::not_found && error.code != Code::invalid && error.code != Code::corrupt)
      return error;
    job->state = JobState::failed;
    job->reason = error.message;
  }
  TRY(store::put_job(db_, *job, clock_.now()));
  TRY(transaction.commit());
  if (job->state == JobState::pending) return true;
  memory_.reset();
  open_job_ = 0;
  // After the commit: a job that is not done needs its copy at the next start.
  remove_database(disk_, copy);
  log_.info(fmt::format("import of {} {}: {}", job->source, store::name_of(job->state), job->report));
  return true;
}

// Imports the next records of the session at the job's position, and moves the position.
Status MemoryImport::next_piece(ImportJob& job) {
  const auto position = read_position(job.position);
  for (const OldSession& session : memory_->sessions()) {
    std::size_t from = 0;
    if (position) {
      const std::pair here(epoch_ms(session.started_at), session.content);
      const std::pair there(position->started, position->content);
      // Newest first: a larger pair was imported before.
      if (here > there) continue;
      if (here == there) from = position->done;
    }
    if (TRY(import_session(job, session, from))) return {};
  }
  job.state = JobState::done;
  return {};
}

// Imports some records of a session. False: it has none left.
Result<bool> MemoryImport::import_session(ImportJob& job, const OldSession& old, std::size_t from) {
  Tally tally = Tally::read(job.report);
  std::vector<OldItem> items = TRY(memory_->items(old));
  if (from > items.size()) return false;  // the position is past the last record: done
  const bool first = from == 0;
  const auto target = TRY(target_of(job, old, tally));
  std::size_t done = from;
  if (!target) {
    done = items.size();
  } else {
    const std::int64_t until = clock_.boot_ns() + kPieceNs;
    // At least one record each time, so that a slow one does not stop the import.
    while (done < items.size() && done - from < kPiece && (done == from || clock_.boot_ns() < until))
      TRY(put(job, *target, std::move(items[done++]), tally));
    if (target->ours)
      TRY(store::end_imported_session(db_, target->session.id, old.completed_at.value_or(old.started_at),
                                      memory_->prompts_only() ? kPromptsOnly : "other"));
  }
  if (first && target) {
    const bool known = !target->ours || TRY(store::find_alias(db_, job.source, session_key(old)));
    ++(known ? tally.known : tally.imported)["sessions"];
    if (target->ours)
      TRY(store::put_alias(
          db_, {job.source, session_key(old), "session", old.old_id, target->session.id.value, ""}));
  }
  // One past the end says that the session is done, also when it has no records.
  if (done == items.size()) ++done;
  job.position = position_of(old, done);
  job.report = tally.json().dump();
  return true;
}

// The session of the store that the records belong to, made when there is none. Nothing: it is left out.
Result<std::optional<MemoryImport::Target>> MemoryImport::target_of(const ImportJob& job,
                                                                    const OldSession& old, Tally& tally) {
  const auto leave_out = [&](const std::string& reason) {
    ++tally.left_out[reason];
    return std::optional<Target>();
  };
  if (const std::string reason = memory_->left_out(old); !reason.empty()) return leave_out(reason);
  const ContentId id{gate_.id(old.content)};
  auto session = TRY(store::find_session(db_, old.platform, id));
  const auto alias = TRY(store::find_alias(db_, job.source, session_key(old)));
  // The alias outlives its session: only a forget removes a session.
  if (!session && alias) return leave_out("it was imported before, and is forgotten");
  // A session that hooks recorded, or that was read from its transcript, has better turns than the import.
  bool ours = session && session->imported && alias;
  if (memory_->prompts_only() && session && !ours) {
    ++tally.known["sessions"];
    return std::optional<Target>();
  }
  if (!session) {
    const std::string directory = TRY(memory_->directory(old));
    event::Event start;
    start.kind = event::Kind::session_start;
    start.host = old.platform;
    start.session = id;
    start.cwd = directory;
    if (gate_.refuse(start)) return leave_out("a rule keeps it out");
    if (TRY(store::is_memory_id(db_, id))) return leave_out("a memory agent's own session");
    const std::string project = TRY(project_of(job, old, directory));
    session = TRY(
        store::create_session(db_, {old.platform, id, project, {}, {}, clean(directory), old.started_at}));
    TRY(store::set_imported(db_, session->id, true));
    // Ended at once: no process belongs to it. The time of its end is set with each piece.
    TRY(store::end_imported_session(db_, session->id, old.started_at, "other"));
    ours = true;
  }
  MemoryId memory;
  if (!memory_->prompts_only()) memory = TRY(store::ensure_memory_id(db_, session->id, old.started_at));
  return std::optional<Target>(Target{*std::move(session), memory, ours});
}

// Finds the project by the directory; else by the name. A project known only by name is later matched with
// the first directory of that name in which a session starts.
Result<std::string> MemoryImport::project_of(const ImportJob& job, const OldSession& old,
                                             const std::string& directory) {
  if (!directory.empty()) {
    // A worktree that was deleted belongs to the repository that it was a worktree of.
    const std::string repository = git::find_repository(disk_, directory)
                                       ? ""
                                       : git::repository_of_deleted_worktree(disk_, directory, "");
    return intake::project_at(db_, disk_, clock_, intake::resolve_place(disk_, repository, clean(directory)));
  }
  std::string name = clean(one_line(old.project.substr(0, old.project.find('/')), kTitle));
  if (name.empty()) name = job.source;
  if (const auto known = TRY(store::project_by_name(db_, name))) return known->name;
  store::Place place;
  place.key = place.root = place.start = job.source + ":" + name;
  place.name = name;
  return intake::project_at(db_, disk_, clock_, place);
}

// ---- one record

std::string MemoryImport::clean(std::string_view text) const {
  return cut(labelled(visible(gate_.clean(text, gate::Way::other_memory))), kMostText);
}

Status MemoryImport::put(const ImportJob& job, const Target& target, OldItem item, Tally& tally) {
  const std::string kind(kind_name(item.kind));
  if (TRY(store::find_alias(db_, job.source, item.key))) {
    ++tally.known[kind];
    return {};
  }
  // put_prompt() may count by itself, with a better reason.
  const Tally before = tally;
  std::optional<std::int64_t> row;
  std::string record;
  switch (item.kind) {
    case OldItem::Kind::prompt:
      record = "prompt";
      row = TRY(put_prompt(target, item, tally));
      break;
    case OldItem::Kind::observation:
      record = "observation";
      row = TRY(put_observation(target, item));
      break;
    case OldItem::Kind::summary:
      record = "summary";
      row = TRY(put_summary(job, target, item));
      break;
  }
  if (!row && tally.left_out == before.left_out) ++tally.left_out["nothing in it"];
  if (row && tally.known == before.known) ++tally.imported[kind];
  // Also for a record that was left out, so that the next import does not look at it again.
  return store::put_alias(db_, {job.source, item.key, record, item.old_id, row, ""});
}

Result<std::optional<std::int64_t>> MemoryImport::put_prompt(const Target& target, const OldItem& item,
                                                             Tally& tally) {
  const SessionId session = target.session.id;
  const std::string text = clean(item.text);
  if (gate::only_private(text)) {
    ++tally.left_out["private, or empty"];
    return std::optional<std::int64_t>();
  }
  // The session has prompts already: this one is only matched with its equal, never added.
  if (!target.ours) {
    const auto number = TRY(store::prompt_with_text(db_, session, text));
    if (!number) {
      ++tally.left_out["its session is remembered without such a prompt"];
      return std::optional<std::int64_t>();
    }
    ++tally.known["prompts"];
    return store::prompt_row(db_, session, *number);
  }
  std::int64_t number = item.number.value_or(1);
  while (TRY(store::has_prompt(db_, session, number))) ++number;
  TRY(store::note_imported_turn(db_, session, number, item.at));
  TRY(store::add_prompt(db_, session, number, text, item.at));
  return store::prompt_row(db_, session, number);
}

Result<std::optional<std::int64_t>> MemoryImport::put_observation(const Target& target, OldItem& item) {
  store::Observation& o = item.observation;
  for (std::string* text : {&o.type, &o.subtitle, &o.narrative}) *text = std::string(trim(clean(*text)));
  o.title = one_line(clean(o.title), 4 * kTitle);
  for (auto* list : {&o.facts, &o.concepts, &o.files_read, &o.files_modified}) {
    for (std::string& text : *list) text = std::string(trim(clean(text)));
    std::erase(*list, "");
  }
  if (o.title.empty()) o.title = one_line(o.narrative, kTitle);
  if (o.title.empty() && !o.facts.empty()) o.title = one_line(o.facts.front(), kTitle);
  if (gate::only_private(o.title) && gate::only_private(o.narrative)) return std::optional<std::int64_t>();
  if (o.type.empty()) o.type = "discovery";
  o.project = target.session.project;
  o.created_at = item.at;
  if (target.ours) {
    if (item.number) TRY(store::note_imported_turn(db_, target.session.id, *item.number, item.at));
    o.prompt_number = item.number;
  } else {
    // The numbers of the other memory are not those of our turns: the time decides.
    o.prompt_number = TRY(store::turn_at(db_, target.session.id, item.at));
  }
  return std::optional(TRY(store::add_observation(db_, target.memory, o)).value);
}

// `before` and `text` joined, without repetition.
static std::string merged_text(const std::string& before, const std::string& text) {
  if (before.empty() || text.find(before) != std::string::npos) return text;
  return text.empty() ? before : before + "\n" + text;
}

// A turn has one summary. A second one for the same turn is joined with the first.
Result<std::optional<std::int64_t>> MemoryImport::put_summary(const ImportJob& job, const Target& target,
                                                              OldItem& item) {
  store::Summary& s = item.summary;
  bool empty = true;
  for (std::string* text : {&s.request, &s.investigated, &s.learned, &s.completed, &s.next_steps, &s.notes}) {
    *text = std::string(trim(clean(*text)));
    empty = empty && gate::only_private(*text);
  }
  if (empty) return std::optional<std::int64_t>();
  for (auto* list : {&s.files_read, &s.files_edited})
    for (std::string& text : *list) text = clean(text);
  const SessionId session = target.session.id;
  const auto then = TRY(store::turn_at(db_, session, item.at));
  s.prompt_number = (target.ours && item.number ? item.number : then).value_or(item.number.value_or(1));
  s.provider = job.source;
  s.project = target.session.project;
  s.created_at = item.at;
  const auto there = TRY(store::summary_of_turn(db_, session, s.prompt_number));
  if (there && there->provider == job.source) {
    s.request = merged_text(there->request, s.request);
    s.investigated = merged_text(there->investigated, s.investigated);
    s.learned = merged_text(there->learned, s.learned);
    s.completed = merged_text(there->completed, s.completed);
    s.next_steps = merged_text(there->next_steps, s.next_steps);
    s.notes = merged_text(there->notes, s.notes);
  } else if (there && there->provider != event::kBuiltin) {
    return std::optional(there->id);  // keep the summary that a provider made from the events
  }
  if (target.ours) TRY(store::note_imported_turn(db_, session, s.prompt_number, item.at));
  TRY(store::put_summary(db_, target.memory, s, item.at));
  const auto made = TRY(store::summary_of_turn(db_, session, s.prompt_number));
  return made ? std::optional(made->id) : std::nullopt;
}

}  // namespace cairn::importer
