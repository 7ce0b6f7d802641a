#include "context/composer.h"
#include "ops/operation.h"
#include "store/receipts.h"

namespace cairn::ops {

static Result<Json> show_context(World& world, const Args& args) {
  const std::string project = TRY(one_project(world, args));
  // As at the start of a session: otherwise the text would lack what a session under way has done.
  {
    auto transaction = TRY(store::Transaction::begin(world.db));
    TRY(world.intake->recorder().update_project(project, ContentId{}));
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

static Result<Json> context_log(World& world, const Args& args) {
  const auto project = TRY(project_of(world, args));
  Json given = Json::array();
  for (const store::Receipt& r : TRY(store::list_receipts(world.db, project, args.integer("limit")))) {
    // A list that cannot be read does not hide the receipt.
    auto items = Json::parse(r.items);
    given.push(Json::object({{"id", r.id},
                             {"time", iso8601(r.created_at)},
                             {"given_at", time_or_null(r.given_at)},
                             {"given", r.given_at.has_value()},
                             {"session", r.content_session},
                             {"session_number", r.session.value},
                             {"project", r.project},
                             {"event", r.event_name},
                             {"kind", r.kind},
                             {"source", r.source},
                             {"tokens", r.tokens},
                             {"characters", r.characters},
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
