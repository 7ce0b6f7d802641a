#include "store/corrections.h"

#include <array>

#include "base/squeeze.h"
#include "base/text.h"
#include "event/provider_name.h"
#include "store/lists.h"
#include "store/observations.h"
#include "store/rows.h"
#include "store/scrub.h"

namespace cairn::store {

namespace {

struct EditField {
  char letter;
  std::string_view name;
  bool is_list = false;
};
constexpr std::array kEditFields = {
    EditField{'O', "type"},         EditField{'O', "title"},       EditField{'O', "subtitle"},
    EditField{'O', "narrative"},    EditField{'O', "facts", true}, EditField{'S', "request"},
    EditField{'S', "investigated"}, EditField{'S', "learned"},     EditField{'S', "completed"},
    EditField{'S', "next_steps"},   EditField{'S', "notes"},       EditField{'W', "text"},
};

std::string_view corrected_table(char letter) {
  return letter == 'O' ? "observations" : letter == 'S' ? "session_summaries" : "open_items";
}

// The value as its column has it: "one\ntwo" of a list is ["one","two"].
std::string stored(const EditField& field, const std::string& value) {
  if (!field.is_list) return value;
  std::vector<std::string> items;
  for (const std::string_view line : lines(value))
    if (!trim(line).empty()) items.emplace_back(trim(line));
  return list_text(items);
}

}  // namespace

Result<Fields> fields_of(Db& db, const RecordName& record) {
  Fields fields;
  for (const EditField& field : kEditFields) {
    if (field.letter != record.letter) continue;
    auto value = TRY(db.text("SELECT coalesce(\"" + std::string(field.name) + "\", '') FROM " +
                                 std::string(corrected_table(record.letter)) + " WHERE id = ?",
                             record.row));
    if (!value) return Fields();
    if (field.is_list) {
      std::string list;
      for (const std::string& item : read_list(*value)) list += item + "\n";
      value = list;
    }
    fields.emplace(field.name, *std::move(value));
  }
  return fields;
}

Status put_fields(Db& db, const RecordName& record, const Fields& fields, bool edited, WallTime now) {
  for (const EditField& field : kEditFields) {
    const auto value = fields.find(field.name);
    if (field.letter != record.letter || value == fields.end()) continue;
    TRY(db.run("UPDATE " + std::string(corrected_table(record.letter)) + " SET \"" + std::string(field.name) +
                   "\" = ? WHERE id = ?",
               stored(field, value->second), record.row));
  }
  if (record.letter == 'O') return rehash_observation(db, record.row);
  // No distiller replaces a summary of the provider `person`: see put_summary().
  if (record.letter == 'S')
    return db.run("UPDATE session_summaries SET provider = ?, updated_at_epoch = ? WHERE id = ?",
                  edited ? name_of(Actor::person) : event::kBuiltin, epoch_ms(now), record.row);
  return {};
}

Result<std::string> text_hash_of(Db& db, const RecordName& record) {
  if (record.letter == 'O') {
    const auto fields = TRY(fields_of(db, record));
    Observation o;
    if (fields.empty()) return std::string();
    o.title = fields.at("title");
    o.subtitle = fields.at("subtitle");
    o.narrative = fields.at("narrative");
    o.facts = {fields.at("facts")};  // all in one: the hash ignores line breaks
    return squeezed_hash(whole_text(o));
  }
  const auto text = TRY(record_text(db, record));
  std::string all;
  if (text)
    for (const std::string& part : text->parts) all += part + "\n";
  return squeezed_hash(all);
}

Status pin_observation(Db& db, std::int64_t observation, bool pinned) {
  if (!pinned) return db.run("DELETE FROM notes WHERE observation_id = ?", observation);
  return db.run(
      "INSERT INTO notes(observation_id, project) SELECT id, project FROM observations WHERE id = ? ON "
      "CONFLICT DO UPDATE SET done_at_epoch = NULL",
      observation);
}

Status hide_expired(Db& db, WallTime now) {
  constexpr std::size_t kMost = 200;
  for (const RecordName& record : TRY(records_over(db, now, kMost))) {
    auto standing = TRY(standing_of(db, record));
    if (!standing) {  // the record is gone
      TRY(remove_standing(db, record));
      continue;
    }
    standing->hidden_by = HiddenBy::expired;
    TRY(put_standing(db, record, *standing, now));
    TRY(hide_record(db, record, now));
  }
  return {};
}

}  // namespace cairn::store
