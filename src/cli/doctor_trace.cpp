// `doctor --trace`: a synthetic session through the real pipeline, stage by stage.
#include <fmt/format.h>

#include "cli/doctor.h"
#include "cli/stage.h"
#include "host/host.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;
using event::Event;
using event::Kind;

constexpr std::string_view kFirst = "00000000-0000-4000-8000-000000000001";
constexpr std::string_view kSecond = "00000000-0000-4000-8000-000000000002";
constexpr std::string_view kFile = "lexer.c";

class Tracer {
 public:
  Tracer(Shell& shell, const std::string& scratch)
      : shell_(shell),
        clock_(shell.clock()),
        stage_(hook::Home::at(scratch + "/home"), hook_beside_me(), scratch + "/project", clock_) {}

  // A stage that fails ends the trace. The daemon is stopped in any case: its home is about to be deleted.
  std::vector<TraceLine> run() {
    if (first_session() && memory()) second_session();
    line("stop", [this]() -> Result<std::string> {
      const auto stopped = TRY(stop_daemon(shell_.disk(), stage_.home(), clock_));
      return std::string(stopped ? "the daemon ended" : "no daemon was left");
    });
    return std::move(lines_);
  }

 private:
  // Runs one stage. True: it passed.
  template <class Do>
  bool line(std::string stage, Do&& what) {
    const std::int64_t begin = clock_.boot_ns();
    Result<std::string> done = what();
    const double ms = static_cast<double>(clock_.boot_ns() - begin) / 1e6;
    const bool ok = done.ok();
    lines_.push_back(
        {std::move(stage), ok ? passed(*std::move(done)) : failed(done.error().message, "cairn doctor"), ms});
    return ok;
  }

  bool send(const Event& event, std::string_view found) {
    return line(event.name, [&, this]() -> Result<std::string> {
      TRY(stage_.send(event));
      return std::string(found);
    });
  }

  // The events of one turn, from the session's start to its end.
  bool first_session() {
    Event start = event_of(Kind::session_start, kFirst), end = event_of(Kind::session_end, kFirst);
    start.reason = event::start_reason_name(event::StartReason::startup);
    end.reason = "other";
    Event prompt = event_of(Kind::prompt, kFirst), edit = event_of(Kind::tool, kFirst),
          stop = event_of(Kind::stop, kFirst);
    prompt.prompt_id = edit.prompt_id = stop.prompt_id = "p-1";
    prompt.prompt = "Fix the lexer";
    host::MadeCall call =
        host::default_host().edit_call(fmt::format("{}/{}", stage_.project(), kFile), "a", "b");
    edit.tool_name = std::move(call.tool);
    edit.tool_use_id = "call_1";
    edit.tool_input = std::move(call.input);
    edit.tool_response = std::move(call.response);
    stop.last_assistant_message = "The lexer reads wide words now.";
    return send(start, "answered; a daemon was started") &&
           line("daemon",
                [this]() -> Result<std::string> {
                  return fmt::format("answers, pid {}", TRY(stage_.daemon()).daemon().pid);
                }) &&
           send(prompt, "delivered and answered") && send(edit, "delivered") && send(stop, "delivered") &&
           send(end, "delivered");
  }

  bool memory() {
    return line("intake",
                [this]() -> Result<std::string> {
                  Client daemon = TRY(stage_.daemon());
                  TRY(daemon.call("process", Json::object({{"wait", true}}), 30s));
                  const Json ledger = TRY(daemon.call("status", Json::object()))["ledger"];
                  // The five events of first_session().
                  if (ledger["taken_in"].as_int() != 5 || ledger["gap"].as_int() != 0)
                    return Error{Code::internal,
                                 "five events were sent, but the ledger says " + ledger.dump()};
                  return std::string("5 events delivered, 5 read, gap 0");
                }) &&
           line("summary", [this]() -> Result<std::string> {
             Client daemon = TRY(stage_.daemon());
             const Json shown = TRY(daemon.call("show", Json::object({{"ids", Json::array({"S1"})}})));
             if (shown["records"].items().empty()) return Error{Code::internal, "the turn has no summary"};
             const Json& summary = shown["records"].items()[0];
             if (summary["completed"].as_string().find(kFile) == std::string_view::npos)
               return Error{Code::internal, "the summary does not name the edited file"};
             return fmt::format("S1: {}", shown_line(summary["completed"].as_string()));
           });
  }

  void second_session() {
    Event start = event_of(Kind::session_start, kSecond);
    start.reason = event::start_reason_name(event::StartReason::startup);
    line("next " + start.name, [&, this]() -> Result<std::string> {
      const Json answer = TRY(stage_.send(start));
      const std::string_view text = host::default_host().context_in(answer);
      if (text.find(kFile) == std::string_view::npos)
        return Error{Code::internal, "the next session was not given what the first one did"};
      return fmt::format("given {} bytes that name {}", text.size(), kFile);
    });
  }

  Shell& shell_;
  os::Clock& clock_;
  Stage stage_;
  std::vector<TraceLine> lines_;
};

}  // namespace

std::vector<TraceLine> trace(Shell& shell) {
  const auto scratch = ScratchDir::make();
  if (!scratch) return {{"scratch home", failed(scratch.error().message, "check TMPDIR"), 0}};
  return Tracer(shell, scratch->path()).run();
}

}  // namespace cairn::cli
