#include "intake/intake.h"

#include <fmt/format.h>

#include "base/text.h"
#include "intake/host_event.h"
#include "store/events.h"

namespace cairn::intake {

Intake::Intake(store::Db& db, os::Disk& disk, os::Clock& clock, os::Processes& processes,
               const std::string& inbox, Log& log)
    : db_(db),
      clock_(clock),
      log_(log),
      reader_(disk, clock, inbox),
      recorder_(db, clock, processes, log),
      gate_(gate::Rules{}) {}

void Intake::configure(gate::Gate gate, Options options) {
  gate_ = std::move(gate);
  options_ = options;
}

Intake::Prepared Intake::prepare(const EventId& id, std::string file) const {
  auto decoded = hook::Envelope::decode(file);
  if (!decoded) return {id, Bad{{}, decoded.error().message, std::move(file)}};
  auto event = read_host_event(id, decoded->envelope, decoded->payload);
  if (!event) {
    hook::Envelope envelope = decoded->envelope;
    return {id, Bad{std::move(envelope), event.error().message, std::move(file)}};
  }
  store::Event shell;  // what a refusal may know of the event: where it belongs, nothing it said
  shell.id = id;
  shell.host = event->host;
  shell.name = event->name;
  shell.kind = event->kind;
  shell.session = event->session;
  shell.at = event->at;
  shell.boot_id = event->boot_id;
  shell.host_process = event->host_process;
  shell.cwd = event->cwd;
  shell.project_dir = event->project_dir;
  shell.transcript_path = event->transcript_path;
  auto verdict = gate_.pass(*std::move(event), options_.max_field);
  if (auto* refusal = std::get_if<gate::Refusal>(&verdict))
    return {id, std::pair(std::move(shell), std::move(*refusal))};
  return {id, std::get<gate::Gate::Passed>(std::move(verdict))};
}

Status Intake::settle_bad(const EventId& id, const Bad& bad) {
  store::Counted counted;
  counted.id = id;
  counted.name = bad.envelope.event.empty() ? "unknown" : bad.envelope.event;
  counted.kind = kind_name(kind_of(counted.name));
  counted.outcome = "bad";
  counted.reason = bad.reason;
  counted.at = bad.envelope.wall_ns > 0 ? from_epoch_ms(bad.envelope.wall_ns / 1'000'000) : clock_.now();
  return store::settle_counted(db_, counted, clock_.now());
}

Status Intake::settle(const Prepared& prepared) {
  if (TRY(store::is_settled(db_, prepared.id))) return {};
  if (const auto* bad = std::get_if<Bad>(&prepared.what)) return settle_bad(prepared.id, *bad);
  if (const auto* refused = std::get_if<std::pair<store::Event, gate::Refusal>>(&prepared.what))
    return recorder_.refuse(refused->first, refused->second);
  return recorder_.record(std::get<gate::Gate::Passed>(prepared.what));
}

// An error of the machine concerns the whole group; one of the event itself only that event.
static bool is_machine_error(const Error& error) {
  return error.code == Code::full || error.code == Code::denied || error.code == Code::busy ||
         error.code == Code::corrupt || error.code == Code::internal || error.code == Code::timeout;
}

// The bytes of a file that will be set aside; nothing when even that fails.
std::string Intake::text_of(const EventId& id) {
  return reader_.read(id).value_or("");
}

Status Intake::settle_group(std::vector<Prepared>& group) {
  auto transaction = TRY(store::Transaction::begin(db_));
  for (Prepared& prepared : group) {
    Status settled;
    {
      auto savepoint = TRY(store::Savepoint::begin(db_));
      settled = settle(prepared);
      if (settled) TRY(savepoint.commit());
    }
    if (settled) continue;
    if (is_machine_error(settled.error())) return settled;
    prepared.what = Bad{{}, settled.error().message, text_of(prepared.id)};
    TRY(settle_bad(prepared.id, std::get<Bad>(prepared.what)));
  }
  TRY(recorder_.finish());
  return transaction.commit();
}

void Intake::clear_files(const std::vector<Prepared>& group) {
  for (const Prepared& prepared : group) {
    const auto* bad = std::get_if<Bad>(&prepared.what);
    if (!bad) {
      reader_.done(prepared.id);
      continue;
    }
    log_.warn(fmt::format("intake event={} set aside: {}", prepared.id.value, bad->reason));
    if (auto aside = reader_.set_aside(prepared.id, gate_.clean(valid_utf8(bad->file), gate::Way::bad_file));
        !aside) {
      log_.error(fmt::format("intake event={}: {}", prepared.id.value, aside.error().message));
      reader_.done(prepared.id);
    }
  }
}

Status Intake::set_poison_aside(const EventId& id) {
  std::vector<Prepared> alone;
  alone.push_back({id, Bad{{}, "taking it in ended the daemon twice", text_of(id)}});
  TRY(settle_group(alone));
  clear_files(alone);
  return {};
}

Status Intake::take_alone(const EventId& id) {
  // The gate makes its tables at the first text: not under the mark, where a kill by chance would count.
  gate_.clean("name=value", gate::Way::bad_file);
  auto file = reader_.take_suspicious(id);
  std::vector<Prepared> alone;
  if (file)
    alone.push_back(prepare(id, *std::move(file)));
  else if (file.error().code == Code::invalid)
    alone.push_back({id, Bad{{}, file.error().message, ""}});
  const Status calmed = reader_.calm(id);  // whatever happened, it has not ended the daemon
  if (alone.empty()) return file.error().code == Code::not_found ? Status() : Status(file.error());
  TRY(calmed);
  return finish(alone);
}

Status Intake::start() {
  for (const EventId& id : TRY(reader_.start())) TRY(set_poison_aside(id));
  return {};
}

// Reads the next files of `ids`; what does not fit the group is put back. A file that cannot be read now
// stays in the inbox, and the error is returned only when nothing else could be read: others are not held up
// by it.
Result<std::vector<Intake::Prepared>> Intake::read_group(const std::vector<EventId>& ids) {
  std::vector<Prepared> group;
  std::optional<Error> failed;
  std::size_t bytes = 0;
  std::size_t taken = 0;
  for (; taken < ids.size() && bytes < options_.group_bytes; ++taken) {
    const EventId& id = ids[taken];
    auto file = reader_.take(id);
    if (file) {
      bytes += file->size();
      group.push_back(prepare(id, *std::move(file)));
    } else if (file.error().code == Code::invalid) {
      group.push_back({id, Bad{{}, file.error().message, ""}});
    } else if (file.error().code != Code::not_found) {
      ignore(reader_.give_back(id));
      failed = file.error();
    }
  }
  reader_.put_back({ids.begin() + static_cast<std::ptrdiff_t>(taken), ids.end()});
  if (group.empty() && failed) return *std::move(failed);
  return group;
}

// Settles a group and removes its files, or gives them back.
Status Intake::finish(std::vector<Prepared>& group) {
  if (auto settled = settle_group(group); !settled) {
    recorder_.discard();
    for (const Prepared& prepared : group) ignore(reader_.give_back(prepared.id));
    return std::move(settled).error().in("intake");
  }
  clear_files(group);
  return {};
}

Status Intake::take_group(const std::vector<EventId>& ids) {
  std::vector<Prepared> group = TRY(read_group(ids));
  return group.empty() ? Status() : finish(group);
}

Status Intake::take_now(const EventId& id) {
  return take_group({id});
}

Result<bool> Intake::step() {
  const std::vector<EventId> ids = TRY(reader_.next(options_.group));
  if (ids.empty()) return false;
  TRY(reader_.is_leftover(ids.front()) ? take_alone(ids.front()) : take_group(ids));
  return true;
}

}  // namespace cairn::intake
