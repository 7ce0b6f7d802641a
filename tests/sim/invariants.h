// Compares the store with the model. Cheap comparisons after every step, the whole store when it is at rest.
//
// Only reads: through the engine's own connection, on a disk that cannot fail meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/model.h"
#include "support/engine_fixture.h"

namespace cairn::sim {

// What is wrong; nothing when nothing is.
using Wrong = std::optional<std::string>;

// Returns what is wrong from the enclosing function, if anything is.
#define SIM_CHECK(expression)                     \
  do {                                            \
    if (Wrong wrong = (expression)) return wrong; \
  } while (false)

// Who did something to the queue: a person may do what the engine may not.
enum class Actor { engine, person, both };

class Invariants {
 public:
  Invariants(test::Machine& machine, Model& model) : m_(machine), model_(model) {}

  // After every step with a living engine: each acknowledged event is in the inbox or in the store, under its
  // own session, and the queue's rows moved only as they may.
  Wrong after_step(Actor actor);
  // With an empty inbox and nothing to do: every effect is there once.
  Wrong at_rest();
  // When all hosts are gone and every turn has ended: nothing is open, nothing waits, every text is there.
  Wrong at_end(const std::vector<TranscriptCall>& calls);

  // What the store holds, one row a line.
  std::string tables();
  // Ids of messages, for operations to name.
  std::vector<std::int64_t> messages() const;

 private:
  struct Row {
    std::int64_t session = 0, retries = 0, not_before = 0, batch_size = 0, prompt = 0;
    std::string status, batch;
    bool solo = false;
    bool turn_is_open = false;
  };
  using Rows = std::map<std::int64_t, Row>;

  Wrong stored_events();
  Wrong stored_event(const std::string& id, Delivered& delivered, const std::string& session);
  bool may_be_private(const std::string& session, bool noted) const;
  Wrong nothing_lost();
  Wrong in_order();
  Wrong private_turns();
  Wrong queue(Actor actor);
  Wrong moved(std::int64_t id, const Row& was, const Row* is, Actor actor);
  Wrong claimed_in_order(const Rows& now) const;
  Wrong batches(const Rows& now) const;
  Rows read_queue();
  Wrong counts();
  Wrong once_each();
  Wrong prompts();
  Wrong texts();
  Wrong transcripts(const std::vector<TranscriptCall>& calls);
  bool must_be_recovered(const TranscriptCall& call);
  bool heard_after(const TranscriptCall& call) const;
  Wrong backups();
  template <class... Args>
  std::int64_t count(std::string_view sql, const Args&... args) {
    return test::must(m_.db().integer(sql, args...)).value_or(-1);
  }

  test::Machine& m_;
  Model& model_;
  std::int64_t last_seq_ = 0;
  std::int64_t seen_ = 0;  // events of the store so far
  Rows rows_;
};

}  // namespace cairn::sim
