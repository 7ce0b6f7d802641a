#include "host/files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "host/json_edit.h"
#include "os/process.h"

namespace cairn::host {

Result<std::string> FilePlace::path() const {
  return TRY(host_directory(variable, directory)) + "/" + std::string(file);
}

static std::string beside(std::string_view path, std::string_view name) {
  return std::string(path.substr(0, path.rfind('/') + 1)) + std::string(name);
}

std::string cairn_beside(const HookProgram& program) {
  return beside(program.path, "cairn");
}

HookProgram hook_beside(std::string_view cairn) {
  return {beside(cairn, "cairn-hook"), false};
}

Result<std::string> OwnFile::with_ours(std::string text, const HookProgram& program) const {
  if (!trim(text).empty() && count(text) == 0)
    return Error{Code::invalid, "a file of that name is there already, and it is not cairn's: rename it"};
  return text_(program);
}

// An empty text means that the file goes: see Entries::is_ours_alone().
Result<std::string> OwnFile::without_ours(std::string text, const std::optional<std::string>&) const {
  return count(text) > 0 ? std::string() : text;
}

Result<std::optional<HookProgram>> OwnFile::program_in(std::string_view text) const {
  if (count(text) == 0) return std::optional<HookProgram>();
  constexpr std::string_view kProgram = "/cairn-hook";
  const std::size_t found = text.find(kProgram);
  // Ours by its mark, but without the hook: a context file or a list of servers.
  if (found == std::string_view::npos) return std::optional<HookProgram>(HookProgram{"", false});
  // A path with blanks is in quotes; any other follows a blank or begins its text.
  const std::string_view after = text.substr(found + kProgram.size(), 1);
  const std::size_t before = text.find_last_of(after == "'" || after == "\"" ? after : "\"' \n", found);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return std::optional(HookProgram{std::string(text.substr(begin, found + kProgram.size() - begin)), false});
}

std::size_t OwnFile::count(std::string_view text) const {
  return text.find(mark_) == std::string_view::npos ? 0 : 1;
}

Registration OwnHooks::look(os::Disk& disk, const std::string&) const {
  Registration found;
  const auto file = settings_file();
  const auto directory = host_directory(place_.variable, place_.directory);
  if (!file || !directory) {
    found.problem = (file ? directory.error() : file.error()).message;
    return found;
  }
  found.settings_file = *file;
  found.present = !os::find_program(command()).empty() || disk.list(*directory).ok();
  const std::string text = os::read_file(disk, *file, 8 << 20).value_or("");
  if (count(text) == 0) return found;
  for (const std::string& event : events()) found.by_event[event] = 1;
  const auto program = program_in(text);
  if (program && *program && !(*program)->path.empty()) found.programs.push_back((*program)->path);
  return found;
}

namespace {

Error wrong_shape(std::string_view text, const JsonNode& node, std::string_view what) {
  return {Code::invalid, fmt::format("{}: {}", place_of(text, node.begin), what)};
}

// The program of an entry: "command" is a string, or a list that begins with it.
std::string program_of_entry(const Json& entry) {
  const Json& command = entry["command"];
  const std::string_view path =
      command.items().empty() ? command.as_string() : command.items()[0].as_string();
  return path == "cairn" || path.ends_with("/cairn") ? std::string(path) : std::string();
}

// The value of our entry; null when there is none.
Json entry_in(std::string_view text, const JsonNode* container) {
  const JsonNode* entry = container ? container->find("cairn") : nullptr;
  return entry ? Json::parse(text.substr(entry->begin, entry->end - entry->begin)).value_or(Json()) : Json();
}

}  // namespace

Result<std::string> JsonEntry::with_ours(std::string text, const HookProgram& program) const {
  if (trim(text).empty()) text = "{}\n";
  JsonNode root = TRY(scan(text));
  if (!root.is_object()) return wrong_shape(text, root, "the settings must be an object");
  if (!root.find(container_)) {
    text = insert_last(text, JsonStyle::of(text, root), root, container_, Json::object());
    root = TRY(scan(text));  // positions have moved
  }
  const JsonNode& container = *root.find(container_);
  if (!container.is_object())
    return wrong_shape(text, container, fmt::format("`{}` must be an object", container_));
  const Json wanted = value_(cairn_beside(program));
  const JsonNode* entry = container.find("cairn");
  if (!entry) return insert_last(text, JsonStyle::of(text, root), container, "cairn", wanted);
  const Json known = entry_in(text, &container);
  if (known == wanted) return text;
  if (program_of_entry(known).empty())
    return wrong_shape(text, *entry, "another server is called \"cairn\": rename it");
  return replace(text, JsonStyle::of(text, root), *entry, wanted);
}

Result<std::string> JsonEntry::without_ours(std::string text,
                                            const std::optional<std::string>& before) const {
  if (count(text) == 0) return text;
  const JsonNode root = TRY(scan(text));
  const JsonNode& container = *root.find(container_);
  // The container goes too if nothing else is in it and it was not there before the install.
  const auto old = scan(before.value_or(""));
  if (container.children.size() > 1 || (old && old->find(container_)))
    return erase(text, container,
                 static_cast<std::size_t>(container.find("cairn") - container.children.data()));
  return erase(text, root, static_cast<std::size_t>(&container - root.children.data()));
}

Result<std::optional<HookProgram>> JsonEntry::program_in(std::string_view text) const {
  if (trim(text).empty()) return std::optional<HookProgram>();
  const JsonNode root = TRY(scan(text));
  const std::string path = program_of_entry(entry_in(text, root.find(container_)));
  return path.empty() ? std::optional<HookProgram>() : std::optional(hook_beside(path));
}

std::size_t JsonEntry::count(std::string_view text) const {
  const auto root = scan(text);
  return root && !program_of_entry(entry_in(text, root->find(container_))).empty() ? 1 : 0;
}

namespace {

constexpr std::string_view kTable = "[mcp_servers.cairn]";

// The lines of our table: from its head to the next table, without blank lines and comments at the end: those
// belong to what follows. The file is not parsed, so that all other bytes stay as they are.
struct Span {
  std::size_t begin = 0, end = 0;
};
std::optional<Span> table_in(std::string_view text) {
  std::optional<Span> found;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = trim(text.substr(at, end - at));
    if (found && line.starts_with('[')) break;
    if (line == kTable) found = Span{at, end};
    if (found && !line.empty() && !line.starts_with('#')) found->end = end;
    at = end;
  }
  return found;
}

// A path as a basic string of TOML, whose escapes are those of JSON.
std::string toml_text(std::string_view text) {
  return Json(text).dump();
}

std::string table_text(const HookProgram& program) {
  return fmt::format("{}\ncommand = {}\nargs = [\"mcp\"]\n", kTable, toml_text(cairn_beside(program)));
}

}  // namespace

Result<std::string> TomlTable::with_ours(std::string text, const HookProgram& program) const {
  const std::string wanted = table_text(program);
  if (const auto table = table_in(text)) {
    if (count(text) == 0)
      return Error{Code::invalid, fmt::format("{} belongs to another server: rename it", kTable)};
    return text.replace(table->begin, table->end - table->begin, wanted);
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!text.empty()) text += '\n';
  return text + wanted;
}

Result<std::string> TomlTable::without_ours(std::string text, const std::optional<std::string>&) const {
  const auto table = table_in(text);
  if (!table || count(text) == 0) return text;
  // The blank line before the table is from with_ours().
  std::size_t begin = table->begin;
  if (begin >= 2 && text[begin - 1] == '\n' && text[begin - 2] == '\n') --begin;
  return text.erase(begin, table->end - begin);
}

Result<std::optional<HookProgram>> TomlTable::program_in(std::string_view text) const {
  const auto table = table_in(text);
  if (!table) return std::optional<HookProgram>();
  for (const std::string_view line : lines(text.substr(table->begin, table->end - table->begin))) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || trim(line.substr(0, equals)) != "command") continue;
    const auto value = Json::parse(trim(line.substr(equals + 1)));
    if (value && (value->as_string() == "cairn" || value->as_string().ends_with("/cairn")))
      return std::optional(hook_beside(value->as_string()));
  }
  return std::optional<HookProgram>();
}

std::size_t TomlTable::count(std::string_view text) const {
  return program_in(text).value_or(std::nullopt) ? 1 : 0;
}

}  // namespace cairn::host
