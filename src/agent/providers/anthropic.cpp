// The Messages API: a stream of typed events, each with a part of the message.
#include "agent/providers/api.h"

namespace cairn::agent {

namespace {

// A text with the mark up to which the API caches the request. The system text has one, and the newest
// prompt: with the next request everything up to that prompt is read from the cache.
Json cached_text(std::string_view text) {
  return Json::object(
      {{"type", "text"}, {"text", text}, {"cache_control", Json::object({{"type", "ephemeral"}})}});
}

Json turn(std::string_view role, Json content) {
  return Json::object({{"role", role}, {"content", std::move(content)}});
}

// The API counts cached input apart from `input_tokens`; ours includes it. Numbers are totals, not
// differences: each report replaces the last, and one without input tokens leaves those of the start.
void add_usage(const Json& usage, Usage& to) {
  if (usage.has("input_tokens")) {
    to.cached_tokens = usage["cache_read_input_tokens"].as_int();
    to.input_tokens =
        usage["input_tokens"].as_int() + to.cached_tokens + usage["cache_creation_input_tokens"].as_int();
  }
  if (usage.has("output_tokens")) to.output_tokens = usage["output_tokens"].as_int();
}

void end_with(std::string_view stop_reason, ApiReply& reply) {
  if (stop_reason == "max_tokens") reply.cut = true;
}

class Messages final : public ApiDialect {
 public:
  std::string_view name() const override { return "anthropic"; }

  HttpRequest request(const ApiTarget& target, const std::vector<ApiExchange>& history,
                      const Request& prompt) const override {
    Json messages = Json::array();
    for (const ApiExchange& exchange : history) {
      messages.push(turn("user", exchange.prompt));
      // The API refuses a message without text.
      messages.push(turn("assistant", exchange.reply.empty() ? "-" : exchange.reply));
    }
    messages.push(turn("user", Json::array({cached_text(prompt.text)})));
    Json body = Json::object({{"model", target.model},
                              {"max_tokens", prompt.max_output_tokens},
                              {"stream", true},
                              {"messages", std::move(messages)}});
    if (!prompt.system.empty()) body.set("system", Json::array({cached_text(prompt.system)}));
    HttpRequest request;
    request.url = target.url;
    request.headers = {"content-type: application/json", "anthropic-version: 2023-06-01"};
    if (!target.key.empty()) request.headers.push_back("x-api-key: " + target.key);
    request.body = body.dump();
    return request;
  }

  void read(const Json& data, ApiReply& reply) const override {
    const std::string_view type = data["type"].as_string();
    if (type == "message_start") {
      reply.model = data["message"]["model"].as_string();
      add_usage(data["message"]["usage"], reply.usage);
    } else if (type == "content_block_delta") {
      reply.text += data["delta"]["text"].as_string();  // a delta of thinking has no `text`
    } else if (type == "message_delta") {
      add_usage(data["usage"], reply.usage);
      end_with(data["delta"]["stop_reason"].as_string(), reply);
    } else if (type == "message_stop") {
      reply.complete = true;
    } else if (type == "error") {
      const Json& error = data["error"];
      const std::string message = error_message(data);
      reply.trouble = Trouble{
          kind_of_api_error(error["type"].as_string(), "", message).value_or(Trouble::Kind::transient),
          "the reply broke off: " + message};
    } else if (type == "message") {
      read_whole(data, reply);
    }
  }

  bool is_end(std::string_view) const override { return false; }

 private:
  static void read_whole(const Json& message, ApiReply& reply) {
    reply.model = message["model"].as_string();
    add_usage(message["usage"], reply.usage);
    for (const Json& block : message["content"].items())
      if (block["type"].as_string() == "text") reply.text += block["text"].as_string();
    end_with(message["stop_reason"].as_string(), reply);
    reply.complete = true;
  }
};

}  // namespace

const ApiDialect& messages_dialect() {
  static const Messages dialect;
  return dialect;
}

}  // namespace cairn::agent
