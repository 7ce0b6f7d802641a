// Events that hooks could not write to the inbox: counted once, reported to the user, searched for in
// transcripts.
//
// Hooks leave notes of them, a line for each (hook/failures.h). A note is counted in a transaction and
// cleared after the commit. The transaction also stores a mark of what was counted, "SIZE HASH" of the note's
// beginning: if we die before the note is cleared, the next count skips that part.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "daemon/engine.h"
#include "hook/failures.h"
#include "store/lost.h"

namespace cairn::daemon {

// Identifies the part of a note that was counted.
static std::string counted_mark(std::string_view note, std::size_t size) {
  return fmt::format("{} {}", size, content_hash(note.substr(0, size)));
}

// A note can hold anything; an id becomes part of a file name when its transcript is searched for.
static bool is_session_id(std::string_view id) {
  return !id.empty() && std::all_of(id.begin(), id.end(),
                                    [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
}

// Call within in_transaction(), which clears the notes after the commit.
Status Engine::note_failures() {
  TRY(count_note("failed_note", intake_.reader().failed_note(),
                 [this](std::size_t bytes) { intake_.reader().clear_failed_note(bytes); }));
  const std::string outside = home_.failed_outside();
  const auto note = os::read_file(seams_.disk, outside, 2 * hook::kMaxFailures, os::Open::read_own);
  if (!note) return {};
  return count_note("failed_note_outside", *note, [this, outside](std::size_t bytes) {
    // A larger file has a new line: it stays, and the next count skips what the mark covers.
    const auto stat = seams_.disk.stat(outside);
    if (stat && stat->size <= bytes) ignore(seams_.disk.remove(outside));
  });
}

// Counts the complete lines of a note: a hook may be writing the last one.
Status Engine::count_note(const std::string& name, const std::string& note,
                          std::function<void(std::size_t)> clear) {
  const std::size_t end = note.find_last_of('\n') + 1;
  if (end == 0) return {};
  after_commit_.push_back([clear = std::move(clear), end] { clear(end); });
  const std::string counted = TRY(store::counted_of_note(db_, name));
  std::size_t from = 0;
  std::from_chars(counted.data(), counted.data() + counted.size(), from);
  // The note does not begin with what was counted: it was cleared, and all of it is new.
  if (from > end || counted != counted_mark(note, from)) from = 0;
  const auto failures = hook::parse_failures(std::string_view(note).substr(from));
  if (failures.empty()) return {};
  seams_.log.error(fmt::format("hooks could not write {} events to the inbox", failures.size()));
  store::Lost lost{seams_.clock.now(), {}};
  for (const hook::Failure& failure : failures) {
    // Counted, but not searched for: we do not know in which transcript, or since when.
    if (failure.at_ms == 0 || !is_session_id(failure.session)) continue;
    lost.since = std::min(lost.since, from_epoch_ms(failure.at_ms));
    ++lost.events[failure.session];
  }
  if (!lost.events.empty()) TRY(store::add_lost(db_, lost));
  TRY(store::set_counted_of_note(db_, name, counted_mark(note, end)));
  return store::count_failed(db_, static_cast<std::int64_t>(failures.size()));
}

// Each event recovered from a transcript reduces the count of events that could not be written.
Status Engine::note_recovered() {
  const std::int64_t more = catch_up_.recovered() - recovered_noted_;
  if (more == 0) return {};
  TRY(in_transaction([&]() -> Status {
    TRY(note_failures());
    return store::count_recovered(db_, more);
  }));
  recovered_noted_ += more;
  return {};
}

}  // namespace cairn::daemon
