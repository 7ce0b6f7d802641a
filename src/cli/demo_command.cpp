#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/demo_story.h"
#include "cli/stage.h"
#include "host/host.h"

namespace cairn::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Marks a directory that the demo may delete and create again.
constexpr std::string_view kDemoMark = ".cairn-demo";
constexpr auto kLinePause = 250ms;  // between the lines of the story, on a terminal

// An empty home at `directory`. Removes an earlier demo; refuses a directory that is not ours.
Status begin_afresh(Shell& shell, const std::string& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_empty(directory, error)) {
    if (!fs::exists(fs::path(directory) / kDemoMark, error))
      return Error{
          Code::invalid,
          fmt::format("demo: {} contains other files: name another directory with --home", directory)};
    TRY(stop_daemon(shell.disk(), hook::Home::at(directory), shell.clock()));
    fs::remove_all(directory, error);
    if (error) return Error{Code::denied, fmt::format("demo: {}: {}", directory, error.message())};
  }
  // The mark comes before anything else: a demo that is interrupted can be replaced by the next one.
  TRY(os::make_dirs(shell.disk(), directory).in("demo"));
  TRY(shell.disk().open(fmt::format("{}/{}", directory, kDemoMark), os::Open::create_new).in("demo"));
  return os::make_dirs(shell.disk(), fmt::format("{}/{}", directory, kDemoProject)).in("demo");
}

class Demo {
 public:
  Demo(Shell& shell, const std::string& directory)
      : shell_(shell),
        screen_(shell.screen()),
        stage_(hook::Home::at(directory), hook_beside_me(), fmt::format("{}/{}", directory, kDemoProject),
               shell.clock()) {}

  Status play() {
    const std::int64_t begin = shell_.clock().boot_ns();
    TRY(first_session());
    TRY(wait_until_stored());
    TRY(second_session());
    TRY(stop_daemon(shell_.disk(), stage_.home(), shell_.clock()));
    seconds_ = static_cast<double>(shell_.clock().boot_ns() - begin) / 1e9;
    end();
    return {};
  }

  Json report() const {
    Json commands = Json::array();
    for (const std::string& command : commands_to_try()) commands.push(command);
    return Json::object({{"home", stage_.home().data},
                         {"project", kDemoProject},
                         {"events", times_ms_.size()},
                         {"hook_ms_median", median()},
                         {"seconds", seconds_},
                         {"context", context_},
                         {"notice", notice_},
                         {"commands", commands}});
  }

 private:
  void print(std::string_view text) const {
    if (shell_.json()) return;
    shell_.print(text);
    std::fflush(stdout);
  }
  void head(std::string_view text) const { print("\n" + screen_.paint(Style::bold, text) + "\n"); }
  void pause() const {
    if (screen_.terminal && !shell_.json()) std::this_thread::sleep_for(kLinePause);
  }

  Result<Json> send(event::Event event, const Json& more = Json()) {
    const std::int64_t begin = shell_.clock().boot_ns();
    Json answer = TRY(stage_.send(std::move(event), more).in("demo"));
    times_ms_.push_back(static_cast<double>(shell_.clock().boot_ns() - begin) / 1e6);
    return answer;
  }

  Status first_session() {
    print(screen_.paint(Style::bold, "Tuesday's session, remembered on Wednesday") + "\n");
    print(screen_.paint(Style::dim, "played through the real cairn-hook and daemon") + "\n");
    head("Tuesday");
    for (const StoryStep& step : demo_steps(stage_.project())) {
      event::Event event = event_of(event::Kind::other, kTuesday);
      event.name = step.event;
      TRY(send(std::move(event), step.payload));
      if (step.who.empty()) continue;
      constexpr std::size_t kIndent = 10;
      const std::string text = wrap(step.what, screen_.text_width(), kIndent);
      const Style style = step.who == "you" ? Style::accent : step.trouble ? Style::bad : Style::good;
      print(fmt::format("  {}{}", screen_.paint(style, pad(step.who, kIndent - 2)), text.substr(kIndent)));
      pause();
    }
    return {};
  }

  // Waits until every event is in the store.
  Status wait_until_stored() {
    Client daemon = TRY(stage_.daemon().in("demo"));
    TRY(daemon.call("process", Json::object({{"wait", true}}), 30s));
    const Json ledger = TRY(daemon.call("status", Json::object()))["ledger"];
    head("The night");
    print(fmt::format("  {} delivered = {} read, gap {}; a hook took {:.1f} ms (median)\n",
                      ledger["delivered"].as_int(), ledger["taken_in"].as_int(), ledger["gap"].as_int(),
                      median()));
    pause();
    return {};
  }

  Status second_session() {
    event::Event start = event_of(event::Kind::session_start, kWednesday);
    start.reason = event::start_reason_name(event::StartReason::startup);
    const Json answer = TRY(send(std::move(start)));
    context_ = host::default_host().context_in(answer);
    notice_ = answer["systemMessage"].as_string();
    if (context_.empty())
      return Error{Code::internal, "demo: the second session was given nothing: run `cairn doctor --trace`"};
    head("Wednesday: what a new session is given before the first word is typed");
    for (const std::string_view line : lines(context_)) {
      if (line.empty()) {
        print(screen_.paint(Style::dim, "  │") + "\n");
        continue;
      }
      const std::string folded = wrap(shown(line), screen_.text_width() - 4, 0);
      for (const std::string_view part : lines(folded))
        if (!part.empty())
          print(fmt::format("  {} {}\n", screen_.paint(Style::dim, "│"),
                            line.starts_with('#') ? screen_.paint(Style::accent, part) : std::string(part)));
    }
    if (!notice_.empty()) print("\n" + wrap("and you see: " + shown_line(notice_), screen_.text_width(), 2));
    return {};
  }

  void end() const {
    head("Try it");
    for (const std::string& command : commands_to_try()) print("  " + command + "\n");
    print("\n" +
          screen_.paint(Style::dim, fmt::format("The demo's home stays in {} ({:.1f} s).",
                                                shown_line(stage_.home().data), seconds_)) +
          "\n");
  }

  std::vector<std::string> commands_to_try() const {
    const std::string begin = fmt::format("CAIRN_HOME={} cairn", stage_.home().data);
    return {fmt::format("{} context --project {}", begin, kDemoProject), begin + " sessions show 1 --events",
            begin + " show S1"};
  }

  double median() const {
    std::vector<double> sorted = times_ms_;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }

  Shell& shell_;
  const Screen& screen_;
  Stage stage_;
  std::vector<double> times_ms_;
  std::string context_, notice_;
  double seconds_ = 0;
};

}  // namespace

Result<std::string> demo_home() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && *state == '/') return std::string(state) + "/cairn-demo";
  const char* home = std::getenv("HOME");
  if (!home || *home != '/')
    return Error{Code::invalid, "demo: HOME is not set: name a directory with --home"};
  return std::string(home) + "/.local/state/cairn-demo";
}

Result<int> demo_command(Shell& shell) {
  const auto given = shell.args().text("home");
  std::string directory = given ? *given : TRY(demo_home());
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  TRY(begin_afresh(shell, directory));
  Demo demo(shell, directory);
  // Else the daemon of a demo that failed would go on running, although its home is not used again.
  if (Status played = demo.play(); !played) {
    ignore(stop_daemon(shell.disk(), hook::Home::at(directory), shell.clock()));
    return std::move(played).error();
  }
  if (shell.json()) shell.print_json(demo.report());
  return 0;
}

}  // namespace cairn::cli
