#include "host/claude_code/memory_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"

namespace cairn::host::claude {

namespace {

// A reply can be long; the default limit is for texts of events.
constexpr Json::Limits kLineLimits{64, 200'000, 16u << 20};
constexpr std::size_t kLongestReason = 300;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string configuration_directory() {
  if (const std::string named = variable("CLAUDE_CONFIG_DIR"); !named.empty()) return named;
  return variable("HOME") + "/.claude";
}

AgentFailure::Kind kind_of_status(std::int64_t status) {
  if (status == 401 || status == 403) return AgentFailure::Kind::auth;
  if (status == 402) return AgentFailure::Kind::quota;
  if (status == 429) return AgentFailure::Kind::rate_limited;
  if (status == 400 || status == 404 || status == 413) return AgentFailure::Kind::rejected;
  return AgentFailure::Kind::transient;
}

// The word that the program adds to an answer that is an error.
std::optional<AgentFailure::Kind> kind_of_error(std::string_view error) {
  if (error == "authentication_failed" || error == "oauth_org_not_allowed") return AgentFailure::Kind::auth;
  if (error == "billing_error") return AgentFailure::Kind::quota;
  if (error == "rate_limit") return AgentFailure::Kind::rate_limited;
  if (error == "invalid_request" || error == "model_not_found") return AgentFailure::Kind::rejected;
  if (error == "server_error" || error == "overloaded") return AgentFailure::Kind::transient;
  return std::nullopt;
}

// Older versions have no such word, only a sentence.
std::optional<AgentFailure::Kind> kind_of_words(const std::string& lower) {
  const auto has = [&](std::string_view words) { return lower.find(words) != std::string::npos; };
  if (has("no conversation found")) return AgentFailure::Kind::gone;
  if (has("credit balance") || has("usage limit") || has("hit your") || has("out of usage") ||
      has("spend limit"))
    return AgentFailure::Kind::quota;
  if (has("/login") || has("invalid api key") || has("not logged in") || has("oauth token") ||
      has("disabled organization"))
    return AgentFailure::Kind::auth;
  if (has("prompt is too long")) return AgentFailure::Kind::rejected;
  return std::nullopt;
}

// "usage limit reached|1790000000": the second when the limit ends.
std::optional<WallTime> end_of_limit(std::string_view text) {
  const std::size_t bar = text.rfind('|');
  if (bar == std::string_view::npos) return std::nullopt;
  std::int64_t seconds = 0;
  for (const char c : trim(text.substr(bar + 1))) {
    if (c < '0' || c > '9' || seconds > 100'000'000'000) return std::nullopt;
    seconds = seconds * 10 + (c - '0');
  }
  if (seconds < 1'000'000'000) return std::nullopt;  // before 2001: some other number
  return from_epoch_ms(seconds * 1000);
}

struct Tokens {
  std::int64_t input = 0, output = 0, cached = 0;
};

// The totals of the process so far. `usage` of a result is 0 after a request that was repeated without
// streaming; these are not.
Tokens tokens_of_process(const Json& models) {
  Tokens all;
  for (const auto& [model, used] : models.members()) {
    all.cached += used["cacheReadInputTokens"].as_int();
    all.input += used["inputTokens"].as_int() + used["cacheReadInputTokens"].as_int() +
                 used["cacheCreationInputTokens"].as_int();
    all.output += used["outputTokens"].as_int();
  }
  return all;
}

Tokens tokens_of_message(const Json& usage) {
  const std::int64_t cached = usage["cache_read_input_tokens"].as_int();
  return {usage["input_tokens"].as_int() + cached + usage["cache_creation_input_tokens"].as_int(),
          usage["output_tokens"].as_int(), cached};
}

// The program writes one JSON object a line: "assistant" with the text of a message, "stream_event" with its
// pieces, "system" with notices, and "result" when the prompt is answered. The text is that of the messages.
// Tokens and costs of a result are totals of the process, so those of this prompt are the difference to the
// totals before.
class Output final : public AgentOutput {
 public:
  std::optional<AgentAnswer> read(std::string_view line) override {
    // One line for each piece of the reply: only those about a message's begin and end matter.
    if (line.starts_with(R"({"type":"stream_event")") &&
        line.find(R"("message_start")") == std::string_view::npos &&
        line.find(R"("message_delta")") == std::string_view::npos)
      return std::nullopt;
    const auto parsed = Json::parse(line, kLineLimits);
    if (!parsed) return std::nullopt;
    const Json& said = *parsed;
    if (const auto id = said.text("session_id"); id && !id->empty()) id_ = *id;
    const std::string_view type = said["type"].as_string();
    if (type == "assistant") return read_message(said);
    if (type == "stream_event") return read_piece(said["event"]);
    if (type == "result") return read_result(said);
    if (type == "system" && said["subtype"].as_string() == "api_retry") error_ = said["error"].as_string();
    return std::nullopt;
  }

  const std::string& conversation() const override { return id_; }

 private:
  std::optional<AgentAnswer> read_message(const Json& said) {
    if (const auto error = said.text("error")) error_ = *error;
    const Json& message = said["message"];
    if (const std::string_view model = message["model"].as_string(); model != "<synthetic>") model_ = model;
    for (const Json& block : message["content"].items())
      if (block["type"].as_string() == "text") text_ += block["text"].as_string();
    return std::nullopt;
  }

  // A reply that ends at the token limit would be continued with more calls: it is taken as it is.
  std::optional<AgentAnswer> read_piece(const Json& event) {
    if (event["type"].as_string() == "message_start") current_ = tokens_of_message(event["message"]["usage"]);
    if (event["type"].as_string() != "message_delta") return std::nullopt;
    current_.output = std::max(current_.output, event["usage"]["output_tokens"].as_int());
    if (event["delta"]["stop_reason"].as_string() != "max_tokens") return std::nullopt;
    AgentAnswer answer;
    answer.cut = answer.ends = true;
    answer.input_tokens = current_.input;
    answer.output_tokens = current_.output;
    answer.cached_tokens = current_.cached;
    return finished(std::move(answer));
  }

  std::optional<AgentAnswer> read_result(const Json& said) {
    AgentAnswer answer;
    const Tokens now = tokens_of_process(said["modelUsage"]);
    answer.input_tokens = std::max<std::int64_t>(now.input - before_.input, 0);
    answer.output_tokens = std::max<std::int64_t>(now.output - before_.output, 0);
    answer.cached_tokens = std::max<std::int64_t>(now.cached - before_.cached, 0);
    const double cost = said["total_cost_usd"].as_double();
    answer.cost_usd = std::max(cost - cost_before_, 0.0);
    before_ = now;
    cost_before_ = cost;
    if (said["is_error"].as_bool()) answer.failure = failure_of(said);
    return finished(std::move(answer));
  }

  AgentFailure failure_of(const Json& said) const {
    std::string reason(said["result"].as_string());
    for (const Json& error : said["errors"].items())
      reason += (reason.empty() ? "" : "; ") + std::string(error.as_string());
    AgentFailure failure;
    failure.reason = one_line(reason.empty() ? said["subtype"].as_string() : reason, kLongestReason);
    failure.until = end_of_limit(reason);
    // The most exact source first: the sentence names causes that the error's word and the HTTP status lump
    // together, such as a conversation that is gone.
    if (said["subtype"].as_string() == "error_max_turns")
      failure.kind = AgentFailure::Kind::rejected, failure.reason = "the model asked for a tool; it has none";
    else if (const auto words = kind_of_words(ascii_lower(reason)))
      failure.kind = *words;
    else if (const auto word = kind_of_error(error_))
      failure.kind = *word;
    else
      failure.kind = kind_of_status(said["api_error_status"].as_int());
    return failure;
  }

  AgentAnswer finished(AgentAnswer answer) {
    if (!answer.failure) answer.text = std::move(text_);
    answer.model = model_;
    text_.clear();
    error_.clear();
    current_ = {};
    return answer;
  }

  std::string id_, text_, model_, error_;
  Tokens before_, current_;
  double cost_before_ = 0;
};

class ClaudeAgent final : public MemoryAgent {
 public:
  std::string_view name() const override { return "claude-cli"; }
  std::string_view program() const override { return "claude"; }
  std::vector<std::string> usual_places() const override {
    return {variable("HOME") + "/.local/bin/claude", configuration_directory() + "/local/claude"};
  }
  std::string_view default_model() const override { return "claude-haiku-4-5"; }
  std::string_view how_to_install() const override {
    return "install Claude Code, or start the daemon where `claude` is on PATH: `cairn daemon restart`";
  }
  std::string_view how_to_log_in() const override { return "run `claude` and type /login"; }

  std::vector<std::string> arguments(const AgentRun& run) const override {
    // No tools, no MCP servers but those of the command line (there are none), no settings files, no hooks,
    // no slash commands. One turn: a reply that asks for a tool ends with an error instead of going on.
    std::vector<std::string> list = {"claude",
                                     "-p",
                                     "--input-format",
                                     "stream-json",
                                     "--output-format",
                                     "stream-json",
                                     "--verbose",
                                     "--include-partial-messages",
                                     "--model",
                                     run.model,
                                     "--tools",
                                     "",
                                     "--strict-mcp-config",
                                     "--setting-sources",
                                     "",
                                     "--settings",
                                     R"({"disableAllHooks":true})",
                                     "--disable-slash-commands",
                                     "--max-turns",
                                     "1",
                                     "--system-prompt",
                                     run.system};
    if (!run.resume.empty()) list.insert(list.end(), {"--resume", run.resume});
    return list;
  }

  std::vector<std::string> environment(const AgentRun& run) const override {
    std::vector<std::string> list = {
        "CAIRN_AGENT=1",  // if a hook of ours runs all the same, it does nothing
        "CAIRN_DISABLE=1",
        "MAX_THINKING_TOKENS=0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
        "DISABLE_AUTOUPDATER=1",
        "CLAUDE_CODE_MAX_RETRIES=1",  // longer waits are ours: events wait in the queue, not in a child
        fmt::format("CLAUDE_CODE_MAX_OUTPUT_TOKENS={}", run.max_output_tokens),
        "TMPDIR=" + run.directory + "/tmp",
        "CLAUDE_CODE_TMPDIR=" + run.directory + "/tmp"};
    for (const char* name :
         {"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
          "ANTHROPIC_BASE_URL", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY",
          "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"})
      if (const char* value = std::getenv(name); value && *value)
        list.push_back(std::string(name) + "=" + value);
    return list;
  }

  // Without CLAUDE_CONFIG_DIR it also changes ~/.claude.json, and locks it and its directory with directories
  // beside them (~/.claude.json.lock, ~/.claude.lock); refreshing a login needs those.
  std::vector<os::Writable> configuration() const override {
    const std::string directory = configuration_directory();
    const std::string parent = directory.substr(0, directory.rfind('/'));
    std::vector<os::Writable> places = {{directory, os::Writable::What::tree}};
    if (!parent.empty()) places.push_back({parent, os::Writable::What::directories});
    if (variable("CLAUDE_CONFIG_DIR").empty())
      places.push_back({directory + ".json", os::Writable::What::file});
    return places;
  }

  // A text that begins with '/' would be taken as a command.
  std::string prompt_line(std::string_view text) const override {
    const std::string safe = (trim(text).starts_with('/') ? "Text: " : "") + std::string(text);
    return Json::object({{"type", "user"}, {"message", Json::object({{"role", "user"}, {"content", safe}})}})
        .dump();
  }

  std::unique_ptr<AgentOutput> output() const override { return std::make_unique<Output>(); }
};

}  // namespace

const MemoryAgent& memory_agent() {
  static const ClaudeAgent agent;
  return agent;
}

}  // namespace cairn::host::claude
