#include "cli/stage.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "cli/program.h"
#include "host/environment.h"
#include "host/host.h"
#include "os/process.h"

namespace cairn::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kHookTimeout = 15s;  // longer than every deadline of the hook
constexpr auto kDaemonTimeout = 10s;

}  // namespace

std::string hook_beside_me() {
  const std::string me = os::executable_path();
  return me.substr(0, me.rfind('/') + 1) + "cairn-hook";
}

Result<ScratchDir> ScratchDir::make() {
  const char* base = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/cairn-XXXXXX", base && *base == '/' ? base : "/tmp");
  if (!mkdtemp(path.data())) return errno_error(path, errno);
  return ScratchDir(path);
}

ScratchDir::~ScratchDir() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

// Without the user's settings and variables of a host that started us: the played session must not depend on
// where `cairn` was called.
std::vector<std::string> Stage::environment() const {
  std::vector<std::string> kept;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("CAIRN_") && !host::is_agents_variable(text)) kept.emplace_back(text);
  }
  kept.push_back("CAIRN_HOME=" + home_.data);
  return kept;
}

Result<Json> Stage::send(event::Event event, const Json& more) {
  // The transcript does not exist: played sessions have only their events.
  event.transcript_path = project_ + "/.transcript.jsonl";
  event.cwd = project_;
  Json payload = host::default_host().write_event(event);
  for (const auto& [key, value] : more.members()) payload.set(key, value);
  const Ran ran = TRY(run_program({hook_, event.name}, environment(), payload.dump(), kHookTimeout));
  if (ran.exit_code != 0 || !ran.err.empty())
    return Error{Code::internal, fmt::format("{} {}: exit code {} {}", hook_, event.name, ran.exit_code,
                                             one_line(visible(valid_utf8(ran.err)), 200))};
  auto answer = Json::parse(ran.out);
  if (!answer || !answer->is_object())
    return Error{Code::internal, fmt::format("{} {}: its answer is not a JSON object", hook_, event.name)};
  return answer;
}

event::Event event_of(event::Kind kind, std::string_view session) {
  event::Event event;
  event.kind = kind;
  event.name = host::default_host().name_of(kind);
  event.session.value = session;
  return event;
}

Result<Client> Stage::daemon() {
  const std::int64_t end = clock_.boot_ns() + std::chrono::nanoseconds(kDaemonTimeout).count();
  for (;;) {
    auto client = Client::connect(home_, clock_);
    if (client || clock_.boot_ns() >= end) return client;
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace cairn::cli
