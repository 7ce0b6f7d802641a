#include "support/scripted_provider.h"

#include <algorithm>

namespace cairn::test {

using agent::ProviderMessage;
using agent::Reply;

std::vector<std::int64_t> events_in(const agent::Request& request) {
  constexpr std::string_view kIs = "The code of this request's blocks is ";
  std::vector<std::int64_t> list;
  const std::size_t at = request.text.find(kIs);
  if (at == std::string::npos) return list;
  const std::size_t from = at + kIs.size();
  const std::string mark = "[[" + request.text.substr(from, request.text.find('.', from) - from) + " event ";
  for (std::size_t i = request.text.find(mark); i != std::string::npos; i = request.text.find(mark, i + 1))
    list.push_back(std::stoll(request.text.substr(i + mark.size(), 20)));
  return list;
}

std::string observation_text(const std::string& title, const std::vector<std::int64_t>& events) {
  std::string numbers;
  for (const std::int64_t event : events)
    numbers.append(numbers.empty() ? "" : ",").append(std::to_string(event));
  return "<observation>\n<events>" + numbers + "</events>\n<type>discovery</type>\n<title>" + title +
         "</title>\n</observation>\n";
}

Plan Plan::says(std::string text) {
  Plan plan;
  plan.what = Reply{std::move(text), "model-1", {10, 5, 0, {}}, false};
  return plan;
}

Plan Plan::learns(std::string title) {
  return says(observation_text(title, {}));
}

Plan Plan::learns_each(const agent::Request& request) {
  std::string text;
  for (const std::int64_t event : events_in(request))
    text += observation_text("learned from event " + std::to_string(event), {event});
  return says(text.empty() ? R"(<skip reason="no event"/>)" : text);
}

Plan Plan::fails(agent::Trouble::Kind kind, std::string reason) {
  Plan plan;
  plan.what = agent::Trouble{kind, std::move(reason), {}, {}};
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
    if (plan.id_after && !plan.id_with_reply) say(*plan.id_after, {id, agent::ProviderNote{}});
    if (plan.reply_after) say(*plan.reply_after, {plan.id_with_reply ? id : MemoryId{}, plan.what});
  }

  std::optional<ProviderMessage> receive() override {
    const auto due = std::min_element(said_.begin(), said_.end(),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
    if (due == said_.end() || due->first > provider_.clock_.boot_ns()) return std::nullopt;
    ProviderMessage message = std::move(due->second);
    said_.erase(due);
    return message;
  }

 private:
  void say(Millis after, ProviderMessage message) {
    said_.emplace_back(provider_.clock_.boot_ns() + std::chrono::nanoseconds(after).count(),
                       std::move(message));
  }

  ScriptedProvider& provider_;
  SessionId session_;
  std::string id_;
  std::deque<std::pair<std::int64_t, ProviderMessage>> said_;  // when, in the order said
};

std::unique_ptr<agent::Conversation> ScriptedProvider::start(const agent::Start& start) {
  starts.push_back(start);
  return std::make_unique<Dialog>(*this, start);
}

}  // namespace cairn::test
