// Correcting: edit, reject, retract, pin. Each can be undone, and each is in the audit log.
//
// A correction is the record's standing (trust, pinned, edited, hidden, until when it is valid), for an edit
// also new fields, for a pin also whether the record is a note. All of it, the undo entry and the audit entry
// are written in one transaction. The undo entry has what was before; the audit log has names of fields only,
// never text.
#include "ops/correct.h"

#include <fmt/format.h>

#include "base/text.h"
#include "gate/gate.h"
#include "ops/documents.h"
#include "ops/records.h"
#include "recall/query.h"
#include "store/audit.h"
#include "store/corrections.h"
#include "store/documents.h"
#include "store/notes.h"
#include "store/standing.h"

namespace cairn::ops {

namespace {

constexpr Millis kUndo = std::chrono::hours(24 * 30);  // how long it can be undone
constexpr std::size_t kMostWhy = 300;                  // bytes of a reason
constexpr std::string_view kValidUntil = "valid_until";

std::string clean_text(World& world, const std::string& text) {
  return visible(world.intake->gate().clean(text, gate::Way::remember));
}

struct Corrected {
  store::RecordName record;
  std::string project;
  store::Standing before;
  std::optional<store::NoteState> note;  // before; nothing: it was no note
};

Result<Corrected> find_corrected(World& world, const Args& args, std::string_view what) {
  const store::RecordName record = name_of(args.record("id"));
  const auto project = TRY(store::project_of_record(world.db, record));
  auto standing = TRY(store::standing_of(world.db, record));
  if (!project || !standing || !TRY(may_see(world, *project)))
    return Error{Code::not_found, fmt::format("{}: there is no {}", what, record.text())};
  Corrected found{record, *project, *std::move(standing), {}};
  if (record.letter == 'O') found.note = TRY(store::note_state(world.db, record.row));
  return found;
}

Json note_json(const std::optional<store::NoteState>& note) {
  if (!note) return Json();
  return Json::object({{"for_all", note->for_all}, {"done_at", time_or_null(note->done_at)}});
}

std::optional<store::NoteState> read_note(const Json& note) {
  if (note.is_null()) return std::nullopt;
  return store::NoteState{note["for_all"].as_bool(), parse_iso8601(note["done_at"].as_string())};
}

Json standing_json(const store::Standing& s) {
  return Json::object({{"actor", store::name_of(s.actor)},
                       {"trust", store::name_of(s.trust)},
                       {"pinned", s.pinned},
                       {"edited", s.edited},
                       {"valid_until", time_or_null(s.valid_until)},
                       {"hidden_by", store::name_of(s.hidden_by)},
                       {"reason", s.reason},
                       {"text_hash", s.text_hash}});
}

Json result_json(const Corrected& of, const store::Standing& now, std::string_view what) {
  return Json::object({{"id", of.record.text()},
                       {"what", what},
                       {"project", of.project},
                       {"actor", store::name_of(now.actor)},
                       {"trust", store::name_of(now.trust)},
                       {"pinned", now.pinned},
                       {"valid_until", time_or_null(now.valid_until)},
                       {"hidden", now.hidden_by != store::HiddenBy::none},
                       {"reason", now.reason}});
}

// Writes the standing, what undo needs and the audit entry.
Status store_correction(World& world, const Corrected& of, const store::Standing& standing,
                        std::string_view what, const store::Fields& old_fields) {
  const WallTime now = world.clock.now();
  TRY(store::put_standing(world.db, of.record, standing, now));
  Json fields = Json::object(), names = Json::array();
  for (const auto& [name, value] : old_fields) {
    fields.set(name, value);
    names.push(name);
  }
  store::UndoEntry entry;
  entry.project = of.project;
  entry.what = what;
  entry.detail = Json::object({{"record", of.record.text()},
                               {"standing", standing_json(of.before)},
                               {"note", note_json(of.note)},
                               {"fields", fields}})
                     .dump();
  entry.at = now;
  entry.expires_at = now + kUndo;
  TRY(store::add_undo(world.db, entry));
  return store::add_audit(world.db, world.key, what, "person", of.record.text(),
                          Json::object({{"fields", names}}).dump(), now);
}

// Reads --set FIELD=VALUE. valid_until is part of the standing, not a field, so it is returned apart; an
// empty value removes it (`has_until` without `until`).
Result<store::Fields> read_changes(World& world, const Args& args, const Corrected& of,
                                   const store::Fields& known, std::optional<WallTime>& until,
                                   bool& has_until) {
  store::Fields changes;
  for (const std::string& set : args.texts("set")) {
    const std::size_t sign = set.find('=');
    const std::string name = set.substr(0, sign);
    if (sign == std::string::npos)
      return Error{Code::invalid, "edit: set must be FIELD=VALUE, such as title=\"A better title\""};
    const std::string value = clean_text(world, set.substr(sign + 1));
    if (name == kValidUntil) {
      has_until = true;
      until = parse_iso8601(trim(value));
      if (until || trim(value).empty()) continue;
      const auto read = recall::read_moment(trim(value), world.clock.now());
      if (!read) return Error{Code::invalid, "edit: valid_until must be " + wanted(moment("", ""))};
      until = *read;
      continue;
    }
    if (!known.contains(name)) {
      std::string names;
      for (const auto& [field, unused] : known) names += field + ", ";
      return Error{Code::invalid, fmt::format("edit: {} has no field of that name: it has {}{}",
                                              of.record.text(), names, kValidUntil)};
    }
    if ((name == "title" || name == "text") && trim(value).empty())
      return Error{Code::invalid, "edit: " + name + " must not be empty: `cairn retract` withdraws a record"};
    changes[name] = value;
  }
  return changes;
}

Result<Json> edit(World& world, const Args& args) {
  const Corrected of = TRY(find_corrected(world, args, "edit"));
  const store::Fields known = TRY(store::fields_of(world.db, of.record));
  if (args.texts("set").empty()) {  // what can be edited, for an editor
    Json fields = Json::object();
    for (const auto& [name, value] : known) fields.set(name, value);
    return Json::object(
        {{"id", of.record.text()}, {"fields", fields}, {"valid_until", time_or_null(of.before.valid_until)}});
  }
  std::optional<WallTime> until;
  bool has_until = false;
  const store::Fields changes = TRY(read_changes(world, args, of, known, until, has_until));
  if (known.empty() && !changes.empty())
    return Error{Code::unsupported,
                 "edit: " + of.record.text() + " is what was said: reject or forget it instead"};
  store::Standing standing = of.before;
  standing.trust = store::Trust::confirmed;
  if (has_until) standing.valid_until = until;
  TRY(store::in_transaction(world.db, [&]() -> Status {
    store::Fields before;
    for (const auto& [name, unused] : changes) before[name] = known.at(name);
    if (!changes.empty()) {
      standing.edited = true;
      // The hash of what it said when it was stored. When a distiller or an import says the same again, it
      // is recognised as this record and does not bring the old text back.
      if (standing.text_hash.empty()) standing.text_hash = TRY(store::text_hash_of(world.db, of.record));
      TRY(store::put_fields(world.db, of.record, changes, true, world.clock.now()));
    }
    TRY(store_correction(world, of, standing, "edit", before));
    return store::hide_expired(world.db, world.clock.now());  // valid_until may be in the past
  }));
  // As it is stored: the actor follows from the fields, and a date in the past has hidden the record.
  return result_json(of, TRY(store::standing_of(world.db, of.record)).value_or(standing), "edit");
}

// reject and retract differ only in the reason that is stored for hiding.
Result<Json> withdraw(World& world, const Args& args, std::string_view what, store::HiddenBy by) {
  const Corrected of = TRY(find_corrected(world, args, what));
  store::Standing standing = of.before;
  standing.trust = store::Trust::rejected;
  standing.hidden_by = by;
  standing.reason = one_line(clean_text(world, args.text("reason")), kMostWhy);
  TRY(store::in_transaction(world.db, [&]() -> Status {
    if (standing.text_hash.empty()) standing.text_hash = TRY(store::text_hash_of(world.db, of.record));
    TRY(store::hide_record(world.db, of.record, world.clock.now()));
    return store_correction(world, of, standing, what, {});
  }));
  return result_json(of, standing, what);
}

Result<Json> reject(World& world, const Args& args) {
  return withdraw(world, args, "reject", store::HiddenBy::reject);
}

Result<Json> retract(World& world, const Args& args) {
  return withdraw(world, args, "retract", store::HiddenBy::retract);
}

Result<Json> pin(World& world, const Args& args) {
  const Corrected of = TRY(find_corrected(world, args, "pin"));
  store::Standing standing = of.before;
  standing.pinned = !args.flag("off");
  // Taking the pin off says nothing about whether the record is right.
  if (standing.pinned) standing.trust = store::Trust::confirmed;
  TRY(store::in_transaction(world.db, [&]() -> Status {
    if (of.record.letter == 'O') TRY(store::pin_observation(world.db, of.record.row, standing.pinned));
    return store_correction(world, of, standing, "pin", {});
  }));
  return result_json(of, standing, "pin");
}

}  // namespace

bool is_correction(std::string_view what) {
  return any_of(what, {"edit", "reject", "retract", "pin"});
}

Status take_back_correction(World& world, std::string_view what, const Json& detail) {
  const auto record = store::read_record_name(detail["record"].as_string());
  if (!record) return Error{Code::corrupt, "undo: the entry names no record"};
  auto standing = TRY(store::standing_of(world.db, *record));
  if (!standing) return Error{Code::not_found, "undo: " + record->text() + " is gone: it was forgotten"};
  const Json& before = detail["standing"];
  const WallTime now = world.clock.now();
  // The actor is not stored: it follows from the record, and from `edited`.
  standing->trust = store::named<store::Trust>(before["trust"].as_string()).value_or(standing->trust);
  standing->pinned = before["pinned"].as_bool();
  standing->edited = before["edited"].as_bool();
  standing->valid_until = parse_iso8601(before["valid_until"].as_string());
  standing->hidden_by =
      store::named<store::HiddenBy>(before["hidden_by"].as_string()).value_or(store::HiddenBy::none);
  standing->reason = before["reason"].as_string();
  standing->text_hash = before["text_hash"].as_string();
  TRY(store::put_standing(world.db, *record, *standing, now));
  store::Fields fields;
  for (const auto& [name, value] : detail["fields"].members()) fields.emplace(name, value.as_string());
  if (!fields.empty()) TRY(store::put_fields(world.db, *record, fields, standing->edited, now));
  if (what == "pin" && record->letter == 'O')
    TRY(store::put_note_state(world.db, record->row, read_note(detail["note"])));
  TRY(standing->hidden_by == store::HiddenBy::none ? store::show_record_again(world.db, *record)
                                                   : store::hide_record(world.db, *record, now));
  return store::add_audit(world.db, world.key, "undo " + std::string(what), "person", record->text(), "{}",
                          now);
}

std::vector<Operation> correct_operations() {
  const Argument id = record("id", kStoredRecord, "the record").word().needed();
  return {
      {.name = "edit",
       .access = Access::write,
       .group = Group::memory,
       .summary = "correct what a record says",
       .help = "Opens $EDITOR with its fields, or sets them: --set title=TEXT, --set valid_until=2026-12-31. "
               "An edited "
               "record is yours: no distillation changes it again. After valid_until it is no longer shown. "
               "`cairn undo` takes it back.",
       .arguments = {id, texts("set", "a field and its new value; may be given again").as("FIELD=VALUE")},
       .body = edit},
      {.name = "reject",
       .access = Access::write,
       .group = Group::memory,
       .summary = "a record is wrong: hide it, and what says the same",
       .help =
           "It stays hidden when the same is said, imported or distilled again. `cairn undo` takes it back; "
           "`cairn forget` removes it for good.",
       .arguments = {id, text("reason", "why it is wrong").as("REASON").rest_of_line()},
       .body = reject},
      {.name = "retract",
       .access = Access::write,
       .group = Group::memory,
       .summary = "hide a record that was true once",
       .help = "As reject, for what is no longer true and has no successor, or for what you said yourself. "
               "`cairn undo` takes it back.",
       .arguments = {id, text("reason", "what happened").as("REASON").rest_of_line()},
       .body = retract},
      {.name = "pin",
       .access = Access::write,
       .group = Group::memory,
       .summary = "confirm a record; an observation is then given to every session",
       .help = "An observation becomes a note. Other records are only marked as confirmed. The events that a "
               "record came from are not kept longer. `cairn undo` takes it back.",
       .arguments = {id, flag("off", "remove the pin; an observation is then no note")},
       .body = pin}};
}

}  // namespace cairn::ops
