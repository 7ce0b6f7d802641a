// Distils the turns of a home with replies from files: for judging prompts with a reader instead of a model.
//
//   file_agent HOME DIRECTORY [SESSION]...
//
// Every request about the sessions (content ids; none: all) is written to DIRECTORY/NAME.request.
// DIRECTORY/NAME.reply, when it is there, is the reply; otherwise the request is skipped. No daemon may run
// in HOME.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "daemon/engine.h"
#include "os/clock.h"
#include "os/disk.h"
#include "os/process.h"
#include "store/redistil.h"

namespace cairn::test {
namespace {

class Stdout final : public Log {
  void line(std::string_view text) override {
    std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
  }
};

class FileProvider final : public agent::Provider {
 public:
  FileProvider(os::Disk& disk, std::string directory) : disk_(disk), directory_(std::move(directory)) {}
  std::string_view name() const override { return "files"; }
  std::string_view model() const override { return "reader"; }
  bool has_ids() const override { return false; }
  std::unique_ptr<agent::Conversation> start(const agent::Start& start) override {
    return std::make_unique<Talk>(*this, start.session);
  }

 private:
  class Talk final : public agent::Conversation {
   public:
    Talk(FileProvider& provider, SessionId session) : provider_(provider), session_(session) {}
    void send(const agent::Request& request) override { reply_ = provider_.answer(session_, request); }
    std::optional<agent::ProviderMessage> receive() override {
      if (!reply_) return std::nullopt;
      agent::ProviderMessage message;
      message.what = *std::move(reply_);
      reply_.reset();
      return message;
    }

   private:
    FileProvider& provider_;
    SessionId session_;
    std::optional<agent::Reply> reply_;
  };

  agent::Reply answer(SessionId session, const agent::Request& request) {
    // Named by its first event, so that the second run finds the reply.
    const std::size_t code = request.text.find("blocks is ") + 10;
    const std::string mark = "[[" + request.text.substr(code, 10) + " event ";
    const std::size_t at = request.text.find(mark);
    const std::string first = at == std::string::npos ? "0]" : request.text.substr(at + mark.size(), 12);
    const std::string name = fmt::format("{}/{}-{}", directory_, session.value,
                                         first.substr(0, first.find_first_not_of("0123456789")));
    if (!os::replace_file(disk_, name + ".request", request.system + "\n=====\n" + request.text))
      std::fprintf(stderr, "cannot write %s\n", name.c_str());
    auto reply = os::read_file(disk_, name + ".reply", 1 << 20);
    return {reply ? *reply : R"(<skip reason="no reply yet"/>)",
            "reader",
            {static_cast<std::int64_t>(request.text.size() / 4), 500, 0, 0.0},
            false};
  }

  os::Disk& disk_;
  std::string directory_;
};

int run(const std::string& data, const std::string& directory, const std::vector<std::string>& sessions) {
  os::RealDisk disk;
  os::RealClock clock;
  os::RealProcesses processes;
  Stdout log;
  FileProvider provider(disk, directory);
  auto engine =
      daemon::Engine::open(hook::Home::at(data), {disk, clock, processes, log, "", false, &provider}).value();
  const auto turns = store::done_turns(engine->db(), std::nullopt, std::nullopt).value();
  for (const store::DoneTurn& turn : turns) {
    const auto session = store::find_session(engine->db(), turn.session).value();
    const bool wanted = sessions.empty() || std::find(sessions.begin(), sessions.end(),
                                                      session->content_id.value) != sessions.end();
    if (wanted && !store::want_redistil(engine->db(), {turn.session, turn.number,
                                                       store::CallPurpose::redistil, "files", 0, 0, turn.at}))
      return 1;
  }
  while (engine->step().value() || engine->awaits()) {
  }
  std::printf(
      "%lld calls\n",
      static_cast<long long>(engine->db().integer("SELECT count(*) FROM model_calls").value().value_or(0)));
  return engine->stop().ok() ? 0 : 1;
}

}  // namespace
}  // namespace cairn::test

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return cairn::test::run(argv[1], argv[2], {argv + 3, argv + argc});
}
