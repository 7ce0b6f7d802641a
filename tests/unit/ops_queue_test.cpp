// `cairn queue` as operations.
#include <gtest/gtest.h>

#include "ops/operation.h"
#include "store/queue.h"
#include "store/queue_admin.h"
#include "support/queue_fixture.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

class OpsQueue : public QueueTest {
 protected:
  Json run(std::string_view name, Json args = Json::object()) { return must(m().run(name, std::move(args))); }
  Code failure(std::string_view name, Json args = Json::object()) {
    return m().run(name, std::move(args)).error().code;
  }
  std::string listed(Json args = Json::object()) {
    std::string all;
    const Json result = run("queue.list", std::move(args));
    for (const Json& message : result["messages"].items())
      all += (all.empty() ? "" : " ") + std::to_string(message["id"].as_int());
    return all;
  }
  void fail() { must(store::return_with_retry(m().db(), *claim(), "no luck", {0, 1}, m().clock.now())); }
};

TEST_F(OpsQueue, FailedComeFirstThenThoseInWorkThenThoseThatWait) {
  fill(1, "a");
  must(m().drain());  // 1 is processed
  fill(1, "b");
  fill(1, "c");
  fill(1, "d");
  claim();  // 2 is in work
  fail();   // 3
  EXPECT_EQ(listed(), "3 2 4");
  EXPECT_EQ(listed(Json::object({{"status", "processed"}})), "1");
  EXPECT_EQ(run("queue.list")["messages"].items()[0]["project"].as_string(), "proj");
}

TEST_F(OpsQueue, ASessionIsFoundByAnyIdAndAnUnknownOneIsNotFound) {
  fill(1, "first-session");
  fill(1, "second-session");
  EXPECT_EQ(listed(Json::object({{"session", "first"}})), "1");
  EXPECT_EQ(listed(Json::object({{"session", "second-session"}})), "2");
  EXPECT_EQ(listed(Json::object({{"session", 2}})), "2");
  EXPECT_EQ(failure("queue.list", Json::object({{"session", "nobody"}})), Code::not_found);
  EXPECT_EQ(failure("queue.list", Json::object({{"session", "nobody"}, {"recent", 5}})), Code::not_found);
  must(m().drain());
  EXPECT_EQ(listed(Json::object({{"session", "first"}, {"recent", 5}})), "1");
}

TEST_F(OpsQueue, RecentHonoursTheWindowAndTheLimit) {
  for (int i = 0; i < 12; ++i) {
    fill(1);
    must(m().drain());
    m().clock.advance(1min);
  }
  EXPECT_EQ(listed(Json::object({{"recent", 3}})), "12 11");  // 12 a minute ago; 10 exactly three
  EXPECT_EQ(listed(Json::object({{"recent", 4}})), "12 11 10");
  EXPECT_EQ(listed(Json::object({{"recent", 30}})), "12 11 10 9 8 7 6 5 4 3");
  EXPECT_EQ(listed(Json::object({{"recent", 30}, {"limit", 2}})), "12 11");
  EXPECT_EQ(failure("queue.list", Json::object({{"recent", 3}, {"status", "failed"}})), Code::invalid);
}

TEST_F(OpsQueue, OneMessageIsShownWithAllItsFields) {
  fill(1);
  const Json shown = run("queue.show", Json::object({{"id", 1}}));
  for (const char* key :
       {"id", "session_db_id", "content_session_id", "message_type", "tool_name", "tool_input",
        "tool_response", "cwd", "last_user_message", "last_assistant_message", "prompt_number", "status",
        "retry_count", "created_at_epoch", "started_processing_at_epoch", "completed_at_epoch"})
    EXPECT_TRUE(shown.has(key)) << key;
  EXPECT_EQ(shown["tool_input"]["command"].as_string(), "make 1");
}

TEST_F(OpsQueue, ADamagedMessageIsNamedAndShownAsItStands) {
  fill(1);
  must(m().db().exec("UPDATE payloads SET body = '{\"half'"));
  const Json shown = run("queue.show", Json::object({{"id", 1}}));
  EXPECT_EQ(shown["problems"].dump(), R"(["message 1: tool_input is not JSON"])");
  EXPECT_EQ(shown["tool_input"].as_string(), "{\"half");
}

TEST_F(OpsQueue, RetryTakesOneASessionOrTheStuck) {
  fill(2, "one");
  fill(1, "two");
  fail();
  claim();
  EXPECT_EQ(statuses(), "failed failed processing");
  EXPECT_EQ(run("queue.retry", Json::object({{"id", 1}})).dump(), R"({"id":1,"retried":1,"failed":0})");
  EXPECT_EQ(statuses(), "pending failed processing");
  EXPECT_EQ(run("queue.retry", Json::object({{"session", "one"}}))["retried"].as_int(), 2);
  EXPECT_EQ(run("queue.retry", Json::object({{"stuck", true}}))["retried"].as_int(), 0);
  m().clock.advance(301s);  // queue.stuck_seconds is 300
  EXPECT_EQ(run("queue.retry", Json::object({{"stuck", true}, {"older_than", 302}}))["retried"].as_int(), 0);
  EXPECT_EQ(run("queue.stats")["stuck"].as_int(), 1);
  EXPECT_EQ(run("queue.retry", Json::object({{"stuck", true}})).dump(), R"({"retried":1,"failed":0})");
  EXPECT_EQ(statuses(), "pending pending pending");
}

TEST_F(OpsQueue, RetryRefusesWhatIsProcessedUnknownOrUnclear) {
  fill(1);
  must(m().drain());
  EXPECT_EQ(run("queue.retry", Json::object({{"id", 1}}))["retried"].as_int(), 0);
  EXPECT_EQ(failure("queue.retry", Json::object({{"id", 9}})), Code::not_found);
  EXPECT_EQ(failure("queue.retry", Json::object({{"session", "nobody"}})), Code::not_found);
  EXPECT_EQ(failure("queue.retry"), Code::invalid);
  EXPECT_EQ(failure("queue.retry", Json::object({{"id", 1}, {"stuck", true}})), Code::invalid);
}

TEST_F(OpsQueue, AbortReportsTheSessionAndASecondOneFindsNothing) {
  fill(1, "one");
  EXPECT_EQ(run("queue.abort", Json::object({{"id", 1}})).dump(),
            R"({"id":1,"aborted":true,"session_db_id":1,"content_session_id":"one"})");
  EXPECT_EQ(failure("queue.abort", Json::object({{"id", 1}})), Code::not_found);
  EXPECT_EQ(m().number("SELECT count(*) FROM evidence"), 1);
}

TEST_F(OpsQueue, CleanKeepsWhatIsAskedForElseWhatTheSettingSays) {
  fill(120);
  must(m().drain());
  EXPECT_EQ(run("queue.clean").dump(), R"({"deleted":20,"kept":100})");
  EXPECT_EQ(run("queue.clean", Json::object({{"keep", 1}})).dump(), R"({"deleted":99,"kept":1})");
  EXPECT_EQ(run("queue.clean", Json::object({{"keep", 0}})).dump(), R"({"deleted":1,"kept":0})");
  EXPECT_EQ(failure("queue.clean", Json::object({{"keep", -1}})), Code::invalid);
}

TEST_F(OpsQueue, StatsCountBySession) {
  fill(3, "one");
  must(store::claim(m().db(), m().clock.now(), 1, 5min));
  fill(1, "two");
  const Json stats = run("queue.stats");
  EXPECT_EQ(stats["sessions"].as_int(), 2);
  EXPECT_EQ(stats["by_session"].dump(), R"([{"session_db_id":1,"pending":2,"processing":1,"failed":0},)"
                                        R"({"session_db_id":2,"pending":1,"processing":0,"failed":0}])");
}

}  // namespace
}  // namespace cairn::test
