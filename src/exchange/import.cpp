#include "exchange/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/text.h"
#include "exchange/export.h"
#include "forget/job.h"
#include "forget/select.h"
#include "forget/tombstones.h"
#include "gate/private_text.h"
#include "store/corrections.h"
#include "store/identity.h"
#include "store/observations.h"
#include "store/project_links.h"
#include "store/sessions.h"

namespace cairn::exchange {

// Records arrive in an order in which each comes after those that it names. take_row() does for each:
// 1. local_row() translates it: uuids become row numbers of this store, texts pass the gate, values are
// checked.
// 2. What was forgotten here, or belongs to something that was left out, is left out. rows_ remembers it as
// 0.
// 3. A row that is here already stays, or takes over a later correction; otherwise it is added.
// finish() sets links to later records and begins a forget for the tombstones of the file.

namespace {

using Is = store::ExchangeColumn::Is;
using store::ExchangeColumn;
using store::Exchanged;
using store::ExchangeKind;

// The file may come from anywhere: these limits bound what it can take.
constexpr std::size_t kMostStones = 2'000'000, kMostFixed = 200, kMostWord = 8192;
constexpr std::string_view kForgottenReason = "forgotten here";

Error wrong(std::string_view what) {
  return {Code::invalid, std::string(what) + ": nothing was changed"};
}

// Ids, hashes, times and states: none of them can carry a text.
bool is_fixed(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:+ ";
  return text.size() <= kMostFixed && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

// The name of a kind in a report; empty: it is only a part of a record and is not counted.
std::string plural(std::string_view kind) {
  if (any_of(kind, {"session", "prompt", "text", "observation", "open item", "order", "document"}))
    return std::string(kind) + "s";
  return kind == "summary" ? "summaries" : "";
}

std::string text_in(const Json& record, std::string_view key) {
  return std::string(record[key].as_string());
}

}  // namespace

std::string Import::clean(std::string_view text) const {
  return gate_.clean(text, gate::Way::other_memory);
}

void Import::leave_out(std::string_view kind, const Json& record, const std::string& why) {
  if (record.has("uuid")) rows_[std::string(kind)][text_in(record, "uuid")] = 0;
  if (!plural(kind).empty()) ++report_.left_out[why];
}

Result<ImportReport> Import::run(const std::string& path) {
  TRY(read_export(disk_, path,
                  [&](const ExportHead& head, const Json& record) { return take(head, record); }));
  TRY(finish());
  return std::move(report_);
}

Status Import::take(const ExportHead& head, const Json& record) {
  if (!is_fixed(head.home)) return wrong("its home has no valid name");
  // Empty for an export of this home: its records are our own.
  origin_ = head.home == home_name(home_key_) ? "" : "cairn:" + head.home;
  const std::string name = text_in(record, "record");
  if (name == "key") return take_key(record);
  if (name == "tombstone") return take_tombstone(record);
  const ExchangeKind* kind = store::exchange_kind(name);
  if (!kind) return wrong("it is of no kind that cairn knows");
  switch (kind->what) {
    case Exchanged::project: return take_project(record);
    case Exchanged::link: return take_link(record);
    case Exchanged::session: return take_session(record);
    default: return take_row(*kind, record);
  }
}

// ---- projects

// Projects with different first commits are different, even with the same path or name.
Result<std::optional<store::Project>> Import::match(const store::Project& there) {
  if (auto same = TRY(store::project_by_uuid(db_, there.uuid))) return same;
  const auto contradicts = [&](const store::Project& here) {
    return here.root_commit && there.root_commit && *here.root_commit != *there.root_commit;
  };
  if (there.root_commit) {
    auto same = TRY(store::projects_with_root_commit(db_, *there.root_commit));
    const auto like = [&](const store::Project& here) {
      return here.key == there.key || (here.remote && here.remote == there.remote) || here.name == there.name;
    };
    // Several clones have the same first commit: prefer the one with the same place, remote or name.
    std::stable_partition(same.begin(), same.end(), like);
    if (!same.empty()) return std::optional(std::move(same.front()));
  }
  if (auto here = TRY(store::project_by_key(db_, there.key)); here && !contradicts(*here)) return here;
  if (auto here = TRY(store::project_by_name(db_, there.name)); here && !contradicts(*here)) return here;
  return std::optional<store::Project>();
}

Status Import::take_project(const Json& record) {
  // A project names no other record, so it is never left out.
  const auto row = TRY(local_row(store::exchange_kind(Exchanged::project), record));
  store::Project there;
  there.uuid = text_in(*row, "uuid");
  there.key = text_in(*row, "key");
  there.name = one_line(visible(text_in(*row, "name")), kMostFixed);
  there.root = text_in(*row, "root");
  there.root_commit = row->text("root_commit");
  there.remote = row->text("remote");
  if (there.uuid.empty() || there.name.empty() || there.key.empty())
    return wrong("a project without uuid, name or key");
  auto here = TRY(match(there));
  const bool is_new = !here;
  if (!here)
    here = TRY(store::add_known_project(db_, there, from_epoch_ms((*row)["created_at_epoch"].as_int())));
  report_.projects.push_back({there.name, here->name, is_new});
  projects_.emplace(there.uuid, *std::move(here));
  return {};
}

Status Import::take_link(const Json& record) {
  const auto a = projects_.find(text_in(record, "a")), b = projects_.find(text_in(record, "b"));
  if (a == projects_.end() || b == projects_.end())
    return wrong("a link of a project that is not in the file");
  if (a->second.id == b->second.id || record["state"].as_string() != store::name_of(store::LinkState::linked))
    return {};
  // Like a link that cairn itself makes: a pair that the user separated here stays separate.
  TRY(store::link_projects(db_, a->second, b->second, store::MadeBy::cairn, "linked in an export",
                           clock_.now()));
  return {};
}

// ---- rows

Result<std::int64_t> Import::row_named(std::string_view reference, char* letter) const {
  const auto kinds = store::exchange_kinds();
  for (const ExchangeKind& kind : kinds) {
    const std::string start = std::string(kind.name()) + " ";
    if (!reference.starts_with(start)) continue;
    const auto rows = rows_.find(kind.name());
    if (rows == rows_.end()) break;
    const auto row = rows->second.find(std::string(reference.substr(start.size())));
    if (row == rows->second.end()) break;
    *letter = kind.letter;
    return row->second;
  }
  return wrong("it names a record that is not in the file");
}

// Nothing: what it refers to was left out.
Result<std::optional<Json>> Import::local_value(const ExchangeColumn& column, const Json& value) {
  const auto refuse = [&] {
    return wrong(fmt::format("{} has a value that is not allowed", column.in_export()));
  };
  if (value.is_null()) return std::optional<Json>(Json());
  if (column.is == Is::number) {
    if (!value.is_int()) return refuse();
    return std::optional<Json>(value);
  }
  if (column.is == Is::list) {
    if (!value.is_array()) return refuse();
    Json list = Json::array();
    for (const Json& item : value.items()) {
      if (!item.is_string()) return refuse();
      list.push(clean(item.as_string()));
    }
    return std::optional<Json>(std::move(list));
  }
  if (!value.is_string()) return refuse();
  const std::string text(value.as_string());
  const auto row_of = [&](std::string_view kind) -> Result<std::optional<Json>> {
    char letter = ' ';
    const std::int64_t row = TRY(row_named(std::string(kind) + " " + text, &letter));
    return row == 0 ? std::optional<Json>() : std::optional<Json>(Json(row));
  };
  switch (column.is) {
    case Is::fixed:
      if (!is_fixed(text)) return refuse();
      return std::optional<Json>(text);
    case Is::word:
      if (text.size() > kMostWord) return refuse();
      return std::optional<Json>(clean(text));
    case Is::text: return std::optional<Json>(clean(text));
    case Is::project: {
      const auto project = projects_.find(text);
      if (project == projects_.end()) return wrong("it names a project that is not in the file");
      return std::optional<Json>(project->second.name);
    }
    case Is::session: return row_of("session");
    case Is::memory: {
      const auto row = TRY(row_of("session"));
      if (!row) return std::optional<Json>();
      std::string& memory = memory_ids_[text];
      if (memory.empty())
        memory = TRY(store::ensure_memory_id(db_, SessionId{row->as_int()}, clock_.now())).value;
      return std::optional<Json>(memory);
    }
    case Is::observation: return row_of("observation");
    case Is::document: return row_of("document");
    case Is::record:
    case Is::row: {
      char letter = ' ';
      const std::int64_t row = TRY(row_named(text, &letter));
      if (row == 0) return std::optional<Json>();
      return std::optional<Json>(column.is == Is::row ? Json(row) : Json(letter + std::to_string(row)));
    }
    case Is::number:
    case Is::list: break;
  }
  return refuse();
}

Result<std::optional<Json>> Import::local_row(const ExchangeKind& kind, const Json& record) {
  Json row = Json::object();
  for (const ExchangeColumn& column : kind.columns) {
    // These may name a record that comes later: see finish().
    if (any_of(column.name, {"same_as", "previous_id"})) continue;
    const Json& value = record[column.in_export()];
    auto local = TRY(local_value(column, value));
    // An open item stays, even if the session that closed it was left out.
    if (!local && column.name == "closed_session") continue;
    if (!local) return std::optional<Json>();
    // Like the ids that hooks deliver: an id with a secret in it becomes a hash.
    if (column.name == "content_session_id") local = Json(gate_.id(local->as_string()));
    // "local" there is another home here.
    if (column.name == "origin" && !origin_.empty() && local->as_string() == "local") local = Json(origin_);
    if (!local->is_null()) row.set(column.name, *std::move(local));
  }
  return std::optional(std::move(row));
}

Result<Json> Import::local_standing(const Json& standing) const {
  Json row = Json::object();
  for (const ExchangeColumn& column : store::exchange_standing()) {
    const Json& value = standing[column.name];
    if (value.is_null()) continue;
    const bool fits = column.is == Is::number
                          ? value.is_int()
                          : value.is_string() && (column.is == Is::text || is_fixed(value.as_string()));
    const bool is_known = column.name != "hidden_by" || store::named<store::HiddenBy>(value.as_string());
    if (!fits || !is_known) return wrong(fmt::format("{} has a value that is not allowed", column.name));
    row.set(column.name, column.is == Is::text ? Json(clean(value.as_string())) : value);
  }
  if (!row["changed_at_epoch"].is_int()) return wrong("its standing has no time");
  return row;
}

// A forgotten record is recognised by its uuid, or by its text: the gate leaves nothing of it, or it equals
// a text that was forgotten as a whole.
bool Import::was_forgotten(const ExchangeKind& kind, const Json& record, const Json& row) const {
  const gate::Forgotten* forgotten = gate_.forgotten();
  if (!forgotten || kind.main.empty()) return false;
  if (forgotten->has_record(record["uuid"].as_string())) return true;
  std::string before, after;
  for (const ExchangeColumn& column : kind.columns) {
    const auto names = split(kind.main, ' ');
    if (std::find(names.begin(), names.end(), column.name) == names.end()) continue;
    const auto add = [](std::string& to, const Json& value) {
      if (value.is_string()) to.append(value.as_string()).append("\n");
      for (const Json& item : value.items()) to.append(item.as_string()).append("\n");
    };
    // `before` is the text in the file, `after` what the gate left of it.
    add(before, record[column.in_export()]);
    add(after, row[column.name]);
  }
  if (trim(before).empty()) return false;
  for (std::size_t at; (at = after.find(gate::kForgottenText)) != std::string::npos;)
    after.erase(at, gate::kForgottenText.size());
  // An empty or private text is not a forgotten one: it was empty before the gate.
  if (gate::only_private(after) && !gate::only_private(before)) return true;
  if (kind.what == Exchanged::observation) {
    store::Observation o;
    o.title = text_in(record, "title");
    o.subtitle = text_in(record, "subtitle");
    o.narrative = text_in(record, "narrative");
    for (const Json& fact : record["facts"].items()) o.facts.emplace_back(fact.as_string());
    return forgotten->is_whole(store::whole_text(o));
  }
  return forgotten->is_whole(before);
}

// A session that is active in the exporting home is stored as ended: its host does not run on this machine.
Status Import::take_session(const Json& record) {
  const ExchangeKind& kind = store::exchange_kind(Exchanged::session);
  auto row = TRY(local_row(kind, record));
  const std::string platform = text_in(*row, "platform"), id = text_in(*row, "content_session_id");
  if (text_in(*row, "uuid").empty() || platform.empty() || id.empty())
    return wrong("a session without uuid, platform or id");
  if (gate_.forgot_session(platform, id)) {
    leave_out("session", record, std::string(kForgottenReason));
    return {};
  }
  if (const auto known = TRY(store::same_row(db_, kind, *row))) {
    rows_["session"][text_in(record, "uuid")] = *known;
    ++report_.known["sessions"];
    return {};
  }
  event::Event start;
  start.kind = event::Kind::session_start;
  start.host = platform;
  start.session = ContentId{id};
  start.cwd = text_in(*row, "cwd");
  const bool is_path = start.cwd.starts_with('/');  // rules are looked up along it
  if (is_path && gate_.refuse(start)) {
    leave_out("session", record, "a rule keeps it out");
    return {};
  }
  if (TRY(store::is_memory_id(db_, ContentId{id}))) {
    leave_out("session", record, "a memory agent's own session");
    return {};
  }
  if (row->text("status") == store::name_of(store::SessionStatus::active)) {
    const WallTime last = from_epoch_ms((*row)["last_event_at_epoch"].as_int());
    row->set("status", "completed").set("end_reason", "exported").set("completed_at", iso8601(last));
    row->set("completed_at_epoch", epoch_ms(last));
  }
  const bool is_captured = row->has("captured_at_epoch");
  const std::int64_t added = TRY(store::add_row(db_, kind, *row));
  if (is_captured)
    memory_ids_[text_in(record, "uuid")] =
        TRY(store::ensure_memory_id(db_, SessionId{added},
                                    from_epoch_ms((*row)["captured_at_epoch"].as_int())))
            .value;
  rows_["session"][text_in(record, "uuid")] = added;
  ++report_.imported["sessions"];
  return {};
}

// A record that is here already. A later correction in the exporting home replaces the one here.
Status Import::take_known(const ExchangeKind& kind, std::int64_t id, Json& row, const Json& standing) {
  // Parts of records have no standing of their own.
  if (kind.letter == ' ') return {};
  const store::RecordName name{kind.letter, id};
  const auto here = TRY(store::standing_changed_at(db_, name));
  const bool is_later =
      !standing.is_null() && standing["changed_at_epoch"].as_int() > (here ? epoch_ms(*here) : 0);
  if (!is_later) {
    ++report_.known[plural(kind.name())];
    return {};
  }
  const auto before = TRY(store::standing_of(db_, name));
  TRY(store::change_row(db_, kind, id, row));
  TRY(store::put_exchange_standing(db_, name, standing));
  // A pin comes as a record of its own; an unpin is only in `standing`.
  if (kind.letter == 'O' && before && before->pinned && standing["pinned"].as_int() == 0)
    TRY(store::pin_observation(db_, id, false));
  ++report_.changed[plural(kind.name())];
  return {};
}

Status Import::take_row(const ExchangeKind& kind, const Json& record) {
  auto row = TRY(local_row(kind, record));
  if (!row) {
    leave_out(kind.name(), record, "what it belongs to was left out");
    return {};
  }
  if (row->members().empty()) return wrong("a record without values");
  const bool has_uuid = std::any_of(kind.columns.begin(), kind.columns.end(),
                                    [](const ExchangeColumn& column) { return column.name == "uuid"; });
  if (has_uuid && text_in(*row, "uuid").empty()) return wrong("a record without uuid");
  // A text (an answer, a commit) has no uuid: its session and its hash identify it.
  const std::string uuid = kind.what == Exchanged::text
                               ? text_in(record, "session") + " " + text_in(record, "hash")
                               : text_in(record, "uuid");
  const bool is_of_forgotten =
      kind.what == Exchanged::document &&
      gate_.forgot_session(text_in(*row, "platform"), text_in(*row, "content_session_id"));
  if (is_of_forgotten || was_forgotten(kind, record, *row)) {
    rows_[std::string(kind.name())][uuid] = 0;
    if (!plural(kind.name()).empty()) ++report_.left_out[std::string(kForgottenReason)];
    return {};
  }
  // The gate changed the text, so its hash is another one.
  if (kind.what == Exchanged::text && (*row)["text"] != record["text"])
    row->set("hash", content_hash((*row)["text"].as_string()));
  Json standing;
  if (kind.letter != ' ' && record.has("standing")) standing = TRY(local_standing(record["standing"]));
  // A turn that was open in the exporting home will get no more events here.
  if (kind.what == Exchanged::turn && !row->has("ended_at_epoch"))
    row->set("ended_at_epoch", (*row)["last_event_at_epoch"]).set("end_reason", "session_end");
  if (const auto known = TRY(store::same_row(db_, kind, *row))) {
    rows_[std::string(kind.name())][uuid] = *known;
    if (kind.what == Exchanged::file) {
      TRY(store::add_row(db_, kind, *row));
      return {};
    }
    return take_known(kind, *known, *row, standing);
  }
  std::int64_t id = TRY(store::add_row(db_, kind, *row));
  // The same may have been learned in both homes, with different uuids.
  const auto equal =
      kind.what == Exchanged::observation ? TRY(store::fold_equal(db_, id)) : std::optional<std::int64_t>();
  if (equal) id = *equal;
  rows_[std::string(kind.name())][uuid] = id;
  if (!equal && !standing.is_null()) TRY(store::put_exchange_standing(db_, {kind.letter, id}, standing));
  if (!equal && record.has("same_as")) same_as_.emplace_back(id, text_in(record, "same_as"));
  if (record.has("previous")) previous_.emplace_back(id, text_in(record, "previous"));
  if (!plural(kind.name()).empty()) ++(equal ? report_.known : report_.imported)[plural(kind.name())];
  return {};
}

// ---- tombstones

Status Import::take_key(const Json& record) {
  const std::string key = text_in(record, "key");
  if (!record["number"].is_int() || key.size() < 16 || key.size() > 64 || !is_fixed(key))
    return wrong("a key of tombstones that is not valid");
  // An empty key is this home's.
  keys_[record["number"].as_int()] = key == forget::tombstone_key(home_key_) ? "" : key;
  return {};
}

// A text tombstone of this program has at least 12 characters. A shorter one would remove common words.
Status Import::take_tombstone(const Json& record) {
  constexpr std::int64_t kLeastText = 12, kLeastSecret = 4, kMost = 1 << 20;
  const auto key = keys_.find(record["key"].as_int(-1));
  store::TombstoneRow row;
  const auto kind = store::named<store::TombstoneKind>(text_in(record, "kind"));
  row.kind = kind.value_or(row.kind);
  const std::string digits = text_in(record, "hash");
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), row.hash, 16);
  const std::int64_t start = record["start"].as_int(-1), length = record["length"].as_int(-1);
  const std::int64_t least = row.kind == store::TombstoneKind::text     ? kLeastText
                             : row.kind == store::TombstoneKind::secret ? kLeastSecret
                                                                        : 0;
  const bool is_valid = key != keys_.end() && error == std::errc() && end == digits.data() + digits.size() &&
                        kind && start >= 0 && start <= 0xffff && length >= least && length <= kMost;
  if (!is_valid || tombstones_.size() >= kMostStones) return wrong("a tombstone that is not valid");
  row.start = static_cast<std::uint16_t>(start);
  row.length = static_cast<std::uint32_t>(length);
  row.key = key->second;
  tombstones_.push_back(std::move(row));
  return {};
}

Status Import::finish() {
  const auto row_of = [&](std::string_view kind, const std::string& uuid) {
    const auto rows = rows_.find(kind);
    if (rows == rows_.end()) return std::int64_t{0};
    const auto row = rows->second.find(uuid);
    return row == rows->second.end() ? std::int64_t{0} : row->second;
  };
  for (const auto& [id, uuid] : same_as_)
    if (const std::int64_t other = row_of("observation", uuid)) TRY(store::set_same_as(db_, id, other));
  for (const auto& [id, uuid] : previous_)
    if (const std::int64_t other = row_of("document", uuid))
      TRY(store::set_previous_document(db_, id, other));
  std::vector<gate::Tombstone> tombstones;
  // Known tombstones were applied before: a second import starts no forget.
  for (const store::TombstoneRow& row : tombstones_)
    if (!TRY(store::has_tombstone(db_, row))) tombstones.push_back(forget::tombstone_of(row));
  report_.tombstones = static_cast<std::int64_t>(tombstones.size());
  if (tombstones.empty()) return {};
  const auto selection =
      TRY(forget::select_named(db_, home_key_, store::ForgetWay::imported, std::move(tombstones)));
  for (const store::RecordName& record : selection.records)
    // The forget runs in the background: until then the records must not be found.
    TRY(store::hide_record(db_, record, clock_.now()));
  report_.forget = TRY(forget::begin(db_, home_key_, selection, {}, clock_.now()));
  return {};
}

}  // namespace cairn::exchange
