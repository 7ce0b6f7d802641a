#include "ops/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agent/estimate.h"
#include "agent/prices.h"
#include "event/provider_name.h"
#include "ops/operation.h"
#include "store/model_calls.h"
#include "store/redistil.h"

namespace cairn::ops {

store::DailyBudget daily_budget(const Settings& settings) {
  return {settings.integer("budget.daily_tokens"), settings.decimal("budget.daily_usd"),
          settings.integer("budget.backlog_percent"), settings.integer("budget.warn_percent")};
}

Result<std::vector<std::string>> agent_problems(store::Db& db, const Settings& settings, WallTime now) {
  std::vector<std::string> out;
  if (const auto trouble = TRY(store::agent_trouble(db))) out.push_back(store::trouble_sentence(*trouble));
  if (auto budget = TRY(store::budget_sentence(db, daily_budget(settings), now)))
    out.push_back(*std::move(budget));
  return out;
}

Result<Json> model_status(World& world) {
  const store::Spent today = TRY(store::spent_today(world.db, world.clock.now()));
  const store::RedistilCounts waiting = TRY(store::redistil_counts(world.db));
  const store::DailyBudget budget = daily_budget(world.settings);
  return Json::object({{"calls_today", today.calls},
                       {"tokens_today", today.tokens()},
                       {"usd_today", today.usd},
                       {"daily_tokens", budget.tokens},
                       {"daily_usd", budget.usd},
                       {"backlog_turns", waiting.backlog},
                       {"redistil_turns", waiting.asked}});
}

namespace {

std::vector<agent::PastTurn> past_of(const std::vector<store::DoneTurn>& turns) {
  std::vector<agent::PastTurn> past;
  for (const store::DoneTurn& turn : turns)
    past.push_back({turn.session.value, turn.number, turn.events, turn.bytes});
  return past;
}

// `usd` as if nothing were cached, `usd_cached` if everything that can be is: the real cost is usually
// between.
Json estimate_json(const agent::Estimate& e, const std::optional<agent::Price>& price) {
  Json out = Json::object({{"calls", e.calls},
                           {"input_tokens", e.input_tokens},
                           {"cached_tokens", e.cached_tokens},
                           {"output_tokens", e.output_tokens}});
  out.set("usd", price ? Json(price->of({e.input_tokens, e.output_tokens, 0, {}})) : Json());
  out.set("usd_cached",
          price ? Json(price->of({e.input_tokens, e.output_tokens, e.cached_tokens, {}})) : Json());
  return out;
}

// The provider and the model of a request, else those of the settings.
struct Chosen {
  std::string provider, model;
  std::optional<agent::Price> price;
};
Chosen chosen(World& world, const Args& args) {
  Chosen out;
  out.provider = args.optional_text("provider").value_or(world.settings.text("agent.provider"));
  out.model = args.optional_text("model").value_or(world.settings.text("agent.model"));
  out.price = agent::price_of(out.model, world.settings.list("agent.prices"));
  return out;
}

Result<Json> estimate(World& world, const Args& args) {
  const std::int64_t days = args.integer("days");
  const WallTime since = world.clock.now() - std::chrono::hours(24 * days);
  const auto turns = TRY(store::done_turns(world.db, std::nullopt, since));
  const Chosen with = chosen(world, args);
  const agent::Estimate all =
      with.provider == event::kBuiltin
          ? agent::Estimate{}
          : agent::estimate(past_of(turns), world.settings.integer("agent.batch_max_events"));
  agent::Estimate day = all;
  // The average day, rounded up: an estimate is rather too high.
  for (std::int64_t* number : {&day.calls, &day.input_tokens, &day.cached_tokens, &day.output_tokens})
    *number = (*number + days - 1) / days;
  std::int64_t events = 0;
  for (const store::DoneTurn& turn : turns) events += turn.events;
  const store::Spent spent = TRY(store::spent_since(world.db, since));
  return Json::object({{"provider", with.provider},
                       {"model", with.model},
                       {"days", days},
                       {"turns", turns.size()},
                       {"events", events},
                       {"a_day", estimate_json(day, with.price)},
                       {"prices_of", agent::prices_date()},
                       {"measured", Json::object({{"calls", spent.calls},
                                                  {"input_tokens", spent.input_tokens},
                                                  {"output_tokens", spent.output_tokens},
                                                  {"cached_tokens", spent.cached_tokens},
                                                  {"usd", spent.usd}})}});
}

Result<Json> redistil(World& world, const Args& args) {
  const Chosen with = chosen(world, args);
  const std::string configured = world.settings.text("agent.provider");
  // The daemon has the provider of the settings only: turns for another one would wait for ever.
  if (with.provider != event::kBuiltin && with.provider != configured)
    return Error{Code::invalid,
                 fmt::format("redistil: agent.provider is {}: `cairn config set agent.provider "
                             "{}` first, `cairn agent test` tries it",
                             configured, with.provider)};
  const auto project = TRY(project_of(world, args));
  const auto turns = TRY(store::done_turns(world.db, project, args.moment("since", world.clock.now())));
  const bool dry = args.flag("dry_run");
  if (!dry)
    TRY(store::in_transaction(world.db, [&]() -> Status {
      for (const store::DoneTurn& turn : turns)
        TRY(store::want_redistil(world.db, {turn.session, turn.number, store::CallPurpose::redistil,
                                            with.provider, 0, 0, turn.at}));
      return {};
    }));
  const agent::Estimate needed =
      with.provider == event::kBuiltin
          ? agent::Estimate{}
          : agent::estimate(past_of(turns), world.settings.integer("agent.batch_max_events"));
  std::int64_t imported = 0, expired = 0;
  for (const store::DoneTurn& turn : turns) {
    imported += turn.imported;
    // An imported turn has its texts in the archive, so nothing is lost.
    expired += turn.expired && !turn.imported;
  }
  return Json::object({{"provider", with.provider},
                       {"model", with.model},
                       {"dry_run", dry},
                       {"turns", turns.size()},
                       {"imported", imported},
                       {"expired", expired},
                       {"estimate", estimate_json(needed, with.price)},
                       {"prices_of", agent::prices_date()}});
}

}  // namespace

std::vector<Operation> agent_operations() {
  return {
      {.name = "agent.estimate",
       .group = Group::setup,
       .summary = "what a day like the last seven would cost with a model",
       .help =
           "Counts the turns and events of the last days, and computes how many calls, tokens and dollars "
           "they need. `measured` is what was really used in these days. Prices are list prices; "
           "agent.prices changes them.",
       .arguments = {provider("provider", "the provider (default agent.provider)"),
                     text("model", "the model (default agent.model)").as("NAME"),
                     integer("days", 1, 365, "days to look back").otherwise(7)},
       .body = estimate},
      {.name = "redistil",
       .access = Access::write,
       .group = Group::memory,
       .summary = "derive summaries and observations again from what is kept",
       .help = "Newest turns first, in the background, within the daily budget. What a person wrote is not "
               "touched. Sessions that were imported are read from the archive; turns whose texts are gone "
               "keep what they have. Says first how many tokens and dollars it takes, and asks.",
       .scope = Scope::any,
       .arguments = {moment("since", "not older: 2h, 3d, 2w, yesterday, 2026-10-01"),
                     provider("provider", "builtin, or the provider of the settings"),
                     text("model", "only for the estimate: as if agent.model were this").as("NAME"),
                     flag("dry_run", "say what it would take; change nothing")},
       .body = redistil}};
}

}  // namespace cairn::ops
