// A daemon whose provider is a real child process, and that child: this same program.
//
//   scripted_agent daemon    serves $CAIRN_HOME; the provider runs `scripted_agent child`
//   scripted_agent child     replies to each line as the file $CAIRN_HOME/script says: good, slow MS, hang,
//   die,
//                            stubborn (hangs, outlives the end of its stdin, and has a child of its own)
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "base/json.h"
#include "daemon/daemon.h"
#include "os/disk.h"
#include "os/process.h"

namespace cairn::test {
namespace {

class ChildTalk final : public agent::Conversation {
 public:
  explicit ChildTalk(std::unique_ptr<agent::Child> child) : child_(std::move(child)) {}

  void send(const agent::Request& request) override {
    child_->send(Json::object({{"batch", request.batch_id}}).dump());
  }

  std::optional<agent::ProviderMessage> receive() override {
    if (const auto line = child_->receive()) {
      const Json said = Json::parse(*line).value_or(Json());
      agent::ProviderMessage message;
      message.memory_id.value = said["memory_id"].as_string();
      if (!said["title"].is_string()) return message;
      agent::Reply reply;
      reply.text = "<observation><title>" + std::string(said["title"].as_string()) + "</title></observation>";
      message.what = std::move(reply);
      return message;
    }
    const auto why = child_->ended();
    if (!why || told_end_) return std::nullopt;
    told_end_ = true;
    return agent::ProviderMessage{{}, agent::Trouble{agent::Trouble::Kind::transient, *why, {}, {}}};
  }

 private:
  std::unique_ptr<agent::Child> child_;
  bool told_end_ = false;
};

class ChildProvider final : public agent::Provider {
 public:
  explicit ChildProvider(agent::Children& children) : children_(children) {}
  std::string_view name() const override { return "scripted"; }
  std::string_view model() const override { return ""; }
  bool has_ids() const override { return true; }
  std::unique_ptr<agent::Conversation> start(const agent::Start&) override {
    const char* program = std::getenv("SCRIPTED_CHILD");
    os::Command command;
    command.executable = program ? program : os::executable_path();
    command.argv = {"scripted_agent", "child"};
    command.environment = {"CAIRN_HOME=" + std::string(std::getenv("CAIRN_HOME"))};
    return std::make_unique<ChildTalk>(children_.start(command));
  }

 private:
  agent::Children& children_;
};

void say(const Json& line) {
  const std::string text = line.dump() + "\n";
  [[maybe_unused]] const ssize_t written = write(1, text.data(), text.size());
}

// Whatever ends this ends it from outside.
[[noreturn]] void wait_for_ever() {
  while (true) pause();
}

int child(const hook::Home& home) {
  char line[65536];
  int replies = 0;
  while (std::fgets(line, sizeof line, stdin)) {
    os::RealDisk disk;
    const std::string script = os::read_file(disk, home.data + "/script", 100).value_or("good");
    if (script == "die") return 1;
    if (script == "stubborn") {
      if (fork() == 0) wait_for_ever();
      wait_for_ever();
    }
    say(Json::object({{"memory_id", "memory-" + std::to_string(getpid())}}));
    if (script == "hang") continue;
    if (script.starts_with("slow "))
      std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(&script[5])));
    say(Json::object(
        {{"title", "learned by " + std::to_string(getpid()) + ": " + std::to_string(++replies)}}));
  }
  return 0;
}

}  // namespace
}  // namespace cairn::test

int main(int argc, char** argv) {
  using namespace cairn;
  const char* data = std::getenv("CAIRN_HOME");
  if (argc < 2 || !data) return 2;
  const hook::Home home = hook::Home::at(data);
  if (std::strcmp(argv[1], "child") == 0) return test::child(home);
  os::RealDisk disk;
  return daemon::run(disk, home, [](agent::Children& children) -> std::unique_ptr<agent::Provider> {
    return std::make_unique<test::ChildProvider>(children);
  });
}
