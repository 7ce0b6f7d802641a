#include "host/backlog.h"

#include <cstring>

#include "base/json.h"
#include "hook/inbox.h"

namespace cairn::test {

namespace {

Json payload(std::size_t index, std::size_t count, const std::string& project) {
  Json event = Json::object({{"session_id", "00000000-0000-4000-8000-00000000beef"},
                             {"transcript_path", project + "/../no-such-transcript.jsonl"},
                             {"cwd", project}});
  const std::string number = std::to_string(index);
  if (index == 0) return event.set("hook_event_name", "SessionStart").set("source", "startup");
  event.set("prompt_id", "00000000-0000-4000-8000-000000000001").set("permission_mode", "default");
  if (index == 1)
    return event.set("hook_event_name", "UserPromptSubmit").set("prompt", "count to ten thousand");
  if (index + 2 == count)
    return event.set("hook_event_name", "Stop")
        .set("stop_hook_active", false)
        .set("last_assistant_message", "Counted.");
  if (index + 1 == count) return event.set("hook_event_name", "SessionEnd").set("reason", "other");
  return event.set("hook_event_name", "PostToolUse")
      .set("tool_name", "Bash")
      .set("tool_input", Json::object({{"command", "echo step " + number}, {"description", "count"}}))
      .set("tool_response",
           Json::object({{"stdout", "step " + number}, {"stderr", ""}, {"interrupted", false}}))
      .set("tool_use_id", "toolu_backlog_" + number)
      .set("duration_ms", 5);
}

}  // namespace

bool fill_inbox(const std::string& cairn_home, const std::string& project, std::size_t count) {
  os::RealDisk disk;
  os::RealClock clock;
  if (!os::make_dirs(disk, cairn_home).ok()) return false;
  hook::Inbox inbox(disk, clock, cairn_home + "/inbox");
  for (std::size_t i = 0; i < count; ++i) {
    const Json event = payload(i, count, project);
    const std::string text = event.dump() + "\n";
    hook::Envelope envelope;
    envelope.event = event["hook_event_name"].as_string();
    envelope.project_dir = project;
    std::size_t given = 0;
    const auto source = [&](char* to, std::size_t size) -> Result<std::size_t> {
      const std::size_t part = std::min(size, text.size() - given);
      std::memcpy(to, text.data() + given, part);
      given += part;
      return part;
    };
    if (!inbox.deliver(envelope, source, hook::Flags::Sync::process).ok()) return false;
  }
  return true;
}

}  // namespace cairn::test
