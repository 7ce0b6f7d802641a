#include "store/texts.h"

#include <algorithm>
#include <array>

#include "base/hash.h"

namespace cairn::store {

static constexpr std::array kKinds = {TextKind::answer, TextKind::remark, TextKind::compaction,
                                      TextKind::title,  TextKind::away,   TextKind::commit,
                                      TextKind::pull};

std::string_view kind_name(TextKind kind) {
  switch (kind) {
    case TextKind::answer: return "answer";
    case TextKind::remark: return "remark";
    case TextKind::compaction: return "compaction";
    case TextKind::title: return "title";
    case TextKind::away: return "away";
    case TextKind::commit: return "commit";
    case TextKind::pull: return "pull";
  }
  return "";
}

std::optional<TextKind> text_kind_named(std::string_view name) {
  const auto kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](TextKind k) { return kind_name(k) == name; });
  return kind == kKinds.end() ? std::nullopt : std::optional(*kind);
}

Result<bool> add_text(Db& db, const Text& t) {
  TRY(db.run(
      "INSERT INTO texts(session_db_id, project, prompt_number, kind, source, text, hash, created_at_epoch) "
      "SELECT id, project, ?, ?, ?, ?, ?, ? FROM sdk_sessions WHERE id = ? "
      "ON CONFLICT(session_db_id, hash) DO UPDATE SET kind = excluded.kind, prompt_number = "
      "excluded.prompt_number "
      "WHERE texts.kind = 'remark' AND excluded.kind = 'answer' AND texts.deleted_at IS NULL",
      t.prompt_number, kind_name(t.kind), t.source, t.text, content_hash(t.text), epoch_ms(t.at),
      t.session.value));
  return db.changes() > 0;
}

Status put_distilled_texts(Db& db, SessionId session, std::int64_t number, const std::vector<Text>& texts) {
  std::vector<std::string> kept;
  for (const Text& text : texts) kept.push_back(content_hash(text.text));
  Stmt row =
      TRY(db.query("SELECT id, hash FROM texts WHERE session_db_id = ? AND prompt_number = ? AND source = "
                   "'distiller'",
                   session.value, number));
  std::vector<std::int64_t> gone;
  while (TRY(row.step()))
    if (std::find(kept.begin(), kept.end(), row.text(1)) == kept.end()) gone.push_back(row.integer(0));
  for (const std::int64_t id : gone) TRY(db.run("DELETE FROM texts WHERE id = ?", id));
  for (const Text& text : texts) TRY(add_text(db, text));
  return {};
}

#define TEXTS "SELECT id, session_db_id, prompt_number, kind, source, text, created_at_epoch FROM texts "

// A row of a kind that a newer version stored is left out.
static std::optional<Text> read_text(const Stmt& row) {
  const auto kind = text_kind_named(row.text(3));
  if (!kind) return std::nullopt;
  return Text{row.integer(0), SessionId{row.integer(1)},    row.optional_integer(2), *kind, row.text(4),
              row.text(5),    from_epoch_ms(row.integer(6))};
}

Result<std::vector<Text>> texts_of_session(Db& db, SessionId session, std::size_t max_bytes, bool main) {
  Stmt row = TRY(db.query(
      TEXTS
      "WHERE session_db_id = ? AND deleted_at IS NULL AND (? = 0 OR kind NOT IN ('remark', "
      "'compaction') OR (kind = 'remark' AND length(text) > 500)) ORDER BY created_at_epoch DESC, id "
      "DESC",
      session.value, main));
  std::vector<Text> texts;
  for (std::size_t bytes = 0; bytes < max_bytes && TRY(row.step());)
    if (auto text = read_text(row)) {
      bytes += text->text.size();
      texts.push_back(*std::move(text));
    }
  std::reverse(texts.begin(), texts.end());
  return texts;
}

Result<std::vector<Text>> texts_of_turn(Db& db, SessionId session, std::int64_t number) {
  Stmt row =
      TRY(db.query(TEXTS "WHERE session_db_id = ? AND prompt_number = ? AND deleted_at IS NULL ORDER BY "
                         "created_at_epoch, id",
                   session.value, number));
  std::vector<Text> texts;
  while (TRY(row.step()))
    if (auto text = read_text(row)) texts.push_back(*std::move(text));
  return texts;
}

}  // namespace cairn::store
