#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/render.h"
#include "event/provider_name.h"

namespace cairn::cli {

namespace {

std::string money(const Json& usd) {
  return usd.is_number() ? fmt::format("${:.2f}", usd.as_double()) : "no known price";
}

// "12 calls, 80,000 tokens in, 9,000 out, $0.12"
std::string needs(const Json& estimate) {
  return fmt::format("{}, {} tokens in, {} out, {}", count_text(estimate["calls"].as_int(), "call", "calls"),
                     number_text(estimate["input_tokens"].as_int()),
                     number_text(estimate["output_tokens"].as_int()), money(estimate["usd"]));
}

std::string name_of(const Json& result) {
  const std::string model = shown_line(result["model"].as_string());
  return shown_line(result["provider"].as_string()) + (model.empty() ? "" : " (" + model + ")");
}

std::string turns_text(const Json& result) {
  return count_text(result["turns"].as_int(), "turn", "turns");
}

}  // namespace

Page agent_estimate_page(Shell& shell, const Json&, const Json& result) {
  Facts facts;
  facts.add("with", name_of(result));
  facts.add("work", fmt::format("{} and {} in {}", turns_text(result),
                                count_text(result["events"].as_int(), "event", "events"),
                                count_text(result["days"].as_int(), "day", "days")));
  const Json& day = result["a_day"];
  facts.add("a day", needs(day));
  if (day["usd_cached"].is_number())
    facts.add("", fmt::format("{} where the provider caches the conversation", money(day["usd_cached"])));
  const Json& real = result["measured"];
  if (real["calls"].as_int() > 0) facts.add("measured", needs(real) + " in these days");
  facts.add("prices", "list prices of " + shown_line(result["prices_of"].as_string()) +
                          "; `cairn config set agent.prices` changes them");
  return {facts.text(shell.screen())};
}

// Asks first, because a model may cost money: a dry run finds out how many turns and about how much.
Status prepare_redistil(Shell& shell, Json& args) {
  if (args["dry_run"].as_bool()) return {};
  Json look = args;
  look.set("dry_run", true);
  const Json found = TRY(shell.ask("redistil", look));
  if (found["turns"].as_int() == 0) return {};
  const bool builtin = found["provider"].as_string() == event::kBuiltin;
  const bool agreed =
      TRY(shell.confirm(fmt::format("Distil {} again with {}{}?", turns_text(found), name_of(found),
                                    builtin ? "" : ": about " + needs(found["estimate"]))));
  if (!agreed) return Error{Code::canceled, "redistil: nothing was changed"};
  return {};
}

Page redistil_page(Shell&, const Json&, const Json& result) {
  const std::int64_t turns = result["turns"].as_int();
  if (turns == 0) return {"nothing to distil again\n", 3};
  std::string out =
      fmt::format("{} {} again with {}: {}\n", result["dry_run"].as_bool() ? "would distil" : "distils",
                  turns_text(result), name_of(result), needs(result["estimate"]));
  if (const std::int64_t expired = result["expired"].as_int(); expired > 0)
    out +=
        fmt::format("{} of them may keep what they have: their texts were removed\n", number_text(expired));
  if (!result["dry_run"].as_bool()) out += "in the background; `cairn status` says how many are left\n";
  return {out};
}

}  // namespace cairn::cli
