// The daemon's side of the inbox: which events wait, in which order, and the name of a file while it is read.
// The name records the state, so that a crash at any moment loses nothing.
//
//   new/ID          delivered
//   cur/ID          being read; removed once its transaction is committed
//   cur/ID.N        a leftover in cur/, being read alone for the N-th time; renamed to cur/ID afterwards
//   cur/ID.crashed  crashed the daemon while it was read alone
//   cur/ID.aside    being quarantined
//   bad/ID          could not be read; kept redacted for 14 days, 100 MB at most
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "hook/envelope.h"
#include "os/clock.h"
#include "os/crash.h"
#include "os/disk.h"

namespace cairn::intake {

// Belongs to the writer's thread.
class InboxReader {
 public:
  InboxReader(os::Disk& disk, os::Clock& clock, std::string directory);

  // Whether a file of that name in new/ or cur/ is an event: ID, or ID with a mark.
  static bool is_event_file(std::string_view name) {
    return is_event_id(name.substr(0, 32)) && (name.size() == 32 || name[32] == '.');
  }

  // A file to be quarantined: daemons died while they read it alone.
  struct Suspect {
    EventId id;
    std::string mark;  // as it was found
    std::string reason() const;
  };
  // A daemon may die for other reasons than the file: killed, out of memory, power cut. But this many deaths,
  // each in the fraction of a millisecond in which the same file is read alone, are no accident.
  static constexpr int kMostDeaths = 5;

  // Creates the directories and removes what dead hooks left in tmp/. Files that a dead daemon left in cur/
  // wait with the others. Returns those that crashed a daemon, or that kMostDeaths daemons were reading alone
  // when they died.
  Result<std::vector<Suspect>> start();

  // The ids that wait, in order: by boot time within a boot, boots by their first wall time, else by id.
  // Scans when the last list is used up.
  Result<std::vector<EventId>> next(std::size_t max);
  bool is_leftover(const EventId& id) const { return leftovers_.contains(id); }
  // Returns ids from next() to the front of the list.
  void put_back(const std::vector<EventId>& ids);
  // The waiting events of the same session that were delivered before `id`, in order. An event whose first
  // bytes do not show its session counts as one of this session.
  Result<std::vector<EventId>> older_of_session(const EventId& id);
  // Whether the next call of next() scans.
  bool is_list_used_up() const { return waiting_.empty(); }
  // How many events wait in new/ and cur/ now. Files without an event id as their name do not count.
  Result<std::size_t> depth();

  // Moves new/ID to cur/ID and reads it.
  Result<std::string> take(const EventId& id);
  // Reads a leftover under a name that marks it as suspicious; clear_mark() removes the mark. It stays a
  // leftover until it is given back or done.
  Result<std::string> take_suspicious(const EventId& id);
  // Hold it while a leftover is read and parsed: it distinguishes a crash from other deaths. Does nothing for
  // other files.
  os::CrashMark crash_mark(const EventId& id) const;
  Status clear_mark(const EventId& id);
  // Whether cur/ID exists.
  bool is_in_work(const EventId& id) { return disk_.stat(cur_ + "/" + id.value).ok(); }
  // The content of the file in cur/.
  Result<std::string> read(const EventId& id);
  // Moves it back to new/: its transaction failed.
  Status give_back(const EventId& id);
  // Removes the file: its event has its row in the store.
  void done(const EventId& id);
  // Writes a copy with `text` as its content into bad/. Call before the event gets its row in the store.
  Status keep_bad(const EventId& id, std::string_view text);
  // The file can be neither stored nor quarantined now. It stays in cur/ until sweep() returns it to new/.
  void defer(const EventId& id);
  // The content of a file that is to be quarantined, renamed to cur/ID.aside. Empty when a daemon has already
  // died while it redacted this file. Call clear_mark() when redacting has succeeded.
  Result<std::string> read_suspect(const Suspect& suspect);
  Status clear_mark(const Suspect& suspect);
  void done_with_suspect(const EventId& id);
  // Moves all quarantined files back to new/; returns how many.
  Result<std::size_t> bring_back_bad();

  // Removes from bad/ what is older than 14 days or beyond 100 MB (oldest first), and from tmp/ what a dead
  // hook left an hour ago. Deferred files wait again.
  void sweep();

  // The content of inbox/failed, where hooks write a line for each failed delivery. Keeps space in it for the
  // next lines.
  std::string failed_note();
  // Marks the first `bytes` of that file as counted. Lines that hooks wrote after them stay.
  void clear_failed_note(std::size_t bytes);

 private:
  // What the first bytes of a file say, unchecked: its position in the order, and its session.
  struct Peeked {
    std::string boot;
    std::int64_t ns = 0;
    std::string session;  // empty: unknown
  };

  Status make_directories();
  Status move(const std::string& from, const std::string& to);
  void bring_back_stranded();
  Result<std::vector<EventId>> scan();
  const Peeked& peek(const EventId& id);
  std::vector<EventId> in_boot_order(std::vector<EventId> ids);
  std::string suspicious(const EventId& id) const;

  os::Disk& disk_;
  os::Clock& clock_;
  std::string directory_, tmp_, new_, cur_, bad_;
  std::deque<EventId> waiting_;
  std::map<EventId, Peeked> peeked_;  // since the last scan of next()
  std::map<EventId, int> leftovers_;  // in cur/ since a daemon died; how many died while it was read alone
  std::set<EventId> deferred_;        // in cur/ until sweep() returns them to new/
  bool stranded_ = false;             // a file is in cur/ that should be in new/
};

}  // namespace cairn::intake
