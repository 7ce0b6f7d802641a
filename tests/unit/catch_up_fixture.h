// A machine with one chat and its transcript, for tests of what only the transcript has.
#pragma once

#include <gtest/gtest.h>

#include "transcript_lines.h"

namespace cairn::test {

using Lines = std::vector<std::string>;

class CatchUpTest : public ::testing::Test {
 protected:
  Machine m;
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};

  void SetUp() override { must(m.open()); }
  void begin(std::string_view words = "make a parser") {
    m.tell(chat.start());
    m.tell(chat.prompt(words));
    transcript.prompt(words);
  }
  void minute() {
    m.clock.advance(std::chrono::seconds(61));
    must(m.engine->tick());
    must(m.drain());
  }
  void host_dies() {
    m.processes.kill(m.host.pid);
    minute();
  }
  Lines recovered() {
    return m.rows("SELECT name, outcome, tool_use_id FROM events WHERE source = 'transcript' ORDER BY seq");
  }
  Lines calls() { return m.rows("SELECT tool_use_id, outcome, reason FROM transcript_calls ORDER BY 1"); }
  Json ledger() { return must(m.run("status"))["ledger"]; }
  // What `sessions show` counts.
  Json shown_ledger() { return must(m.run("sessions.show", Json::object({{"id", chat.session}})))["ledger"]; }
};

}  // namespace cairn::test
