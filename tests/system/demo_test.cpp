// `cairn demo`: two sessions through the real programs, in a home of its own.
#include <filesystem>

#include "system/home_fixture.h"

namespace cairn::test {

class Demo : public HomeTest {
 protected:
  ~Demo() override {
    for (const pid_t pid : processes_with_env("CAIRN_HOME=" + place_)) ::kill(pid, SIGKILL);
  }
  const std::string place_ = dir_ / "user/.local/state/cairn-demo";
};

TEST_F(Demo, GivesWednesdayWhatTuesdayDid) {
  const Json report = json({"demo"});
  EXPECT_EQ(report["home"].as_string(), place_);
  EXPECT_EQ(report["events"].as_int(), 9);
  EXPECT_LT(report["seconds"].as_double(), 20);
  const std::string context(report["context"].as_string());
  for (const char* words : {"off by a cent", "src/cart.py", "passed", "the invoice template"})
    EXPECT_NE(context.find(words), std::string::npos) << words << " is missing in " << context;
  EXPECT_NE(report["notice"].as_string().find("1 open"), std::string_view::npos) << report["notice"].dump();
  EXPECT_TRUE(processes_with_env("CAIRN_HOME=" + place_).empty()) << "its daemon was left";
  EXPECT_FALSE(exists(home_.data)) << "the user's own home was touched";
}

TEST_F(Demo, ShowsCommandsThatWorkOnItsHome) {
  const Json report = json({"demo"});
  ASSERT_EQ(report["commands"].items().size(), 3u);
  for (const Json& command : report["commands"].items()) {
    Program shell = program("cairn", {});
    shell.argv = {"/bin/sh", "-c", std::string(command.as_string())};
    shell.env[1] = "PATH=" + bin_ + ":/usr/bin:/bin";
    const Outcome outcome = run(shell);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_NE(outcome.out.find("cart"), std::string::npos) << outcome.describe();
  }
}

TEST_F(Demo, BeginsAfreshWhenItIsPlayedAgain) {
  json({"demo"});
  json({"demo"});
  Program status = program("cairn", {"status", "--json"});
  status.env[0] = "CAIRN_HOME=" + place_;
  const Json report = Json::parse(run(status).out).value_or(Json());
  EXPECT_EQ(report["sessions"].as_int(), 2) << report.dump();
  EXPECT_EQ(report["ledger"]["delivered"].as_int(), 9);
}

TEST_F(Demo, RefusesADirectoryWithOtherFilesInIt) {
  write_file(dir_ / "precious/thesis.txt", "years of work");
  const Outcome outcome = cairn({"demo", "--home", dir_ / "precious"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("name another directory with --home"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_text(dir_ / "precious/thesis.txt"), "years of work");
}

TEST_F(Demo, IsPlainInAPipe) {
  const Outcome outcome = cairn({"demo", "--home", dir_ / "demo"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  EXPECT_NE(outcome.out.find("\nWednesday"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

}  // namespace cairn::test
