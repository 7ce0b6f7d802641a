#include "intake/inbox_reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hook/inbox.h"
#include "hook/scan.h"
#include "host/shaped.h"

namespace cairn::intake {

static constexpr std::size_t kMaxFile = hook::kMaxPayload + (64u << 10);  // payload and header
static constexpr std::int64_t kHourNs = 3'600'000'000'000;
static constexpr std::int64_t kBadDays = 14;
static constexpr std::uint64_t kBadBytes = 100u << 20;
// Enough for a usual header and the start of the payload, where the host writes its session first.
static constexpr std::size_t kPeekedBytes = 2048;
static constexpr std::string_view kCrashed = ".crashed";
static constexpr std::string_view kAside = ".aside";
// About twenty lines: knowing that deliveries failed matters more than how many.
static constexpr std::size_t kFailedRoom = 4096;

// How a file moves. take() renames new/ID to cur/ID, so that after a death only the few files in cur/ are
// suspected of having caused it. done() removes it, give_back() returns it to new/. What a dead daemon left
// in cur/ is a leftover: start() finds it, and take_suspicious() counts a death in its name before the file
// is parsed. Each change of state is one rename or one removal, so a crash leaves no half-done step.
InboxReader::InboxReader(os::Disk& disk, os::Clock& clock, std::string directory)
    : disk_(disk),
      clock_(clock),
      directory_(std::move(directory)),
      tmp_(directory_ + "/tmp"),
      new_(directory_ + "/new"),
      cur_(directory_ + "/cur"),
      bad_(directory_ + "/bad") {}

// Only in an existing home: a home that was deleted is not created again.
Status InboxReader::make_directories() {
  for (const std::string& directory : {directory_, tmp_, new_, cur_}) TRY(disk_.make_dir(directory));
  ignore(disk_.make_dir(bad_));  // needed only for what is quarantined, and reported then
  // A hook with `hook.sync = "disk"` relies on durable directories. We may lack the rights to sync those
  // above ours.
  for (std::string path = directory_; !path.empty(); path.resize(path.find_last_of('/')))
    ignore(disk_.sync_dir(path));
  return {};
}

// Creates a directory again that was removed while we run: hooks create only their own.
Status InboxReader::move(const std::string& from, const std::string& to) {
  Status moved = disk_.rename(from, to);
  // With the source in place, `not_found` means that the target's directory is missing.
  if (moved || moved.error().code != Code::not_found || !disk_.stat(from)) return moved;
  // Not the file's fault: do not quarantine it.
  if (auto made = make_directories(); !made) return Error{Code::denied, made.error().message};
  return disk_.rename(from, to);
}

Result<std::vector<InboxReader::Suspect>> InboxReader::start() {
  TRY(make_directories());
  sweep();
  std::vector<Suspect> found;
  for (const std::string& name : TRY(disk_.list(cur_))) {
    const EventId id{name.substr(0, 32)};
    if (!is_event_id(id.value)) continue;
    const std::string mark = name.substr(32);
    const bool numbered = mark.size() == 2 && mark[0] == '.' && mark[1] >= '1' && mark[1] <= '9';
    // Other marks are not ours: such a file is left alone.
    const int deaths = numbered ? mark[1] - '0' : 0;
    if (mark == kAside || mark == kCrashed || deaths >= kMostDeaths) {
      found.push_back({id, mark});
    } else if (mark.empty() || numbered) {
      if (numbered) TRY(disk_.rename(cur_ + "/" + name, cur_ + "/" + id.value));
      leftovers_[id] = deaths;
    }
  }
  return found;
}

// Files that could not be moved back to new/ when their transaction failed.
void InboxReader::bring_back_stranded() {
  const auto names = disk_.list(cur_);
  if (!names) return;
  stranded_ = false;
  for (const std::string& name : *names)
    if (const EventId id{name}; is_event_id(name) && !is_leftover(id) && !deferred_.contains(id))
      ignore(give_back(id));
}

Result<std::vector<EventId>> InboxReader::scan() {
  if (stranded_) bring_back_stranded();
  std::vector<EventId> ids;
  auto names = disk_.list(new_);
  if (!names && names.error().code == Code::not_found) {  // it was removed while we run
    TRY(make_directories());
    return ids;
  }
  for (const std::string& name : TRY(std::move(names))) {
    if (is_event_id(name)) ids.push_back(EventId{name});  // no hook wrote the others
  }
  // Leftovers are in cur/ but wait like the others.
  for (const auto& leftover : leftovers_) ids.push_back(leftover.first);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

const InboxReader::Peeked& InboxReader::peek(const EventId& id) {
  const auto [at, fresh] = peeked_.try_emplace(id);
  Peeked& peeked = at->second;
  if (!fresh) return peeked;
  // A file that cannot be read gets an empty order and an unknown session. take() reports its error.
  auto file = disk_.open((is_leftover(id) ? cur_ : new_) + "/" + id.value, os::Open::read_own);
  if (!file) return peeked;
  std::string start(kPeekedBytes, '\0');
  const auto got = (*file)->read_at(0, start.data(), start.size());
  start.resize(got ? *got : 0);
  if (auto order = hook::Envelope::peek_order(start)) {
    peeked.boot = std::move(order->first);
    peeked.ns = order->second;
  }
  // The payload begins after the header line; it is searched as text, because most payloads are cut here.
  peeked.session = hook::word_in(std::string_view(start).substr(std::min(start.find('\n'), start.size())),
                                 host::kSessionMember);
  return peeked;
}

// Wall time may have jumped while events waited; boot time cannot.
std::vector<EventId> InboxReader::in_boot_order(std::vector<EventId> ids) {
  std::map<std::string, std::string> first_of_boot;  // boot id -> smallest event id
  for (const EventId& id : ids) {
    auto [at, fresh] = first_of_boot.emplace(peek(id).boot, id.value);
    if (!fresh) at->second = std::min(at->second, id.value);
  }
  std::sort(ids.begin(), ids.end(), [&](const EventId& a, const EventId& b) {
    const Peeked &one = peeked_[a], &other = peeked_[b];
    if (one.boot != other.boot) return first_of_boot[one.boot] < first_of_boot[other.boot];
    if (one.ns != other.ns) return one.ns < other.ns;
    return a < b;
  });
  return ids;
}

Result<std::vector<EventId>> InboxReader::older_of_session(const EventId& id) {
  std::vector<EventId> ids = TRY(scan());
  // The event was read already, or never delivered.
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) return std::vector<EventId>();
  const std::string session = peek(id).session;
  std::erase_if(ids, [&](const EventId& other) {
    const std::string& theirs = peek(other).session;
    return other != id && !theirs.empty() && theirs != session;
  });
  ids = in_boot_order(std::move(ids));
  ids.erase(std::find(ids.begin(), ids.end(), id), ids.end());
  return ids;
}

Result<std::vector<EventId>> InboxReader::next(std::size_t max) {
  if (waiting_.empty()) {
    std::vector<EventId> ids = TRY(scan());
    // Ids that were read are not asked for again: without this the cache grows for ever.
    peeked_.clear();
    if (ids.size() > 1) ids = in_boot_order(std::move(ids));
    waiting_.assign(std::make_move_iterator(ids.begin()), std::make_move_iterator(ids.end()));
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(max, waiting_.size()));
  std::vector<EventId> group(waiting_.begin(), waiting_.begin() + count);
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  return group;
}

void InboxReader::put_back(const std::vector<EventId>& ids) {
  waiting_.insert(waiting_.begin(), ids.begin(), ids.end());
}

Result<std::size_t> InboxReader::depth() {
  std::size_t count = 0;
  for (const std::string& directory : {new_, cur_}) {
    auto names = disk_.list(directory);
    if (!names && names.error().code == Code::not_found) continue;
    for (const std::string& name : TRY(std::move(names))) count += is_event_file(name);
  }
  return count;
}

Result<std::string> InboxReader::take(const EventId& id) {
  TRY(move(new_ + "/" + id.value, cur_ + "/" + id.value));
  return read(id);
}

Result<std::string> InboxReader::read(const EventId& id) {
  return os::read_file(disk_, cur_ + "/" + id.value, kMaxFile, os::Open::read_own);
}

std::string InboxReader::suspicious(const EventId& id) const {
  const auto deaths = leftovers_.find(id);
  return cur_ + "/" + id.value + "." + std::to_string(1 + (deaths == leftovers_.end() ? 0 : deaths->second));
}

Result<std::string> InboxReader::take_suspicious(const EventId& id) {
  // It already has that name when the disk failed before the mark could be removed.
  const Status marked = disk_.rename(cur_ + "/" + id.value, suspicious(id));
  if (!marked && marked.error().code != Code::not_found) return marked.error();
  auto file = os::read_file(disk_, suspicious(id), kMaxFile, os::Open::read_own);
  // Somebody removed the file: scan() must not list it again.
  if (!file && file.error().code == Code::not_found) leftovers_.erase(id);
  return file;
}

os::CrashMark InboxReader::crash_mark(const EventId& id) const {
  return os::CrashMark(suspicious(id), cur_ + "/" + id.value + std::string(kCrashed));
}

Status InboxReader::clear_mark(const EventId& id) {
  return disk_.rename(suspicious(id), cur_ + "/" + id.value);
}

Status InboxReader::give_back(const EventId& id) {
  leftovers_.erase(id);
  Status moved = move(cur_ + "/" + id.value, new_ + "/" + id.value);
  // The file is still in cur/, where scan() does not look: the next scan moves it back first.
  if (!moved && moved.error().code != Code::not_found) stranded_ = true;
  return moved;
}

void InboxReader::done(const EventId& id) {
  leftovers_.erase(id);
  const Status removed = disk_.remove(cur_ + "/" + id.value);
  if (removed) return;
  const auto odd = disk_.stat(cur_ + "/" + id.value);  // a directory is no event and cannot be removed as one
  if (odd && odd->is_dir && move(cur_ + "/" + id.value, bad_ + "/" + id.value + ".dir")) return;
  // A file that was held in cur/ may have been moved back to new/ with the stranded ones.
  ignore(disk_.remove(new_ + "/" + id.value));
  if (removed.error().code != Code::not_found) stranded_ = true;
}

Status InboxReader::keep_bad(const EventId& id, std::string_view text) {
  const std::string path = bad_ + "/" + id.value;
  Status kept = os::replace_file(disk_, path, text);
  if (kept || kept.error().code != Code::not_found) return kept;
  TRY(make_directories());
  TRY(disk_.make_dir(bad_));
  return os::replace_file(disk_, path, text);
}

void InboxReader::defer(const EventId& id) {
  leftovers_.erase(id);
  deferred_.insert(id);
}

std::string InboxReader::Suspect::reason() const {
  if (mark == kAside) return "quarantining it ended the daemon";
  return mark == kCrashed ? "reading it crashed the daemon"
                          : "reading it ended the daemon " + mark.substr(1) + " times";
}

Result<std::string> InboxReader::read_suspect(const Suspect& suspect) {
  if (suspect.mark == kAside) return std::string();
  const std::string path = cur_ + "/" + suspect.id.value;
  auto file = os::read_file(disk_, path + suspect.mark, kMaxFile);
  // `invalid`: too long, or not a regular file. It is quarantined without its text.
  if (!file && file.error().code != Code::invalid) return file;
  TRY(disk_.rename(path + suspect.mark, path + std::string(kAside)));
  return std::move(file).value_or("");
}

Status InboxReader::clear_mark(const Suspect& suspect) {
  if (suspect.mark == kAside) return {};
  const std::string path = cur_ + "/" + suspect.id.value;
  // If the daemon dies before the copy is in bad/, the next one redacts the file again and keeps its text.
  return disk_.rename(path + std::string(kAside), path + std::string(kCrashed));
}

void InboxReader::done_with_suspect(const EventId& id) {
  for (const std::string_view mark : {kAside, kCrashed})
    ignore(disk_.remove(cur_ + "/" + id.value + std::string(mark)));
}

Result<std::size_t> InboxReader::bring_back_bad() {
  TRY(make_directories());
  std::size_t count = 0;
  for (const std::string& name : TRY(disk_.list(bad_))) {
    if (!is_event_id(name)) continue;
    // The daemon deletes the row of a bad event when it reads the file again (store::reopen_bad).
    TRY(disk_.rename(bad_ + "/" + name, new_ + "/" + name));
    ++count;
  }
  return count;
}

void InboxReader::sweep() {
  // A file that cannot be moved now is marked as stranded by give_back().
  for (const EventId& id : std::exchange(deferred_, {})) ignore(give_back(id));
  const std::int64_t now = clock_.wall_ns();
  if (const auto names = disk_.list(tmp_))
    for (const std::string& name : *names)
      if (const auto stat = disk_.stat(tmp_ + "/" + name); stat && stat->modified_ns < now - kHourNs)
        ignore(disk_.remove(tmp_ + "/" + name));
  auto names = disk_.list(bad_);
  if (!names) return;
  std::vector<std::pair<os::Stat, std::string>> kept;
  for (const std::string& name : *names)
    if (const auto stat = disk_.stat(bad_ + "/" + name)) kept.emplace_back(*stat, bad_ + "/" + name);
  std::sort(kept.begin(), kept.end(),
            [](const auto& a, const auto& b) { return a.first.modified_ns > b.first.modified_ns; });
  std::uint64_t total = 0;
  for (const auto& [stat, path] : kept) {
    total += stat.size;
    if (total > kBadBytes || stat.modified_ns < now - kBadDays * 24 * kHourNs) ignore(disk_.remove(path));
  }
}

std::string InboxReader::failed_note() {
  const std::string path = directory_ + "/failed";
  auto note = os::read_file(disk_, path, 1u << 20);
  if (!note && note.error().code != Code::not_found) return "";
  const std::size_t size = note ? note->size() : 0;
  if (size >= kFailedRoom) return *std::move(note);
  // Hooks overwrite these blanks with their lines, which works on a full disk too (docs/reference/inbox.md).
  if (auto file = disk_.open(path, os::Open::read_write))
    ignore((*file)->write_at(size, std::string(kFailedRoom - size, ' ')));
  return std::move(note).value_or("");
}

void InboxReader::clear_failed_note(std::size_t bytes) {
  // Overwrite, do not remove or truncate: that keeps its space on the disk, and lines that a hook is just
  // adding.
  if (auto file = disk_.open(directory_ + "/failed", os::Open::read_write))
    ignore((*file)->write_at(0, std::string(bytes, ' ')));
}

}  // namespace cairn::intake
