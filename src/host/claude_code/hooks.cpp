#include "host/claude_code/hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "base/shell.h"
#include "base/text.h"
#include "host/json_edit.h"

namespace cairn::host::claude {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "cairn-hook";
constexpr std::array kFirstWithExecForm = {2, 1, 0};
constexpr int kTimeoutSeconds = 10;  // far above our own deadlines; the host's own default is ten minutes
constexpr std::size_t kMaxSettings = 8 << 20;
constexpr int kMaxSteps = 10'000;  // changes to one file; a real one needs a few dozen

const std::vector<std::string>& hooked_events() {
  static const std::vector<std::string> events = {
      "SessionStart", "UserPromptSubmit",   "PreToolUse",   "PostToolUse", "PostToolUseFailure", "Stop",
      "StopFailure",  "SubagentStart",      "SubagentStop", "PreCompact",  "PostCompact",        "SessionEnd",
      "Notification", "InstructionsLoaded", "CwdChanged",   "TaskCreated", "TaskCompleted"};
  return events;
}

// The position of one of our hooks: indices into the children of `hooks`, of the event's array, of the
// group's `hooks`.
struct Spot {
  std::size_t event = 0, group = 0, hook = 0;
  bool for_all = false;  // its group has no matcher, or one that matches everything
};

// Whether a container stays although it becomes empty.
using Keeps = std::function<bool(std::string_view event)>;  // "" asks for `hooks` itself

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

bool is_assignment(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  return name.size() < word.size() && !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); });
}

std::string program_of_line(std::string_view line) {
  std::string word = take_shell_word(line);
  while (is_assignment(word)) word = take_shell_word(line);
  return word;
}

Json entry_for(const HookProgram& program, const std::string& event) {
  Json hook = Json::object({{"type", "command"}});
  if (program.exec_form)
    hook.set("command", program.path).set("args", Json::array({Json(event)}));
  else
    hook.set("command", shell_word(program.path) + " " + event);
  // When a session ends, the host waits for the largest timeout of the SessionEnd hooks. Without one it uses
  // its own.
  if (event != "SessionEnd") hook.set("timeout", kTimeoutSeconds);
  return hook;
}

HookProgram program_of(const Json& hook) {
  const bool exec_form = hook["args"].is_array();
  const std::string_view command = hook["command"].as_string();
  return {exec_form ? std::string(command) : program_of_line(command), exec_form};
}

Json json_of(std::string_view text, const JsonNode& node) {
  return Json::parse(text.substr(node.begin, node.end - node.begin)).value_or(Json());
}

// Our hooks under the child `event` of `hooks`. Shapes that are not a list of groups hold none.
std::vector<Spot> ours_under(std::string_view text, const JsonNode& hooks, std::size_t event) {
  std::vector<Spot> places;
  const JsonNode& groups = hooks.children[event];
  for (std::size_t g = 0; groups.is_array() && g < groups.children.size(); ++g) {
    const JsonNode* list = groups.children[g].find("hooks");
    if (!list || !list->is_array()) continue;
    const JsonNode* matcher = groups.children[g].find("matcher");
    const Json pattern = matcher ? json_of(text, *matcher) : Json("");
    const bool for_all = pattern.as_string("?").empty() || pattern.as_string() == "*";
    for (std::size_t h = 0; h < list->children.size(); ++h)
      if (list->children[h].is_object() && is_our_entry(json_of(text, list->children[h])))
        places.push_back({event, g, h, for_all});
  }
  return places;
}

const JsonNode& hook_at(const JsonNode& hooks, const Spot& place) {
  return hooks.children[place.event].children[place.group].find("hooks")->children[place.hook];
}

std::optional<Spot> first_of_ours(std::string_view text, const JsonNode& root) {
  const JsonNode* hooks = root.find("hooks");
  for (std::size_t event = 0; hooks && hooks->is_object() && event < hooks->children.size(); ++event)
    if (const auto places = ours_under(text, *hooks, event); !places.empty()) return places.front();
  return {};
}

// The text without one hook, and without the group, the event and `hooks` that held nothing else.
std::string erase_hook(std::string_view text, const JsonNode& root, const Spot& place, const Keeps& keeps) {
  const JsonNode& hooks = *root.find("hooks");
  const JsonNode& event = hooks.children[place.event];
  const JsonNode& list = *event.children[place.group].find("hooks");
  if (list.children.size() > 1) return erase(text, list, place.hook);
  if (event.children.size() > 1 || keeps(event.key)) return erase(text, event, place.group);
  if (hooks.children.size() > 1 || keeps("")) return erase(text, hooks, place.event);
  return erase(text, root, static_cast<std::size_t>(&hooks - root.children.data()));
}

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_blank(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return trim(text).empty();
}

Error wrong_type(std::string_view text, const JsonNode& node, std::string_view what) {
  return {Code::invalid, fmt::format("{}: {}", place_of(text, node.begin), what)};
}

bool is_registered(std::string_view event) {
  const auto& events = hooked_events();
  return std::find(events.begin(), events.end(), event) != events.end();
}

// The next change that an event in the file needs.
std::optional<std::string> fix_event(std::string_view text, const JsonNode& root, const JsonStyle& style,
                                     std::size_t index, const HookProgram& program) {
  const JsonNode& hooks = *root.find("hooks");
  const std::string& name = hooks.children[index].key;
  const bool wanted = is_registered(name) && hooks.find(name) == &hooks.children[index];
  const Json entry = entry_for(program, name);
  const std::vector<Spot> places = ours_under(text, hooks, index);

  const auto is_exact = [&](const Spot& p) { return p.for_all && json_of(text, hook_at(hooks, p)) == entry; };
  auto kept = std::find_if(places.begin(), places.end(), is_exact);
  if (kept == places.end())
    kept = std::find_if(places.begin(), places.end(), [](const Spot& p) { return p.for_all; });
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
Result<std::optional<std::string>> fix_step(std::string_view text, const HookProgram& program) {
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

Result<std::string> with_missing_events(std::string text, const HookProgram& program) {
  for (const std::string& event : hooked_events()) {
    const JsonNode root = TRY(scan(text));
    const JsonNode& hooks = *root.find("hooks");
    if (hooks.find(event)) continue;
    const Json groups = Json::array({Json::object({{"hooks", Json::array({entry_for(program, event)})}})});
    text = insert_last(text, JsonStyle::of(text, root), hooks, event, groups);
  }
  return text;
}

Error too_many() {
  return {Code::invalid, "too many entries of cairn"};
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

// A JSON file of the host; null when there is none.
Result<Json> read_json(os::Disk& disk, const std::string& file) {
  auto text = os::read_file(disk, file, kMaxSettings);
  if (!text && text.error().code == Code::not_found) return Json();
  if (!text) return std::move(text).error();
  if (trim(*text).empty()) return Json();
  return Json::parse(*text).in(file);
}

void add_hooks(Registration& found, const Json& hooks) {
  for (const auto& [event, groups] : hooks.members())
    for (const Json& group : groups.items())
      for (const Json& hook : group["hooks"].items()) {
        if (!is_our_entry(hook)) continue;
        ++found.by_event[event];
        const std::string program = program_of(hook).path;
        if (std::find(found.programs.begin(), found.programs.end(), program) == found.programs.end())
          found.programs.push_back(program);
      }
}

void add_plugins(Registration& found, os::Disk& disk, const Json& settings) {
  const std::string list =
      fs::path(found.settings_file).parent_path().string() + "/plugins/installed_plugins.json";
  const Json installed = read_json(disk, list).value_or(Json());
  for (const auto& [name, entry] : installed["plugins"].members())
    if (name.starts_with("cairn@") && settings["enabledPlugins"][name].as_bool(true))
      found.plugins.push_back(name);
}

}  // namespace

std::optional<std::array<int, 3>> parse_version(std::string_view text) {
  const auto is_digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(at) || (at > 0 && is_digit(at - 1))) continue;
    std::array<int, 3> numbers{};
    const char* from = text.data() + at;
    const char* const end = text.data() + text.size();
    std::size_t read = 0;
    while (read < 3) {
      const auto [next, error] = std::from_chars(from, end, numbers[read]);
      if (error != std::errc()) break;
      from = next;
      if (++read == 3 || from == end || *from != '.') break;
      ++from;
    }
    if (read == 3) return numbers;
  }
  return std::nullopt;
}

bool is_our_entry(const Json& entry) {
  return entry["command"].is_string() && base_name(program_of(entry).path) == kProgram;
}

const std::vector<std::string>& SettingsHooks::events() const {
  return hooked_events();
}

Result<std::string> SettingsHooks::settings_file() const {
  if (const char* directory = std::getenv("CLAUDE_CONFIG_DIR"); directory && *directory)
    return (fs::absolute(directory) / "settings.json").lexically_normal().string();
  const char* home = std::getenv("HOME");
  if (!home || *home != '/')
    return Error{Code::invalid, "HOME is not an absolute path; set it and try again"};
  return std::string(home) + "/.claude/settings.json";
}

bool SettingsHooks::takes_exec_form(const std::optional<std::string>& version_text) const {
  const auto version = version_text ? parse_version(*version_text) : std::nullopt;
  return !version || *version >= kFirstWithExecForm;
}

Result<std::string> SettingsHooks::with_ours(std::string text, const HookProgram& program) const {
  if (is_blank(text)) text = std::string(text.starts_with(kByteOrderMark) ? kByteOrderMark : "") + "{}\n";
  for (int step = 0; step < kMaxSteps; ++step) {
    std::optional<std::string> next = TRY(fix_step(text, program));
    if (!next) return with_missing_events(std::move(text), program);
    text = *std::move(next);
  }
  return too_many();
}

Result<std::string> SettingsHooks::without_ours(std::string text,
                                                const std::optional<std::string>& before) const {
  if (is_blank(text)) return text;
  const Keeps keeps = keeps_of(before);
  for (int step = 0; step < kMaxSteps; ++step) {
    const JsonNode root = TRY(scan(text));
    const auto place = first_of_ours(text, root);
    if (!place) return text;
    text = erase_hook(text, root, *place, keeps);
  }
  return too_many();
}

Result<std::optional<HookProgram>> SettingsHooks::program_in(std::string_view text) const {
  if (is_blank(text)) return std::optional<HookProgram>();
  const JsonNode root = TRY(scan(text));
  const auto place = first_of_ours(text, root);
  if (!place) return std::optional<HookProgram>();
  return std::optional(program_of(json_of(text, hook_at(*root.find("hooks"), *place))));
}

std::size_t SettingsHooks::count(std::string_view text) const {
  const auto root = scan(text);
  const JsonNode* hooks = root ? root->find("hooks") : nullptr;
  std::size_t count = 0;
  for (std::size_t event = 0; hooks && hooks->is_object() && event < hooks->children.size(); ++event)
    count += ours_under(text, *hooks, event).size();
  return count;
}

Registration SettingsHooks::look(os::Disk& disk, const std::string& directory) const {
  Registration found;
  auto file = settings_file();
  if (!file) {
    found.problem = file.error().message;
    return found;
  }
  found.settings_file = *file;
  found.present = on_path(command()).has_value() || disk.list(fs::path(*file).parent_path().string()).ok();
  auto settings = read_json(disk, *file);
  if (!settings) found.problem = settings.error().message;
  const Json user = std::move(settings).value_or(Json());
  add_hooks(found, user["hooks"]);
  add_plugins(found, disk, user);
  const std::string project = directory + "/.claude/settings";
  for (const std::string& each : {*file, project + ".json", project + ".local.json"})
    if (read_json(disk, each).value_or(Json())["disableAllHooks"].as_bool())
      found.disabled_in.push_back(each);
  return found;
}

std::string SettingsHooks::uninstall_command(std::string_view plugin) const {
  return fmt::format("{} plugin uninstall {}", command(), shell_word(plugin));
}

}  // namespace cairn::host::claude
