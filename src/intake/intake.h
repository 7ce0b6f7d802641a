// Intake: from a file in the inbox to rows in the store, in groups, each one transaction.
//
// A step takes the next group: read, normalise, gate, record, commit, then remove the files. A crash anywhere
// leaves each event either in the inbox or in the store, and taking one in twice changes nothing. One bad
// file never holds up the others.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "gate/gate.h"
#include "hook/home.h"
#include "intake/inbox_reader.h"
#include "intake/recorder.h"
#include "os/clock.h"
#include "os/disk.h"
#include "os/process.h"
#include "store/sql.h"

namespace cairn::intake {

// Belongs to the writer's thread.
class Intake {
 public:
  struct Options {
    std::size_t group =
        256;  // events a transaction: enough that a sync is shared, few enough to stay below 50 ms
    std::size_t group_bytes = 8u << 20;  // and at most this much of payload
    std::size_t max_field = 256u << 10;  // evidence.max_field_kb
  };
  Intake(store::Db& db, os::Disk& disk, os::Clock& clock, os::Processes& processes, const std::string& inbox,
         Log& log);

  void configure(gate::Gate gate, Options options);

  // Deals with what an earlier daemon left in cur/: what was the cause of its end is set aside by the next
  // sweep(), the others will be taken in in their order, each parsed under a mark of its own.
  Status start();

  // Takes in the next group. True: something was settled, and there may be more. An error (a full disk)
  // leaves the group in the inbox for a later step.
  Result<bool> step();

  // Why an event that cannot be read waits in the inbox: it cannot be set aside either. Empty: none does.
  const std::string& trouble() const { return trouble_; }
  // Once a minute: old files go, and what could not be set aside is tried again.
  void sweep();

  // Takes in this one event now, before those of other sessions that wait: a hook asks for its answer and
  // cannot wait for a long backlog. Older events of its own session come first: without prompt ids only their
  // order says what belongs to which prompt. An event that is not in the inbox is left alone.
  Status take_now(const EventId& id);

  // Gives what was set aside another chance: it waits again, and what it was counted as counts no more once
  // it is settled anew. Says how many.
  Result<std::size_t> try_bad_again() { return reader_.bring_back_bad(); }

  // Events waiting, and those that hooks could not even write (since the store was made).
  Result<std::size_t> waiting() { return reader_.depth(); }

  Recorder& recorder() { return recorder_; }
  const gate::Gate& gate() const { return gate_; }
  InboxReader& reader() { return reader_; }

 private:
  struct Bad {
    hook::Envelope envelope;
    std::string reason;
    std::string text;  // of its file, redacted
    bool kept = false;
  };
  struct Prepared {
    EventId id;
    std::variant<gate::Gate::Passed, std::pair<event::Event, gate::Refusal>, Bad> what;
  };
  Prepared prepare(const EventId& id, std::string file);
  Result<std::vector<Prepared>> read_group(const std::vector<EventId>& ids, std::size_t& taken);
  Result<bool> take_group(const std::vector<EventId>& ids);
  Status finish(std::vector<Prepared>& group);
  Status settle(const Prepared& prepared);
  Status settle_bad(const EventId& id, Bad& bad);
  Status settle_group(std::vector<Prepared>& group);
  std::string text_of(const EventId& id);
  std::string redacted(const std::string& file) const;
  Result<std::optional<Prepared>> read_one(const EventId& id, std::size_t& bytes);
  void clear_files(const std::vector<Prepared>& group);

  store::Db& db_;
  os::Clock& clock_;
  Log& log_;
  InboxReader reader_;
  Recorder recorder_;
  gate::Gate gate_;
  Options options_;
  std::vector<Prepared> suspects_;  // to be quarantined
  std::string trouble_;
};

}  // namespace cairn::intake
