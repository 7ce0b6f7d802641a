#include "host/claude_code/host.h"

#include <algorithm>

#include "host/claude_code/events.h"
#include "host/claude_code/tools.h"
#include "host/claude_code/transcript.h"

namespace cairn::host {

namespace {

class ClaudeCode final : public Host {
 public:
  std::string_view name() const override { return "claude-code"; }

  Result<event::Event> read_event(const EventId& id, const hook::Envelope& envelope,
                                  std::string_view payload) const override {
    return claude::read_event(id, envelope, payload);
  }
  event::Kind kind_of(std::string_view event_name) const override { return claude::kind_of(event_name); }
  std::string_view name_of(event::Kind kind) const override { return claude::name_of(kind); }

  Action read_action(const ToolCall& call) const override { return claude::read_action(call); }
  std::optional<Origin> origin_of(std::string_view tool) const override { return claude::origin_of(tool); }

  std::unique_ptr<TranscriptLines> transcript_lines(const ContentId& session,
                                                    std::string prompt_id) const override {
    return std::make_unique<claude::Lines>(session, std::move(prompt_id));
  }

  std::string transcript_name(const ContentId& session) const override { return session.value + ".jsonl"; }
  // Subagents write beside it: SESSION.jsonl, SESSION/subagents/agent-*.jsonl.
  std::vector<std::string> transcript_files(os::Disk& disk, const std::string& main,
                                            Status& failed) const override {
    constexpr std::string_view kEnd = ".jsonl";
    if (!main.starts_with('/') || !main.ends_with(kEnd)) return {};
    std::vector<std::string> files = {main};
    const std::string directory = main.substr(0, main.size() - kEnd.size()) + "/subagents";
    auto names = disk.list(directory);
    if (!names) {
      failed = std::move(names).error();
      return files;
    }
    std::sort(names->begin(), names->end());
    for (const std::string& name : *names)
      if (name.starts_with("agent-") && name.ends_with(kEnd)) files.push_back(directory + "/" + name);
    return files;
  }
};

}  // namespace

const Host& claude_code() {
  static const ClaudeCode host;
  return host;
}

}  // namespace cairn::host
