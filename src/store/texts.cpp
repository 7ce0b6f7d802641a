#include "store/texts.h"

#include <algorithm>

#include "base/hash.h"
#include "store/rows.h"
#include "store/turns.h"

namespace cairn::store {

// In a transcript every text of the agent is a remark. The event at the end of the turn says which one was
// the answer. No other text changes once it is stored.
Result<bool> add_text(Db& db, const Text& t) {
  TRY(db.run(
      "INSERT INTO texts(session_db_id, project, prompt_number, kind, source, text, hash, created_at_epoch) "
      "SELECT id, project, ?, ?, ?, ?, ?, ? FROM sdk_sessions WHERE id = ? ON CONFLICT(session_db_id, hash) "
      "DO UPDATE SET kind = excluded.kind, prompt_number = excluded.prompt_number WHERE texts.kind = "
      "'remark' AND excluded.kind = 'answer' AND texts.deleted_at IS NULL",
      t.prompt_number, name_of(t.kind), name_of(t.source), t.text, content_hash(t.text), epoch_ms(t.at),
      t.session.value));
  return db.changes() > 0;
}

Status put_distilled_texts(Db& db, SessionId session, std::int64_t number, const std::vector<Text>& texts) {
  std::vector<std::string> kept;
  for (const Text& text : texts) kept.push_back(content_hash(text.text));
  Stmt row = TRY(db.query(
      "SELECT id, hash FROM texts WHERE session_db_id = ? AND prompt_number = ? AND source = 'distiller'",
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
  if (!named<TextKind>(row.text(3))) return std::nullopt;
  Text t;
  read_columns(row, t.id, t.session, t.prompt_number, t.kind, t.source, t.text, t.at);
  return t;
}

Result<std::vector<Text>> texts_of_session(Db& db, SessionId session, std::size_t max_bytes, bool main) {
  Stmt row = TRY(db.query(
      TEXTS
      "WHERE session_db_id = ? AND deleted_at IS NULL AND (? = 0 OR kind NOT IN ('remark', 'compaction') OR "
      "(kind = 'remark' AND length(text) > 500)) ORDER BY created_at_epoch DESC, id DESC",
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
  Stmt row = TRY(db.query(
      TEXTS
      "WHERE session_db_id = ? AND prompt_number = ? AND deleted_at IS NULL ORDER BY created_at_epoch, id",
      session.value, number));
  std::vector<Text> texts;
  while (TRY(row.step()))
    if (auto text = read_text(row)) texts.push_back(*std::move(text));
  return texts;
}

Result<std::vector<std::string>> words_of_person(Db& db, SessionId session, std::int64_t number) {
  std::vector<std::string> words;
  if (std::string prompt = TRY(prompt_text(db, session, number)); !prompt.empty())
    words.push_back(std::move(prompt));
  for (Text& text : TRY(texts_of_turn(db, session, number)))
    if (text.kind == TextKind::objection) words.push_back(std::move(text.text));
  return words;
}

}  // namespace cairn::store
