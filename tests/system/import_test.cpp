// Importing as a user does it: the real command, with the environment of a shell.
#include <filesystem>

#include "system/home_fixture.h"

namespace cairn::test {

class ImportSystem : public HomeTest {
 protected:
  // A transcript of one turn in the configuration directory `configuration`.
  void put_transcript(const std::string& configuration, const std::string& session) {
    const std::string directory = configuration + "/projects/-proj";
    std::filesystem::create_directories(directory);
    const auto line = [&](std::string_view type, Json message, std::string_view at) {
      return Json::object({{"type", type},
                           {"uuid", session + std::string(at)},
                           {"message", std::move(message)},
                           {"timestamp", at},
                           {"cwd", project_},
                           {"sessionId", session},
                           {"promptId", session}})
                 .dump() +
             "\n";
    };
    const std::string path = directory + "/" + session + ".jsonl";
    write_file(path, line("user", Json::object({{"role", "user"}, {"content", "Name the ports"}}),
                          "2026-01-02T10:00:00.000Z") +
                         line("assistant",
                              Json::object({{"role", "assistant"},
                                            {"stop_reason", "end_turn"},
                                            {"content", Json::array({Json::object(
                                                            {{"type", "text"}, {"text", "Port 7431."}})})}}),
                              "2026-01-02T10:00:05.000Z"));
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(9));
  }
};

TEST_F(ImportSystem, FindsTheConfigurationDirectoryOfTheCallersEnvironmentAndTheUsualOne) {
  put_transcript(dir_ / "elsewhere", "11111111-0000-4000-8000-000000000001");
  put_transcript(dir_ / "user/.claude", "11111111-0000-4000-8000-000000000002");
  ASSERT_EQ(cairn({"status"}).exit_code, 0);  // the daemon runs without the variable
  Program p = program("cairn", {"import", "transcripts", "--json"});
  p.env.push_back("CLAUDE_CONFIG_DIR=" + (dir_ / "elsewhere"));
  const Outcome outcome = run(p);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  const auto found = Json::parse(outcome.out);
  ASSERT_TRUE(found.ok()) << outcome.out;
  EXPECT_EQ((*found)["found"].as_int(), 2) << outcome.out;
  EXPECT_TRUE(wait_until([this] { return json({"import", "status"})["imported"].as_int() == 2; }, 20s));
}

}  // namespace cairn::test
