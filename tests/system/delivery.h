// Events for the real daemon without a process for each: delivered as a hook delivers them.
#pragma once

#include <string>
#include <string_view>

#include "hook/inbox.h"
#include "os/clock.h"
#include "system/home_fixture.h"

namespace cairn::test {

class DeliveryTest : public HomeTest {
 protected:
  // What takes hours is done with CAIRN_FULL, a share of it otherwise.
  static bool full() { return std::getenv("CAIRN_FULL") != nullptr; }

  void deliver(std::string_view name, std::string_view bytes) {
    hook::Inbox inbox(disk_, clock_, home_.inbox());
    hook::Envelope envelope;
    envelope.event = name;
    const auto source = [&bytes](char* to, std::size_t size) -> Result<std::size_t> {
      const std::size_t count = bytes.copy(to, size);
      bytes.remove_prefix(count);
      return count;
    };
    ASSERT_TRUE(inbox.deliver(envelope, source, hook::Flags::Sync::process).ok());
    ++delivered_;
  }

  std::string tool_use(const std::string& session, const std::string& use) const {
    return payload(session, Json::object({{"tool_name", "Bash"},
                                          {"tool_use_id", use},
                                          {"tool_input", Json::object({{"command", "make " + use}})},
                                          {"tool_response", Json::object({{"stdout", "ok"}})}}));
  }
  // The i-th event of an endless work in `sessions` sessions: turns of twenty events.
  void deliver_next(int sessions) {
    const std::int64_t i = delivered_, turn = i / 20;
    const std::string session = "s" + std::to_string(turn % sessions), id = "p" + std::to_string(turn);
    if (i % 20 == 0)
      deliver("UserPromptSubmit",
              payload(session, Json::object({{"prompt", "step " + id}, {"prompt_id", id}})));
    else if (i % 20 == 19)
      deliver("Stop",
              payload(session, Json::object({{"prompt_id", id}, {"last_assistant_message", "Did " + id}})));
    else
      deliver("PostToolUse", tool_use(session, std::to_string(i)));
  }

  // Everything delivered is stored, each once, and no message is left half done.
  void expect_all_stored() {
    Program process = program("cairn", {"process", "--wait"});
    process.timeout = 300s;  // many thousand events may wait, on a machine that is busy with other things
    const Outcome processed = run(process);
    ASSERT_EQ(processed.exit_code, 0) << processed.describe();
    const Json status = json({"status"});
    EXPECT_EQ(status["ledger"]["delivered"].as_int(), delivered_);
    EXPECT_EQ(status["ledger"]["taken_in"].as_int(), delivered_);
    EXPECT_EQ(status["ledger"]["gap"].as_int(), 0);
    EXPECT_EQ(status["ledger"]["counted"].dump(), "{}") << "each was stored";
    EXPECT_EQ(status["queue"]["pending"].as_int() + status["queue"]["processing"].as_int() +
                  status["queue"]["failed"].as_int(),
              0);
    EXPECT_EQ(status["problems"].dump(), "[]");
    EXPECT_NE(cairn({"doctor"}).out.find("quick check ok"), std::string::npos);
  }

  os::RealDisk disk_;
  os::RealClock clock_;
  std::int64_t delivered_ = 0;
};

}  // namespace cairn::test
