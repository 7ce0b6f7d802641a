#include "base/hash.h"
#include "base/text.h"
#include "event/origin.h"
#include "forget/tombstones.h"
#include "gate/gate.h"
#include "gate/private_text.h"
#include "hook/inbox.h"
#include "intake/place.h"
#include "intake/project_identity.h"
#include "ops/records.h"
#include "store/audit.h"
#include "store/events.h"
#include "store/evidence.h"
#include "store/identity.h"
#include "store/notes.h"
#include "store/observations.h"
#include "store/projects.h"
#include "store/sessions.h"
#include "store/tombstones.h"

namespace cairn::ops {

static constexpr std::string_view kByHand = "cairn";  // the platform of sessions that belong to no host
// The ids of these sessions: the prefix and the uuid of the project, which stays when it is renamed.
static constexpr std::string_view kPersonNotes = "notes-", kAgentNotes = "agent-notes-";
static constexpr std::size_t kMostText = 64u << 10;  // bytes
static constexpr std::size_t kTitle = 120;           // bytes

Result<std::string> project_for(World& world, const Args& args) {
  if (args.has("project")) return one_project(world, args);
  const std::string cwd = world.intake->gate().clean(args.text("cwd"), gate::Way::remember);
  return intake::project_at(world.db, world.disk, world.clock, intake::resolve_place(world.disk, "", cwd));
}

// The session for memories stored by hand: one per project for people and one for agents. No list shows it.
static Result<store::Session> session_for(store::Db& db, const std::string& project, bool by_agent,
                                          WallTime now) {
  const auto row = TRY(store::project_by_name(db, project));
  const std::string uuid = row ? row->uuid : "";
  const ContentId content{std::string(by_agent ? kAgentNotes : kPersonNotes) + uuid};
  auto session = TRY(store::find_session(db, std::string(kByHand), content));
  if (!session) {
    session = TRY(store::create_session(db, {std::string(kByHand), content, project, {}, {}, "", now}));
    TRY(store::end_session(db, session->id, "by hand", now));
    TRY(store::hide_session(db, session->id));
  }
  return *std::move(session);
}

// Stores what an agent said as an event, so that its memory has evidence like every other.
static Result<std::int64_t> keep_event(World& world, const store::Session& session, const std::string& text,
                                       const std::string& cwd) {
  event::Event said;
  said.id = hook::new_event_id(world.clock.wall_ns());
  said.host = kByHand;
  said.name = "remember";
  said.session = session.content_id;
  said.at = world.clock.now();
  said.cwd = cwd;
  const auto verdict = world.intake->gate().pass(std::move(said), kMostText);
  const auto* passed = std::get_if<gate::Gate::Passed>(&verdict);
  if (!passed)
    return Error{Code::invalid, "remember: not stored: " + std::get<gate::Refusal>(verdict).reason};
  const store::Placement placement{session.id, std::nullopt, content_hash(text)};
  const std::int64_t seq = TRY(store::record_stored(world.db, passed->event, placement, world.clock.now()));
  TRY(store::keep_evidence(world.db, seq, session.id, {text, std::nullopt, std::nullopt}, world.clock.now()));
  return seq;
}

Json who_noted(std::string_view session) {
  if (session.starts_with(kAgentNotes)) return "agent";
  return session.starts_with(kPersonNotes) ? Json("person") : Json();
}

// The first sentence if it is short enough for a title, else the first line, cut.
static std::string first_sentence(std::string_view text) {
  const std::string_view line = lines(text).front();
  const std::size_t end = line.find(". ");
  return one_line(end == std::string_view::npos || end > kTitle ? line : line.substr(0, end + 1), kTitle);
}

// `again`: keeps what was forgotten, but never a secret.
static std::string clean(World& world, const std::string& text, bool again = false) {
  std::string clean = again ? world.intake->gate().clean_of_secrets(text)
                            : world.intake->gate().clean(text, gate::Way::remember);
  return std::string(trim(labelled(visible(clean))));
}

// The user wants to remember what was forgotten: it may be stored again from now on. Removes the tombstones
// of the whole text and of each of its lines, because either may have been forgotten, for every key:
// imports bring tombstones with the key of another home.
static Status lift(World& world, const std::string& text) {
  if (!world.intake->gate().forgotten()) return {};
  std::vector<store::TombstoneRow> rows;
  std::vector<std::string> parts = {text}, keys = TRY(store::tombstone_keys(world.db));
  for (const std::string_view line : lines(text)) parts.emplace_back(trim(line));
  keys.emplace_back();  // this home's
  for (const std::string& key : keys) {
    const gate::Forgotten hasher(key.empty() ? forget::tombstone_key(world.key) : key);
    for (const std::string& part : parts)
      for (gate::Tombstone& tombstone : hasher.of_text(part, 0)) {
        tombstone.key = key;
        rows.push_back(forget::row_of(tombstone));
      }
  }
  TRY(store::in_transaction(world.db, [&]() -> Status {
    const std::int64_t lifted = TRY(store::lift_tombstones(world.db, rows));
    return store::add_audit(world.db, world.key, "remember-again", "person", text,
                            Json::object({{"tombstones", lifted}}).dump(), world.clock.now());
  }));
  world.settings_changed = true;
  return {};
}

static Result<Json> remember(World& world, const Args& args) {
  const bool again = args.flag("again") && !by_agent(args);  // only a person decides that
  if (again) TRY(lift(world, args.text("text")));
  const std::string text = clean(world, args.text("text"), again);
  // The mark is in the clean text but was not typed: the gate has put it there.
  if (text.find(gate::kForgottenText) != std::string::npos &&
      args.text("text").find(gate::kForgottenText) == std::string::npos)
    return Error{
        Code::denied,
        "remember: not stored: you had this forgotten; `cairn remember --again` stores it all the same"};
  if (gate::only_private(text))
    return Error{Code::invalid, "remember: nothing to remember: the text is empty or wholly private"};
  if (text.size() > kMostText)
    return Error{Code::invalid, "remember: the text is longer than 64 kB: store what matters of it"};
  const std::string whom = args.optional_text("for").value_or("project");
  store::Observation memory;
  memory.type = args.has("type") ? ascii_lower(args.text("type")) : "discovery";
  memory.title = one_line(clean(world, args.text("title"), again), kTitle);
  if (memory.title.empty()) memory.title = first_sentence(text);
  if (memory.title != text) memory.narrative = text;  // a note of one line is its own title
  for (const std::string& file : args.texts("file"))
    if (std::string path = clean(world, file); !path.empty())
      memory.files_modified.push_back(std::move(path));
  memory.created_at = world.clock.now();

  auto transaction = TRY(store::Transaction::begin(world.db));
  memory.project = TRY(project_for(world, args));
  const bool of_agent = by_agent(args);
  const store::Session session = TRY(session_for(world.db, memory.project, of_agent, memory.created_at));
  if (of_agent) memory.events = {TRY(keep_event(world, session, text, args.text("cwd")))};
  const MemoryId memory_id = TRY(store::ensure_memory_id(world.db, session.id, memory.created_at));
  const ObservationId id = TRY(store::add_observation(world.db, memory_id, memory));
  // Only a person's notes are given to every session.
  if (!of_agent) TRY(store::add_note(world.db, id, whom == "all"));
  TRY(transaction.commit());
  return Json::object({{"id", "O" + std::to_string(id.value)},
                       {"project", memory.project},
                       {"for", whom},
                       {"by", of_agent ? "agent" : "person"},
                       {"type", memory.type},
                       {"title", memory.title}});
}

std::vector<Operation> remember_operations() {
  return {
      {.name = "remember",
       .access = Access::write,
       .group = Group::memory,
       .summary = "store a note by hand",
       .help =
           "Every new session of this project gets it in full, before anything else, until `cairn done ID`; "
           "search still finds it afterwards. With - the text is read from stdin. Private text is removed, "
           "as everywhere.\n\n"
           "When a coding agent runs the command, the text is stored as the agent's, with an event as "
           "evidence: search finds it, but it is not a note.",
       .scope = Scope::one,
       .arguments = {text("text", "what to remember").needed().rest_of_line(),
                     text("title", "one line (default: the first sentence)").as("TITLE"),
                     observation_type("its type (default discovery)"),
                     texts("file", "a file it is about; may be given again").as("PATH"),
                     choice("for", "all|project", "whose sessions are given it (default project)"),
                     flag("again", "also what you had forgotten: it may come back from then on"),
                     written_by("who says it (default person); an agent's is found by search, but not given "
                                "to every session"),
                     asked_by_agent()},
       .body = remember}};
}

}  // namespace cairn::ops
