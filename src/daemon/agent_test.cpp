#include "daemon/agent_test.h"

#include <string>

#include "agent/prices.h"
#include "agent/worker.h"
#include "base/text.h"
#include "event/provider_name.h"

namespace cairn::daemon {

static constexpr std::int64_t kLongestNs = 120'000'000'000;
static constexpr std::int64_t kMostTokens = 200;  // of the reply, which is one word; the budget reserves them

AgentTest::AgentTest(std::unique_ptr<agent::Provider> provider, store::Db& db, os::Clock& clock,
                     Limits limits)
    : provider_(std::move(provider)),
      db_(db),
      clock_(clock),
      limits_(std::move(limits)),
      began_(clock.boot_ns()) {}

// Reserves the call and makes it. Returns why it must not be made; empty: it was made.
Result<std::string> AgentTest::send() {
  const agent::Request request{"test",
                               "You are a memory of coding sessions. This is a test of the connection.",
                               "Reply with the single word: ready", kMostTokens};
  store::NewCall call;
  call.provider = provider_->name();
  call.model = provider_->model();
  call.purpose = store::CallPurpose::test;
  call.input_tokens = agent::most_input_tokens(request);
  call.output_tokens = kMostTokens;
  const auto price = agent::price_of(call.model, limits_.prices);
  if (price) call.cost_usd = price->most(call.input_tokens, call.output_tokens);
  store::Reserved reserved;
  TRY(store::in_transaction(db_, [&]() -> Status {
    reserved = TRY(store::reserve_call(db_, call, limits_.daily, clock_.now()));
    return {};
  }));
  if (!reserved.refused.empty()) return reserved.refused;
  call_ = reserved.id;
  conversation_ = provider_->start({});
  conversation_->send(request);
  return std::string();
}

// `usage` is null when what was used is not known: then the reserved amounts count as used.
Status AgentTest::end_call(store::ModelCallOutcome outcome, const agent::Usage* usage) {
  store::CallEnd end;
  end.outcome = outcome;
  end.estimated = usage == nullptr;
  if (usage) {
    end.input_tokens = usage->input_tokens;
    end.output_tokens = usage->output_tokens;
    end.cached_tokens = usage->cached_tokens;
    end.cost_usd = usage->cost_usd;
    if (const auto price = agent::price_of(provider_->model(), limits_.prices); price && !end.cost_usd)
      end.cost_usd = price->of(*usage);
  }
  end.duration = std::chrono::duration_cast<Millis>(std::chrono::nanoseconds(clock_.boot_ns() - began_));
  return store::in_transaction(db_, [&] { return store::end_call(db_, call_, end); });
}

// Without a reply or an error yet: the caller sets `ok`, `reply` or `trouble`.
Json AgentTest::report(const agent::Usage& usage) const {
  return Json::object({{"provider", provider_->name()},
                       {"model", provider_->model()},
                       {"ok", false},
                       {"ms", (clock_.boot_ns() - began_) / 1'000'000},
                       {"input_tokens", usage.input_tokens},
                       {"cached_tokens", usage.cached_tokens},
                       {"output_tokens", usage.output_tokens},
                       {"cost_usd", usage.cost_usd ? Json(*usage.cost_usd) : Json()},
                       {"reply", Json()},
                       {"trouble", Json()}});
}

static Json trouble_json(const agent::Trouble& trouble) {
  return Json::object({{"kind", agent::kind_name(trouble.kind)},
                       {"reason", trouble.reason},
                       {"until", trouble.until ? Json(iso8601(*trouble.until)) : Json()}});
}

Result<std::optional<Json>> AgentTest::step() {
  if (!provider_)
    return std::optional(
        Json::object({{"provider", event::kBuiltin}, {"model", ""}, {"ok", true}, {"trouble", Json()}}));
  if (!conversation_)
    if (const std::string refused = TRY(send()); !refused.empty()) {
      Json result = report({});
      result.set("trouble", Json::object({{"kind", "budget"}, {"reason", refused}, {"until", Json()}}));
      return std::optional(result);
    }
  while (const auto message = conversation_->receive()) {
    if (const auto* trouble = std::get_if<agent::Trouble>(&message->what)) {
      TRY(end_call(agent::outcome_of(trouble->kind), &trouble->usage));
      Json result = report(trouble->usage);
      result.set("trouble", trouble_json(*trouble));
      return std::optional(result);
    }
    if (const auto* reply = std::get_if<agent::Reply>(&message->what)) {
      const std::string text = one_line(visible(valid_utf8(reply->text)), 100);
      TRY(end_call(text.empty() ? store::ModelCallOutcome::unusable : store::ModelCallOutcome::ok,
                   &reply->usage));
      Json result = report(reply->usage);
      if (!reply->model.empty()) result.set("model", reply->model);
      result.set("reply", text);
      result.set("ok", !text.empty());
      if (text.empty())
        result.set("trouble", trouble_json({agent::Trouble::Kind::rejected, "the model replied nothing"}));
      return std::optional(result);
    }
  }
  if (clock_.boot_ns() - began_ < kLongestNs) return std::optional<Json>();
  TRY(end_call(store::ModelCallOutcome::transient, nullptr));
  Json result = report({});
  result.set("trouble", trouble_json({agent::Trouble::Kind::transient, "no reply within two minutes"}));
  return std::optional(result);
}

}  // namespace cairn::daemon
