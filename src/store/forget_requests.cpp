#include "store/forget_requests.h"

#include "store/rows.h"

namespace cairn::store {

Result<bool> request_forget(Db& db, const ForgetRequest& request) {
  auto standing = TRY(standing_of(db, request.record));
  if (!standing) return Error{Code::not_found, "there is no " + request.record.text()};
  if (standing->hidden_by != HiddenBy::none) return false;
  standing->hidden_by = HiddenBy::request;
  if (standing->trust == Trust::candidate) standing->trust = Trust::disputed;
  TRY(put_standing(db, request.record, *standing, request.at));
  TRY(hide_record(db, request.record, request.at));
  TRY(
      db.run("INSERT INTO forget_requests(record, project, reason, at_epoch) VALUES(?,?,?,?) ON CONFLICT DO "
             "NOTHING",
             request.record.text(), request.project, request.reason, epoch_ms(request.at)));
  return true;
}

Result<std::vector<ForgetRequest>> forget_requests(Db& db, const std::optional<std::string>& project) {
  Stmt row = TRY(
      db.query("SELECT record, project, reason, at_epoch FROM forget_requests WHERE ?1 IS NULL OR project IN "
               "(SELECT member FROM project_scope WHERE project = ?1) ORDER BY id",
               project));
  std::vector<ForgetRequest> requests;
  while (TRY(row.step())) {
    ForgetRequest request;
    std::string record;
    read_columns(row, record, request.project, request.reason, request.at);
    const auto name = read_record_name(record);
    if (!name) continue;
    request.record = *name;
    requests.push_back(std::move(request));
  }
  return requests;
}

Result<bool> is_turn_requested(Db& db, const std::string& content_session_id, std::int64_t prompt_number) {
  if (!TRY(db.integer("SELECT 1 FROM forget_requests LIMIT 1"))) return false;  // the usual case
  return TRY(db.integer(
                 "SELECT 1 FROM sdk_sessions s WHERE s.content_session_id = ?1 AND (EXISTS (SELECT 1 FROM "
                 "user_prompts r JOIN forget_requests q ON q.record = 'P' || r.id WHERE r.session_db_id = "
                 "s.id "
                 "AND r.prompt_number = ?2) OR EXISTS (SELECT 1 FROM texts r JOIN forget_requests q ON "
                 "q.record = 'T' || r.id WHERE r.session_db_id = s.id AND r.prompt_number = ?2) OR EXISTS "
                 "(SELECT 1 FROM session_summaries r JOIN forget_requests q ON q.record = 'S' || r.id WHERE "
                 "r.memory_session_id = s.memory_session_id AND r.prompt_number = ?2) OR EXISTS (SELECT 1 "
                 "FROM observations r JOIN forget_requests q ON q.record = 'O' || r.id WHERE "
                 "r.memory_session_id = s.memory_session_id AND r.prompt_number = ?2)) LIMIT 1",
                 content_session_id, prompt_number))
      .has_value();
}

Result<bool> end_forget_request(Db& db, const RecordName& record, bool keep, WallTime now) {
  TRY(db.run("DELETE FROM forget_requests WHERE record = ?", record.text()));
  if (db.changes() == 0) return false;
  auto standing = TRY(standing_of(db, record));
  // Hidden for another reason since, such as a person's rejection: that stays.
  if (!keep || !standing || standing->hidden_by != HiddenBy::request) return true;
  standing->hidden_by = HiddenBy::none;
  TRY(put_standing(db, record, *standing, now));
  TRY(show_record_again(db, record));
  return true;
}

}  // namespace cairn::store
