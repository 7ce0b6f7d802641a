#include "agent/providers/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "agent/providers/keys.h"
#include "base/text.h"

namespace cairn::agent {

namespace {

struct Preset {
  std::string_view name;
  std::string_view url;
  std::vector<const char*> keys;  // its own variables; empty: it needs no key
  bool wants_completion_tokens = false;
  bool reports_cost = false;
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> list = {
      {"openai", "https://api.openai.com/v1", {"OPENAI_API_KEY"}, true},
      {"openrouter", "https://openrouter.ai/api/v1", {"OPENROUTER_API_KEY"}, false, true},
      {"gemini",
       "https://generativelanguage.googleapis.com/v1beta/openai",
       {"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
      {"ollama", "http://127.0.0.1:11434/v1", {}},
      {"lmstudio", "http://127.0.0.1:1234/v1", {}},
      {"vllm", "http://127.0.0.1:8000/v1", {}},
  };
  return list;
}

constexpr std::string_view kMessagesUrl = "https://api.anthropic.com";

std::string variable_or(const char* name, std::string_view otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : std::string(otherwise);
}

bool is_loopback(std::string_view authority) {
  if (authority == "[::1]" || authority.starts_with("[::1]:")) return true;
  const std::string host(authority.substr(0, authority.find(':')));
  // An address only: the name 127.example.com may lead to any machine.
  in_addr address{};
  return host == "localhost" || (host.starts_with("127.") && inet_pton(AF_INET, host.c_str(), &address) == 1);
}

std::string known_names() {
  std::string list;
  for (const std::string_view name : endpoint_names())
    list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  return list;
}

// `base` with `path` at its end, once.
Result<std::string> address(std::string_view base, std::string_view path) {
  const bool secure = base.starts_with("https://"), plain = base.starts_with("http://");
  const std::string_view rest = base.substr(std::min(base.size(), secure ? std::size_t{8} : std::size_t{7}));
  const std::string_view authority = rest.substr(0, rest.find('/'));
  const bool clean =
      std::all_of(base.begin(), base.end(), [](unsigned char c) { return c > ' ' && c <= '~'; });
  if ((!secure && !plain) || authority.empty() || !clean)
    return Error{Code::invalid,
                 fmt::format("agent.endpoint: \"{}\" is neither an http:// or https:// address nor one of {}",
                             one_line(visible(base), 100), known_names())};
  // "https://user:key@host": the address is part of messages, a key must not be.
  if (authority.find('@') != std::string_view::npos)
    return Error{Code::invalid,
                 "agent.endpoint must not contain a key: use agent.key_file or CAIRN_AGENT_KEY"};
  while (base.ends_with('/')) base.remove_suffix(1);
  return base.ends_with(path) ? std::string(base) : std::string(base) + std::string(path);
}

// Refuses a key in clear text on a network.
Status may_send_key(const ApiTarget& target) {
  if (target.key.empty() || !target.url.starts_with("http://")) return {};
  const std::string_view rest = std::string_view(target.url).substr(7);
  if (is_loopback(rest.substr(0, rest.find('/')))) return {};
  return Error{Code::denied,
               fmt::format("agent.endpoint: {} is not encrypted, so the key is not sent there: use https://",
                           target.url)};
}

Error no_key(std::string_view who, const char* variable) {
  return {Code::not_found,
          fmt::format("there is no key for {}: set {} where the daemon is started (then `cairn daemon "
                      "restart`), or write it to a file of mode 0600 and `cairn config set agent.key_file "
                      "FILE`",
                      who, variable)};
}

}  // namespace

std::vector<std::string_view> endpoint_names() {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  return names;
}

Result<ApiTarget> messages_target(const EndpointSettings& settings) {
  // `own`: the vendor's address, or the one that the user named in the vendor's variable beside the key.
  // Only then the vendor's key is used.
  const bool own = settings.endpoint.empty();
  const std::string base = own ? variable_or("ANTHROPIC_BASE_URL", kMessagesUrl) : settings.endpoint;
  ApiTarget target;
  // Both "https://host" and "https://host/v1" are usual.
  target.url = TRY(address(base.ends_with("/v1") ? base.substr(0, base.size() - 3) : base, "/v1/messages"));
  target.model = settings.model;
  target.key = TRY(find_key(
      settings.key_file, own ? std::vector<const char*>{"ANTHROPIC_API_KEY"} : std::vector<const char*>{}));
  if (own && target.key.empty()) return no_key("Anthropic", "ANTHROPIC_API_KEY");
  TRY(may_send_key(target));
  return target;
}

Result<ApiTarget> completions_target(const EndpointSettings& settings) {
  const std::string name = settings.endpoint.empty() ? "openai" : settings.endpoint;
  const auto preset =
      std::find_if(presets().begin(), presets().end(), [&](const Preset& one) { return one.name == name; });
  const bool known = preset != presets().end();
  std::string base = known ? std::string(preset->url) : name;
  const std::string elsewhere = settings.endpoint.empty() ? variable_or("OPENAI_BASE_URL", "") : "";
  if (!elsewhere.empty()) base = elsewhere;
  ApiTarget target;
  target.url = TRY(address(base, "/chat/completions"));
  target.model = settings.model;
  if (target.model.empty())
    return Error{
        Code::not_found,
        fmt::format("agent.model is not set: `cairn config set agent.model NAME`, a model that {} has",
                    known ? std::string(preset->name) : base)};
  target.key = TRY(find_key(settings.key_file, known ? preset->keys : std::vector<const char*>{}));
  if (known && !preset->keys.empty() && target.key.empty()) return no_key(preset->name, preset->keys.front());
  // Another server at OPENAI_BASE_URL may not know the preset's particular members.
  if (known && elsewhere.empty()) {
    target.wants_completion_tokens = preset->wants_completion_tokens;
    target.reports_cost = preset->reports_cost;
  }
  TRY(may_send_key(target));
  return target;
}

}  // namespace cairn::agent
