#include "agent/providers/factory.h"

#include "agent/providers/api.h"
#include "agent/providers/cli.h"
#include "agent/providers/endpoint.h"
#include "host/memory_agent.h"

namespace cairn::agent {

namespace {

constexpr std::string_view kMessagesModel = "claude-haiku-4-5";

class ApiProvider final : public Provider {
 public:
  using Target = Result<ApiTarget> (*)(const EndpointSettings&);

  ApiProvider(const ApiDialect& dialect, Target target, EndpointSettings settings, const ProviderParts& parts)
      : dialect_(dialect),
        target_(target),
        settings_(std::move(settings)),
        http_(parts.http),
        clock_(parts.clock) {}

  std::string_view name() const override { return dialect_.name(); }
  std::string_view model() const override { return settings_.model; }
  bool has_ids() const override { return false; }
  // The key is read for each conversation: it may have been replaced.
  std::unique_ptr<Conversation> start(const Start&) override {
    return start_api_conversation(dialect_, http_, clock_, target_(settings_));
  }

 private:
  const ApiDialect& dialect_;
  Target target_;
  EndpointSettings settings_;
  Http& http_;
  os::Clock& clock_;
};

}  // namespace

std::unique_ptr<Provider> make_provider(const ProviderSettings& settings, const ProviderParts& parts) {
  if (const host::MemoryAgent* agent = host::find_memory_agent(settings.provider))
    return make_cli_provider(*agent, parts.children, parts.disk, {settings.model, parts.directory});
  EndpointSettings endpoint{settings.endpoint, settings.model, settings.key_file};
  if (settings.provider == messages_dialect().name()) {
    if (endpoint.model.empty()) endpoint.model = kMessagesModel;
    return std::make_unique<ApiProvider>(messages_dialect(), messages_target, std::move(endpoint), parts);
  }
  if (settings.provider == completions_dialect().name())
    return std::make_unique<ApiProvider>(completions_dialect(), completions_target, std::move(endpoint),
                                         parts);
  return nullptr;
}

Status check_setup(const ProviderSettings& settings) {
  if (const host::MemoryAgent* agent = host::find_memory_agent(settings.provider)) {
    TRY(find_agent_program(*agent));
    return {};
  }
  const EndpointSettings endpoint{settings.endpoint, settings.model, settings.key_file};
  if (settings.provider == messages_dialect().name()) TRY(messages_target(endpoint));
  if (settings.provider == completions_dialect().name()) TRY(completions_target(endpoint));
  return {};
}

}  // namespace cairn::agent
