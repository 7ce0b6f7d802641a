// What distilling a turn of 400 events costs, as a ratio to reading and parsing them with the same parser,
// and how that grows: a turn of four times as many must not cost much more than four times as much.
// `--check` exits 1 when the ratio is above 2 or the growth above 6.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "distil/turn.h"
#include "os/disk.h"

using namespace cairn;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kRounds = 15;
constexpr double kMaxRatio = 2, kMaxGrowth = 6;

std::vector<Json> read_and_parse(const std::string& path) {
  os::RealDisk disk;
  const std::string text = os::read_file(disk, path, 64u << 20).value();
  std::vector<Json> events;
  for (const std::string_view line : lines(text))
    if (!trim(line).empty()) events.push_back(*Json::parse(line));
  return events;
}

// The turn as the store would tell it, `times` over.
distil::Turn turn_of(const std::vector<Json>& events, int times) {
  distil::Turn turn;
  turn.end = distil::Turn::End::stopped;
  for (int i = 0; i < times; ++i)
    for (const Json& event : events) {
      const Json& payload = event["stdin"];
      const std::string_view name = event["event"].as_string();
      if (name == "UserPromptSubmit") turn.prompt = payload["prompt"].as_string();
      if (name == "SessionStart") turn.root = payload["cwd"].as_string();
      if (name == "Stop") turn.last_answer = payload["last_assistant_message"].as_string();
      if (!name.starts_with("PostToolUse")) continue;
      distil::Step& step = turn.steps.emplace_back();
      step.tool = payload["tool_name"].as_string();
      step.input = payload["tool_input"];
      step.response = payload["tool_response"];
      step.error = payload["error"].as_string();
      if (!step.error.empty()) step.outcome = distil::Step::Outcome::failed;
      step.event = static_cast<std::int64_t>(turn.steps.size());
    }
  return turn;
}

template <class F>
double ms(F&& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::string_view(argv[1]) == "--check";
  const std::string path = std::string(CAIRN_RECORDED_DIR) + "/written_long/hooks.jsonl";
  const std::vector<Json> events = read_and_parse(path);
  const distil::Turn once = turn_of(events, 1), four_times = turn_of(events, 4);
  // The least of each: whatever else runs on the machine only adds.
  double parse = std::numeric_limits<double>::max(), distil = parse, longer = parse;
  std::size_t seen = distil::distil(once).observations.size();
  for (int i = 0; i < kRounds; ++i) {
    parse = std::min(parse, ms([&] { seen += read_and_parse(path).size(); }));
    distil = std::min(distil, ms([&] { seen += distil::distil(once).observations.size(); }));
    longer = std::min(longer, ms([&] { seen += distil::distil(four_times).observations.size(); }));
  }
  const double ratio = distil / parse, growth = longer / distil;
  fmt::print(
      "{{\"events\":{},\"parse_ms\":{:.2f},\"distil_ms\":{:.2f},\"ratio\":{:.2f},\"growth_of_4\":{:.2f}}}\n",
      events.size(), parse, distil, ratio, growth);
  if (seen == 0) return 1;
  return check && (ratio > kMaxRatio || growth > kMaxGrowth) ? 1 : 0;
}
