// What a person can do with the queue, and the checks of every change of status.
#include <gtest/gtest.h>

#include <functional>

#include "store/evidence.h"
#include "store/queue.h"
#include "store/queue_admin.h"
#include "support/queue_fixture.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;
using QueueAdmin = QueueTest;

// Every operation on a message in every status.
class QueueMatrix : public QueueTest {
 protected:
  // Messages 1 to 4 are failed, processed, processing and pending, each in a session and a batch of its own.
  store::Batch held, ended, lost;

  void set_up() {
    start_over();
    fill(1, "d");
    lost = *claim();
    must(store::return_with_retry(m().db(), lost, "no luck", {0, 1}, m().clock.now()));
    fill(1, "c");
    ended = *claim();
    must(store::complete(m().db(), ended, m().clock.now()));
    fill(1, "b");
    held = *claim();
    fill(1, "a");
    ASSERT_EQ(statuses(), "failed processed processing pending");
  }
};

// What a function does to the four, in the order failed, processed, processing, pending.
struct Transition {
  const char* name;
  std::function<void(Machine&, const store::Batch&)> act;
  const char* after;
};

TEST_F(QueueMatrix, ABatchMovesItsOwnMessagesOnlyAndOnlyWhileTheyAreInWork) {
  const Transition transitions[] = {
      {"complete",
       [](Machine& m, const store::Batch& batch) {
         auto transaction = must(store::Transaction::begin(m.db()));
         if (store::complete(m.db(), batch, m.clock.now()).ok()) must(transaction.commit());
       },
       "failed processed processed pending"},
      {"return with retry",
       [](Machine& m, const store::Batch& batch) {
         must(store::return_with_retry(m.db(), batch, "x", {3, 1}, m.clock.now()));
       },
       "failed processed pending pending"},
      {"return after the last retry",
       [](Machine& m, const store::Batch& batch) {
         must(store::return_with_retry(m.db(), batch, "x", {0, 1}, m.clock.now()));
       },
       "failed processed failed pending"},
      {"return without retry",
       [](Machine& m, const store::Batch& batch) { must(store::return_without_retry(m.db(), batch, "x")); },
       "failed processed pending pending"},
      {"extend",
       [](Machine& m, const store::Batch& batch) {
         must(store::extend_lease(m.db(), batch, m.clock.now(), 9min));
       },
       "failed processed processing pending"},
  };
  for (const Transition& transition : transitions) {
    SCOPED_TRACE(transition.name);
    set_up();
    transition.act(m(), held);
    EXPECT_EQ(statuses(), transition.after);
    set_up();
    store::Batch strange = held;
    strange.lease = "another";
    for (const store::Batch* not_in_work : {&lost, &ended, &strange}) {
      transition.act(m(), *not_in_work);
      EXPECT_EQ(statuses(), "failed processed processing pending");
    }
  }
}

TEST_F(QueueMatrix, WhatLooksAtAllMessagesTakesOnlyThoseInTheRightStatus) {
  const Transition transitions[] = {
      {"claim", [](Machine& m, const store::Batch&) { must(store::claim(m.db(), m.clock.now(), 9, 5min)); },
       "failed processed processing processing"},
      {"recover", [](Machine& m, const store::Batch&) { must(store::recover_all(m.db(), 3, m.clock.now())); },
       "failed processed pending pending"},
      {"clean", [](Machine& m, const store::Batch&) { must(store::clean(m.db(), 0)); },
       "failed processing pending"},
  };
  for (const Transition& transition : transitions) {
    SCOPED_TRACE(transition.name);
    set_up();
    transition.act(m(), held);
    EXPECT_EQ(statuses(), transition.after);
  }
}

TEST_F(QueueMatrix, ARetryByHandTakesAllButProcessedOnesAndAnAbortTakesAny) {
  for (const auto& [id, retried] : {std::pair(1, true), {2, false}, {3, true}, {4, true}}) {
    set_up();
    EXPECT_EQ(must(store::retry_message(m().db(), MessageId{id})), retried) << id;
    EXPECT_EQ(m().text("SELECT status FROM pending_messages WHERE id = " + std::to_string(id)),
              retried ? "pending" : "processed");
    EXPECT_TRUE(must(store::abort_message(m().db(), MessageId{id}))) << id;
    EXPECT_EQ(m().number("SELECT count(*) FROM pending_messages"), 3);
  }
}

TEST_F(QueueMatrix, AProcessedMessageIsNeverPutBack) {
  set_up();
  EXPECT_EQ(must(store::return_with_retry(m().db(), ended, "late", {3, 1}, m().clock.now())), 0);
  EXPECT_EQ(must(store::return_without_retry(m().db(), ended, "late")), 0);
  EXPECT_EQ(m().rows("SELECT status, tool_name FROM pending_messages WHERE id = 2"),
            (Lines{"processed|Bash"}));
}

TEST_F(QueueAdmin, AnAbortIsDoneOnceAndKeepsWhatTheEventSaid) {
  for (const bool in_work : {false, true}) {
    start_over();
    fill(2);
    const auto batch = in_work ? claim() : std::nullopt;
    const std::int64_t seq = m().number("SELECT event_seq FROM pending_messages WHERE id = 1");
    const auto before = must(store::kept_event(m().db(), seq));
    EXPECT_TRUE(must(store::abort_message(m().db(), MessageId{1})));
    EXPECT_FALSE(must(store::abort_message(m().db(), MessageId{1})));
    EXPECT_FALSE(must(store::retry_message(m().db(), MessageId{1})));
    const auto after = must(store::kept_event(m().db(), seq));
    ASSERT_TRUE(before && after);
    EXPECT_EQ(after->texts.input, before->texts.input);
    EXPECT_TRUE(after->texts.input.has_value());
    if (!batch) continue;
    {
      auto transaction = must(store::Transaction::begin(m().db()));
      const auto late = store::complete(m().db(), *batch, m().clock.now());
      EXPECT_EQ(late.error().code, Code::canceled);
      EXPECT_NE(late.error().message.find("no longer ours"), std::string::npos);
    }
    EXPECT_FALSE(must(store::extend_lease(m().db(), *batch, m().clock.now(), 5min)));
    EXPECT_EQ(must(store::return_without_retry(m().db(), *batch, "one was aborted")), 1);
  }
}

TEST_F(QueueAdmin, AnAbortedMessageLeavesTheTurnWhole) {
  Chat chat;
  m().tell(chat.prompt("work"));
  m().tell(chat.ran("make", "t1"));
  const auto before = must(store::turn_events(m().db(), SessionId{1}, 1));
  EXPECT_TRUE(must(store::abort_message(m().db(), MessageId{1})));
  const auto after = must(store::turn_events(m().db(), SessionId{1}, 1));
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].texts.input, before[i].texts.input);
  m().tell(chat.stop());
  EXPECT_EQ(must(m().run("status"))["ledger"]["gap"].as_int(), 0);
}

TEST_F(QueueAdmin, TheEngineGoesOnAfterAMessageOfItsBatchWasAborted) {
  fill(3);
  claim();
  EXPECT_TRUE(must(store::abort_message(m().db(), MessageId{2})));
  must(store::recover_stuck(m().db(), 0ms, 3, m().clock.now()));
  must(m().drain());
  EXPECT_EQ(statuses(), "processed processed");
  EXPECT_EQ(m().number("SELECT count(*) FROM evidence"), 3);
}

TEST_F(QueueAdmin, WorkIsWhatIsPendingOrProcessing) {
  EXPECT_EQ(must(store::queue_counts(m().db())).work(), 0);
  fill(3, "one");
  must(store::claim(m().db(), m().clock.now(), 1, 5min));
  fill(1, "two");
  EXPECT_EQ(must(store::queue_counts(m().db(), SessionId{1})).work(), 3);
  EXPECT_EQ(must(store::queue_counts(m().db(), SessionId{1})).pending, 2);
  EXPECT_EQ(must(store::queue_counts(m().db(), SessionId{2})).work(), 1);
  EXPECT_EQ(must(store::sessions_with_work(m().db())), (std::vector{SessionId{1}, SessionId{2}}));
  must(store::return_with_retry(m().db(), *claim(), "no luck", {0, 1}, m().clock.now()));  // session 2's
  EXPECT_EQ(must(store::sessions_with_work(m().db())), (std::vector{SessionId{1}}));
  must(store::recover_all(m().db(), 3, m().clock.now()));
  must(m().drain());
  EXPECT_EQ(must(store::queue_counts(m().db())).work(), 0);
  EXPECT_EQ(must(store::queue_counts(m().db())).failed, 1);
  EXPECT_TRUE(must(store::sessions_with_work(m().db())).empty());
}

TEST_F(QueueAdmin, AMessageNamesItsSession) {
  fill(1, "one");
  fill(1, "two");
  const auto message = must(store::find_message(m().db(), MessageId{2}));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->session, SessionId{2});
  EXPECT_EQ(message->content_id.value, "two");
  EXPECT_FALSE(must(store::find_message(m().db(), MessageId{3})));
}

TEST_F(QueueAdmin, CleaningKeepsTheNewestBreakingTiesById) {
  fill(4);
  must(store::complete(m().db(), *claim(), m().clock.now()));  // all in the same millisecond
  fill(1, "failed");
  must(store::return_with_retry(m().db(), *claim(), "no luck", {0, 1}, m().clock.now()));
  fill(1, "in work");
  claim();
  fill(1, "waiting");
  EXPECT_EQ(must(store::clean(m().db(), 2)), 2);
  EXPECT_EQ(m().rows("SELECT id FROM pending_messages ORDER BY id"), (Lines{"3", "4", "5", "6", "7"}));
  EXPECT_EQ(must(store::clean(m().db(), 0)), 2);
  EXPECT_EQ(statuses(), "failed processing pending");
}

TEST_F(QueueAdmin, FalsyNestedAndUnicodeValuesComeBackAsTheyWere) {
  fill(1);
  const SessionId session{1};
  const std::vector<std::optional<std::string>> values = {std::nullopt,
                                                          "0",
                                                          "false",
                                                          "\"\"",
                                                          "",
                                                          "null",
                                                          "[]",
                                                          R"({"a":[{"b":null}]})",
                                                          "\"\\u0000 \xC3\xA9 \xF0\x9F\x98\x80\""};
  std::int64_t seq = 100;
  for (const auto& value : values) {
    ++seq;
    must(m().db().run(
        "INSERT INTO events(seq, event_id, session_db_id, name, kind, outcome, created_at_epoch, "
        "taken_in_at_epoch) VALUES(?, ?, 1, 'x', 'tool', 'stored', 0, 0)",
        seq, "e" + std::to_string(seq)));
    store::NewMessage message;
    message.event_seq = seq;
    message.session = session;
    message.content_id = ContentId{"one"};
    message.texts = {value, value, value};
    message.prompt_number = 0;
    message.created_at = m().clock.now();
    must(store::enqueue(m().db(), message));
  }
  for (const bool processed : {false, true}) {
    if (processed) must(m().drain());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto event = must(store::kept_event(m().db(), 101 + static_cast<std::int64_t>(i)));
      ASSERT_TRUE(event);
      EXPECT_EQ(event->texts.input, values[i]) << i << processed;
      EXPECT_EQ(event->texts.response, values[i]) << i << processed;
      EXPECT_EQ(event->texts.extra, values[i]) << i << processed;
    }
  }
  EXPECT_EQ(m().number("SELECT count(*) FROM pending_messages WHERE prompt_number = 0"),
            static_cast<std::int64_t>(values.size()));
}

}  // namespace
}  // namespace cairn::test
