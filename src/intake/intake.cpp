#include "intake/intake.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "host/host.h"
#include "host/shaped.h"
#include "store/events.h"

namespace cairn::intake {

// One group: read_group() moves its files to cur/ and prepares each one (decode, host, gate). store_group()
// writes all of them in one transaction. clear_files() then removes the files. In this order a crash leaves
// every event in the inbox, in the store, or in both; store_event() skips one that is in both.
Intake::Intake(store::Db& db, os::Disk& disk, os::Clock& clock, os::Processes& processes,
               const std::string& inbox, Log& log)
    : db_(db),
      disk_(disk),
      clock_(clock),
      log_(log),
      reader_(disk, clock, inbox),
      recorder_(db, disk, clock, processes, log),
      gate_(gate::Rules{}) {}

void Intake::configure(gate::Gate gate, Options options) {
  gate_ = std::move(gate);
  options_ = options;
}

Result<Intake::Prepared> Intake::prepare(const EventId& id, std::string file) {
  auto decoded = hook::Envelope::decode(file);
  if (!decoded) return Prepared{id, Bad{{}, decoded.error().message, redacted(file)}};
  const host::Host& host = host::find_host(decoded->envelope.host);
  auto event = host.read_event(id, decoded->envelope, decoded->payload);
  if (!event) {
    hook::Envelope envelope = decoded->envelope;
    return Prepared{id, Bad{std::move(envelope), event.error().message, redacted(file)}};
  }
  if (event->kind == event::Kind::session_start && !decoded->envelope.env_file.empty()) {
    // Only an answer takes an entry out, and some starts are never answered: keep the newest.
    constexpr std::size_t kMostStarts = 32;
    env_files_.emplace_back(id, decoded->envelope.env_file);
    if (env_files_.size() > kMostStarts) env_files_.pop_front();
  }
  host::find_host(event->host).complete(*event, disk_);
  event::Event outline;  // where the event belongs, without its content
  outline.id = id;
  outline.host = event->host;
  outline.name = event->name;
  outline.kind = event->kind;
  outline.session = event->session;
  outline.at = event->at;
  outline.boot_id = event->boot_id;
  outline.host_process = event->host_process;
  outline.cwd = event->cwd;
  outline.project_dir = event->project_dir;
  outline.transcript_path = event->transcript_path;
  outline.tool_use_id = event->tool_use_id;
  // The gate consumes the event. A refused event is still counted for its session, hence the outline.
  auto verdict = TRY(recorder_.pass(gate_, *std::move(event), options_.max_field));
  if (auto* refusal = std::get_if<gate::Refusal>(&verdict)) {
    gate_.clean_envelope(outline);
    return Prepared{id, std::pair(std::move(outline), std::move(*refusal))};
  }
  return Prepared{id, std::get<gate::Gate::Passed>(std::move(verdict))};
}

// The event is stored as bad once its copy is in bad/. When that cannot be written, it stays in the inbox and
// does not block others.
Status Intake::store_bad(const EventId& id, Bad& bad) {
  const Status kept = reader_.keep_bad(id, bad.text);
  bad.kept = kept.ok();
  if (!kept) {
    trouble_ =
        fmt::format("event {} can neither be read nor quarantined: {}", id.value, kept.error().message);
    return {};
  }
  if (TRY(store::is_recorded(db_, id))) return {};
  store::Counted counted;
  counted.id = id;
  event::Event outline;
  outline.name = bad.envelope.event.empty() ? "unknown" : bad.envelope.event;
  gate_.clean_envelope(outline);
  counted.name = outline.name;
  counted.kind = event::kind_name(host::find_host(bad.envelope.host).kind_of(counted.name));
  counted.outcome = store::EventOutcome::bad;
  counted.reason = bad.reason;
  counted.at = bad.envelope.wall_ns > 0 ? from_epoch_ms(bad.envelope.wall_ns / 1'000'000) : clock_.now();
  return store::record_counted(db_, counted, clock_.now());
}

Status Intake::store_event(const Prepared& prepared) {
  // Stored before a crash that kept the file, or quarantined before and brought back: only the latter is
  // read.
  if (TRY(store::is_recorded(db_, prepared.id)) && !TRY(store::reopen_bad(db_, prepared.id))) return {};
  if (const auto* refused = std::get_if<std::pair<event::Event, gate::Refusal>>(&prepared.what))
    return recorder_.refuse(refused->first, refused->second);
  return recorder_.record(std::get<gate::Gate::Passed>(prepared.what), true);
}

// An error of the machine concerns the whole group; one of the event itself only that event.
static bool is_machine_error(const Error& error) {
  return error.code == Code::full || error.code == Code::denied || error.code == Code::busy ||
         error.code == Code::corrupt || error.code == Code::internal || error.code == Code::timeout;
}

// The bytes of a file that will be quarantined; empty when it cannot be read.
std::string Intake::text_of(const EventId& id) {
  return reader_.read(id).value_or("");
}

Status Intake::store_together(std::span<Prepared> group) {
  auto transaction = TRY(store::Transaction::begin(db_));
  for (Prepared& prepared : group) {
    auto* const bad = std::get_if<Bad>(&prepared.what);
    TRY(bad ? store_bad(prepared.id, *bad) : store_event(prepared));
  }
  TRY(recorder_.finish());
  return transaction.commit();
}

Status Intake::store_group(std::vector<Prepared>& group) {
  auto stored = store_together(group);
  if (stored || is_machine_error(stored.error())) return stored;
  // One of the events cannot be stored. Store each alone, so that only that one is quarantined.
  for (Prepared& prepared : group) {
    recorder_.discard();
    stored = store_together({&prepared, 1});
    if (!stored && !is_machine_error(stored.error())) {
      recorder_.discard();
      prepared.what = Bad{{}, stored.error().message, redacted(text_of(prepared.id))};
      stored = store_together({&prepared, 1});
    }
    TRY(std::move(stored));
  }
  return {};
}

void Intake::clear_files(std::span<const Prepared> group) {
  for (const Prepared& prepared : group) {
    const auto* bad = std::get_if<Bad>(&prepared.what);
    if (bad && !bad->kept) {
      log_.error("intake: " + trouble_);
      reader_.defer(prepared.id);
      continue;
    }
    if (bad) log_.warn(fmt::format("intake event={} quarantined: {}", prepared.id.value, bad->reason));
    // After a power cut the commit may be gone: then the file in cur/ is a leftover and is read again.
    if (holding_)
      held_.push_back(prepared.id);
    else
      reader_.done(prepared.id);
  }
}

void Intake::remove_held() {
  for (const EventId& id : held_) reader_.done(id);
  held_.clear();
}

// Position and size of the value of the first member `name` in `json`; {0, 0}: there is none. Inside a string
// the quotes are escaped, so a member that is only quoted there does not match.
static std::pair<std::size_t, std::size_t> id_in(std::string_view json, std::string_view name) {
  const std::string key = fmt::format("\"{}\":\"", name);
  const std::size_t found = json.find(key);
  if (found == std::string_view::npos) return {0, 0};
  const std::size_t at = found + key.size();
  return {at, std::min(json.find('"', at), json.size()) - at};
}

// `clean` with the ids of `raw`. Redacted as plain text, an id looks like a secret and is removed; without it
// the event would belong to no session when the file is tried again.
static std::string with_ids_of(std::string_view raw, std::string clean, const gate::Gate& gate) {
  for (const std::string_view name : host::kIdMembers) {
    const auto [from, size] = id_in(raw, name);
    const auto [to, old_size] = id_in(clean, name);
    const std::string_view id = raw.substr(from, size);
    if (old_size > 0 && size > 0 && gate.id(id) == id) clean.replace(to, old_size, id);
  }
  return clean;
}

// Redacts the file as plain text. An inbox file keeps its form, so that it can be read again later.
std::string Intake::redacted(const std::string& file) const {
  auto decoded = hook::Envelope::decode(file);
  if (!decoded) return gate_.clean(valid_utf8(file), gate::Way::bad_file);
  hook::Envelope& e = decoded->envelope;
  const auto clean = [&](std::string_view part) {
    return gate_.clean(valid_utf8(std::string(part)), gate::Way::bad_file);
  };
  for (std::string* text : {&e.event, &e.host, &e.project_dir, &e.env_file, &e.config_dir, &e.entrypoint})
    *text = clean(*text);
  // Head and tail of a cut payload are redacted apart: no secret may be found across the gap.
  const std::string_view head = decoded->payload.substr(0, e.cut() ? e.head_bytes : e.payload_bytes);
  std::string payload = with_ids_of(head, clean(head), gate_);
  if (e.cut()) {
    const std::string tail = clean(decoded->payload.substr(e.head_bytes));
    e.head_bytes = payload.size();
    payload += tail;
  }
  // The header must fit the redacted payload, or decode() rejects the file when it is tried again.
  e.payload_bytes = payload.size();
  e.payload_checksum = checksum(payload);
  e.total_bytes = e.cut() ? std::max(e.total_bytes, e.payload_bytes + 1) : e.payload_bytes;
  return e.encode() + payload;
}

std::string Intake::take_env_file(const EventId& id) {
  const auto named = std::find_if(env_files_.begin(), env_files_.end(),
                                  [&](const auto& one) { return one.first.value == id.value; });
  if (named == env_files_.end()) return {};
  std::string path = std::move(named->second);
  env_files_.erase(named);
  return path;
}

Status Intake::start() {
  // Redacting may crash too: read_suspect() marks the file first, clear_mark() removes the mark.
  for (const InboxReader::Suspect& suspect : TRY(reader_.start())) {
    suspects_.push_back(
        {suspect.id, Bad{{}, suspect.reason(), redacted(TRY(reader_.read_suspect(suspect)))}});
    TRY(reader_.clear_mark(suspect));
  }
  return {};
}

void Intake::sweep() {
  trouble_.clear();
  reader_.sweep();
  if (suspects_.empty()) return;
  if (auto stored = store_group(suspects_); !stored) {
    log_.error("intake: " + stored.error().message);
    return;
  }
  clear_files(suspects_);
  std::erase_if(suspects_, [&](const Prepared& prepared) {
    const bool kept = std::get<Bad>(prepared.what).kept;
    if (kept) reader_.done_with_suspect(prepared.id);
    return kept;
  });
}

// We have no permission to read this file, but others may be readable: it is tried again in a minute.
std::optional<Intake::Prepared> Intake::defer(const EventId& id, const Error& error) {
  trouble_ = fmt::format("event {} cannot be read: {}", id.value, error.message);
  log_.error("intake: " + trouble_);
  reader_.defer(id);
  return std::nullopt;
}

// Nothing when the file does not exist any more, or may not be read.
Result<std::optional<Intake::Prepared>> Intake::read_one(const EventId& id, std::size_t& bytes) {
  std::optional<Prepared> one;
  Status failed, cleared;
  const bool leftover = reader_.is_leftover(id);
  // The gate builds its tables at the first text. Do that before the mark is set: a kill during it would
  // count against the file.
  if (leftover) gate_.clean("name=value", gate::Way::bad_file);
  const os::CrashMark mark = reader_.crash_mark(id);
  auto file = leftover ? reader_.take_suspicious(id) : reader_.take(id);
  if (file) {
    bytes += file->size();
    auto prepared = prepare(id, *std::move(file));
    if (prepared)
      one = *std::move(prepared);
    else
      failed = std::move(prepared).error();
  } else if (file.error().code == Code::invalid) {
    one = Prepared{id, Bad{{}, file.error().message, ""}};
  } else {
    failed = file.error();
  }
  if (leftover) cleared = reader_.clear_mark(id);  // reading it has not killed the daemon
  // When the rename itself was denied the file is not in cur/: that is an error of the inbox, not of the
  // file.
  if (!file && file.error().code == Code::denied && reader_.is_in_work(id)) return defer(id, file.error());
  if (!file && file.error().code == Code::not_found) return one;
  // Another error, such as a failing disk: the file waits for a later step. Leftovers stay in cur/.
  if (!failed && !leftover) ignore(reader_.give_back(id));
  TRY(std::move(failed));
  TRY(cleared);
  return one;
}

// Reads the next files of `ids`, as many as fit the group; `taken` says how many. A file that cannot be read
// now stays in the inbox. Its error is returned only when no file could be read.
Result<std::vector<Intake::Prepared>> Intake::read_group(const std::vector<EventId>& ids,
                                                         std::size_t& taken) {
  std::vector<Prepared> group;
  std::optional<Error> failed;
  std::size_t bytes = 0;
  for (taken = 0; taken < std::min(ids.size(), options_.group) && bytes < options_.group_bytes; ++taken) {
    auto one = read_one(ids[taken], bytes);
    if (!one)
      failed = one.error();
    else if (*one)
      group.push_back(**std::move(one));
  }
  if (group.empty() && failed) return *std::move(failed);
  return group;
}

// Stores a group and removes its files, or moves them back.
Status Intake::finish(std::vector<Prepared>& group) {
  if (auto stored = store_group(group); !stored) {
    recorder_.discard();
    for (const Prepared& prepared : group) ignore(reader_.give_back(prepared.id));
    return std::move(stored).error().in("intake");
  }
  clear_files(group);
  return {};
}

// False: none of the files exists any more.
Result<bool> Intake::take_group(const std::vector<EventId>& ids) {
  std::size_t taken = 0;
  auto read = read_group(ids, taken);
  // Before the error is returned: ids that next() returned and that were not read must stay in the list.
  reader_.put_back({ids.begin() + static_cast<std::ptrdiff_t>(taken), ids.end()});
  std::vector<Prepared> group = TRY(std::move(read));
  if (group.empty()) return false;
  TRY(finish(group));
  return true;
}

Status Intake::take_now(const EventId& id) {
  std::vector<EventId> ids = TRY(reader_.older_of_session(id));
  ids.push_back(id);
  while (!ids.empty()) {
    std::size_t taken = 0;
    auto group = read_group(ids, taken);
    ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(taken));
    // Older events that cannot be read do not stop the answer. Only an error of the last group counts: the
    // hook's own event is in it.
    if (!group && ids.empty()) return std::move(group).error();
    if (group && !group->empty()) TRY(finish(*group));
  }
  return {};
}

// Files of an old list may be gone, read by take_now(). Only a list that was made in this call proves that
// nothing is left.
Result<bool> Intake::step() {
  for (bool fresh = false;;) {
    fresh |= reader_.is_list_used_up();
    const std::vector<EventId> ids = TRY(reader_.next(options_.group));
    if (ids.empty()) return false;
    if (TRY(take_group(ids))) return true;
    if (fresh && reader_.is_list_used_up()) return false;
  }
}

}  // namespace cairn::intake
