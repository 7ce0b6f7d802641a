#include "cli/demo_story.h"

namespace cairn::cli {

namespace {

constexpr std::string_view kPrompt =
    "The cart's total is off by a cent for three items. Find out why and fix it.";
constexpr std::string_view kTest = "python3 -m pytest -q tests/test_cart.py";
constexpr std::string_view kAnswer =
    "Each line was rounded before it was added, so three items of 6.665 came to 20.01. The total is now "
    "rounded "
    "once, at the end, and all 14 tests pass. Next: the invoice template still rounds each line by itself.";

Json tool(std::string_view id, std::string_view name, Json input) {
  return Json::object({{"prompt_id", "tuesday-1"},
                       {"tool_name", name},
                       {"tool_use_id", id},
                       {"tool_input", std::move(input)}});
}

Json run_test(std::string_view id) {
  return tool(id, "Bash", Json::object({{"command", kTest}, {"description", "Run the cart's tests"}}));
}

}  // namespace

std::vector<StoryStep> demo_steps(const std::string& project) {
  const std::string cart = project + "/src/cart.py";
  Json fails = run_test("toolu_1");
  fails.set("error",
            "Exit code 1\nFAILED tests/test_cart.py::test_three_items - assert 20.01 == 20.00\n"
            "1 failed, 13 passed in 0.21s");
  Json reads = tool("toolu_2", "Read", Json::object({{"file_path", cart}}));
  reads.set("tool_response",
            Json::object({{"type", "text"},
                          {"file", Json::object({{"filePath", cart},
                                                 {"content",
                                                  "def total(items):\n    return sum(round(i.price * "
                                                  "i.count, 2) for i in items)\n"},
                                                 {"numLines", 2},
                                                 {"startLine", 1},
                                                 {"totalLines", 2}})}}));
  Json edits = tool("toolu_3", "Edit",
                    Json::object({{"file_path", cart},
                                  {"old_string", "sum(round(i.price * i.count, 2) for i in items)"},
                                  {"new_string", "round(sum(i.price * i.count for i in items), 2)"}}));
  edits.set("tool_response", Json::object({{"filePath", cart}}));
  Json passes = run_test("toolu_4");
  passes.set(
      "tool_response",
      Json::object(
          {{"stdout", "14 passed in 0.19s"}, {"stderr", ""}, {"interrupted", false}, {"isImage", false}}));
  return {
      {"SessionStart", Json::object({{"source", "startup"}}), "", ""},
      {"UserPromptSubmit", Json::object({{"prompt", kPrompt}, {"prompt_id", "tuesday-1"}}), "you",
       std::string(kPrompt)},
      {"PostToolUseFailure", fails, "claude", "runs the tests: 1 failed, 13 passed", true},
      {"PostToolUse", reads, "claude", "reads src/cart.py"},
      {"PostToolUse", edits, "claude", "edits src/cart.py"},
      {"PostToolUse", passes, "claude", "runs the tests: 14 passed"},
      {"Stop", Json::object({{"prompt_id", "tuesday-1"}, {"last_assistant_message", kAnswer}}), "claude",
       std::string(kAnswer)},
      {"SessionEnd", Json::object({{"reason", "prompt_input_exit"}}), "", ""},
  };
}

}  // namespace cairn::cli
