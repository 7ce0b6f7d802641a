#include "host/nested_hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "base/shell.h"
#include "base/text.h"
#include "host/json_edit.h"
#include "os/process.h"

namespace cairn::host {

// How a file is changed: find the first thing that is not as it should be, change only that, scan the new
// text again, and repeat until nothing is left to change. Each step is one edit of the text: no position is
// used after a change, and every byte that is not ours stays.

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "cairn-hook";
constexpr int kMaxSteps = 10'000;  // changes to one file; a real one needs a few dozen

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

// The program that a shell would run: what follows assignments such as CAIRN_HOME=/x.
std::string program_of_line(std::string_view line) {
  std::string word = take_shell_word(line);
  while (is_assignment(word)) word = take_shell_word(line);
  return word;
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
    // A matcher that is no text counts as a restriction: "?" is neither empty nor "*".
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

Error wrong_type(std::string_view text, const JsonNode& node, std::string_view what) {
  return {Code::invalid, fmt::format("{}: {}", place_of(text, node.begin), what)};
}

bool is_registered(const HookStyle& style, std::string_view event) {
  return std::find(style.events.begin(), style.events.end(), event) != style.events.end();
}

// The next change that an event in the file needs; nothing when it is as it should be. Of several entries of
// ours, one stays: the one that is exactly right, else one in a group for all tools, which is then corrected.
// The others are removed first. An event that we do not register for loses all entries of ours.
std::optional<std::string> fix_event(const HookStyle& registered, std::string_view text, const JsonNode& root,
                                     const JsonStyle& style, std::size_t index, const HookProgram& program) {
  const JsonNode& hooks = *root.find("hooks");
  const std::string& name = hooks.children[index].key;
  // Of equal keys only the last one counts for the host (JsonNode::find), so only that one gets an entry.
  const bool wanted = is_registered(registered, name) && hooks.find(name) == &hooks.children[index];
  const Json entry = registered.entry(program, name);
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
Result<std::optional<std::string>> fix_step(const HookStyle& registered, std::string_view text,
                                            const HookProgram& program) {
  const JsonNode root = TRY(scan(text));
  if (!root.is_object()) return wrong_type(text, root, "the settings must be an object");
  const JsonStyle style = JsonStyle::of(text, root);
  const JsonNode* hooks = root.find("hooks");
  if (!hooks) return std::optional(insert_last(text, style, root, "hooks", Json::object()));
  if (!hooks->is_object()) return wrong_type(text, *hooks, "`hooks` must be an object");
  for (std::size_t i = 0; i < hooks->children.size(); ++i) {
    const JsonNode& event = hooks->children[i];
    if (is_registered(registered, event.key) && !event.is_array())
      return wrong_type(text, event, fmt::format("`hooks.{}` must be an array", event.key));
    if (auto fixed = fix_event(registered, text, root, style, i, program)) return fixed;
  }
  return std::optional<std::string>();
}

Result<std::string> with_missing_events(const HookStyle& registered, std::string text,
                                        const HookProgram& program) {
  for (const std::string& event : registered.events) {
    const JsonNode root = TRY(scan(text));
    const JsonNode& hooks = *root.find("hooks");
    if (hooks.find(event)) continue;
    const Json groups =
        Json::array({Json::object({{"hooks", Json::array({registered.entry(program, event)})}})});
    text = insert_last(text, JsonStyle::of(text, root), hooks, event, groups);
  }
  return text;
}

Error too_many() {
  return {Code::invalid, "too many entries of cairn"};
}

// What was in the file before the install stays, even if it is empty without our entries.
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

}  // namespace

bool is_our_entry(const Json& entry) {
  return entry["command"].is_string() && base_name(program_of(entry).path) == kProgram;
}

Result<std::string> NestedHooks::settings_file() const {
  const std::filesystem::path directory = TRY(host_directory(style_.variable, style_.directory));
  return (directory / style_.file).string();
}

Result<std::string> NestedHooks::with_ours(std::string text, const HookProgram& program) const {
  text = or_empty_object(std::move(text));
  for (int step = 0; step < kMaxSteps; ++step) {
    std::optional<std::string> next = TRY(fix_step(style_, text, program));
    if (!next) return with_missing_events(style_, std::move(text), program);
    text = *std::move(next);
  }
  return too_many();
}

Result<std::string> NestedHooks::without_ours(std::string text,
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

Result<std::optional<HookProgram>> NestedHooks::program_in(std::string_view text) const {
  if (is_blank(text)) return std::optional<HookProgram>();
  const JsonNode root = TRY(scan(text));
  const auto place = first_of_ours(text, root);
  if (!place) return std::optional<HookProgram>();
  return std::optional(program_of(json_of(text, hook_at(*root.find("hooks"), *place))));
}

std::size_t NestedHooks::count(std::string_view text) const {
  const auto root = scan(text);
  const JsonNode* hooks = root ? root->find("hooks") : nullptr;
  std::size_t count = 0;
  for (std::size_t event = 0; hooks && hooks->is_object() && event < hooks->children.size(); ++event)
    count += ours_under(text, *hooks, event).size();
  return count;
}

Registration NestedHooks::look(os::Disk& disk, const std::string& directory) const {
  Registration found;
  auto file = settings_file();
  if (!file) {
    found.problem = file.error().message;
    return found;
  }
  found.settings_file = *file;
  found.present =
      !os::find_program(command()).empty() || disk.list(fs::path(*file).parent_path().string()).ok();
  auto settings = read_json(disk, *file);
  if (!settings) found.problem = settings.error().message;
  const Json user = std::move(settings).value_or(Json());
  add_hooks(found, user["hooks"]);
  look_further(found, disk, user, directory);
  return found;
}

std::string hook_line(const HookProgram& program, std::string_view event, std::string_view host) {
  return fmt::format("{} {} --host {}", shell_word(program.path), event, host);
}

}  // namespace cairn::host
