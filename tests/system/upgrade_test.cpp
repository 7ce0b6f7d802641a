// A home that version 0.1 made is upgraded in place by the first start, and nothing of it is lost.
#include <fstream>
#include <set>

#include "system/home_fixture.h"

namespace cairn::test {

class UpgradeTest : public HomeTest {
 protected:
  void SetUp() override {
    Program unpack;
    unpack.argv = {"/bin/tar", "xzf", source_ + "/home.tar.gz", "-C", dir_.path()};
    const Outcome unpacked = run(unpack);
    ASSERT_EQ(unpacked.exit_code, 0) << unpacked.describe();
    std::ifstream lines(source_ + "/expected.jsonl");
    for (std::string line; std::getline(lines, line);)
      expected_.push_back(Json::parse(line).value_or(Json()));
    ASSERT_GT(expected_.size(), 40u);
  }

  const std::string source_ = std::string(CAIRN_TESTS_DIR) + "/system/home_0_1";
  std::vector<Json> expected_;
};

TEST_F(UpgradeTest, EverySessionPromptObservationAndSummaryOfVersion01IsThereAfterwards) {
  ASSERT_EQ(waiting(), 8u);
  const Outcome processed = cairn({"process"});
  ASSERT_EQ(processed.exit_code, 0) << processed.describe();
  std::set<std::string> sessions;
  const Json listed = json({"sessions", "list", "--all"});
  for (const Json& session : listed["sessions"].items())
    sessions.emplace(session["content_session_id"].as_string());
  for (const Json& row : expected_) {
    if (const auto session = row.text("session")) {
      EXPECT_TRUE(sessions.contains(*session)) << *session;
    } else if (const auto id = row.text("id")) {
      const Json shown = json({"show", *id})["records"].items()[0];
      const char* key = id->starts_with('P') ? "text" : id->starts_with('O') ? "title" : "request";
      EXPECT_EQ(shown[key].as_string(), row["text"].as_string()) << *id;
    }
  }
}

TEST_F(UpgradeTest, WhatWaitedIsReadOnceAndSearchFindsTheOldWork) {
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(waiting(), 0u);
  const Json status = json({"status"});
  EXPECT_EQ(status["queue"]["pending"].as_int(), 0) << status.dump();
  EXPECT_EQ(status["queue"]["failed"].as_int(), 0) << status.dump();
  EXPECT_EQ(status["ledger"]["delivered"].as_int(), expected_.back()["events"].as_int() + 8);
  EXPECT_EQ(status["ledger"]["gap"].as_int(), 0);
  const Json found = json({"search", "--all", "cart", "total", "cent"});
  ASSERT_FALSE(found["results"].items().empty());
  EXPECT_NE(found["results"].items()[0]["title"].as_string().find("cart"), std::string_view::npos);
  EXPECT_FALSE(json({"why", "O1"})["events"].items().empty());
}

TEST_F(UpgradeTest, TheDoctorFindsNothingWrongWithTheStore) {
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const Json report = json({"doctor"});
  EXPECT_TRUE(report["ok"].as_bool()) << report.dump(1);
  // The quarantined file is as bad as it was.
  for (const Json& check : report["checks"].items())
    EXPECT_TRUE(check["verdict"].as_string() != "warn" || check["name"].as_string() == "problems")
        << check.dump();
  EXPECT_EQ(os::RealDisk().list(home_.inbox() + "/bad").value_or({}).size(), 1u);
}

}  // namespace cairn::test
