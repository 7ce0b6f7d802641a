// docs/examples/: what happened in a written session, and what the next one is given. Compared word for word,
// so that the examples are always true; CAIRN_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text.h"
#include "golden/engine_dump.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

struct Example {
  const char* session;
  const char* title;
  const char* kind = "written_";
};

void PrintTo(const Example& example, std::ostream* out) {
  *out << example.session;
}

constexpr Example kExamples[] = {{"bug_hunt", "A bug hunt"},
                                 {"commit_and_revert", "A commit and its revert"},
                                 {"plan_changes", "A plan that changes midway"},
                                 {"research", "Research only"},
                                 {"broken_off", "Broken off"},
                                 {"tides", "A day of thirty turns", "day_"},
                                 {"photos", "A day that breaks off", "day_"}};

std::string quoted(std::string_view who, std::string_view text) {
  std::string out = "> **" + std::string(who) + ":** ";
  bool first = true;
  for (const std::string_view line : lines(text)) {
    out += (first ? "" : "> ") + std::string(line) + "\n";
    first = false;
  }
  return "\n" + out + "\n";
}

// One line for a tool call.
std::string step(const RecordedCall& recorded) {
  const Json& payload = recorded.call.payload;
  const Json& input = payload["tool_input"];
  std::string what(payload["tool_name"].as_string());
  for (const char* key : {"command", "file_path", "pattern", "url"})
    if (input[key].is_string()) {
      std::string value = one_line(input[key].as_string(), 120);
      if (value.starts_with(recorded.project_dir + "/")) value.erase(0, recorded.project_dir.size() + 1);
      what += " `" + value + "`";
    }
  for (const Json& todo : input["todos"].items())
    what += std::string(&todo == &input["todos"].items().front() ? ": " : "; ") +
            std::string(todo["content"].as_string()) + " (" + std::string(todo["status"].as_string()) + ")";
  const std::string_view error = payload["error"].as_string();
  if (!error.empty()) what += " -> " + std::string(lines(error).front());
  return "- " + what + "\n";
}

std::string what_happened(const std::vector<RecordedCall>& calls) {
  std::string out;
  for (const RecordedCall& recorded : calls) {
    const std::string& event = recorded.call.event;
    const Json& payload = recorded.call.payload;
    if (event == "UserPromptSubmit") out += quoted("User", payload["prompt"].as_string());
    if (event.starts_with("PostToolUse")) out += step(recorded);
    if (event == "Stop") out += quoted("Claude", payload["last_assistant_message"].as_string());
    if (event == "SessionEnd")
      out += "\nThe session ended (" + std::string(payload["reason"].as_string()) + ").\n";
  }
  return out;
}

class Examples : public testing::TestWithParam<Example> {};

TEST_P(Examples, AreWhatTheNextSessionIsGiven) {
  const std::string session = GetParam().kind + std::string(GetParam().session);
  Machine machine;
  must(machine.open());
  const std::vector<RecordedCall> calls = recorded_calls(session);
  for (const RecordedCall& recorded : calls) {
    machine.clock.set_wall(time_of(recorded));
    machine.project_dir = recorded.project_dir;
    machine.deliver(recorded.call);
  }
  must(machine.drain());
  const Json context =
      must(machine.run("context", Json::object({{"project", machine.text("SELECT name FROM projects")}})));
  const std::string got = "# " + std::string(GetParam().title) + "\n\nMade by a test from `tests/recorded/" +
                          session + "`; `CAIRN_UPDATE_GOLDEN=1` writes it.\n\n## What happened\n" +
                          what_happened(calls) + "\n## What the next session is given\n\n" +
                          std::to_string(context["tokens"].as_int()) + " tokens:\n\n```text\n" +
                          without_nonces(std::string(context["text"].as_string())) + "\n```\n";
  const std::string file = std::string(CAIRN_TESTS_DIR) + "/../docs/examples/" + GetParam().session + ".md";
  if (std::getenv("CAIRN_UPDATE_GOLDEN")) write_file(file, got);
  EXPECT_EQ(read_text(file), got) << "if this is right: CAIRN_UPDATE_GOLDEN=1 writes it down";
}

INSTANTIATE_TEST_SUITE_P(Docs, Examples, testing::ValuesIn(kExamples),
                         [](const auto& e) { return e.param.session; });

}  // namespace
}  // namespace cairn::test
