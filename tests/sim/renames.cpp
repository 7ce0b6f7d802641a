// A person renames a project, and merges two, in one schedule of eleven, whatever happens meanwhile. Sessions
// of the project are given what is known of it all the time (check_context); at the end all rows have moved.
#include <fmt/format.h>

#include "sim/schedule.h"
#include "store/totals.h"

namespace cairn::sim {

// Of the seed, not of the dice: the other schedules stay what they are.
bool Schedule::has_renames() const {
  return options_.seed % 11 == 4;
}

static Result<std::vector<std::string>> project_names(store::Db& db) {
  std::vector<std::string> names;
  store::Stmt row = TRY(db.query("SELECT name FROM projects WHERE moves_to IS NULL ORDER BY id"));
  while (TRY(row.step())) names.emplace_back(row.text(0));
  return names;
}

// What is refused while another move is under way is tried again at the next time.
static Status unless_busy(const Result<Json>& done) {
  if (done || done.error().code == Code::busy || done.error().code == Code::not_found) return {};
  return done.error();
}

void Schedule::rename_projects() {
  if (!has_renames()) return;
  if (!m_.engine) start();
  if (!m_.engine || outcome_.wrong) return;
  call_engine("rename", Actor::engine, [&]() -> Status {
    const auto names = TRY(project_names(m_.db()));
    if (names.empty()) return {};
    const std::string name = fmt::format("renamed-{}", ++renames_);
    return unless_busy(
        m_.run("projects.rename", Json::object({{"name", names.front()}, {"new_name", name}})));
  });
}

void Schedule::merge_projects() {
  if (!has_renames()) return;
  if (!m_.engine) start();
  if (!m_.engine || outcome_.wrong) return;
  call_engine("merge", Actor::engine, [&]() -> Status {
    const auto names = TRY(project_names(m_.db()));
    if (names.size() < 2) return {};
    newest_finished_.clear();  // of two projects only one has the newest turn now
    return unless_busy(m_.run("projects.merge", Json::object({{"name", names[0]}, {"other", names[1]}})));
  });
}

void Schedule::check_renamed() {
  if (!has_renames() || outcome_.wrong) return;
  if (test::must(m_.db().integer("SELECT count(*) FROM projects WHERE moves_to IS NOT NULL")) != 0)
    return fail("a project did not come to the end of its move");
  const auto tallies = [&] { return m_.rows("SELECT * FROM tallies WHERE count <> 0 ORDER BY 1, 2, 3"); };
  const auto kept = tallies();
  test::must(store::count_again(m_.db()));
  if (tallies() != kept) fail("the counts of projects are not those of their rows");
}

}  // namespace cairn::sim
