#include "agent/providers/cli.h"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>

#include "base/text.h"
#include "os/process.h"

namespace cairn::agent {

namespace {

Trouble trouble_from(const host::AgentFailure& failure, const host::MemoryAgent& agent) {
  using Kind = host::AgentFailure::Kind;
  Trouble trouble;
  trouble.until = failure.until;
  trouble.reason = fmt::format("{}: {}", agent.program(), failure.reason);
  switch (failure.kind) {
    case Kind::transient: trouble.kind = Trouble::Kind::transient; break;
    case Kind::rate_limited: trouble.kind = Trouble::Kind::rate_limited; break;
    case Kind::quota: trouble.kind = Trouble::Kind::quota; break;
    case Kind::rejected: trouble.kind = Trouble::Kind::rejected; break;
    case Kind::gone: trouble.kind = Trouble::Kind::canceled; break;  // the next conversation is a new one
    case Kind::auth:
      trouble.kind = Trouble::Kind::auth;
      trouble.reason += fmt::format(": {}", agent.how_to_log_in());
      break;
  }
  return trouble;
}

// The child is started with the first prompt, because its command line has the system text. receive() turns
// its lines into messages, and its end into a Trouble, which is the last one.
class CliConversation final : public Conversation {
 public:
  struct Parts {
    const host::MemoryAgent& agent;
    Children& children;
    std::string executable;
    std::string model;
    std::string directory;
  };
  CliConversation(Parts parts, const Start& start)
      : parts_(std::move(parts)), resume_(start.resume ? start.resume->value : "") {}
  // A conversation that cannot begin.
  CliConversation(Parts parts, Trouble trouble) : parts_(std::move(parts)) { fail(std::move(trouble)); }

  void send(const Request& request) override {
    if (over_) return;
    waiting_ = true;
    if (!child_) begin(request);
    child_->send(parts_.agent.prompt_line(request.text));
  }

  std::optional<ProviderMessage> receive() override {
    while (messages_.empty() && child_) {
      if (const auto line = child_->receive()) {
        spoke_ = true;
        read(*line);
      } else if (const auto why = child_->ended()) {
        ended(*why);
      } else {
        return std::nullopt;
      }
    }
    if (messages_.empty()) return std::nullopt;
    ProviderMessage message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  void begin(const Request& request) {
    host::AgentRun run{parts_.model, request.system, resume_, request.max_output_tokens, parts_.directory};
    os::Command command;
    command.executable = parts_.executable;
    command.argv = parts_.agent.arguments(run);
    command.environment = parts_.agent.environment(run);
    command.cwd = parts_.directory;
    command.may_write = parts_.agent.configuration();
    command.may_write->push_back({parts_.directory, os::Writable::What::tree});
    output_ = parts_.agent.output();
    child_ = parts_.children.start(command);
  }

  void read(const std::string& line) {
    auto answer = output_->read(line);
    // The id is reported before the answer: nothing is stored without it.
    if (output_->conversation() != id_ && !(answer && answer->failure)) {
      id_ = output_->conversation();
      messages_.push_back({MemoryId{id_}, ProviderNote{}});
    }
    // An answer that no prompt waits for is dropped: it would be taken for the next one.
    if (!answer || !waiting_) return;
    waiting_ = false;
    const Usage usage{answer->input_tokens, answer->output_tokens, answer->cached_tokens, answer->cost_usd};
    if (answer->failure) {
      Trouble trouble = trouble_from(*answer->failure, parts_.agent);
      trouble.usage = usage;
      return fail(std::move(trouble));
    }
    messages_.push_back(
        {MemoryId{id_}, Reply{std::move(answer->text), std::move(answer->model), usage, answer->cut}});
    // The child would go on by itself and use more tokens. The reply is delivered before the end.
    if (answer->ends) over("it was ended at the token limit");
  }

  void ended(const std::string& why) {
    if (!waiting_) return over(fmt::format("{} ended between two prompts", parts_.agent.program()));
    // A child that never wrote a line could not start properly: trying again would not help.
    if (!spoke_)
      return fail({Trouble::Kind::setup,
                   fmt::format("{} ended before it wrote anything ({}): does `{} --version` work, and is it "
                               "recent?",
                               parts_.agent.program(), why, parts_.executable)});
    fail({Trouble::Kind::transient,
          fmt::format("{} ended before it had answered ({})", parts_.agent.program(), why)});
  }

  void over(std::string reason) { fail({Trouble::Kind::canceled, std::move(reason)}); }

  void fail(Trouble trouble) {
    over_ = true;
    child_.reset();
    messages_.push_back({{}, std::move(trouble)});
  }

  Parts parts_;
  std::string resume_;
  std::unique_ptr<Child> child_;
  std::unique_ptr<host::AgentOutput> output_;
  std::string id_;
  bool waiting_ = false;  // for the answer to a prompt
  bool spoke_ = false;    // the child has written a line
  bool over_ = false;
  std::deque<ProviderMessage> messages_;
};

class CliProvider final : public Provider {
 public:
  CliProvider(const host::MemoryAgent& agent, Children& children, os::Disk& disk, const CliOptions& options)
      : agent_(agent), children_(children), disk_(disk), options_(options) {
    if (options_.model.empty()) options_.model = agent.default_model();
  }
  std::string_view name() const override { return agent_.name(); }
  std::string_view model() const override { return options_.model; }
  bool has_ids() const override { return true; }

  std::unique_ptr<Conversation> start(const Start& start) override {
    const auto program = find_agent_program(agent_);
    CliConversation::Parts parts{agent_, children_, program ? *program : "", options_.model,
                                 options_.directory};
    if (!program)
      return std::make_unique<CliConversation>(parts, Trouble{Trouble::Kind::setup, program.error().message});
    if (auto made = os::make_dirs(disk_, options_.directory + "/tmp"); !made)
      return std::make_unique<CliConversation>(parts, Trouble{Trouble::Kind::setup, made.error().message});
    return std::make_unique<CliConversation>(std::move(parts), start);
  }

 private:
  const host::MemoryAgent& agent_;
  Children& children_;
  os::Disk& disk_;
  CliOptions options_;
};

}  // namespace

Result<std::string> find_agent_program(const host::MemoryAgent& agent) {
  std::string found = os::find_program(agent.program());
  if (!found.empty()) return found;
  for (const std::string& place : agent.usual_places())
    if (os::may_run(place)) return place;
  return Error{Code::not_found, fmt::format("there is no {}: {}", agent.program(), agent.how_to_install())};
}

std::unique_ptr<Provider> make_cli_provider(const host::MemoryAgent& agent, Children& children,
                                            os::Disk& disk, const CliOptions& options) {
  return std::make_unique<CliProvider>(agent, children, disk, options);
}

}  // namespace cairn::agent
