// `cairn agent test`.
#include <fmt/format.h>

#include "cli/commands.h"

namespace cairn::cli {

using namespace std::chrono_literals;

static constexpr std::chrono::milliseconds kLongestTest = 150s;  // the daemon ends it after two minutes

static std::string tokens_text(const Json& result) {
  std::string text = fmt::format("{} in", number_text(result["input_tokens"].as_int()));
  if (const auto cached = result["cached_tokens"].as_int())
    text += fmt::format(" ({} from the cache)", number_text(cached));
  return text + fmt::format(", {} out", number_text(result["output_tokens"].as_int()));
}

static Page agent_test_page(Shell& shell, const Json& result) {
  const std::string provider = text_of(result["provider"]);
  if (!result.has("ms")) return {"builtin: no model is asked, so there is nothing to test\n"};
  Facts facts;
  facts.add("provider", provider);
  if (const std::string model = text_of(result["model"]); !model.empty()) facts.add("model", model);
  facts.add("time", fmt::format("{:.1f} s", static_cast<double>(result["ms"].as_int()) / 1000));
  if (result["input_tokens"].as_int() > 0) facts.add("tokens", tokens_text(result));
  if (result["cost_usd"].is_number())
    facts.add("price", fmt::format("{:.6f} USD, as the provider says", result["cost_usd"].as_double()));
  if (result["ok"].as_bool()) {
    facts.add("reply", text_of(result["reply"]), Style::good);
    return {facts.text(shell.screen())};
  }
  const Json& trouble = result["trouble"];
  if (const std::string until = text_of(trouble["until"]); !until.empty()) facts.add("try again", until);
  return {facts.text(shell.screen()), 1,
          fmt::format("agent test: {}: {}", text_of(trouble["kind"]), text_of(trouble["reason"]))};
}

Result<int> agent_test_command(Shell& shell) {
  Client& client = *TRY(shell.daemon());
  const Json result = TRY(client.call("agent.test", shell.args(), kLongestTest));
  return shell.show(agent_test_page(shell, result), result);
}

}  // namespace cairn::cli
