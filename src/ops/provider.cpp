#include "ops/provider.h"

#include "ops/operation.h"

namespace cairn::ops {

agent::ProviderSettings provider_settings(const Settings& settings) {
  return {settings.text("agent.provider"), settings.text("agent.model"), settings.text("agent.endpoint"),
          settings.text("agent.key_file")};
}

agent::ProviderSettings provider_settings(const Settings& settings, const Args& args) {
  agent::ProviderSettings wanted = provider_settings(settings);
  const auto provider = args.optional_text("provider");
  if (provider && *provider != wanted.provider) wanted = {*provider, "", "", ""};
  if (const auto model = args.optional_text("model")) wanted.model = *model;
  if (const auto endpoint = args.optional_text("endpoint")) wanted.endpoint = *endpoint;
  return wanted;
}

// Declared here, run by daemon/dispatcher.cpp.
std::vector<Operation> provider_operations() {
  return {{.name = "agent.test",
           .access = Access::daemon,
           .group = Group::setup,
           .summary = "ask the memory agent's provider for one reply",
           .help = "One real call, with a short fixed text and nothing of yours. Shows how long it took, the "
                   "tokens, and the price if it is known; or what is wrong and what to do. Exit code 1 when "
                   "there was no reply.",
           .arguments = {provider("provider", "this one instead of agent.provider"),
                         text("model", "this one instead of agent.model").as("NAME"),
                         text("endpoint", "this one instead of agent.endpoint").as("URL")},
           .task = Task::test_agent}};
}

}  // namespace cairn::ops
