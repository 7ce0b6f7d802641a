// The inbox from the inside: which events wait, in which order, and where a file stands while it is being
// read.
//
//   new/ID      delivered
//   cur/ID      being taken in; removed once its transaction is committed
//   cur/ID.1    found in cur/ by a later start and being read alone
//   cur/ID.2    the same after a death while it stood there: one more, and the file is the cause
//   bad/ID      could not be read; kept redacted for 14 days, 100 MB at most
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "hook/envelope.h"
#include "os/clock.h"
#include "os/disk.h"

namespace cairn::intake {

// Belongs to the writer's thread.
class InboxReader {
 public:
  InboxReader(os::Disk& disk, os::Clock& clock, std::string directory);

  // Creates the directories and removes what dead hooks left in tmp/. What a dead daemon left in cur/ waits
  // with the others; what ended two daemons while it was read alone is returned, to be set aside.
  Result<std::vector<EventId>> start();

  // The ids that wait, in order: by boot time within a boot, boots by their first wall time, else by id.
  // Scans when the last list is used up. One that a dead daemon left behind comes alone.
  Result<std::vector<EventId>> next(std::size_t max);
  bool is_leftover(const EventId& id) const { return leftovers_.contains(id); }
  // Puts ids that next() gave out back to the front.
  void put_back(const std::vector<EventId>& ids);
  // How many files wait in new/ and cur/ now.
  Result<std::size_t> depth();

  // Moves new/ID to cur/ID and reads it.
  Result<std::string> take(const EventId& id);
  // Reads a leftover under the name that marks it as suspicious; calm() takes the mark away. It stays a
  // leftover until it is given back or done.
  Result<std::string> take_suspicious(const EventId& id);
  Status calm(const EventId& id);
  // The file in cur/ as it stands.
  Result<std::string> read(const EventId& id);
  // Back to new/: its transaction failed.
  Status give_back(const EventId& id);
  // The event is settled: the file goes.
  void done(const EventId& id);
  // Sets the file aside in bad/ with `text` as its content, wherever it stands.
  Status set_aside(const EventId& id, std::string_view text);

  // Removes from bad/ what is older than 14 days or beyond 100 MB (oldest first), and from tmp/ what a dead
  // hook left an hour ago.
  void sweep();

  // Deliveries that failed since the last call, as hooks noted them in inbox/failed; the note is cleared and
  // room for the next is kept.
  std::size_t take_failed_deliveries();

  const std::string& new_directory() const { return new_; }

 private:
  Status make_directories();
  void bring_back_stranded();
  Result<std::vector<EventId>> scan();
  Result<std::vector<EventId>> in_boot_order(std::vector<EventId> ids);
  std::string suspicious(const EventId& id) const;

  os::Disk& disk_;
  os::Clock& clock_;
  std::string directory_, tmp_, new_, cur_, bad_;
  std::deque<EventId> waiting_;
  std::map<EventId, int> leftovers_;  // in cur/ since a daemon died; how often while it was read alone
  bool stranded_ = false;             // a file stands in cur/ that should not
};

}  // namespace cairn::intake
