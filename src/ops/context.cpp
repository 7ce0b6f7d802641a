#include "context/composer.h"
#include "ops/operation.h"
#include "store/lists.h"

namespace cairn::ops {

Result<Json> show_context(World& world, const Json& args) {
  const auto project = TRY(project_of(world, args));
  if (!project) return Error{Code::invalid, "context: name one project"};
  {
    auto transaction = TRY(store::Transaction::begin(world.db));
    TRY(world.intake->recorder().settle_project(*project, ContentId{}));
    TRY(transaction.commit());
  }
  context::Request request;
  request.project = *project;
  request.budget_tokens =
      static_cast<std::size_t>(args["budget"].as_int(world.settings.integer("context.budget_tokens")));
  request.key = world.key;
  request.disk = &world.disk;
  const context::Composed composed = TRY(context::compose(world.db, request));
  Json items = Json::array();
  for (const std::string& item : composed.items) items.push(item);
  return Json::object({{"project", *project},
                       {"text", composed.text},
                       {"tokens", composed.tokens},
                       {"characters", composed.characters},
                       {"items", items}});
}

}  // namespace cairn::ops
