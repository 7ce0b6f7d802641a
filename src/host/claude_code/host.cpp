#include "host/claude_code/host.h"

#include <algorithm>

#include "host/claude_code/events.h"
#include "host/claude_code/hooks.h"
#include "host/claude_code/record.h"
#include "host/claude_code/tools.h"
#include "host/claude_code/transcript.h"

namespace cairn::host {

namespace {

class ClaudeCode final : public Host {
 public:
  std::string_view name() const override { return hook::kDefaultHost; }
  std::string_view title() const override { return "Claude Code"; }
  std::string_view project_variable() const override { return "CLAUDE_PROJECT_DIR"; }

  Result<event::Event> read_event(const EventId& id, const hook::Envelope& envelope,
                                  std::string_view payload) const override {
    return claude::read_event(id, envelope, payload);
  }
  event::Kind kind_of(std::string_view event_name) const override { return claude::kind_of(event_name); }
  std::string_view name_of(event::Kind kind) const override { return claude::name_of(kind); }

  Json write_event(const event::Event& event) const override { return claude::write_event(event); }

  Json write_answer(std::string_view event_name, std::string_view context,
                    std::string_view message) const override {
    Json answer = Json::object({{"continue", true}, {"suppressOutput", true}});
    if (!message.empty()) answer.set("systemMessage", message);
    if (!context.empty())
      answer.set("hookSpecificOutput",
                 Json::object({{"hookEventName", event_name}, {"additionalContext", context}}));
    return answer;
  }
  std::string_view context_in(const Json& answer) const override {
    return answer["hookSpecificOutput"]["additionalContext"].as_string();
  }

  Action read_action(const ToolCall& call) const override { return claude::read_action(call); }
  MadeCall read_call(std::string_view path, std::string_view content) const override {
    return {"Read", Json::object({{"file_path", path}}),
            Json::object({{"file", Json::object({{"filePath", path}, {"content", content}})}})};
  }
  MadeCall edit_call(std::string_view path, std::string_view before, std::string_view after) const override {
    return {"Edit", Json::object({{"file_path", path}, {"old_string", before}, {"new_string", after}}),
            Json::object({{"filePath", path}})};
  }
  bool is_own_call(std::string_view tool, const Json& input) const override {
    return claude::is_own_call(tool, input);
  }
  std::optional<Origin> origin_of(std::string_view tool) const override { return claude::origin_of(tool); }

  std::unique_ptr<TranscriptLines> transcript_lines(const ContentId& session, std::string prompt_id,
                                                    bool alone) const override {
    return std::make_unique<claude::Lines>(session, std::move(prompt_id), alone);
  }
  std::vector<std::string> transcript_roots(os::Disk& disk, const std::string& configuration) const override {
    return claude::transcript_roots(disk, configuration);
  }
  std::vector<FoundTranscript> find_transcripts(os::Disk& disk, const std::string& root) const override {
    return claude::find_transcripts(disk, root);
  }
  std::vector<HistoryPrompt> prompt_history(os::Disk& disk, const std::string& root) const override {
    return claude::prompt_history(disk, root);
  }
  std::vector<FoundNotes> find_notes(os::Disk& disk, const std::string& root) const override {
    return claude::find_notes(disk, root);
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
  std::optional<TranscriptFile> transcript_file(std::string_view path) const override {
    return claude::transcript_file(path);
  }
  TranscriptRecord read_record(const Json& line) const override { return claude::read_record(line); }
  bool is_structure(std::span<const std::string_view> keys) const override {
    return claude::is_structure(keys);
  }

  std::optional<Usage> read_usage(const Json& line) const override { return claude::read_usage(line); }
  // The suffix is the host's own: the model's name in a transcript does not have it.
  std::int64_t window_of(std::string_view model) const override {
    return model.find("[1m]") != std::string_view::npos ? 1'000'000 : 200'000;
  }
  std::string loaded_instructions(const event::Event& event) const override {
    const bool at_start = event.extra["load_reason"].as_string() == "session_start";
    if (event.name != "InstructionsLoaded" || !at_start) return {};
    return std::string(event.extra["file_path"].as_string());
  }

  Traits traits() const override {
    return {.context_limit = 10'000, .transcript = Traits::Transcript::ledger};
  }
  std::vector<const SettingsFile*> files() const override {
    static const claude::SettingsHooks hooks;
    return {&hooks};
  }
};

}  // namespace

const Host& claude_code() {
  static const ClaudeCode host;
  return host;
}

}  // namespace cairn::host
