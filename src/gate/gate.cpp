#include "gate/gate.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "gate/named_paths.h"
#include "gate/private_text.h"
#include "host/call_fields.h"
#include "host/host.h"
#include "host/own.h"
#include "host/vocabulary.h"

namespace cairn::gate {

namespace {

using event::Event;
using event::Kind;

void collect_paths(const Json& value, bool is_path, std::string_view cwd, std::vector<std::string>& out) {
  if (is_path && value.is_string() && !value.as_string().empty())
    out.push_back(absolute_path(value.as_string(), cwd));
  for (const Json& item : value.items()) collect_paths(item, is_path, cwd, out);
  for (const Json::Member& m : value.members())
    collect_paths(m.second, host::names_a_path(m.first), cwd, out);
}

void cut_strings(Json& value, std::size_t max) {
  if (value.is_object())
    for (Json::Member& m : value.mutable_members()) {
      if (m.first.size() > max) m.first = cut(m.first, max);
      cut_strings(m.second, max);
    }
  else if (value.is_array())
    for (Json& item : value.mutable_items()) cut_strings(item, max);
  else if (value.as_string().size() > max)
    value = Json(cut(value.as_string(), max));
}

constexpr std::string_view kIdCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";

std::array<std::string*, 4> event_texts(Event& event) {
  return {&event.prompt, &event.last_assistant_message, &event.error, &event.reason};
}
std::array<Json*, 3> event_values(Event& event) {
  return {&event.tool_input, &event.tool_response, &event.extra};
}

template <class Visit>
void each_text(Event& event, Visit&& visit) {
  for (std::string* text : event_texts(event)) visit(*text);
  for (Json* value : event_values(event)) value->for_each_string(visit);
}

}  // namespace

std::vector<std::string> touched_paths(const Event& event) {
  std::vector<std::string> out;
  collect_paths(event.tool_input, false, event.cwd, out);
  for (const Json* file : host::files_beside_input(event)) collect_paths(*file, true, event.cwd, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

static std::optional<Refusal> refuse_tool(const Event& event, const std::vector<std::string>& patterns,
                                          std::string_view rule) {
  if (!event.tool_name) return std::nullopt;
  for (const std::string& pattern : patterns)
    if (glob_match(pattern, *event.tool_name))
      return Refusal{"skipped", std::string(rule) + " \"" + pattern + "\""};
  return std::nullopt;
}

std::optional<Refusal> Gate::refuse(const Event& event) const {
  if (forgot_session(event.host, event.session.value)) return Refusal{"skipped", "its session was forgotten"};
  const LocalRules local = rules_.local ? rules_.local(event.project_dir, event.cwd) : LocalRules{};
  if (!local.off.empty()) return Refusal{"skipped", local.off};
  if (auto refusal = refuse_tool(event, rules_.skip_tools, "capture.skip_tools")) return refusal;
  if (auto refusal = refuse_tool(event, local.skip_tools, local.file + " skip_tools")) return refusal;
  if (rules_.exclude.empty() && local.exclude.empty()) return std::nullopt;
  std::vector<PathRule> paths;
  const auto add = [&](const std::vector<std::string>& globs, const std::string& rule) {
    for (const std::string& glob : globs) paths.emplace_back(glob, rules_.home, rule + " \"" + glob + "\"");
  };
  add(rules_.exclude, "capture.exclude");
  add(local.exclude, local.file + " exclude");
  if (auto reason = excluded_by(paths, event, rules_.home)) return Refusal{"skipped", *std::move(reason)};
  return std::nullopt;
}

// Whether the event's result is the text of a .env file, judged by the paths in the event.
static bool reads_env_file(const Event& event) {
  const std::vector<std::string> paths = touched_paths(event);
  if (std::any_of(paths.begin(), paths.end(), is_env_file)) return true;
  if (!is_tool(event.kind)) return false;
  const auto words = command_words(host::command_of(event.tool_input));
  return std::any_of(words.begin(), words.end(), is_env_file);
}

std::size_t Gate::remove_secrets(Event& event, Secrets::Reading reading) const {
  std::size_t removed = 0;
  // Only values can hold the text of a .env file; the other texts are prose.
  for (std::string* text : event_texts(event)) removed += secrets_.remove(*text, {false, reading.known});
  for (Json* value : event_values(event)) removed += secrets_.remove(*value, reading);
  if (reading.known->fresh().empty()) return removed;
  // A secret that was found in the last text may also occur in the first: search all of them again.
  reading.known_only = true;
  each_text(event, [&](std::string& text) { removed += secrets_.remove(text, reading); });
  return removed;
}

std::variant<Gate::Passed, Refusal> Gate::pass(Event event, std::size_t max_field,
                                               const KnownSecrets* known) const {
  if (std::optional<Refusal> refusal = refuse(event)) return *std::move(refusal);
  if (!event.left_out.empty()) return Refusal{"skipped", event.left_out};
  if (event.tool_name && host::find_host(event.host).is_own_call(*event.tool_name, event.tool_input))
    return Refusal{"skipped", "asks cairn itself"};
  // Context that cairn injected: what is remembered must not be learned again.
  each_text(event, [](std::string& text) { host::remove_own_text(text); });
  // Asked before the removals below, which may change the paths.
  const bool env_file = reads_env_file(event);
  clean_envelope(event);

  // Private text goes before secrets are searched: not even the hash of a secret in it may be learned.
  bool redacted = false, is_private = false;
  for (std::string* text : event_texts(event)) {
    PrivateScan scan = remove_private(*text);
    if (!scan.removed) continue;
    redacted = true;
    *text = std::move(scan.text);
    if (text == &event.prompt && event.kind == Kind::prompt) is_private = only_private(event.prompt);
  }
  redacted = remove_private(event.tool_input, event.tool_response) || redacted;
  redacted = remove_private(event.extra) || redacted;
  KnownSecrets session = known ? *known : KnownSecrets();
  const std::size_t secrets = remove_secrets(event, {env_file, &session});

  if (const Forgotten* gone = forgotten()) each_text(event, [&](std::string& text) { gone->remove(text); });

  // Cut only after the removal: a cut could remove the opening tag and leave the private text.
  for (std::string* text : event_texts(event))
    if (text->size() > max_field) *text = cut(*text, max_field);
  for (Json* value : event_values(event)) cut_strings(*value, max_field);
  return Passed{event::CleanEvent(std::move(event)), redacted, secrets, is_private, session.fresh()};
}

// Whether the text has only characters that occur in the ids of hosts.
static bool can_be_id(std::string_view id) {
  constexpr std::size_t kLongest = 128;
  return !id.empty() && id.size() <= kLongest &&
         id.find_first_not_of(kIdCharacters) == std::string_view::npos;
}

// A host's ids are random and may look like secrets. Replacing one would split its session in two.
std::string Gate::id(std::string_view id) const {
  if (id.empty() || (can_be_id(id) && (host::is_host_id(id) || secrets_.find(id).empty())))
    return std::string(id);
  return "id-" + to_hex(hash_.of(id));
}

void Gate::clean_envelope(Event& event) const {
  for (std::string* given : {&event.session.value, &event.host, &event.boot_id}) *given = id(*given);
  for (std::optional<std::string>* given : {&event.prompt_id, &event.agent_id, &event.tool_use_id})
    if (*given) *given = id(**given);
  constexpr std::size_t kPathRoom = 4096, kNameRoom = 256;
  for (std::string* path : {&event.cwd, &event.project_dir, &event.transcript_path})
    *path = cut(clean(*path, Way::hook), kPathRoom);
  event.name = cut(clean(event.name, Way::hook), kNameRoom);
  for (std::optional<std::string>* name : {&event.tool_name, &event.agent_type})
    if (*name) *name = cut(clean(**name, Way::hook), kNameRoom);
}

std::string Gate::clean_of_secrets(std::string_view text) const {
  const PrivateScan scan = remove_private(text);
  return secrets_.without(scan.of(text));
}

std::string Gate::clean(std::string_view text, Way) const {
  std::string clean = clean_of_secrets(text);
  if (forgotten()) forgotten()->remove(clean);
  return clean;
}

}  // namespace cairn::gate
