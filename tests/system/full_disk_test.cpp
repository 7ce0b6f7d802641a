// A home on a disk that is full, or cannot be written, while sessions run: what is said meanwhile, and what
// is there afterwards.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "base/time.h"
#include "system/home_fixture.h"

namespace cairn::test {

class FullDisk : public HomeTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(home_.data);
    if (access("/dev/shm", W_OK) != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || !mount_home(0))
      GTEST_SKIP() << "no file system can be mounted here";
  }
  ~FullDisk() override {
    for (const pid_t pid : daemons()) ::kill(pid, SIGKILL);
    wait_until([this] { return daemons().empty(); }, 5s);
    umount2(home_.data.c_str(), MNT_DETACH);
    unlink(home_.failed_outside().c_str());
  }

  bool mount_home(unsigned long flags) {
    return mount("none", home_.data.c_str(), "tmpfs", flags, "size=16m,mode=0700") == 0;
  }
  void fill() {
    const int fd = open((home_.data + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::string page(4096, 'x');
    while (write(fd, page.data(), page.size()) > 0) {
    }
    close(fd);
  }
  void make_room() { std::filesystem::remove(home_.data + "/filler"); }

  // A session as play_session plays it, and its transcript, which is on another disk. The answer to its
  // start.
  Json play(const std::string& session, const std::string& prompt) {
    const std::string path = folder_ + "/" + session + ".jsonl";
    const std::string at = iso8601(std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()));
    const auto line = [&](const std::string& type, Json message) {
      return Json::object({{"type", type},
                           {"message", std::move(message)},
                           {"timestamp", at},
                           {"cwd", project_},
                           {"promptId", session + "-p"},
                           {"sessionId", session}})
                 .dump() +
             "\n";
    };
    const Json said = Json::object({{"type", "text"}, {"text", "All done."}});
    write_file(path, line("user", Json::object({{"role", "user"}, {"content", prompt}})) +
                         line("assistant",
                              Json::object({{"content", Json::array({said})}, {"stop_reason", "end_turn"}})));
    const auto say = [&](const std::string& event, Json more) {
      more.set("transcript_path", path);
      return hook(event, payload(session, more));
    };
    const Outcome start = say("SessionStart", Json::object({{"source", "startup"}}));
    say("UserPromptSubmit", Json::object({{"prompt", prompt}, {"prompt_id", session + "-p"}}));
    say("Stop", Json::object({{"prompt_id", session + "-p"}, {"last_assistant_message", "All done."}}));
    say("SessionEnd", Json::object({{"reason", "other"}}));
    return Json::parse(start.out).value_or(Json());
  }
  static void expect_not_recording(const Json& answer, std::string_view why) {
    const std::string_view said = answer["systemMessage"].as_string();
    EXPECT_NE(said.find("not recording: "), std::string_view::npos) << answer.dump();
    EXPECT_NE(said.find(why), std::string_view::npos) << answer.dump();
  }
  // The next session's start reports what was lost, and gets the content of the session itself.
  void expect_recovered(const std::string& prompt, const Json& answer) {
    EXPECT_NE(context_of(answer).find(prompt), std::string::npos) << answer.dump();
    EXPECT_NE(answer["systemMessage"].as_string().find("4 events could not be written"),
              std::string_view::npos)
        << answer.dump();
    json({"process", "--wait"});
    EXPECT_EQ(json({"status"})["problems"].dump(), "[]");
  }

  const std::string folder_ = dir_ / "transcripts/-proj";
};

TEST_F(FullDisk, IsReportedAtOnceAndItsSessionIsRecoveredOnceThereIsSpace) {
  play("one", "before the disk was full");
  json({"process", "--wait"});
  fill();
  expect_not_recording(play("two", "while the disk was full"), "No space left on device");
  EXPECT_NE(cairn({"status", "--json"}).out.find("4 events could not be written"), std::string::npos);
  EXPECT_NE(cairn({"doctor"}).out.find("4 events could not be written"), std::string::npos);
  make_room();
  expect_recovered("while the disk was full", play("three", "after it"));
}

TEST_F(FullDisk, FromTheVeryFirstStartIsReportedAndItsSessionIsRecovered) {
  fill();
  expect_not_recording(play("one", "the very first session"), "No space left on device");
  const Outcome status = cairn({"status"});  // no daemon can start
  EXPECT_NE(status.err.find("4 events could not be written"), std::string::npos) << status.describe();
  EXPECT_NE(cairn({"doctor"}).out.find("4 events could not be written"), std::string::npos);
  make_room();
  expect_recovered("the very first session", play("two", "the second session"));
}

TEST_F(FullDisk, AHomeThatCouldNotBeWrittenIsReportedOnceItCanBeWrittenAgain) {
  play("one", "while all was well");
  json({"process", "--wait"});
  ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  ASSERT_TRUE(wait_until([this] { return daemons().empty(); }, 5s));
  ASSERT_TRUE(mount_home(MS_REMOUNT | MS_RDONLY));
  expect_not_recording(play("two", "while nothing could be written"), "Read-only file system");
  EXPECT_NE(cairn({"doctor"}).out.find("Read-only file system"), std::string::npos);
  ASSERT_TRUE(mount_home(MS_REMOUNT));
  expect_recovered("while nothing could be written", play("three", "after it"));
}

}  // namespace cairn::test
