// The inbox is where a hook leaves an event: one file, no lock, no database.
//
// A file appears in new/ whole or not at all. Many processes may deliver at once; one takes in. The file's
// name is the event's id: 16 hex digits of wall time in ns, 16 random ones; names sort by time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "hook/envelope.h"
#include "hook/flags.h"
#include "os/clock.h"
#include "os/disk.h"

namespace cairn::hook {

// Payloads up to this are kept whole; of a longer one the head and the tail below.
inline constexpr std::uint64_t kMaxPayload = 64u << 20;
inline constexpr std::uint64_t kCutHead = 1u << 20;   // session id, cwd, tool name and the start of its input
inline constexpr std::uint64_t kCutTail = 64u << 10;  // tool_use_id and duration stand at the end

// A name that no other event has.
EventId new_event_id(std::int64_t wall_ns);

class Inbox {
 public:
  // Reads the next bytes of the payload into `to`; 0 at the end.
  using Source = std::function<Result<std::size_t>(char* to, std::size_t size)>;

  Inbox(os::Disk& disk, os::Clock& clock, std::string directory);

  // Delivers one event; `envelope` needs event, host and the environment's texts, times and payload fields
  // are filled in here. On return it survives the death of every process; of the machine only with
  // Sync::disk. Creates the inbox's directories when they are missing. Memory stays below 1 MB whatever the
  // payload's size. On failure nothing is left in tmp/ that a next delivery would trip over.
  Result<EventId> deliver(Envelope envelope, const Source& payload, Flags::Sync sync);

 private:
  struct Draft {
    std::unique_ptr<os::File> file;
    std::string name;  // in tmp/; empty as long as it has none
  };

  Status make_directories(Flags::Sync sync);
  Result<Draft> begin(const EventId& id, Flags::Sync sync);
  Status publish(Draft& draft, const EventId& id, Flags::Sync sync);
  Status give_name_in_tmp(Draft& draft, const std::string& name);

  os::Disk& disk_;
  os::Clock& clock_;
  std::string directory_;
};

}  // namespace cairn::hook
