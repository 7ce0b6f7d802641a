#include "recall/fix.h"

#include <algorithm>

#include "base/text.h"
#include "ops/records.h"
#include "recall/how.h"
#include "store/projects.h"

namespace cairn::ops {

namespace {

constexpr std::size_t kShownText = 1500;  // bytes of a fix
// A search did not ask for a fix or a command. It gets one only if it is this likely to be meant; `fix` and
// `how` themselves show less likely ones too.
constexpr double kSureOfSearch = 0.6;  // likeness of an error
constexpr double kFitsSearch = 1.0;    // score of a command

// The project with its links; empty means all projects.
Result<std::vector<std::string>> projects_of(World& world, const std::optional<std::string>& project) {
  if (!project) return std::vector<std::string>();
  return store::scope_of(world.db, *project);
}

Json fix_json(const recall::Fix& fix) {
  Json changes = Json::array();
  for (const std::string& change : fix.changes) changes.push(change);
  const std::string text = fix.text(kShownText);
  return Json::object({{"id", recall::text_of(fix.record)},
                       {"project", fix.project},
                       {"time", iso8601(fix.at)},
                       {"likeness", fix.likeness},
                       {"title", fix.title},
                       {"failure", fix.failure},
                       {"changes", changes},
                       {"pass", fix.pass},
                       {"why", fix.why},
                       {"text", text},
                       {"tokens", estimate_tokens(text)}});
}

Json command_json(const recall::KnownCommand& known) {
  return Json::object({{"id", recall::text_of(known.record)},
                       {"project", known.project},
                       {"time", iso8601(known.at)},
                       {"command", known.command},
                       {"purpose", known.purpose.empty() ? Json() : Json(known.purpose)},
                       {"passed", known.passed},
                       {"failed", known.failed},
                       {"score", known.score}});
}

Result<Json> fix(World& world, const Args& args) {
  const auto project = TRY(project_of(world, args));
  const auto limit = static_cast<std::size_t>(args.integer("limit"));
  Json list = Json::array();
  for (const recall::Fix& found :
       TRY(recall::find_fixes(world.db, TRY(projects_of(world, project)), args.text("error"), limit)))
    list.push(fix_json(found));
  return Json::object({{"project", project}, {"fixes", list}});
}

Result<Json> how(World& world, const Args& args) {
  const auto project = TRY(project_of(world, args));
  const auto limit = static_cast<std::size_t>(args.integer("limit"));
  Json list = Json::array();
  const recall::Archive archive{world.disk, world.home.data + "/archive"};
  for (const recall::KnownCommand& known :
       TRY(recall::find_commands(world.db, TRY(projects_of(world, project)), args.text("words"),
                                 world.clock.now(), limit, &archive)))
    list.push(command_json(known));
  return Json::object({{"project", project}, {"commands", list}});
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

Result<Suggestions> suggestions_for(World& world, const std::string& query,
                                    const std::optional<std::string>& project) {
  Suggestions suggestions{Json::array(), Json::array()};
  // A cheap test by words, because most queries are neither: the searches below cost more.
  const std::string text = ascii_lower(prefix(query, 4000));
  const bool about_error =
      has_any(text, {"error", "fail", "fixed", "exception", "panic", "not found", "undefined"});
  const bool about_command =
      has_any(text, {"how do ", "how to ", "which command", "what command", "how can "});
  if (!about_error && !about_command) return suggestions;
  const auto projects = TRY(projects_of(world, project));
  if (about_error)
    for (const recall::Fix& found : TRY(recall::find_fixes(world.db, projects, query, 2)))
      if (found.likeness >= kSureOfSearch) suggestions.fixes.push(fix_json(found));
  if (about_command)
    for (const recall::KnownCommand& known :
         TRY(recall::find_commands(world.db, projects, query, world.clock.now(), 2)))
      if (known.score >= kFitsSearch) suggestions.commands.push(command_json(known));
  return suggestions;
}

std::vector<Operation> fix_operations() {
  return {
      {.name = "fix",
       .group = Group::memory,
       .summary = "what fixed this error before",
       .help = "Give the error text as it was printed, or - to read it from stdin. Shows runs that failed "
               "with the same "
               "message, what was changed then, and that they passed. Numbers, addresses and durations may "
               "differ. When nothing is known the exit code is 3.",
       .scope = Scope::any,
       .arguments = {text("error", "the error text").as("ERROR").needed().rest_of_line(),
                     integer("limit", 1, 20, "at most N fixes").otherwise(3), asked_by_agent()},
       .body = fix},
      {.name = "how",
       .access = Access::read_slowly,  // it may read transcripts
       .group = Group::memory,
       .summary = "which command does this here: run the tests, build, deploy",
       .help = "The commands that agents ran in this project and that worked, by their own words and by what "
               "they were run for; those that worked last come first. Imported sessions count too. When "
               "nothing is known the exit code is 3.",
       .scope = Scope::any,
       .arguments = {text("words", "what it does").as("WORDS").needed().rest_of_line(),
                     integer("limit", 1, 50, "at most N commands").otherwise(5), asked_by_agent()},
       .body = how},
  };
}

}  // namespace cairn::ops
