// A provider with scripted behaviour: when its id comes, what it replies and when, how it fails.
//
// It sends each message at its time of the simulated clock, so that a test that moves the clock decides the
// order of events.
#pragma once

#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "agent/provider.h"
#include "os/clock.h"

namespace cairn::test {

// What a conversation does with one batch. Times count from when it was sent.
struct Plan {
  std::optional<Millis> id_after = Millis(0);     // a message that carries the id; nothing: never
  std::string id;                                 // empty: the conversation's own, "memory-N"
  bool id_with_reply = false;                     // not in a note of its own but in the reply
  std::optional<Millis> reply_after = Millis(0);  // nothing: it hangs
  std::variant<agent::ProviderNote, agent::Reply, agent::Trouble> what =
      agent::Reply{R"(<skip reason="nothing to learn"/>)", "model-1", {10, 5, 0, {}}, false};

  // A reply with one observation.
  static Plan learns(std::string title);
  // A reply with one observation for each event, naming it.
  static Plan learns_each(const agent::Request& request);
  static Plan fails(agent::Trouble::Kind kind, std::string reason = "no luck");
  // A reply with this text.
  static Plan says(std::string text);
};

// The numbers of the events in a request, in order.
std::vector<std::int64_t> events_in(const agent::Request& request);
// An observation as a reply has it.
std::string observation_text(const std::string& title, const std::vector<std::int64_t>& events);

class ScriptedProvider final : public agent::Provider {
 public:
  using Script = std::function<Plan(SessionId session, const agent::Request& request)>;

  // Batches wait for nothing, unless a test sets agent.batch_wait_seconds.
  explicit ScriptedProvider(os::Clock& clock) : clock_(clock) {
    setenv("CAIRN_AGENT_BATCH_WAIT_SECONDS", "0", 0);
  }

  Script script = [](SessionId, const agent::Request& request) { return Plan::learns_each(request); };
  bool ids = true;
  std::string called = "scripted";

  std::vector<agent::Start> starts;      // every conversation begun
  std::vector<agent::Request> requests;  // every batch that was sent
  int open = 0;                          // conversations that have not ended

  std::string_view name() const override { return called; }
  std::string_view model() const override { return "model-1"; }
  bool has_ids() const override { return ids; }
  std::unique_ptr<agent::Conversation> start(const agent::Start& start) override;

 private:
  class Dialog;
  os::Clock& clock_;
};

}  // namespace cairn::test
