// Several claimers at once, each with its own connection to one real file.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "store/migrate.h"
#include "store/queue.h"
#include "store/queue_admin.h"
#include "store/schema.h"
#include "store/sessions.h"
#include "support/engine_fixture.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int kRows = 1000, kSessions = 25, kClaimers = 8;
const WallTime kNow = from_epoch_ms(1'790'000'000'000);

store::Db open(const std::string& path) {
  store::Db::Options options;
  options.path = path;
  options.busy_timeout_ms = 60'000;
  return must(store::Db::open(options));
}

void fill(store::Db& db) {
  must(store::migrate(db, store::schema(), kNow));
  auto transaction = must(store::Transaction::begin(db));
  must(db.exec(
      "INSERT INTO projects(uuid, key, name, root, created_at, created_at_epoch) VALUES('p', '/p', 'proj', "
      "'/p', '', 0)"));
  for (int i = 1; i <= kSessions; ++i)
    must(store::create_session(
        db, {"test", ContentId{"session " + std::to_string(i)}, "proj", {}, {}, "/p", kNow}));
  for (int i = 0; i < kRows; ++i) {
    must(db.run(
        "INSERT INTO events(event_id, name, kind, outcome, created_at_epoch, taken_in_at_epoch) VALUES(?, "
        "'x', 'tool', 'stored', 0, 0)",
        "e" + std::to_string(i)));
    store::NewMessage message;
    message.event_seq = db.last_insert_rowid();
    message.session = SessionId{1 + i % kSessions};
    message.content_id = ContentId{"c"};
    message.texts.input = std::to_string(i);
    message.created_at = kNow;
    must(store::enqueue(db, message));
  }
  must(transaction.commit());
}

TEST(QueueThreads, EightClaimersOfAThousandMessagesClaimEachOnce) {
  TempDir dir("queue");
  const std::string path = dir / "cairn.db";
  {
    store::Db db = open(path);
    fill(db);
  }
  std::mutex mutex;
  std::map<std::int64_t, int> claimed;
  std::atomic<int> left = kRows, errors = 0;
  const auto work = [&] {
    store::Db db = open(path);
    while (left > 0 && errors == 0) {
      std::optional<store::Batch> batch;
      {
        auto transaction = store::Transaction::begin(db);
        if (!transaction.ok()) {
          ++errors;
          return;
        }
        batch = must(store::claim(db, kNow, 7, std::chrono::minutes(5)));
        must(transaction->commit());
      }
      if (!batch) {
        std::this_thread::yield();  // every session is in somebody's work
        continue;
      }
      {
        const std::lock_guard lock(mutex);
        for (const MessageId id : batch->messages) ++claimed[id.value];
      }
      auto transaction = must(store::Transaction::begin(db));
      must(store::complete(db, *batch, kNow));
      must(transaction.commit());
      left -= static_cast<int>(batch->messages.size());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kClaimers; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(claimed.size(), static_cast<std::size_t>(kRows));
  for (const auto& [id, times] : claimed) EXPECT_EQ(times, 1) << id;
  store::Db db = open(path);
  EXPECT_EQ(must(store::queue_counts(db)).processed, kRows);
  EXPECT_EQ(must(db.integer("SELECT count(*) FROM evidence")), kRows);
}

}  // namespace
}  // namespace cairn::test
