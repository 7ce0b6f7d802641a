// Lines of a transcript as the host writes them, for tests to put together.
#pragma once

#include <string>
#include <string_view>

#include "support/engine_fixture.h"

namespace cairn::test {

// Writes the transcript of one chat, at the machine's time.
struct TranscriptWriter {
  Machine& m;
  const Chat& chat;
  std::string text;
  std::string agent;  // set: a subagent's lines

  std::string path() const {
    const std::string base = "/home/dev/.claude/projects/-proj/" + chat.session;
    return agent.empty() ? base + ".jsonl" : base + "/subagents/agent-" + agent + ".jsonl";
  }

  void line(std::string_view type, Json message, std::initializer_list<Json::Member> more = {}) {
    Json out = Json::object({{"isSidechain", !agent.empty()},
                             {"type", type},
                             {"message", std::move(message)},
                             {"timestamp", iso8601(m.clock.now())},
                             {"cwd", chat.cwd},
                             {"sessionId", chat.session}});
    if (type == "user") out.set("promptId", chat.prompt_id);
    if (!agent.empty()) out.set("agentId", agent);
    for (const Json::Member& member : more) out.set(member.first, member.second);
    text += out.dump() + "\n";
  }
  void prompt(std::string_view words) { line("user", Json::object({{"role", "user"}, {"content", words}})); }
  void use(std::string_view id, std::string_view tool, Json input) {
    const Json block =
        Json::object({{"type", "tool_use"}, {"id", id}, {"name", tool}, {"input", std::move(input)}});
    line("assistant", Json::object({{"content", Json::array({block})}, {"stop_reason", "tool_use"}}));
  }
  void result(std::string_view id, Json outcome, bool failed = false, std::string_view words = "done") {
    const Json block = Json::object(
        {{"type", "tool_result"}, {"tool_use_id", id}, {"content", words}, {"is_error", failed}});
    line("user", Json::object({{"content", Json::array({block})}}), {{"toolUseResult", std::move(outcome)}});
  }
  void answer(std::string_view words) {
    const Json block = Json::object({{"type", "text"}, {"text", words}});
    line("assistant", Json::object({{"content", Json::array({block})}, {"stop_reason", "end_turn"}}));
  }
  // A Write of `file` that succeeded.
  void wrote(std::string_view file, std::string_view id) {
    const std::string full = chat.cwd + "/" + std::string(file);
    use(id, "Write", Json::object({{"file_path", full}, {"content", "alpha\nbeta\n"}}));
    result(id, Json::object({{"type", "create"}, {"filePath", full}, {"content", "alpha\nbeta\n"}}));
  }
  // Puts what was written so far on the disk.
  void save() const {
    must(os::make_dirs(m.disk, path().substr(0, path().rfind('/'))));
    m.put_file(path(), text);
  }
};

}  // namespace cairn::test
