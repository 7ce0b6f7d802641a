#include "context/composer.h"
#include "ops/operation.h"
#include "store/lists.h"

namespace cairn::ops {

static Result<Json> show_context(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  {
    auto transaction = TRY(store::Transaction::begin(world.db));
    TRY(world.intake->recorder().settle_project(project, ContentId{}));
    TRY(transaction.commit());
  }
  context::Request request;
  request.project = project;
  request.budget_tokens =
      static_cast<std::size_t>(args.integer("budget", world.settings.integer("context.budget_tokens")));
  request.key = world.key;
  request.disk = &world.disk;
  const context::Composed composed = TRY(context::compose(world.db, request));
  Json items = Json::array();
  for (const std::string& item : composed.items) items.push(item);
  return Json::object({{"project", project},
                       {"text", composed.text},
                       {"tokens", composed.tokens},
                       {"characters", composed.characters},
                       {"items", items}});
}

#define GIVEN_ROWS                                                                                     \
  "SELECT i.created_at_epoch, i.given_at_epoch, s.id, s.content_session_id, i.project, i.event_name, " \
  "i.source, i.tokens, i.characters, i.items, i.id FROM injections i JOIN sdk_sessions s ON s.id = "   \
  "i.session_db_id "

static Result<Json> context_log(World& world, const Args& args) {
  const auto project = TRY(project_of(world, args));
  const std::int64_t limit = args.integer("limit");
  store::Stmt row =
      project ? TRY(world.db.query(GIVEN_ROWS "WHERE i.project IN (SELECT member FROM project_scope WHERE "
                                              "project = ?) ORDER BY i.id DESC LIMIT ?",
                                   *project, limit))
              : TRY(world.db.query(GIVEN_ROWS "ORDER BY i.id DESC LIMIT ?", limit));
  Json given = Json::array();
  while (TRY(row.step())) {
    auto items = Json::parse(row.text(9));
    given.push(Json::object({{"id", row.integer(10)},
                             {"time", time_or_null(row, 0)},
                             {"given_at", time_or_null(row, 1)},
                             {"given", !row.is_null(1)},
                             {"session", row.text(3)},
                             {"session_number", row.integer(2)},
                             {"project", row.text(4)},
                             {"event", row.text(5)},
                             {"source", row.text(6)},
                             {"tokens", row.integer(7)},
                             {"characters", row.integer(8)},
                             {"items", items ? *std::move(items) : Json::array()}}));
  }
  return Json::object({{"given", given}});
}

std::vector<Operation> context_operations() {
  return {
      // It writes: open turns get an interim summary, as when a session starts.
      {.name = "context",
       .access = Access::write,
       .group = Group::memory,
       .summary = "what the next session of this project would be given",
       .help = "Prints the text itself, byte for byte. When nothing is remembered the exit code is 3.",
       .scope = Scope::one,
       .arguments = {integer("budget", 0, 100'000, "at most this many tokens (default context.budget_tokens)")
                         .as("TOKENS")},
       .body = show_context},
      {.name = "context.log",
       .group = Group::memory,
       .summary = "what sessions of this project were given, and when",
       .help = "Newest first. Not given means that the hook did not confirm that it printed the context: the "
               "session gets it with its next prompt.",
       .scope = Scope::any,
       .arguments = {integer("limit", 1, kMostRows, "at most N rows").otherwise(20)},
       .body = context_log},
  };
}

}  // namespace cairn::ops
