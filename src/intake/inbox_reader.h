// The inbox from the inside: which events wait, in which order, and where a file stands while it is being
// read.
//
//   new/ID      delivered
//   cur/ID          being taken in; removed once its transaction is committed
//   cur/ID.N        found in cur/ by a later start and being read alone, for the N-th time: one that is read
//                   and has not ended the daemon is cur/ID again
//   cur/ID.crashed  ended the daemon by a fault while it was read alone
//   cur/ID.aside    being set aside
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

  // What ended daemons while it was read alone, to be set aside.
  struct Poison {
    EventId id;
    std::string mark;  // as it was found
    std::string reason() const;
  };
  // Daemons die by chance: killed, out of memory, without power. Only so many deaths with the same file
  // alone, each within a fraction of a millisecond, are no chance.
  static constexpr int kMostDeaths = 5;

  // Creates the directories and removes what dead hooks left in tmp/. What a dead daemon left in cur/ waits
  // with the others; what ended one by a fault, or kMostDeaths somehow, is returned.
  Result<std::vector<Poison>> start();

  // The ids that wait, in order: by boot time within a boot, boots by their first wall time, else by id.
  // Scans when the last list is used up.
  Result<std::vector<EventId>> next(std::size_t max);
  bool is_leftover(const EventId& id) const { return leftovers_.contains(id); }
  // Puts ids that next() gave out back to the front.
  void put_back(const std::vector<EventId>& ids);
  // The events that wait, were delivered before `id` and belong to its session, in order. One whose session
  // cannot be told from its first bytes counts as of this one.
  Result<std::vector<EventId>> older_of_session(const EventId& id);
  // Whether the next call of next() scans.
  bool is_list_used_up() const { return waiting_.empty(); }
  // How many events wait in new/ and cur/ now. Files with other names than an event's id are none of ours.
  Result<std::size_t> depth();

  // Moves new/ID to cur/ID and reads it.
  Result<std::string> take(const EventId& id);
  // Reads a leftover under the name that marks it as suspicious; calm() takes the mark away. It stays a
  // leftover until it is given back or done.
  Result<std::string> take_suspicious(const EventId& id);
  // To be held while it is read and parsed: tells a crash from other deaths. Means nothing for others.
  os::CrashMark crash_mark(const EventId& id) const;
  Status calm(const EventId& id);
  // The file in cur/ as it stands.
  Result<std::string> read(const EventId& id);
  // Back to new/: its transaction failed.
  Status give_back(const EventId& id);
  // The event is settled: the file goes.
  void done(const EventId& id);
  // Puts a copy into bad/ with `text` as its content; to be called before the event is settled.
  Status keep_bad(const EventId& id, std::string_view text);
  // It can be neither taken in nor set aside now: it stays in cur/ until sweep() lets it wait again.
  void hold(const EventId& id);
  // The bytes of what is to be set aside, under the name that says so; none when redacting them ended a
  // daemon already. calm() says that it has not.
  Result<std::string> read_poison(const Poison& poison);
  Status calm(const Poison& poison);
  void done_with_poison(const EventId& id);
  // Puts all that was set aside back to new/; says how many.
  Result<std::size_t> bring_back_bad();

  // Removes from bad/ what is older than 14 days or beyond 100 MB (oldest first), and from tmp/ what a dead
  // hook left an hour ago. What is held waits again.
  void sweep();

  // What hooks noted in inbox/failed, a line for each delivery that failed. Room for the next is kept there.
  std::string failed_note();
  // The first `bytes` of that note are counted for good. What hooks wrote behind them meanwhile stays.
  void clear_failed_note(std::size_t bytes);

  const std::string& new_directory() const { return new_; }

 private:
  // What the first bytes of a file say, unchecked: its place in the order, and whose it is.
  struct Peeked {
    std::string boot;
    std::int64_t ns = 0;
    std::string session;  // empty: not told
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
  std::map<EventId, int> leftovers_;  // in cur/ since a daemon died; how often while it was read alone
  std::set<EventId> held_;            // in cur/, for sweep() to let them wait again
  bool stranded_ = false;             // a file stands in cur/ that should not
};

}  // namespace cairn::intake
