#include "hook/inbox.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace cairn::hook {

namespace {

// How much is read of a payload that is cut anyway: a host that never stops sending must not block the hook
// for ever.
constexpr std::uint64_t kMaxRead = 1u << 30;

// Enough for the longest header and the content of a pipe.
constexpr std::size_t kBuffer = 96u << 10;

// Writes one payload after its header, and completes the header. The header has the payload's length and
// checksum, which are known only at the end. Its own length does not depend on them. So the payload is
// written behind a gap of that length, and the header goes into the gap last. Nobody reads the file before
// publish(), so an incomplete header is never seen.
class Writer {
 public:
  Writer(os::File& file, Envelope& envelope, const Inbox::Source& source)
      : file_(file), envelope_(envelope), source_(source) {}

  Status write() {
    // The header's length depends only on its texts, which do not change any more.
    const std::size_t header = envelope_.encode().size();
    std::size_t filled = TRY(fill(header));
    const bool whole = header + filled < kBuffer;
    if (whole) {
      // The usual case: everything fits, and one write is enough.
      account(filled, header);
      set_checksum();
      put_header();
      return file_.write_at(0, {buffer_, header + filled});
    }
    std::uint64_t end = header;  // of the file
    std::size_t at = header;     // where the payload begins in the buffer: after the gap only the first time
    while (filled > 0 && envelope_.total_bytes + filled <= kMaxPayload) {
      account(filled, at);
      TRY(file_.write_at(end, {buffer_ + at, filled}));
      end += filled;
      at = 0;
      filled = TRY(fill(0));
    }
    if (filled > 0) TRY(cut(header, filled));
    set_checksum();
    put_header();
    return file_.write_at(0, {buffer_, header});
  }

 private:
  // Fills the buffer from `from` on; completely unless the payload ends.
  Result<std::size_t> fill(std::size_t from) {
    std::size_t at = from;
    while (at < kBuffer) {
      const std::size_t got = TRY(source_(buffer_ + at, kBuffer - at));
      if (got == 0) break;
      at += got;
    }
    return at - from;
  }

  void account(std::size_t size, std::size_t at) {
    sum_.add({buffer_ + at, size});
    envelope_.total_bytes += size;
    envelope_.payload_bytes += size;
  }

  // The payload is too long: keep the head in the file and append the last bytes. The buffer has the next
  // `filled` bytes after those in the file.
  Status cut(std::size_t header, std::size_t filled) {
    // `tail` always has the last kCutTail bytes of what came. It begins with the end of what is in the file.
    std::string tail(kCutTail, '\0');
    TRY(file_.read_at(header + envelope_.total_bytes - kCutTail, tail.data(), kCutTail));
    while (filled > 0 && envelope_.total_bytes < kMaxRead) {
      tail.append(buffer_, filled);
      tail.erase(0, tail.size() - kCutTail);
      envelope_.total_bytes += filled;
      filled = TRY(fill(0));
    }
    TRY(file_.truncate(header + kCutHead));
    // The checksum so far includes bytes that are cut off: compute it again over what stays.
    sum_ = Checksum();
    for (std::uint64_t at = 0; at < kCutHead;) {
      const std::size_t step = std::min<std::uint64_t>(kBuffer, kCutHead - at);
      if (TRY(file_.read_at(header + at, buffer_, step)) != step)
        return Error{Code::internal, "inbox: a file became shorter while it was written"};
      sum_.add({buffer_, step});
      at += step;
    }
    sum_.add(tail);
    envelope_.head_bytes = kCutHead;
    envelope_.payload_bytes = kCutHead + kCutTail;
    return file_.write_at(header + kCutHead, tail);
  }

  void set_checksum() { envelope_.payload_checksum = sum_.value(); }

  void put_header() {
    const std::string header = envelope_.encode();
    std::copy(header.begin(), header.end(), buffer_);
  }

  os::File& file_;
  Envelope& envelope_;
  const Inbox::Source& source_;
  Checksum sum_;
  // On the stack: allocating it would cost mapping and unmapping.
  char buffer_[kBuffer];
};

}  // namespace

EventId new_event_id(std::int64_t wall_ns) {
  return {to_hex(static_cast<std::uint64_t>(wall_ns)) + random_hex(8)};
}

Inbox::Inbox(os::Disk& disk, os::Clock& clock, std::string directory)
    : disk_(disk), clock_(clock), directory_(std::move(directory)) {}

Status Inbox::make_directories(Flags::Sync sync) {
  TRY(os::make_dirs(disk_, directory_ + "/tmp"));
  TRY(os::make_dirs(disk_, directory_ + "/new"));
  if (sync != Flags::Sync::disk) return {};
  // We do not know which of the parent directories were missing. Those of other users cannot be synced and
  // need not be.
  for (std::string path = directory_; !path.empty(); path.resize(path.find_last_of('/')))
    ignore(disk_.sync_dir(path));
  return {};
}

Result<EventId> Inbox::deliver(Envelope envelope, const Source& payload, Flags::Sync sync) {
  envelope.wall_ns = clock_.wall_ns();
  envelope.boot_ns = clock_.boot_ns();
  envelope.boot_id = clock_.boot_id();
  envelope.payload_bytes = envelope.total_bytes = envelope.head_bytes = 0;
  EventId id = new_event_id(envelope.wall_ns);
  Draft draft = TRY(begin(id, sync));
  Status done = Writer(*draft.file, envelope, payload).write();
  // The bytes before the name: otherwise a power cut could leave a name in new/ without the bytes.
  if (done.ok() && sync == Flags::Sync::disk) done = draft.file->sync();
  if (done.ok()) done = publish(draft, id, sync);
  if (!done.ok()) {
    if (!draft.name.empty()) ignore(disk_.remove(draft.name));
    return std::move(done).error();
  }
  if (sync == Flags::Sync::disk) TRY(disk_.sync_dir(directory_ + "/new"));
  return id;
}

// Uses a file without a name if possible. Renaming between directories takes a lock of the whole file system,
// for which other hooks would wait; and a hook that dies leaves no file. With Sync::disk the file has a name
// from the start, which is safe on every file system.
Result<Inbox::Draft> Inbox::begin(const EventId& id, Flags::Sync sync) {
  const std::string tmp = directory_ + "/tmp";
  const auto open = [&]() -> Result<Draft> {
    if (sync != Flags::Sync::disk) {
      auto unnamed = disk_.open(tmp, os::Open::unnamed);
      if (unnamed.ok()) return Draft{std::move(*unnamed), ""};
      if (unnamed.error().code != Code::unsupported) return std::move(unnamed).error();
    }
    std::string name = tmp + "/" + id.value;
    return Draft{TRY(disk_.open(name, os::Open::create_new)), std::move(name)};
  };
  // The directories are created only after an open failed: in almost every run they exist.
  auto draft = open();
  if (draft.ok() || draft.error().code != Code::not_found) return draft;
  TRY(make_directories(sync));
  return open();
}

Status Inbox::publish(Draft& draft, const EventId& id, Flags::Sync sync) {
  const std::string delivered = directory_ + "/new/" + id.value;
  const auto appear = [&] {
    return draft.name.empty() ? draft.file->give_name(delivered) : disk_.rename(draft.name, delivered);
  };
  Status done = appear();
  // `not_found`: new/ is missing, or there is no /proc to name the file through. Creating the directories
  // helps in the first case, the copy below in the second.
  if (!done.ok() && done.error().code == Code::not_found) {
    TRY(make_directories(sync));
    done = appear();
  }
  if (done.ok() || !draft.name.empty()) return done;
  TRY(give_name_in_tmp(draft, directory_ + "/tmp/" + id.value));
  return appear();
}

// Where a file without a name can be created but not named (no /proc), it is copied.
Status Inbox::give_name_in_tmp(Draft& draft, const std::string& name) {
  std::unique_ptr<os::File> copy = TRY(disk_.open(name, os::Open::create_new));
  draft.name = name;
  std::string block(kBuffer, '\0');
  for (std::uint64_t at = 0;;) {
    const std::size_t got = TRY(draft.file->read_at(at, block.data(), block.size()));
    if (got == 0) break;
    TRY(copy->write_at(at, {block.data(), got}));
    at += got;
  }
  draft.file = std::move(copy);
  return {};
}

}  // namespace cairn::hook
