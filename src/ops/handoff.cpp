#include "documents/handoff.h"

#include "base/text.h"
#include "documents/tree.h"
#include "host/host.h"
#include "ops/documents.h"
#include "ops/operation.h"
#include "store/open_items.h"

namespace cairn::ops {

static constexpr std::size_t kGoal = 160;  // bytes

// The session that is named, else the one that asks, else the last one of the project that has a prompt.
static Result<store::Session> session_to_hand_off(World& world, const Args& args,
                                                  const std::string& project) {
  const std::string named = args.text("id");
  std::optional<store::Session> last;
  for (store::Session& session : TRY(store::list_sessions(world.db, project, 50))) {
    const std::string& id = session.content_id.value;
    if (!named.empty() && (id == named || std::to_string(session.id.value) == named))
      return std::move(session);
    if (named.empty() && id == args.text("from")) return std::move(session);
    if (!last && session.prompt_count > 0) last = std::move(session);
  }
  if (!named.empty())
    return Error{Code::not_found, "handoff: no session " + named + " in this project: `cairn sessions list`"};
  if (!last) return Error{Code::not_found, "handoff: no session of this project has a prompt yet"};
  return *std::move(last);
}

static Result<Json> handoff(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  const std::string to = args.text("to");
  const host::Host* goes_on = to.empty() ? nullptr : host::known_host(to);
  if (!to.empty() && !goes_on)
    return Error{Code::invalid,
                 "handoff: no coding agent is called \"" + to + "\": --to is one of " + host::host_names()};
  TRY(store::in_transaction(world.db,
                            [&] { return world.intake->recorder().update_project(project, ContentId{}); }));
  const store::Session session = TRY(session_to_hand_off(world, args, project));
  documents::HandoffInput input;
  input.material = TRY(documents::material_of(world.db, session, mode_of(world)));
  // Requests such as "go on" are left out of the material; the only one there is says more than none.
  if (input.material.requests.empty() && !session.user_prompt.empty())
    input.material.requests = {one_line(session.user_prompt, kGoal)};
  store::OpenItemQuery query;
  query.project = project;
  input.open = TRY(store::open_items(world.db, query));
  input.tree = documents::read_tree(world.disk, TRY(directory_of(world, project, session.worktree)),
                                    input.material.files);
  // Names of the working tree are the only words that did not pass the gate yet.
  for (std::string& file : input.tree.uncommitted)
    file = TRY(clean_document(world, session.content_id.value, file));
  input.from = host::find_host(session.platform).title();
  if (goes_on) input.to = goes_on->title();
  input.age = ago(session.last_event_at, world.clock.now());
  if (const auto budget = args.optional_integer("budget"))
    input.max_tokens = static_cast<std::size_t>(*budget);
  const documents::Handoff made = documents::handoff(input);
  Json shortened = Json::array();
  for (const std::string& part : made.shortened) shortened.push(part);
  return Json::object({{"project", project},
                       {"session", session.content_id.value},
                       {"host", session.platform},
                       {"to", to.empty() ? Json() : Json(to)},
                       {"tokens", made.tokens},
                       {"shortened", shortened},
                       {"text", made.text}});
}

std::vector<Operation> handoff_operations() {
  return {
      {.name = "handoff",
       .access = Access::write,
       .group = Group::memory,
       .summary = "what another coding agent needs to go on with this session",
       .help = "Goal, state, open items, failed approaches, files, decisions of the last session of the "
               "project, or of the one that is named: in Markdown, within a budget. Give it to the other "
               "agent as its first prompt; --to names that agent in the heading.",
       .scope = Scope::one,
       .arguments = {text("id", "the session (default: the last one)").as("SESSION").word(),
                     text("to", "the coding agent that goes on").as("HOST"),
                     integer("budget", 200, 20'000, "at most this many tokens (default 1200)").as("TOKENS"),
                     text("from", "the session that asks, if it is known").in_requests()},
       .body = handoff}};
}

}  // namespace cairn::ops
