// Payloads of one conversation, in the format of Claude Code 2.1.197, for tests to deliver.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace cairn::test {

// One hook call: the event's name and its stdin.
struct HookCall {
  std::string event;
  Json payload;
};

// One conversation. `prompt_id` is that of the last prompt; events after it carry it, as the host's do.
struct Chat {
  std::string session = "11111111-aaaa-4bbb-8ccc-000000000001";
  std::string cwd = "/home/dev/code/proj";
  std::string prompt_id;

  HookCall call(std::string_view event, std::initializer_list<Json::Member> members = {}) const;

  HookCall start(std::string_view source = "startup") const;
  // A prompt with a prompt id of its own: `id`, else one made of its text.
  HookCall prompt(std::string_view text, std::string_view id = "");
  HookCall before_tool(std::string_view tool, std::string_view use, Json input) const;
  HookCall tool(std::string_view tool, std::string_view use, Json input, Json response) const;
  HookCall tool_failure(std::string_view tool, std::string_view use, Json input,
                        std::string_view error) const;
  HookCall wrote(std::string_view file, std::string_view use) const;  // a Write of two lines that succeeded
  HookCall ran(std::string_view command, std::string_view use) const;
  HookCall stop(std::string_view last_message = "Done.") const;
  HookCall stop_failure(std::string_view error = "rate_limit") const;
  HookCall end(std::string_view reason = "other") const;
};

// A recorded scenario's hook calls, in the order they began, with what the host added to the environment.
struct RecordedCall {
  HookCall call;
  std::string at;  // ISO-8601
  std::string project_dir;
};
WallTime time_of(const RecordedCall& recorded);
std::vector<RecordedCall> recorded_calls(const std::string& scenario);
std::vector<std::string> recorded_scenarios();

}  // namespace cairn::test
