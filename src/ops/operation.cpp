#include "ops/operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "base/text.h"
#include "intake/place.h"
#include "intake/project_identity.h"
#include "store/projects.h"

namespace cairn::ops {

namespace {

const Argument kCwd = path("cwd", "the project that this directory belongs to").as("DIR");
const Argument kProject = text("project", "the project of that name").as("NAME");
const Argument kAll = flag("all", "every project");

// Adds the arguments of the scope first, except one that the operation places itself.
Operation with_scope(Operation operation) {
  std::vector<Argument> all;
  for (const Argument& argument : {kCwd, kProject, kAll}) {
    const bool part =
        operation.scope == Scope::any || (operation.scope == Scope::one && argument.name != "all");
    if (part && !operation.find(argument.name)) all.push_back(argument);
  }
  operation.arguments.insert(operation.arguments.begin(), all.begin(), all.end());
  return operation;
}

// The arguments of a scope, of which one must be given.
std::string_view scope_names(Scope scope) {
  return scope == Scope::any ? "cwd project all" : "cwd project";
}

// The names of all arguments that the caller can give.
std::vector<std::string> names_of(const Operation& operation, Spelling spelling) {
  std::vector<std::string> names;
  for (const Argument& argument : operation.arguments)
    if (spelling == Spelling::request || argument.place != Argument::Place::nowhere)
      names.push_back(argument.spelled(spelling));
  return names;
}

std::string it_takes(const Operation& operation, Spelling spelling) {
  const auto names = names_of(operation, spelling);
  return names.empty() ? "it takes none" : fmt::format("it takes {}", fmt::join(names, ", "));
}

// One check of one request, in this order: each value alone, then which arguments exclude or need each
// other, then the scope. So the first error names what is wrong with the argument itself.
// No message repeats a value: it may be a secret that was given to the wrong argument.
class Check {
 public:
  Check(const Operation& operation, const Json& args, Spelling spelling)
      : operation_(operation), args_(args), spelling_(spelling) {}

  Status run() const {
    if (!args_.is_object() && !args_.is_null()) return refuse("the arguments are not a JSON object");
    TRY(check_values());
    for (const Argument& argument : operation_.arguments) TRY(check_combination(argument));
    TRY(check_one_of());
    return operation_.scope == Scope::none ? Status() : check_scope();
  }

 private:
  Error refuse(const std::string& why) const { return {Code::invalid, operation_.title() + ": " + why}; }

  // A flag that is false is not given. "status=failed" is given when the argument has that value.
  bool is_given(std::string_view what) const {
    const std::size_t sign = what.find('=');
    const Json& value = args_[what.substr(0, sign)];
    if (sign != std::string_view::npos) return value.as_string() == what.substr(sign + 1);
    return value.is_bool() ? value.as_bool() : !value.is_null();
  }

  std::string spelled(std::string_view what) const {
    const std::size_t sign = std::min(what.find('='), what.size());
    return operation_.find(what.substr(0, sign))->spelled(spelling_) + std::string(what.substr(sign));
  }

  Status check_values() const {
    for (const auto& [key, value] : args_.members()) {
      const Argument* argument = operation_.find(key);
      if (!argument) return operation_.unknown(key, spelling_);
      if (!value.is_null() && !fits(*argument, value))
        return refuse(fmt::format("{} must be {}", argument->spelled(spelling_), wanted(*argument)));
    }
    return {};
  }

  // Whether the others are given that this one needs, and none that it excludes.
  Status check_combination(const Argument& argument) const {
    const std::string name = argument.spelled(spelling_);
    if (argument.required && args_[argument.name].is_null())
      return refuse(fmt::format("{} is missing: {}", name, wanted(argument)));
    if (!is_given(argument.name)) return {};
    if (!argument.with.empty() && !is_given(argument.with))
      return refuse(fmt::format("{} goes with {}: give both or none", name, spelled(argument.with)));
    for (const std::string_view other : split(argument.excluded, ' '))
      if (!other.empty() && is_given(other))
        return refuse(fmt::format("{} and {} exclude each other: leave one out", name, spelled(other)));
    return {};
  }

  // Names only what the caller can give: the command line has no arguments of Place::nowhere.
  Status must_give_one_of(std::string_view names) const {
    std::vector<std::string> all;
    for (const std::string_view name : split(names, ' '))
      if (spelling_ == Spelling::request || operation_.find(name)->place != Argument::Place::nowhere)
        all.push_back(spelled(name));
    return refuse(fmt::format("give one of {}", fmt::join(all, ", ")));
  }

  Status check_one_of() const {
    if (operation_.one_of.empty()) return {};
    int given = 0;
    bool has_project = false;
    // `project` beside another one is the scope ("forget --query X --project P"); alone it is the choice
    // itself.
    for (const std::string_view name : split(operation_.one_of, ' ')) {
      if (!is_given(name)) continue;
      name == kProject.name ? has_project = true : ++given;
    }
    if (given == 1 || (given == 0 && has_project)) return {};
    return must_give_one_of(operation_.one_of);
  }

  Status check_scope() const {
    const auto names = split(scope_names(operation_.scope), ' ');
    const auto given =
        std::count_if(names.begin(), names.end(), [&](std::string_view name) { return is_given(name); });
    // A record belongs to a project, so naming a record is enough.
    const bool names_a_record =
        std::any_of(operation_.arguments.begin(), operation_.arguments.end(), [&](const Argument& argument) {
          return argument.type == Argument::Type::record && is_given(argument.name);
        });
    if (given == 1 || (given == 0 && names_a_record)) return {};
    return must_give_one_of(scope_names(operation_.scope));
  }

  const Operation& operation_;
  const Json& args_;
  Spelling spelling_;
};

}  // namespace

// The order is the one of help and documents.
const std::vector<Operation>& operations() {
  static const std::vector<Operation> kOperations = [] {
    std::vector<Operation> all;
    for (const auto& part : {search_operations(),   fix_operations(),
                             record_operations(),   remember_operations(),
                             open_operations(),     context_operations(),
                             document_operations(), resume_operations(),
                             undo_operations(),     handoff_operations(),
                             project_operations(),  stats_operations(),
                             session_operations(),  session_repair_operations(),
                             provider_operations(), agent_operations(),
                             backup_operations(),   import_operations(),
                             status_operations(),   daemon_operations(),
                             queue_operations(),    capture_operations(),
                             policy_operations(),   scan_operations(),
                             forget_operations(),   correct_operations(),
                             export_operations(),   reindex_operations(),
                             debug_operations()})
      for (const Operation& operation : part) all.push_back(with_scope(operation));
    return all;
  }();
  return kOperations;
}

const Operation* find_operation(std::string_view name) {
  for (const Operation& operation : operations())
    if (operation.name == name) return &operation;
  return nullptr;
}

Result<Json> run_operation(std::string_view name, World& world, const Json& args) {
  const Operation* operation = find_operation(name);
  CAIRN_ASSERT(operation != nullptr);
  return operation->run(world, args);
}

std::string_view group_title(Group group) {
  switch (group) {
    case Group::none: return "";
    case Group::memory: return "Memory";
    case Group::work: return "At work";
    case Group::setup: return "Set-up";
    case Group::privacy: return "Privacy";
    case Group::diagnostics: return "Diagnostics";
  }
  return "";
}

std::string Operation::title() const {
  std::string text(name);
  std::replace(text.begin(), text.end(), '.', ' ');
  return text;
}

const Argument* Operation::find(std::string_view argument) const {
  for (const Argument& one : arguments)
    if (one.name == argument) return &one;
  return nullptr;
}

Error Operation::unknown(std::string_view argument, Spelling spelling) const {
  // On a command line the unknown name is shown as an option: --name.
  std::string given(argument);
  if (spelling == Spelling::typed && !argument.starts_with('-')) given = text(argument, "").option();
  const std::string what =
      fmt::format("{}: there is no argument \"{}\"", title(), one_line(visible(given), 60));
  const auto names = names_of(*this, spelling);
  const std::string_view meant = did_you_mean(given, {names.begin(), names.end()});
  if (!meant.empty()) return {Code::invalid, fmt::format("{}: did you mean \"{}\"?", what, meant)};
  return {Code::invalid, fmt::format("{}: {}", what, it_takes(*this, spelling))};
}

Error Operation::word_too_many() const {
  return {Code::invalid,
          fmt::format("{}: there is one word too many: {}", title(), it_takes(*this, Spelling::typed))};
}

Result<Args> Operation::check(const Json& args, Spelling spelling) const {
  TRY(Check(*this, args, spelling).run());
  return Args(*this, args);
}

// Sets World::only_project for a request of an agent. A project that is not remembered yet has no records:
// an agent there sees none.
static Status bind_to_project(World& world, const Operation& operation, const Args& args) {
  if (!operation.find("agent") || !args.flag("agent")) return {};
  if (world.settings.text("recall.agent_scope") == "all") return {};
  if ((operation.find("project") && args.has("project")) || (operation.find("all") && args.flag("all")))
    return Error{Code::denied,
                 fmt::format("{}: an agent may not ask for other projects: the user can allow it "
                             "with `cairn config set recall.agent_scope all`",
                             operation.title())};
  if (!args.has("cwd")) return Error{Code::invalid, operation.title() + ": agent goes with cwd: give both"};
  auto project = project_at(world, args.text("cwd"));
  if (!project && project.error().code != Code::not_found) return std::move(project).error();
  world.only_project = project ? *project : std::string();
  return {};
}

Result<Json> Operation::run(World& world, const Json& args) const {
  const Args checked = TRY(check(args));
  TRY(bind_to_project(world, *this, checked));
  // check() runs on the command line too, without a store. What needs the store is checked only here.
  for (const Argument& argument : arguments) {
    if (!argument.wrong || !checked.has(argument.name)) continue;
    const std::string value = checked.text(argument.name);
    if (const std::string must = argument.wrong(world, value); !must.empty())
      return Error{Code::invalid, fmt::format("{}: {} must be {}", title(), argument.name, must)};
  }
  if (!body) return Error{Code::unsupported, title() + ": only a running daemon can do this"};
  return body(world, checked);
}

Argument asked_by_agent() {
  return flag("agent", "an agent asks: it sees the project of cwd alone, unless recall.agent_scope is all")
      .in_requests();
}

Argument written_by(std::string_view meaning) {
  return choice("by", "person|agent", meaning).in_requests();
}

bool by_agent(const Args& args) {
  return args.text("by") == "agent";
}

Result<bool> may_see(World& world, const std::string& project) {
  if (!world.only_project) return true;
  // The agent's project is not known, so no record can be of it.
  if (world.only_project->empty()) return false;
  const auto scope = TRY(store::scope_of(world.db, *world.only_project));
  return std::find(scope.begin(), scope.end(), project) != scope.end();
}

Json time_or_null(const std::optional<WallTime>& time) {
  return time ? Json(iso8601(*time)) : Json();
}

Json number_or_null(const std::optional<std::int64_t>& number) {
  return number ? Json(*number) : Json();
}

Json counts_json(const store::Counts& counts) {
  Json out = Json::object();
  for (const auto& [name, count] : counts) out.set(name, count);
  return out;
}

Result<std::string> project_at(World& world, const std::string& directory) {
  const auto project = TRY(intake::find_project_at(world.db, world.disk, world.clock,
                                                   intake::resolve_place(world.disk, "", directory)));
  if (!project) return Error{Code::not_found, "nothing is remembered of " + directory + " yet"};
  return project->name;
}

Result<std::string> one_project(World& world, const Args& args) {
  const auto name = args.optional_text("project");
  if (!name) return project_at(world, args.text("cwd"));
  if (const auto project = TRY(store::project_by_name(world.db, *name))) return project->name;
  return Error{Code::not_found,
               "no project of that name is remembered: `cairn projects list` shows those that are"};
}

Result<std::optional<std::string>> project_of(World& world, const Args& args) {
  if (args.flag("all")) return std::optional<std::string>();
  return std::optional(TRY(one_project(world, args)));
}

}  // namespace cairn::ops
