#include "recall/record.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "store/origins.h"

namespace cairn::recall {

static constexpr std::size_t kTitle = 300;

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::observation: return "observation";
    case Kind::summary: return "summary";
    case Kind::prompt: return "prompt";
    case Kind::open: return "open";
    case Kind::turn: return "turn";
  }
  return "";
}

static constexpr std::array kKinds = {std::pair(Kind::observation, 'O'), std::pair(Kind::summary, 'S'),
                                      std::pair(Kind::prompt, 'P'), std::pair(Kind::turn, 'T'),
                                      std::pair(Kind::open, 'W')};

std::string text_of(const RecordId& id) {
  for (const auto& [kind, letter] : kKinds)
    if (kind == id.kind) return letter + std::to_string(id.row);
  return {};
}

Result<RecordId> read_record_id(std::string_view text) {
  RecordId id;
  const char first = text.empty() ? ' ' : static_cast<char>(text.front() & ~0x20);
  const auto [end, error] =
      std::from_chars(text.data() + (text.empty() ? 0 : 1), text.data() + text.size(), id.row);
  const auto known =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& kind) { return kind.second == first; });
  if (known == kKinds.end() || error != std::errc() || end != text.data() + text.size() || id.row < 0)
    return Error{Code::invalid, "\"" + one_line(visible(valid_utf8(std::string(text))), 60) +
                                    "\" is not an id: they look like S3, O12, P7, T5 or W4"};
  id.kind = known->first;
  return id;
}

static std::string_view sql_of(Kind kind) {
  switch (kind) {
    case Kind::observation:
      return "SELECT r.project, s.content_session_id, r.prompt_number, r.type, r.title, v.body, "
             "r.created_at_epoch, " TOOLS_OF_OBSERVATION("r.id") ", v.files || char(10) || v.concepts FROM observations r JOIN sdk_sessions s ON s.memory_session_id = "
             "r.memory_session_id LEFT JOIN indexed_observations v ON v.id = r.id WHERE r.id = ? AND "
             "r.deleted_at "
             "IS NULL";
    case Kind::summary:
      return "SELECT r.project, s.content_session_id, r.prompt_number, 'summary', r.request, v.body, "
             "r.created_at_epoch, " TOOLS_OF_TURN("s.id", "r.prompt_number") ", v.files FROM session_summaries r JOIN sdk_sessions s ON s.memory_session_id = "
             "r.memory_session_id JOIN indexed_summaries v ON v.id = r.id WHERE r.id = ?";
    case Kind::prompt:
      return "SELECT project, content_session_id, prompt_number, 'prompt', substr(prompt_text, 1, 1000), "
             "prompt_text, created_at_epoch, NULL, '' FROM user_prompts WHERE id = ? AND deleted_at IS NULL";
    case Kind::open:
      return "SELECT i.project, coalesce(s.content_session_id, ''), i.prompt_number, i.source, i.text, "
             "i.detail, i.opened_at_epoch, " TOOLS_OF_TURN("i.session_db_id", "i.prompt_number") ", '' FROM open_items i LEFT JOIN "
             "sdk_sessions s ON s.id = i.session_db_id WHERE i.id = ? AND i.deleted_at IS NULL";
    case Kind::turn:
      return "SELECT r.project, s.content_session_id, r.prompt_number, r.kind, substr(r.text, 1, 1000), "
             "r.text, r.created_at_epoch, " TOOLS_OF_TURN("s.id", "r.prompt_number") ", '' FROM texts r JOIN sdk_sessions s ON s.id = r.session_db_id WHERE "
             "r.id = ? AND r.deleted_at IS NULL";
  }
  return "";
}

Result<std::optional<Record>> load_record(store::Db& db, const RecordId& id) {
  store::Stmt row = TRY(db.query(sql_of(id.kind), id.row));
  if (!TRY(row.step())) return std::optional<Record>();
  Record record;
  record.id = id;
  record.project = row.text(0);
  record.session = row.text(1);
  record.prompt_number = row.optional_integer(2);
  record.type = row.text(3);
  record.title = one_line(visible(row.text(4)), kTitle);
  record.body = row.text(5);
  record.time = from_epoch_ms(row.integer(6));
  record.names = row.text(8);
  record.origins = store::origins_of(row.text(7));
  // Prompts and answers contain no labels of ours.
  if (id.kind != Kind::prompt && id.kind != Kind::turn)
    for (const std::string* text : {&record.title, &record.body}) record.origins.merge(origins_in(*text));
  return std::optional(std::move(record));
}

Result<std::optional<Record>> summary_of(store::Db& db, const Record& record) {
  if (!record.prompt_number) return std::optional<Record>();
  const auto id = TRY(db.integer(
      "SELECT r.id FROM session_summaries r JOIN sdk_sessions s ON s.memory_session_id = r.memory_session_id "
      "WHERE s.content_session_id = ? AND r.prompt_number = ? AND r.project = ? AND r.deleted_at IS NULL",
      record.session, *record.prompt_number, record.project));
  if (!id) return std::optional<Record>();
  return load_record(db, {Kind::summary, *id});
}

}  // namespace cairn::recall
