#include "cli/install.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/ids.h"
#include "base/text.h"
#include "cli/json_edit.h"
#include "cli/obstacle.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "cairn-hook";
constexpr int kTimeoutSeconds = 10;  // far above our own deadlines; the host's own default is ten minutes
constexpr std::size_t kMaxFile = 8 << 20;
constexpr int kMaxSteps = 10'000;  // changes to one file; a real one needs a few dozen

// The position of one of our hooks: indices into the children of `hooks`, of the event's array, of the
// group's `hooks`.
struct Place {
  std::size_t event = 0, group = 0, hook = 0;
  bool for_all = false;  // its group has no matcher, or one that matches everything
};

// Whether a container stays although it becomes empty.
using Keeps = std::function<bool(std::string_view event)>;  // "" asks for `hooks` itself

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// Splits off the first word of a shell command line, unquoted. Substitutions are not expanded.
std::string take_word(std::string_view& line) {
  line = trim(line);
  std::string word;
  char quote = '\0';
  std::size_t i = 0;
  for (; i < line.size(); ++i) {
    const char c = line[i];
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
    } else if (quote == '\0' && std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos) {
      break;
    } else {
      word += c;
    }
  }
  line.remove_prefix(i);
  return word;
}

bool is_assignment(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  return name.size() < word.size() && !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); });
}

std::string program_of_line(std::string_view line) {
  std::string word = take_word(line);
  while (is_assignment(word)) word = take_word(line);
  return word;
}

struct Program {
  std::string path;
  bool exec_form = true;

  Json entry(const std::string& event) const {
    Json hook = Json::object({{"type", "command"}});
    if (exec_form)
      hook.set("command", path).set("args", Json::array({Json(event)}));
    else
      hook.set("command", shell_word(path) + " " + event);
    // When a session ends, the host waits for the largest timeout of the SessionEnd hooks. Without one it
    // uses its own.
    if (event != "SessionEnd") hook.set("timeout", kTimeoutSeconds);
    return hook;
  }

  static Program of(const Json& hook) {
    const bool exec_form = hook["args"].is_array();
    const std::string_view command = hook["command"].as_string();
    return {exec_form ? std::string(command) : program_of_line(command), exec_form};
  }
};

Json json_of(std::string_view text, const JsonNode& node) {
  return Json::parse(text.substr(node.begin, node.end - node.begin)).value_or(Json());
}

// Our hooks under the child `event` of `hooks`; none when it is not a list of groups.
std::vector<Place> ours_under(std::string_view text, const JsonNode& hooks, std::size_t event) {
  std::vector<Place> places;
  const JsonNode& groups = hooks.children[event];
  for (std::size_t g = 0; groups.is_array() && g < groups.children.size(); ++g) {
    const JsonNode* list = groups.children[g].find("hooks");
    if (!list || !list->is_array()) continue;
    const JsonNode* matcher = groups.children[g].find("matcher");
    const Json pattern = matcher ? json_of(text, *matcher) : Json("");
    const bool for_all = pattern.as_string("?").empty() || pattern.as_string() == "*";
    for (std::size_t h = 0; h < list->children.size(); ++h)
      if (list->children[h].is_object() && is_our_hook(json_of(text, list->children[h])))
        places.push_back({event, g, h, for_all});
  }
  return places;
}

const JsonNode& hook_at(const JsonNode& hooks, const Place& place) {
  return hooks.children[place.event].children[place.group].find("hooks")->children[place.hook];
}

std::optional<Place> first_of_ours(std::string_view text, const JsonNode& root) {
  const JsonNode* hooks = root.find("hooks");
  for (std::size_t event = 0; hooks && hooks->is_object() && event < hooks->children.size(); ++event)
    if (const auto places = ours_under(text, *hooks, event); !places.empty()) return places.front();
  return {};
}

// The text without one hook, and without the group, event and `hooks` that contained nothing else.
std::string erase_hook(std::string_view text, const JsonNode& root, const Place& place, const Keeps& keeps) {
  const JsonNode& hooks = *root.find("hooks");
  const JsonNode& event = hooks.children[place.event];
  const JsonNode& list = *event.children[place.group].find("hooks");
  if (list.children.size() > 1) return erase(text, list, place.hook);
  if (event.children.size() > 1 || keeps(event.key)) return erase(text, event, place.group);
  if (hooks.children.size() > 1 || keeps("")) return erase(text, hooks, place.event);
  return erase(text, root, static_cast<std::size_t>(&hooks - root.children.data()));
}

bool is_blank(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return trim(text).empty();
}

Error wrong_type(std::string_view text, const JsonNode& node, std::string_view what) {
  return {Code::invalid, fmt::format("{}: {}", place_of(text, node.begin), what)};
}

bool is_registered(std::string_view event) {
  const auto& events = registered_events();
  return std::find(events.begin(), events.end(), event) != events.end();
}

// The next change that an event in the file needs.
std::optional<std::string> fix_event(std::string_view text, const JsonNode& root, const JsonStyle& style,
                                     std::size_t index, const Program& program) {
  const JsonNode& hooks = *root.find("hooks");
  const std::string& name = hooks.children[index].key;
  const bool wanted = is_registered(name) && hooks.find(name) == &hooks.children[index];
  const Json entry = program.entry(name);
  const std::vector<Place> places = ours_under(text, hooks, index);

  const auto is_exact = [&](const Place& p) {
    return p.for_all && json_of(text, hook_at(hooks, p)) == entry;
  };
  auto kept = std::find_if(places.begin(), places.end(), is_exact);
  if (kept == places.end())
    kept = std::find_if(places.begin(), places.end(), [](const Place& p) { return p.for_all; });
  if (!wanted) kept = places.end();

  for (auto place = places.begin(); place != places.end(); ++place)
    if (place != kept)
      return erase_hook(text, root, *place,
                        [&](std::string_view container) { return wanted || container.empty(); });
  if (!wanted) return {};
  if (kept == places.end())
    return insert_last(text, style, hooks.children[index], "",
                       Json::object({{"hooks", Json::array({entry})}}));
  if (is_exact(*kept)) return {};
  return replace(text, style, hook_at(hooks, *kept), entry);
}

// The next change to existing entries; nothing when only events are missing.
Result<std::optional<std::string>> fix_step(std::string_view text, const Program& program) {
  const JsonNode root = TRY(scan(text));
  if (!root.is_object()) return wrong_type(text, root, "the settings must be an object");
  const JsonStyle style = JsonStyle::of(text, root);
  const JsonNode* hooks = root.find("hooks");
  if (!hooks) return std::optional(insert_last(text, style, root, "hooks", Json::object()));
  if (!hooks->is_object()) return wrong_type(text, *hooks, "`hooks` must be an object");
  for (std::size_t i = 0; i < hooks->children.size(); ++i) {
    const JsonNode& event = hooks->children[i];
    if (is_registered(event.key) && !event.is_array())
      return wrong_type(text, event, fmt::format("`hooks.{}` must be an array", event.key));
    if (auto fixed = fix_event(text, root, style, i, program)) return fixed;
  }
  return std::optional<std::string>();
}

Result<std::string> with_missing_events(std::string text, const Program& program) {
  for (const std::string& event : registered_events()) {
    const JsonNode root = TRY(scan(text));
    const JsonNode& hooks = *root.find("hooks");
    if (hooks.find(event)) continue;
    const Json groups = Json::array({Json::object({{"hooks", Json::array({program.entry(event)})}})});
    text = insert_last(text, JsonStyle::of(text, root), hooks, event, groups);
  }
  return text;
}

Result<std::string> installed(std::string text, const Program& program) {
  if (is_blank(text)) text = std::string(text.starts_with("\xef\xbb\xbf") ? text.substr(0, 3) : "") + "{}\n";
  for (int step = 0; step < kMaxSteps; ++step) {
    std::optional<std::string> next = TRY(fix_step(text, program));
    if (!next) return with_missing_events(std::move(text), program);
    text = *std::move(next);
  }
  return Error{Code::invalid, "too many entries of cairn"};
}

Result<std::string> without_ours(std::string text, const Keeps& keeps) {
  if (is_blank(text)) return text;
  for (int step = 0; step < kMaxSteps; ++step) {
    const JsonNode root = TRY(scan(text));
    const auto place = first_of_ours(text, root);
    if (!place) return text;
    text = erase_hook(text, root, *place, keeps);
  }
  return Error{Code::invalid, "too many entries of cairn"};
}

bool has_ours(std::string_view text) {
  const auto root = scan(text);
  return root && first_of_ours(text, *root);
}

std::string backup_of(const std::string& file) {
  return file + ".cairn-backup";
}

std::string created_mark_of(const std::string& file) {
  return file + ".cairn-created";
}

Result<std::optional<std::string>> read_if_there(os::Disk& disk, const std::string& path) {
  auto bytes = os::read_file(disk, path, kMaxFile);
  if (bytes) return std::optional(std::move(bytes).value());
  if (bytes.error().code == Code::not_found) return std::optional<std::string>();
  return std::move(bytes).error();
}

Result<InstallPlan> plan_for(os::Disk& disk, const std::string& file) {
  InstallPlan plan;
  plan.settings_file = file;
  std::optional<std::string> bytes = TRY(read_if_there(disk, file));
  plan.existed = bytes.has_value();
  plan.before = std::move(bytes).value_or("");
  return plan;
}

// The bytes from before the install, if the backup has them.
std::optional<std::string> bytes_before(os::Disk& disk, const std::string& file) {
  auto backup = read_if_there(disk, backup_of(file));
  if (!backup || !*backup || has_ours(**backup)) return {};
  return *std::move(backup);
}

Keeps keeps_of(const std::optional<std::string>& before) {
  std::vector<std::string> names;
  const auto root = scan(before.value_or(""));
  if (const JsonNode* hooks = root ? root->find("hooks") : nullptr) {
    names.emplace_back();
    for (const JsonNode& event : hooks->children) names.push_back(event.key);
  }
  return
      [names](std::string_view event) { return std::find(names.begin(), names.end(), event) != names.end(); };
}

// The target of a chain of symbolic links; it need not exist.
std::string behind_links(std::string path) {
  std::error_code error;
  for (int i = 0; i < 40 && fs::is_symlink(path, error); ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = (fs::path(path).parent_path() / target).string();
  }
  return path;
}

std::string directory_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

Status write_beside(os::Disk& disk, const std::string& temporary, const std::string& target,
                    std::string_view bytes) {
  {
    const auto file = TRY(disk.open(temporary, os::Open::create_new));
    TRY(file->write_at(0, bytes));
    TRY(file->sync());
  }
  struct stat st {};
  if (::stat(target.c_str(), &st) == 0) {
    // Only root can give a file away; anyone else already owns it.
    if (::chown(temporary.c_str(), st.st_uid, st.st_gid) != 0 && ::geteuid() == 0)
      return errno_error("keep the owner", errno);
    if (::chmod(temporary.c_str(), st.st_mode & 07777) != 0) return errno_error("keep the mode", errno);
  }
  TRY(disk.rename(temporary, target));
  return disk.sync_dir(directory_of(target));
}

Status write_settings(os::Disk& disk, const std::string& target, std::string_view bytes) {
  const std::string temporary = target + ".cairn-" + random_hex(6);
  Status written = write_beside(disk, temporary, target, bytes);
  if (!written) ignore(disk.remove(temporary));
  return written;
}

Status remove_if_there(os::Disk& disk, const std::string& path) {
  Status removed = disk.remove(path);
  if (!removed && removed.error().code == Code::not_found) return {};
  return removed;
}

Status keep_backup(os::Disk& disk, const InstallPlan& plan) {
  if (has_ours(plan.before)) return {};  // not the first install: keep the older backup
  const std::string backup = backup_of(plan.settings_file), mark = created_mark_of(plan.settings_file);
  TRY(os::replace_file(disk, plan.existed ? backup : mark, plan.before));
  return remove_if_there(disk, plan.existed ? mark : backup);
}

Status remove_backup(os::Disk& disk, const std::string& file) {
  TRY(remove_if_there(disk, backup_of(file)));
  return remove_if_there(disk, created_mark_of(file));
}

Status write_plan(os::Disk& disk, const InstallPlan& plan) {
  const std::string target = behind_links(plan.settings_file);
  if (plan.removes) {
    TRY(disk.remove(target));
    return disk.sync_dir(directory_of(target));
  }
  if (!plan.uninstall) {
    TRY(os::make_dirs(disk, directory_of(plan.settings_file)));
    TRY(os::make_dirs(disk, directory_of(target)));
    TRY(keep_backup(disk, plan));
  }
  return write_settings(disk, target, plan.after);
}

}  // namespace

const std::vector<std::string>& registered_events() {
  static const std::vector<std::string> events = {
      "SessionStart", "UserPromptSubmit",   "PreToolUse",   "PostToolUse", "PostToolUseFailure", "Stop",
      "StopFailure",  "SubagentStart",      "SubagentStop", "PreCompact",  "PostCompact",        "SessionEnd",
      "Notification", "InstructionsLoaded", "CwdChanged",   "TaskCreated", "TaskCompleted"};
  return events;
}

std::size_t count_our_hooks(std::string_view settings) {
  const auto root = scan(settings);
  const JsonNode* hooks = root ? root->find("hooks") : nullptr;
  std::size_t count = 0;
  for (std::size_t event = 0; hooks && hooks->is_object() && event < hooks->children.size(); ++event)
    count += ours_under(settings, *hooks, event).size();
  return count;
}

bool is_our_hook(const Json& hook) {
  return hook["command"].is_string() && base_name(Program::of(hook).path) == kProgram;
}

std::string program_of_hook(const Json& hook) {
  return Program::of(hook).path;
}

Result<std::string> claude_settings_file() {
  if (const char* directory = std::getenv("CLAUDE_CONFIG_DIR"); directory && *directory)
    return (fs::absolute(directory) / "settings.json").lexically_normal().string();
  const char* home = std::getenv("HOME");
  if (!home || *home != '/')
    return Error{Code::invalid, "HOME is not an absolute path; set it and try again"};
  return std::string(home) + "/.claude/settings.json";
}

Result<InstallPlan> plan_install(os::Disk& disk, const std::string& settings_file,
                                 const std::string& hook_program, bool exec_form) {
  if (!hook_program.starts_with('/') || base_name(hook_program) != kProgram || !is_utf8(hook_program))
    return Error{Code::invalid, fmt::format("{} is not the absolute path of a {}", hook_program, kProgram)};
  InstallPlan plan = TRY(plan_for(disk, settings_file));
  plan.after = TRY(installed(plan.before, {hook_program, exec_form}).in(settings_file));
  return plan;
}

Result<InstallPlan> plan_uninstall(os::Disk& disk, const std::string& settings_file) {
  InstallPlan plan = TRY(plan_for(disk, settings_file));
  plan.uninstall = true;
  plan.after = plan.before;
  if (is_blank(plan.before)) return plan;
  const JsonNode root = TRY(scan(plan.before).in(settings_file));
  const auto place = first_of_ours(plan.before, root);
  if (!place) return plan;

  const Program program = Program::of(json_of(plan.before, hook_at(*root.find("hooks"), *place)));
  const auto gives_this = [&](const std::string& original) {
    const auto again = installed(original, program);
    return again && *again == plan.before;
  };
  const auto original = bytes_before(disk, settings_file);
  if (original && gives_this(*original)) {
    plan.after = *original;
  } else if (disk.stat(created_mark_of(settings_file)) && gives_this("")) {
    plan.after.clear();
    plan.removes = true;
  } else {
    plan.after = TRY(without_ours(plan.before, keeps_of(original)).in(settings_file));
  }
  return plan;
}

Status apply_install(os::Disk& disk, const InstallPlan& plan) {
  const std::string& file = plan.settings_file;
  const InstallPlan now = TRY(plan_for(disk, file));
  if (now.existed != plan.existed || now.before != plan.before)
    return Error{Code::busy, file + ": changed while we were looking at it; run the command again"};
  if (plan.changes()) {
    Status written = write_plan(disk, plan);
    if (!written && written.error().code == Code::denied)
      return Error{Code::denied,
                   fmt::format("{} cannot be written ({}); make it and its directory writable for you, or "
                               "run the command as its owner",
                               file, written.error().message)};
    if (!written) return std::move(written).in(file);
  }
  return plan.uninstall ? remove_backup(disk, file) : Status();
}

}  // namespace cairn::cli
