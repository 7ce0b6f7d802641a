#include "support/scripted_provider.h"

#include <algorithm>

namespace cairn::test {

using agent::Finding;
using agent::Message;
using agent::Reply;

static Finding finding(std::string title, std::vector<std::int64_t> events) {
  Finding one;
  one.observation.type = "discovery";
  one.observation.title = std::move(title);
  one.events = std::move(events);
  return one;
}

Plan Plan::learns(std::string title) {
  Plan plan;
  plan.what = Reply{{finding(std::move(title), {})}, "", {10, 5}};
  return plan;
}

Plan Plan::learns_each(const agent::Request& request) {
  Reply reply;
  for (const agent::Item& item : request.events)
    reply.findings.push_back(
        finding("learned from event " + std::to_string(item.event_seq), {item.event_seq}));
  Plan plan;
  plan.what = std::move(reply);
  return plan;
}

Plan Plan::fails(agent::Trouble::Kind kind, std::string reason) {
  Plan plan;
  plan.what = agent::Trouble{kind, std::move(reason), {}};
  return plan;
}

class ScriptedProvider::Dialog final : public agent::Conversation {
 public:
  Dialog(ScriptedProvider& provider, const agent::Start& start)
      : provider_(provider),
        session_(start.session),
        id_("memory-" + std::to_string(provider.starts.size())) {
    if (start.resume) id_ = start.resume->value;
    ++provider_.open;
  }
  ~Dialog() override { --provider_.open; }

  void send(const agent::Request& request) override {
    provider_.requests.push_back(request);
    const Plan plan = provider_.script(session_, request);
    const MemoryId id{plan.id.empty() ? id_ : plan.id};
    if (plan.id_after && !plan.id_with_reply) say(*plan.id_after, {id, agent::Note{}});
    if (plan.reply_after) say(*plan.reply_after, {plan.id_with_reply ? id : MemoryId{}, plan.what});
  }

  std::optional<Message> receive() override {
    const auto due = std::min_element(said_.begin(), said_.end(),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
    if (due == said_.end() || due->first > provider_.clock_.boot_ns()) return std::nullopt;
    Message message = std::move(due->second);
    said_.erase(due);
    return message;
  }

 private:
  void say(Millis after, Message message) {
    said_.emplace_back(provider_.clock_.boot_ns() + std::chrono::nanoseconds(after).count(),
                       std::move(message));
  }

  ScriptedProvider& provider_;
  SessionId session_;
  std::string id_;
  std::deque<std::pair<std::int64_t, Message>> said_;  // when, in the order said
};

std::unique_ptr<agent::Conversation> ScriptedProvider::start(const agent::Start& start) {
  starts.push_back(start);
  return std::make_unique<Dialog>(*this, start);
}

}  // namespace cairn::test
