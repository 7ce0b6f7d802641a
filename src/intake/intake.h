// Intake: from a file in the inbox to rows in the store, in groups, each one transaction.
//
// A step handles the next group: read, normalise, gate, record, commit, remove the files. After a crash each
// event is in the inbox or in the store. Reading one twice changes nothing. A bad file never blocks the
// others.
#pragma once

#include <deque>
#include <optional>
#include <span>
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

  // Handles what an earlier daemon left in cur/. Files that crashed it are quarantined by the next sweep().
  // The others are read in their order, each alone and under a mark.
  Status start();

  // Reads the next group. True: something was stored, and there may be more. After an error (a full disk) the
  // group stays in the inbox for a later step.
  Result<bool> step();

  // Why an unreadable event is still in the inbox: it could not be quarantined, or we have no permission to
  // read it. Empty when no such event is there.
  const std::string& trouble() const { return trouble_; }
  // Call once a minute: removes old files, and tries again what could be neither read nor quarantined.
  void sweep();

  // Reads this event before those of other sessions: a hook waits for its answer. Older events of its own
  // session are read first: without prompt ids, only the order assigns events to prompts. Does nothing when
  // the event is not in the inbox.
  Status take_now(const EventId& id);

  // Moves quarantined events back to the inbox to be read again, and returns how many. Their earlier counts
  // are replaced.
  Result<std::size_t> try_bad_again() { return reader_.bring_back_bad(); }

  // While files are held, those of stored events stay in the inbox: the commits may not be durable yet.
  // remove_held() removes them once they are.
  void hold_files(bool hold) { holding_ = hold; }
  bool is_holding_files() const { return !held_.empty(); }
  void remove_held();

  // The number of events that wait in the inbox.
  Result<std::size_t> waiting() { return reader_.depth(); }

  // The file in which the host takes variables for later commands of the session, as the hook of that event
  // named it; empty: it named none, or another process read the event. Gives it once.
  std::string take_env_file(const EventId& id);

  Recorder& recorder() { return recorder_; }
  const gate::Gate& gate() const { return gate_; }
  InboxReader& reader() { return reader_; }

 private:
  struct Bad {
    hook::Envelope envelope;
    std::string reason;
    std::string text;  // the redacted file
    bool kept = false;
  };
  struct Prepared {
    EventId id;
    std::variant<gate::Gate::Passed, std::pair<event::Event, gate::Refusal>, Bad> what;
  };
  Result<Prepared> prepare(const EventId& id, std::string file);
  Result<std::vector<Prepared>> read_group(const std::vector<EventId>& ids, std::size_t& taken);
  Result<bool> take_group(const std::vector<EventId>& ids);
  Status finish(std::vector<Prepared>& group);
  Status store_event(const Prepared& prepared);
  Status store_bad(const EventId& id, Bad& bad);
  // One transaction for all of them.
  Status store_together(std::span<Prepared> group);
  Status store_group(std::vector<Prepared>& group);
  std::string text_of(const EventId& id);
  std::string redacted(const std::string& file) const;
  std::optional<Prepared> defer(const EventId& id, const Error& error);
  Result<std::optional<Prepared>> read_one(const EventId& id, std::size_t& bytes);
  void clear_files(std::span<const Prepared> group);

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  Log& log_;
  InboxReader reader_;
  Recorder recorder_;
  gate::Gate gate_;
  Options options_;
  std::deque<std::pair<EventId, std::string>> env_files_;  // of starts that were not answered yet
  std::vector<Prepared> suspects_;                         // to be quarantined
  bool holding_ = false;
  std::vector<EventId> held_;  // stored, to be removed
  std::string trouble_;
};

}  // namespace cairn::intake
