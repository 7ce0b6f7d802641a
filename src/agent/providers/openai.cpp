// Chat completions, as many endpoints offer them: chunks with a delta of the one choice, then [DONE].
#include <fmt/format.h>

#include "agent/providers/api.h"
#include "base/text.h"

namespace cairn::agent {

namespace {

Json turn_of(std::string_view role, std::string_view content) {
  return Json::object({{"role", role}, {"content", content}});
}

class Completions final : public ApiDialect {
 public:
  std::string_view name() const override { return "openai"; }

  HttpRequest request(const ApiTarget& target, const std::vector<ApiExchange>& history,
                      const Request& prompt) const override {
    Json messages = Json::array();
    if (!prompt.system.empty()) messages.push(turn_of("system", prompt.system));
    for (const ApiExchange& exchange : history) {
      messages.push(turn_of("user", exchange.prompt));
      messages.push(turn_of("assistant", exchange.reply));
    }
    messages.push(turn_of("user", prompt.text));
    // Without `include_usage` a stream has no token counts.
    Json body = Json::object({{"model", target.model},
                              {"stream", true},
                              {"stream_options", Json::object({{"include_usage", true}})},
                              {"messages", std::move(messages)}});
    body.set(target.wants_completion_tokens ? "max_completion_tokens" : "max_tokens",
             prompt.max_output_tokens);
    if (target.reports_cost) body.set("usage", Json::object({{"include", true}}));
    HttpRequest request;
    request.url = target.url;
    request.headers = {"content-type: application/json"};
    if (!target.key.empty()) request.headers.push_back("authorization: Bearer " + target.key);
    request.body = body.dump();
    return request;
  }

  void read(const Json& data, ApiReply& reply) const override {
    if (const Json& error = data["error"]; !error.is_null()) {
      const std::string message = error_message(data);
      // The code is a word with some endpoints ("model_not_found"), with others the HTTP status as a
      // number.
      const std::string code = error["code"].is_int() ? std::to_string(error["code"].as_int())
                                                      : std::string(error["code"].as_string());
      reply.trouble = Trouble{kind_of_api_error(error["type"].as_string(), code, message)
                                  .value_or(code == "429"   ? Trouble::Kind::rate_limited
                                            : code == "402" ? Trouble::Kind::quota
                                                            : Trouble::Kind::transient),
                              "the reply broke off: " + message};
      return;
    }
    if (const auto model = data.text("model"); model && !model->empty()) reply.model = *model;
    if (const Json& usage = data["usage"]; usage.is_object()) {
      reply.usage.input_tokens = usage["prompt_tokens"].as_int();
      reply.usage.output_tokens = usage["completion_tokens"].as_int();
      reply.usage.cached_tokens = usage["prompt_tokens_details"]["cached_tokens"].as_int();
      if (usage["cost"].is_number()) reply.usage.cost_usd = usage["cost"].as_double();
    }
    for (const Json& choice : data["choices"].items()) {
      // A response that is not streamed has `message`, a chunk has `delta`.
      const bool whole = choice.has("message");
      reply.text += choice[whole ? "message" : "delta"]["content"].as_string();
      const std::string_view finish = choice["finish_reason"].as_string();
      if (finish == "length") reply.cut = true;
      // Some endpoints end the stream without [DONE].
      if (whole || !finish.empty()) reply.complete = true;
      if (finish == "content_filter")
        reply.trouble = Trouble{Trouble::Kind::rejected, "the endpoint's filter refused the text"};
    }
  }

  bool is_end(std::string_view data) const override { return trim(data) == "[DONE]"; }
};

}  // namespace

const ApiDialect& completions_dialect() {
  static const Completions dialect;
  return dialect;
}

}  // namespace cairn::agent
