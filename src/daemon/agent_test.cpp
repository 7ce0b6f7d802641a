#include "daemon/agent_test.h"

#include <string>

#include "base/text.h"

namespace cairn::daemon {

static constexpr std::int64_t kLongestNs = 120'000'000'000;
static constexpr std::int64_t kMostTokens = 200;

AgentTest::AgentTest(std::unique_ptr<agent::Provider> provider, os::Clock& clock)
    : provider_(std::move(provider)), clock_(clock), began_(clock.boot_ns()) {
  if (!provider_) return;
  conversation_ = provider_->start({});
  conversation_->send({"test", "You are a memory of coding sessions. This is a test of the connection.",
                       "Reply with the single word: ready", kMostTokens});
}

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

std::optional<Json> AgentTest::step() {
  if (!provider_)
    return Json::object({{"provider", "builtin"}, {"model", ""}, {"ok", true}, {"trouble", Json()}});
  while (const auto message = conversation_->receive()) {
    if (const auto* trouble = std::get_if<agent::Trouble>(&message->what)) {
      Json result = report(trouble->usage);
      result.set("trouble", trouble_json(*trouble));
      return result;
    }
    if (const auto* reply = std::get_if<agent::Reply>(&message->what)) {
      Json result = report(reply->usage);
      if (!reply->model.empty()) result.set("model", reply->model);
      const std::string text = one_line(visible(valid_utf8(reply->text)), 100);
      result.set("reply", text);
      result.set("ok", !text.empty());
      if (text.empty())
        result.set("trouble", trouble_json({agent::Trouble::Kind::rejected, "the model replied nothing"}));
      return result;
    }
  }
  if (clock_.boot_ns() - began_ < kLongestNs) return std::nullopt;
  Json result = report({});
  result.set("trouble", trouble_json({agent::Trouble::Kind::transient, "no reply within two minutes"}));
  return result;
}

}  // namespace cairn::daemon
