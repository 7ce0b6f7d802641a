// A machine whose queue is filled and processed by the test itself.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "store/queue.h"
#include "support/engine_fixture.h"

namespace cairn::test {

using Lines = std::vector<std::string>;

class QueueTest : public testing::Test {
 protected:
  QueueTest() : machine_(std::make_unique<Machine>()) { must(m().open()); }

  Machine& m() { return *machine_; }
  // Another machine, as new.
  void start_over() {
    machine_ = std::make_unique<Machine>();
    must(m().open());
  }

  // Puts `count` messages of a session into the queue, each with an input. The session has no turn: they can
  // be claimed at once.
  void fill(int count, const std::string& session = "one") {
    const auto known = must(store::find_session(m().db(), "test", ContentId{session}));
    if (!known) {
      must(
          m().db().run("INSERT OR IGNORE INTO projects(uuid, key, name, root, created_at, created_at_epoch) "
                       "VALUES('p', '/p', 'proj', '/p', '', 0)"));
    }
    const SessionId id =
        known ? known->id
              : must(store::create_session(
                         m().db(), {"test", ContentId{session}, "proj", {}, {}, "/p", m().clock.now()}))
                    .id;
    for (int i = 0; i < count; ++i) {
      must(
          m().db().run("INSERT INTO events(event_id, session_db_id, name, kind, outcome, created_at_epoch, "
                       "taken_in_at_epoch) VALUES(?, ?, 'PostToolUse', 'tool', 'stored', 0, 0)",
                       "event " + std::to_string(++events_), id.value));
      store::NewMessage message;
      message.event_seq = m().db().last_insert_rowid();
      message.session = id;
      message.content_id = ContentId{session};
      message.tool_name = "Bash";
      message.texts.input = R"({"command":"make )" + std::to_string(events_) + R"("})";
      message.created_at = m().clock.now();
      must(store::enqueue(m().db(), message));
    }
  }

  std::optional<store::Batch> claim(std::size_t max = 100) {
    return must(store::claim(m().db(), m().clock.now(), max, std::chrono::minutes(5)));
  }
  static std::vector<std::int64_t> ids(const std::optional<store::Batch>& batch) {
    std::vector<std::int64_t> all;
    if (batch)
      for (const MessageId id : batch->messages) all.push_back(id.value);
    return all;
  }
  std::string statuses() {
    std::string all;
    for (const std::string& s : m().rows("SELECT status FROM pending_messages ORDER BY id"))
      all += (all.empty() ? "" : " ") + s;
    return all;
  }

 private:
  std::unique_ptr<Machine> machine_;
  int events_ = 0;
};

}  // namespace cairn::test
