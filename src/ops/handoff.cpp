#include "documents/handoff.h"

#include <algorithm>

#include "base/text.h"
#include "documents/tree.h"
#include "host/host.h"
#include "ops/documents.h"
#include "ops/operation.h"
#include "store/open_items.h"
#include "store/projects.h"

namespace cairn::ops {

static constexpr std::size_t kGoal = 160;  // bytes

// The session that is named, else the one that asks, else the last one of the project that has a prompt.
static Result<store::Session> session_to_hand_off(World& world, const Args& args,
                                                  const std::string& project) {
  if (args.has("id")) {
    store::Session named = TRY(resolve_session(world, args.name("id")).in("handoff"));
    // A session of a linked project counts as one of this project.
    const auto scope = TRY(store::scope_of(world.db, project));
    if (std::find(scope.begin(), scope.end(), named.project) != scope.end()) return named;
    return Error{Code::not_found, "handoff: the session is of another project: `cairn sessions list`"};
  }
  std::optional<store::Session> last;
  for (store::Session& session : TRY(store::list_sessions(world.db, project, 50))) {
    if (session.content_id.value == args.text("from")) return std::move(session);
    if (!last && session.prompt_count > 0) last = std::move(session);
  }
  if (!last) return Error{Code::not_found, "handoff: no session of this project has a prompt yet"};
  return *std::move(last);
}

static Result<Json> handoff(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  const auto to = args.optional_text("to");
  // The turn that is under way gets its interim summary: it is usually the one to hand over.
  TRY(store::in_transaction(world.db,
                            [&] { return world.intake->recorder().update_project(project, ContentId{}); }));
  const store::Session session = TRY(session_to_hand_off(world, args, project));
  documents::HandoffInput input;
  input.material = TRY(documents::material_of(world.db, session, mode_of(world)));
  // Requests such as "go on" are left out of the material; one such request is better than none.
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
  if (to) input.to = host::find_host(*to).title();
  input.age = ago(session.last_event_at, world.clock.now());
  if (const auto budget = args.optional_integer("budget"))
    input.max_tokens = static_cast<std::size_t>(*budget);
  const documents::Handoff made = documents::handoff(input);
  Json shortened = Json::array();
  for (const std::string& part : made.shortened) shortened.push(part);
  return Json::object({{"project", project},
                       {"session", session.content_id.value},
                       {"host", session.platform},
                       {"to", to},
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
       .help =
           "Goal, state, open items, failed approaches, files, decisions of a session: of the one that is "
           "named, else the one that asks (when an agent runs the command), else the last one of the "
           "project. In Markdown, within a budget. Give it to the other agent as its first prompt; --to "
           "names that agent in the heading.",
       .scope = Scope::one,
       .arguments =
           {session("id", "the session (default: the one that asks, else the last one)").as("SESSION").word(),
            ops::host("to", "the coding agent that goes on"),
            integer("budget", 200, 20'000, "at most this many tokens (default 1200)").as("TOKENS"),
            text("from", "the session that asks, if it is known").in_requests()},
       .body = handoff}};
}

}  // namespace cairn::ops
