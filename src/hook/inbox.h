// The inbox is where a hook writes an event: one file, no lock, no database.
//
// A file appears in new/ whole or not at all; after a power cut only with Sync::disk, else its checksums show
// that bytes are missing. Many processes may write at once; one reads. The file's name is
// the event's id: 16 hex digits of wall time in ns and 16 random ones, so names sort by time.
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

// Longer payloads are cut to the head and tail below.
inline constexpr std::uint64_t kMaxPayload = 64u << 20;
inline constexpr std::uint64_t kCutHead = 1u << 20;   // session id, cwd, tool name and the start of its input
inline constexpr std::uint64_t kCutTail = 64u << 10;  // tool_use_id and duration are at the end

// A unique id.
EventId new_event_id(std::int64_t wall_ns);

class Inbox {
 public:
  // Reads the next bytes of the payload into `to`; 0 at the end.
  using Source = std::function<Result<std::size_t>(char* to, std::size_t size)>;

  Inbox(os::Disk& disk, os::Clock& clock, std::string directory);

  // Delivers one event. `envelope` needs event, host, host_process and the texts of the environment; times
  // and sizes are set here. On return the event survives the death of every process; that of the machine
  // only with Sync::disk.
  // Creates missing directories. Uses less than 1 MB of memory for any payload. After a failure tmp/ is
  // clean.
  Result<EventId> deliver(Envelope envelope, const Source& payload, Flags::Sync sync);

 private:
  struct Draft {
    std::unique_ptr<os::File> file;
    std::string name;  // in tmp/; empty while it has none
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
