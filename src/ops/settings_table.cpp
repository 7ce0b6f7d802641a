#include "ops/settings_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/prices.h"
#include "base/nearest.h"
#include "base/text.h"
#include "gate/secrets.h"

namespace cairn::ops {
namespace {

using Type = Setting::Type;

bool is_choice(const Setting& setting, std::string_view value) {
  const auto choices = split(setting.choices, '|');
  return std::find(choices.begin(), choices.end(), value) != choices.end();
}

std::string one_of(const Setting& setting) {
  std::string list;
  for (const std::string_view choice : split(setting.choices, '|')) {
    if (!list.empty()) list += ", ";
    list += choice;
  }
  return "one of " + list;
}

// What `value` must be, for a message: "one of process, disk". Nothing when it is allowed.
std::optional<std::string> wrong(const Setting& setting, const Json& value) {
  const auto in_range = [&](double number) {
    return number >= static_cast<double>(setting.min) && number <= static_cast<double>(setting.max);
  };
  switch (setting.type) {
    case Type::text:
      if (value.is_string()) return {};
      return "a text";
    case Type::choice:
      if (value.is_string() && is_choice(setting, value.as_string())) return {};
      return one_of(setting);
    case Type::integer:
      if (value.is_int() && value.as_int() >= setting.min && value.as_int() <= setting.max) return {};
      return fmt::format("a whole number from {} to {}", setting.min, setting.max);
    case Type::decimal:
      if (value.is_number() && in_range(value.as_double())) return {};
      return fmt::format("a number from {} to {}", setting.min, setting.max);
    case Type::flag:
      if (value.is_bool()) return {};
      return "true or false";
    case Type::list: break;
  }
  const bool texts = value.is_array() && std::all_of(value.items().begin(), value.items().end(),
                                                     [](const Json& item) { return item.is_string(); });
  if (!texts) return "a list of texts";
  for (const Json& item : value.items())
    if (!setting.choices.empty() && !is_choice(setting, item.as_string()))
      return "a list of texts, each " + one_of(setting);
  for (const Json& item : value.items())
    if (setting.wrong && !setting.wrong(item.as_string()).empty())
      return fmt::format("a list of patterns: \"{}\": {}", item.as_string(), setting.wrong(item.as_string()));
  return {};
}

}  // namespace

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> table = {
      {"automation", Type::choice, R"("hybrid")", "manual|hybrid|auto", 0, 0,
       "documents: manual only captures, hybrid recommends, auto also writes and resumes them by itself"},
      {"agent.mode", Type::text, R"("code")", "", 0, 0,
       "what to look for in a session's words: code, or modes/NAME.toml beside config.toml"},
      {"capture.enabled", Type::flag, "true", "", 0, 0, "record sessions; false: hooks deliver nothing"},
      {"capture.skip_tools", Type::list, "[]", "", 0, 0, "tools whose calls are counted, not stored"},
      {"capture.exclude", Type::list, "[]", "", 0, 0,
       "globs of paths: a tool call that names one is counted, not stored"},
      {"capture.projects_off", Type::list, "[]", "", 0, 0,
       "projects (by the path of their repository) that are not recorded: `cairn capture off --project`"},
      {"capture.secrets", Type::list, "[]", "", 0, 0, "more secrets to remove, each name=PATTERN (RE2)",
       [](std::string_view item) { return gate::wrong_pattern(item, true); }},
      {"capture.secrets_allow", Type::list, "[]", "", 0, 0, "patterns (RE2) of texts that are not secrets",
       [](std::string_view item) { return gate::wrong_pattern(item, false); }},
      {"context.budget_tokens", Type::integer, "2000", "", 0, 100'000,
       "size of the context given to a session"},
      {"context.sources", Type::list, R"(["startup", "clear", "compact", "resume"])",
       "startup|clear|compact|resume", 0, 0, "kinds of session start that are given context"},
      {"context.notice", Type::choice, R"("line")", "line|off", 0, 0,
       "the line shown to you at a session's start"},
      {"context.on_compact", Type::flag, "true", "", 0, 0,
       "tell a compaction what it must keep: your rules, what is open, commands that worked"},
      {"context.on_failure", Type::flag, "false", "", 0, 0,
       "after a failed tool call, say what fixed the same error before, if that is certain"},
      {"context.on_prompt", Type::flag, "false", "", 0, 0,
       "add what is remembered to a prompt, if that certainly answers it"},
      {"context.on_subagent", Type::flag, "false", "", 0, 0, "give a subagent a brief of the project"},
      {"context.stale_hours", Type::integer, "24", "", 0, 100'000,
       "report work that is in no summary or document after this many hours; 0 is never"},
      {"context.overhead_kb", Type::integer, "20", "", 0, 100'000,
       "size of our text and the host's instruction files beyond which you are warned; 0 is never"},
      {"context.full_percent", Type::integer, "70", "", 0, 100,
       "share of the model's context at which a prompt reminds you to save; 0 is never"},
      {"recall.agent_scope", Type::choice, R"("project")", "project|all", 0, 0,
       "what an agent's tools may read: the project that it works in, or every project"},
      {"evidence.keep_days", Type::integer, "90", "", 0, 100'000,
       "days that the text of an event is kept; summaries and observations stay; 0 is for ever"},
      {"archive.redact", Type::flag, "true", "", 0, 0,
       "remove secrets and private text from backups of transcripts; false keeps every byte"},
      {"archive.keep_days", Type::integer, "0", "", 0, 100'000,
       "days that a session's backups are kept once they are not pending; 0 is for ever"},
      {"archive.keep_last", Type::integer, "5", "", 0, 1'000'000,
       "newest sessions whose backups are kept however old they are"},
      {"archive.max_gb", Type::decimal, "0", "", 0, 100'000,
       "size of all backups beyond which the oldest are removed, except pending ones; 0 is no limit"},
      {"archive.level", Type::integer, "3", "", 1, 19, "how hard backups are compressed (zstd)"},
      {"agent.provider", Type::choice, R"("builtin")", "builtin|claude-cli|anthropic|openai", 0, 0,
       "what makes summaries and observations: builtin (no model), your own Claude Code login, or a model's "
       "API"},
      {"agent.model", Type::text, R"("")", "", 0, 0,
       "the model that the provider asks; empty: a small one of its own (openai needs a name)"},
      {"agent.endpoint", Type::text, R"("")", "", 0, 0,
       "where the API is: openai, openrouter, gemini, ollama, lmstudio, vllm, or an address; empty: the "
       "provider's own"},
      {"agent.key_file", Type::text, R"("")", "", 0, 0,
       "a file of mode 0600 with the key of the API; empty: from the environment"},
      {"agent.fallback", Type::choice, R"("builtin")", "builtin|none", 0, 0,
       "while the model fails: builtin: the built-in distiller does its work, the model does it again later; "
       "none: events wait for the model"},
      {"agent.batch_max_events", Type::integer, "40", "", 1, 200, "events that a model is sent at once"},
      {"agent.batch_wait_seconds", Type::integer, "90", "", 0, 3600,
       "how long events wait for more of their session before a model is sent them"},
      {"agent.max_concurrent", Type::integer, "4", "", 1, 16, "conversations with the model at once"},
      {"agent.prices", Type::list, "[]", "", 0, 0,
       "prices of models, each MODEL=INPUT/OUTPUT[/CACHED] in dollars for a million tokens",
       [](std::string_view item) { return agent::wrong_price(item); }},
      {"budget.daily_tokens", Type::integer, "2000000", "", 0, 1'000'000'000'000,
       "tokens that a model may use in a day (UTC), input and output; 0 is no limit"},
      {"budget.daily_usd", Type::decimal, "0", "", 0, 1'000'000,
       "dollars that a model may cost in a day (UTC); 0 is no limit; without a known price no call is made"},
      {"budget.backlog_percent", Type::integer, "20", "", 0, 100,
       "share of the day's budget for what the model could not do before"},
      {"budget.session_observations", Type::integer, "1000", "", 0, 1'000'000,
       "observations of one session; beyond it events are kept as evidence only"},
      {"budget.warn_percent", Type::integer, "80", "", 1, 100, "share of a limit at which you are warned"},
      {"evidence.max_field_kb", Type::integer, "256", "", 1, 65'536,
       "longest text kept of one field of an event"},
      {"store.max_gb", Type::decimal, "5", "", 0, 100'000,
       "size of the database beyond which the oldest texts of events are removed; 0 is no limit"},
      {"queue.keep_processed", Type::integer, "100", "", 0, 1'000'000,
       "finished messages that are kept for inspection"},
      {"queue.max_retries", Type::integer, "3", "", 0, 100,
       "tries after the first failure; then a message counts as failed"},
      {"queue.stuck_seconds", Type::integer, "300", "", 1, 86'400,
       "time after which a claimed message is free again"},
      {"daemon.idle_exit_minutes", Type::decimal, "120", "", 0, 100'000,
       "idle time after which the daemon exits"},
      {"hook.sync", Type::choice, R"("process")", "process|disk", 0, 0,
       "what a delivered event survives: process: the death of every process; disk: a power cut too"},
      {"hook.deadline_ms.session_start", Type::integer, "3000", "", 1, 9000,
       "how long the start of a session waits for context"},
      {"hook.deadline_ms.user_prompt_submit", Type::integer, "200", "", 1, 9000,
       "how long a prompt waits, or an event that may get help"},
      {"log.level", Type::choice, R"("info")", "debug|info|warn|error", 0, 0,
       "least severe entry that is logged"},
      {"log.max_mb", Type::integer, "20", "", 1, 10'000, "size of the daemon's log, old part included"},
  };
  return table;
}

const Setting* find_setting(std::string_view key) {
  for (const Setting& setting : all_settings())
    if (setting.key == key) return &setting;
  return nullptr;
}

bool has_settings_below(std::string_view key) {
  const std::string start = std::string(key) + '.';
  return std::any_of(all_settings().begin(), all_settings().end(),
                     [&](const Setting& s) { return s.key.substr(0, start.size()) == start; });
}

std::string unknown_key(std::string_view key) {
  std::vector<std::string_view> known;
  for (const Setting& setting : all_settings()) known.push_back(setting.key);
  const std::string_view nearest = did_you_mean(key, known);
  std::string message = fmt::format("{}: unknown setting", key);
  if (!nearest.empty()) message += fmt::format("; did you mean {}?", nearest);
  return message;
}

std::optional<std::string> check(const Setting& setting, const Json& value) {
  const auto allowed = wrong(setting, value);
  if (!allowed) return {};
  return fmt::format("{}: {} is not {}", setting.key, one_line(value.dump(), 100), *allowed);
}

}  // namespace cairn::ops
