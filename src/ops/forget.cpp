// Forgetting: what an agent asks for, what the user decides.
//
// An agent can only hide records and ask (forget_request); the user forgets them or shows them again
// (keep). Forgetting itself only selects and begins here: the daemon removes and proves in steps
// (forget/job.h).
#include <fmt/format.h>

#include "base/text.h"
#include "forget/job.h"
#include "forget/select.h"
#include "gate/gate.h"
#include "ops/policy.h"
#include "ops/records.h"
#include "store/audit.h"
#include "store/forget_requests.h"
#include "store/project_move.h"
#include "store/projects.h"
#include "store/tombstones.h"

namespace cairn::ops {

namespace {

constexpr std::size_t kMostReason = 300;  // bytes

// The record must exist, and an agent must be allowed to see it.
Result<std::string> project_in_scope(World& world, const store::RecordName& record) {
  const auto found = TRY(store::project_of_record(world.db, record));
  if (!found || !TRY(may_see(world, *found)))
    return Error{Code::not_found, "forget: there is no " + record.text()};
  return *found;
}

Result<Json> forget_request(World& world, const Args& args) {
  const std::string reason =
      one_line(visible(world.intake->gate().clean(args.text("reason"), gate::Way::remember)), kMostReason);
  const WallTime now = world.clock.now();
  Json hidden = Json::array(), known = Json::array();
  TRY(store::in_transaction(world.db, [&]() -> Status {
    for (const recall::RecordId& id : args.records("ids")) {
      const store::RecordName record = name_of(id);
      const std::string owner = TRY(project_in_scope(world, record));
      const bool is_new = TRY(store::request_forget(world.db, {record, owner, reason, now}));
      (is_new ? hidden : known).push(record.text());
      if (is_new)
        TRY(store::add_audit(world.db, world.key, "forget-request", "agent", record.text(), "{}", now));
    }
    return {};
  }));
  return Json::object({{"hidden", hidden}, {"already_hidden", known}, {"confirm", "cairn forget --pending"}});
}

Result<Json> requests_json(World& world, const std::optional<std::string>& project) {
  Json pending = Json::array();
  for (const store::ForgetRequest& request : TRY(store::forget_requests(world.db, project))) {
    const auto title = TRY(store::title_of_record(world.db, request.record));
    pending.push(Json::object({{"id", request.record.text()},
                               {"project", request.project},
                               {"title", title.value_or("")},
                               {"reason", request.reason},
                               {"time", iso8601(request.at)}}));
  }
  return Json::object({{"pending", pending}});
}

Result<Json> keep(World& world, const Args& args) {
  const WallTime now = world.clock.now();
  Json kept = Json::array();
  TRY(store::in_transaction(world.db, [&]() -> Status {
    for (const recall::RecordId& id : args.records("keep")) {
      const store::RecordName record = name_of(id);
      if (!TRY(store::end_forget_request(world.db, record, true, now)))
        return Error{Code::not_found, "forget: no agent asked to forget " + record.text() +
                                          ": `cairn forget --pending` lists what they asked for"};
      TRY(store::add_audit(world.db, world.key, "forget-declined", "person", record.text(), "{}", now));
      kept.push(record.text());
    }
    return {};
  }));
  return Json::object({{"kept", kept}});
}

Result<forget::Request> request_of(World& world, const Args& args) {
  forget::Request request;
  for (const recall::RecordId& id : args.records("ids")) {
    request.records.push_back(name_of(id));
    TRY(project_in_scope(world, request.records.back()));
  }
  request.query = args.optional_text("query");
  request.file = args.optional_text("file");
  request.secret = args.optional_text("secret");
  request.before = args.moment("before", world.clock.now());
  if (args.has("session")) request.session = TRY(resolve_session(world, args.name("session"))).id;
  // Only the project was given. check() has made sure that it was named, not taken from the directory.
  request.whole_project = request.records.empty() && !request.query && !request.file && !request.secret &&
                          !request.before && !request.session;
  // Records, a session and a secret need no project: they are found in any.
  if (request.whole_project || (!args.flag("all") && (request.query || request.file || request.before)))
    request.project = TRY(one_project(world, args));
  return request;
}

// What goes: ids, titles and counts, so that the user can decide. No more text than that.
Result<Json> selection_json(World& world, const forget::Selection& selection) {
  constexpr std::size_t kMostNamed = 50;
  Json records = Json::array();
  for (const store::RecordName& record : selection.records) {
    if (records.items().size() >= kMostNamed) break;
    const auto title = TRY(store::title_of_record(world.db, record));
    records.push(Json::object({{"id", record.text()}, {"title", title.value_or("")}}));
  }
  Json sessions = Json::array();
  for (const SessionId id : selection.sessions)
    if (sessions.items().size() < kMostNamed) sessions.push(id.value);
  return Json::object(
      {{"way", name_of(selection.way)},
       {"records", records},
       {"record_count", selection.records.size()},
       {"sessions", sessions},
       {"session_count", selection.sessions.size()},
       {"events", selection.events.size()},
       {"everywhere", !selection.temporary.empty() || selection.way == store::ForgetWay::secret},
       {"common", selection.common},
       {"own_word", selection.own_word}});
}

Json forget_json(const store::Forget& forget) {
  const Json::Parsed report = Json::parse_partial(forget.report);
  return Json::object({{"forget", forget.id},
                       {"way", name_of(forget.way)},
                       {"phase", name_of(forget.phase)},
                       {"done", forget.ended_at.has_value()},
                       {"started_at", iso8601(forget.started_at)},
                       {"ended_at", time_or_null(forget.ended_at)},
                       {"report", report.value}});
}

Result<Json> forget(World& world, const Args& args) {
  if (args.has("keep")) return keep(world, args);
  if (args.flag("pending")) {
    // Where nothing is remembered yet, the requests of all projects are listed.
    std::optional<std::string> project;
    if (!args.flag("all"))
      if (auto found = one_project(world, args)) project = *std::move(found);
    return requests_json(world, project);
  }
  if (TRY(store::is_moving(world.db)))
    return Error{
        Code::busy,
        "forget: rows are still moving after `cairn projects rename` or `merge`: try again in a minute"};
  const forget::Request request = TRY(request_of(world, args));
  const forget::Selection selection = TRY(forget::select(world.db, world.key, request));
  Json out = TRY(selection_json(world, selection));
  out.set("dry_run", args.flag("dry_run"));
  if (args.flag("dry_run")) return out;
  // Where the gate removed the secret, a mark with its fingerprint stands ([secret:KIND:FINGERPRINT]).
  // These marks go too.
  std::vector<std::string> fingerprints;
  if (request.secret) fingerprints.push_back(world.intake->gate().secrets().fingerprint(*request.secret));
  std::int64_t id = 0;
  TRY(store::in_transaction(world.db, [&]() -> Status {
    // Removing takes time; from this commit on no search or context shows them.
    for (const store::RecordName& record : selection.records)
      TRY(store::hide_record(world.db, record, world.clock.now()));
    id = TRY(forget::begin(world.db, world.key, selection, fingerprints, world.clock.now()));
    return {};
  }));
  world.settings_changed = true;  // the gate must know the tombstones before the next event
  return out.set("forget", id);
}

Result<Json> forget_status(World& world, const Args& args) {
  const auto found = TRY(store::find_forget(world.db, args.integer("forget")));
  if (!found) return Error{Code::not_found, "forget: there is no forget of that number"};
  return forget_json(*found);
}

Result<Json> audit_verify(World& world, const Args& args) {
  const store::AuditCheck check = TRY(store::check_audit(world.db, world.key));
  Json entries = Json::array();
  for (const store::AuditEntry& entry :
       TRY(store::audit_entries(world.db, static_cast<std::size_t>(args.integer("limit")))))
    entries.push(Json::object({{"id", entry.id},
                               {"time", iso8601(entry.at)},
                               {"what", entry.what},
                               {"actor", entry.actor},
                               {"subject", entry.subject}}));
  return Json::object({{"ok", !check.broken},
                       {"entries", check.entries},
                       {"broken", number_or_null(check.broken)},
                       {"why", check.why},
                       {"newest", entries}});
}

}  // namespace

std::vector<Operation> forget_operations() {
  return {
      {.name = "audit.verify",
       .group = Group::privacy,
       .summary = "check the log of what was forgotten, corrected and exported",
       .help =
           "The log only grows and has no text: each entry has the hash of the one before it, made with this "
           "home's key. An entry that was changed or removed is named; the exit code is then 1.",
       .arguments = {integer("limit", 0, 1000, "also show the newest N entries").otherwise(0)},
       .body = audit_verify},
      {.name = "forget",
       .access = Access::write,
       .group = Group::privacy,
       .summary = "remove memories everywhere, for good",
       .help = "By id, or all that say something (--query), are about a file (--file), a session, what is "
               "older than a "
               "date, or with --project alone all of a project. The records go with the events they came "
               "from; their texts leave the "
               "prompts, the queue, the evidence, the archive, the index, the WAL and the free pages, and do "
               "not come "
               "back by a transcript, an import or a new distillation. Then every row, frame and file is "
               "read to prove "
               "it. --secret removes a value wherever it is.\n\n"
               "Asks first; --dry-run only shows what would go. There is no undo. A paraphrase may stay, and "
               "so may "
               "what other records say as well. --pending lists what agents asked to forget: it is hidden "
               "and waits "
               "for you; --keep shows one again.",
       .scope = Scope::any,
       .arguments = {records("ids", kStoredRecord, "the records").words(),
                     text("query", "all records of this project that say this").as("TEXT"),
                     text("file", "what is about that file").as("PATH"),
                     moment("before", "sessions and notes of this project that are older"),
                     session("session", "everything of that session"),
                     text("secret", "a value, wherever it is").as("VALUE"),
                     flag("pending", "list what agents asked to forget"),
                     records("keep", kStoredRecord,
                             "keep a record that an agent asked to forget; may be given again"),
                     flag("dry_run", "say what would go; change nothing")},
       .one_of = "ids query file before session secret pending keep project",
       .body = forget},
      {.name = "forget.status",
       .summary = "how far a forget is, and its report",
       .arguments = {integer("forget", 1, kMostRows, "its number").needed()},
       .body = forget_status},
      {.name = "forget.request",
       .access = Access::write,
       .summary = "hide records and ask the user to forget them",
       .help = "For agents. The records are in no search, context or timeline from then on. `cairn forget "
               "--pending` lists them for the user, who forgets them or keeps them.",
       .arguments = {records("ids", kStoredRecord, "the records: O12, S3, P7, T5, A9, W4, D2").needed(),
                     text("reason", "why").as("TEXT"), path("cwd", "the agent's directory").as("DIR"),
                     asked_by_agent()},
       .body = forget_request}};
}

}  // namespace cairn::ops
