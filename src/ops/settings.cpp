#include "ops/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>

#include "base/text.h"
#include "base/toml_table.h"
#include "ops/mode.h"
#include "ops/settings_table.h"

namespace cairn::ops {
namespace {

using Type = Setting::Type;

constexpr std::string_view kFile = "config.toml";
constexpr std::size_t kMaxFile = 1 << 20;  // bytes

Result<toml::table> parse_config(std::string_view text) {
  return parse_toml(text, kFile);
}

// One TOML value. More than one key: the text had a line end and then a key of its own, so it is refused.
std::optional<Json> parse_value(std::string_view text) {
  const Result<toml::table> parsed = parse_config(fmt::format("v = {}\n", text));
  if (!parsed || parsed->size() != 1) return {};
  return to_json(*parsed->get("v"));
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// Converts a typed value. What does not fit the type stays text, and check() refuses it.
Json as_typed(const Setting& setting, std::string_view raw) {
  const std::string_view text = trim(raw);
  const char first = text.empty() ? '\0' : text.front();
  // Quotes and brackets are optional: `disk`, `"disk"`, `a,b` and `["a", "b"]` are all accepted.
  if (first == '"' || first == '\'' || (first == '[' && setting.type == Type::list))
    if (auto value = parse_value(text)) return *std::move(value);
  switch (setting.type) {
    case Type::integer:
      if (const auto number = parse_number<std::int64_t>(text)) return Json(static_cast<long long>(*number));
      break;
    case Type::decimal:
      if (const auto number = parse_number<double>(text)) return Json(*number);
      break;
    case Type::flag:
      if (text == "true" || text == "on" || text == "1") return Json(true);
      if (text == "false" || text == "off" || text == "0") return Json(false);
      break;
    case Type::list: {
      if (first == '[') break;
      Json list = Json::array();
      for (const std::string_view item : split(text, ','))
        if (!trim(item).empty()) list.push(trim(item));
      return list;
    }
    case Type::text:
    case Type::choice: break;
  }
  return Json(text);
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string to_toml(const Json& value) {
  if (value.is_string()) return toml_string(value.as_string());
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_int()) return fmt::format("{}", value.as_int());
  if (value.is_number()) {
    // Keep the point: TOML reads "5" as an integer, not as a decimal.
    const double number = value.as_double();
    return std::floor(number) == number && std::abs(number) < 1e15 ? fmt::format("{:.1f}", number)
                                                                   : fmt::format("{}", number);
  }
  std::string list;
  for (const Json& item : value.items()) {
    if (!list.empty()) list += ", ";
    list += to_toml(item);
  }
  return "[" + list + "]";
}

// "hook.sync" is CAIRN_HOOK_SYNC.
std::string variable_of(std::string_view key) {
  std::string name = "CAIRN_";
  for (const char c : key)
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// The node of a dotted key; null when there is none.
const toml::node* node_at(const toml::table& root, std::string_view key) {
  const toml::node* node = &root;
  for (const std::string_view part : split(key, '.')) {
    const toml::table* table = node->as_table();
    node = table ? table->get(part) : nullptr;
    if (!node) return nullptr;
  }
  return node;
}

// Every key below `table` that is not a setting. Goes down to the keys themselves, so that the message
// names "hook.snyc" and not the section; `hook = 3` is reported as a value where a section belongs.
void find_unknown(const toml::table& table, const std::string& above,
                  std::vector<Settings::Problem>& problems) {
  for (auto&& [name, node] : table) {
    const std::string key = above.empty() ? std::string(name.str()) : above + '.' + std::string(name.str());
    if (find_setting(key)) continue;
    const toml::table* below = node.as_table();
    if (below && !below->empty()) {
      find_unknown(*below, key, problems);
    } else if (!has_settings_below(key)) {
      problems.push_back({key, unknown_key(key)});
    } else if (!below) {
      problems.push_back({key, fmt::format("{}: {} is not a table of settings", key, to_json(node).dump())});
    }
  }
}

// A missing file is an empty one.
Result<std::string> read_config(os::Disk& disk, const std::string& path) {
  auto bytes = os::read_file(disk, path, kMaxFile);
  if (!bytes && bytes.error().code == Code::not_found) return std::string();
  return std::move(bytes).in(kFile);
}

// Where sections and values are in the text of a config file. The library can parse TOML, but writing it
// loses comments and order; so a change is made in the text itself, at the positions that the parser
// reports. Lines count from 1, as in the parser.
class Layout {
 public:
  struct Span {
    toml::source_position begin, end;
  };

  Layout(std::string_view text, const toml::table& root) : text_(text) {
    starts_ = {0, 0};  // there is no line 0; line 1 begins at 0
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') starts_.push_back(i + 1);
    collect(root);
    for (std::size_t line = 1; line < starts_.size(); ++line)
      // A line that begins with '[' is a header, unless it is inside of an array or a text over several
      // lines.
      if (indent_end(line) < text.size() && text[indent_end(line)] == '[' && !inside_value(line))
        headers_.push_back({line, name_of(line)});
  }

  std::string_view newline() const { return text_.find("\r\n") == std::string_view::npos ? "\n" : "\r\n"; }

  // The byte of a position. The parser counts characters, not bytes, and does not count the byte order
  // mark.
  std::size_t offset(toml::source_position at) const {
    std::size_t i = starts_[at.line];
    if (at.line == 1 && text_.substr(0, 3) == "\xef\xbb\xbf") i = 3;
    for (toml::source_index column = 1; column < at.column && i < text_.size(); ++column)
      for (++i; i < text_.size() && (text_[i] & 0xc0) == 0x80;) ++i;
    return i;
  }

  // The text with `entry` as a new line after the last entry of the section `name` ("" is the top of the
  // file); nothing when there is no such section.
  std::optional<std::string> with_line(std::string_view name, std::string_view entry) const {
    // The section has the lines from `line` up to `next`, the header of the section after it.
    std::size_t line = 0, next = starts_.size();
    for (const Header& header : headers_) {
      if (line == 0 && !name.empty() && header.name == name) {
        line = header.line;
      } else if (line > 0 || name.empty()) {
        next = header.line;
        break;
      }
    }
    // The new line goes after the section's last value, which may have several lines, with its indent.
    std::string indent;
    std::size_t after = line;
    for (const Span& value : values_) {
      if (value.begin.line <= line || value.begin.line >= next || value.end.line < after) continue;
      after = value.end.line;
      indent =
          text_.substr(starts_[value.begin.line], indent_end(value.begin.line) - starts_[value.begin.line]);
    }
    if (after == 0) return {};
    std::string result(text_);
    const bool open_end = after + 1 >= starts_.size();  // the file does not end with a line feed
    const std::string added = indent + std::string(entry);
    if (open_end) return result + std::string(newline()) + added;
    return result.insert(starts_[after + 1], added + std::string(newline()));
  }

 private:
  struct Header {
    std::size_t line;
    std::string name;
  };

  // Lists the values. Sections and tables in arrays ("[[a]]") are only containers; an inline table is a
  // value.
  void collect(const toml::table& table) {
    for (auto&& [key, node] : table) collect(node);
  }
  void collect(const toml::node& node) {
    const toml::table* table = node.as_table();
    const toml::array* array = node.as_array();
    const toml::table* first = array && !array->empty() ? array->front().as_table() : nullptr;
    if (table && !table->is_inline()) {
      collect(*table);
    } else if (first && !first->is_inline()) {
      for (const toml::node& item : *array) collect(item);
    } else {
      values_.push_back({node.source().begin, node.source().end});
    }
  }

  bool inside_value(std::size_t line) const {
    return std::any_of(values_.begin(), values_.end(),
                       [&](const Span& v) { return v.begin.line < line && line <= v.end.line; });
  }
  std::size_t indent_end(std::size_t line) const {
    const std::size_t start = line == 1 ? offset({1, 1}) : starts_[line];
    return std::min(text_.find_first_not_of(" \t", start), text_.size());
  }
  // "[ a . \"b\" ]" is a.b. "[[a]]" keeps a bracket, so it matches no section.
  std::string name_of(std::size_t line) const {
    std::string name;
    for (std::size_t i = indent_end(line) + 1; i < text_.size() && text_[i] != ']' && text_[i] != '\n'; ++i)
      if (std::string_view(" \t\"'").find(text_[i]) == std::string_view::npos) name += text_[i];
    return name;
  }

  std::string_view text_;
  std::vector<std::size_t> starts_;  // of each line
  std::vector<Span> values_;
  std::vector<Header> headers_;
};

// The ways to write `key = value` into the file, the most natural first. Which of them TOML allows depends on
// the tables above the key; the caller takes the first that reads back correctly.
std::vector<std::string> possible_edits(const std::string& text, const toml::table& root,
                                        std::string_view key, const std::string& value) {
  const Layout layout(text, root);
  std::vector<std::string> edits;
  if (const toml::node* old = node_at(root, key)) {
    const std::size_t begin = layout.offset(old->source().begin), end = layout.offset(old->source().end);
    edits.push_back(std::string(text).replace(begin, end - begin, value));
  }
  // For a.b.c: "c = 1" below [a.b], then "b.c = 1" below [a]; an inline table gets it before its brace.
  for (std::size_t dot = key.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = key.rfind('.', dot - 1)) {
    const std::string entry = fmt::format("{} = {}", key.substr(dot + 1), value);
    const toml::node* above = node_at(root, key.substr(0, dot));
    if (const toml::table* table = above ? above->as_table() : nullptr; table && table->is_inline()) {
      std::size_t brace = layout.offset(table->source().end) - 1;
      while (brace > 0 && text[brace - 1] == ' ' && !table->empty()) --brace;
      edits.push_back(std::string(text).insert(brace, table->empty() ? entry : ", " + entry));
    }
    if (auto edit = layout.with_line(key.substr(0, dot), entry)) edits.push_back(*std::move(edit));
  }
  // There is no such section: a new one at the end of the file.
  const std::string_view newline = layout.newline();
  const std::size_t dot = key.find('.');
  std::string appended = text;
  if (!text.empty() && text.back() != '\n') appended += newline;
  if (!text.empty()) appended += newline;
  appended +=
      fmt::format("[{}]{}{} = {}{}", key.substr(0, dot), newline, key.substr(dot + 1), value, newline);
  edits.push_back(std::move(appended));
  const std::string entry = fmt::format("{} = {}", key, value);
  if (auto edit = layout.with_line("", entry)) edits.push_back(*std::move(edit));
  // A key without a section must come before the first section.
  edits.push_back(std::string(text).insert(layout.offset({1, 1}), entry + std::string(newline)));
  return edits;
}

// `root` with `key` set; nothing when a value that is not a table is in the way.
std::optional<toml::table> with_value(toml::table root, std::string_view key, const std::string& value) {
  const Result<toml::table> parsed = parse_config("v = " + value);
  if (!parsed) return {};
  toml::table* table = &root;
  const auto parts = split(key, '.');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    toml::node* below = table->get(parts[i]);
    if (!below) below = &table->insert(parts[i], toml::table()).first->second;
    table = below->as_table();
    if (!table) return {};
  }
  table->insert_or_assign(parts.back(), *parsed->get("v"));
  return root;
}

// Takes the first edit that reads back as exactly the old values with this one changed. So a wrong guess
// about the layout cannot change another setting: it is only not used.
Result<std::string> edit_config(const std::string& text, std::string_view key, const std::string& value) {
  const toml::table table = TRY(parse_config(text));
  if (const auto expected = with_value(table, key, value))
    for (std::string& edit : possible_edits(text, table, key, value))
      if (const auto read_back = parse_config(edit); read_back && *read_back == *expected)
        return std::move(edit);
  return Error{Code::invalid,
               fmt::format("{}: {} cannot be added to the file as it stands; edit it by hand", kFile, key)};
}

}  // namespace

Settings Settings::defaults() {
  Settings settings;
  for (const Setting& setting : all_settings()) {
    Json value = as_typed(setting, setting.fallback);
    // A default that its own check refuses is a bug of the table.
    CAIRN_ASSERT(!check(setting, value));
    settings.values_.push_back({std::move(value), "default"});
  }
  return settings;
}

Settings Settings::load(os::Disk& disk, const hook::Home& home) {
  Settings settings = defaults();
  toml::table file;
  if (auto bytes = read_config(disk, home.config_file); !bytes) {
    settings.problems_.push_back({std::string(kFile), bytes.error().message});
  } else if (auto parsed = parse_config(*bytes)) {
    file = *std::move(parsed);
  } else {
    settings.problems_.push_back({std::string(kFile), parsed.error().message});
  }
  find_unknown(file, "", settings.problems_);

  const auto& table = all_settings();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto take = [&](Json value, std::string origin) {
      if (auto problem = check(table[i], value))
        settings.problems_.push_back({std::string(table[i].key), *problem + " (" + origin + ")"});
      else
        settings.values_[i] = {std::move(value), std::move(origin)};
    };
    // The variable comes second and so wins. A bad value leaves the one before it.
    if (const toml::node* node = node_at(file, table[i].key)) take(to_json(*node), std::string(kFile));
    const std::string variable = variable_of(table[i].key);
    if (const char* text = std::getenv(variable.c_str()); text && *text)
      take(as_typed(table[i], text), "environment " + variable);
  }
  // The mode's own file is only tried here, so that an error in it is reported with the settings.
  if (const auto mode = load_mode(disk, home, settings.text("agent.mode")); !mode)
    settings.problems_.push_back({"agent.mode", mode.error().message});
  return settings;
}

const Settings::Value& Settings::of(std::string_view key) const {
  const Setting* setting = find_setting(key);
  CAIRN_ASSERT(setting != nullptr);
  return values_[static_cast<std::size_t>(setting - all_settings().data())];
}

std::string Settings::text(std::string_view key) const {
  const Json& value = of(key).value;
  return value.is_string() ? std::string(value.as_string()) : to_toml(value);
}

std::int64_t Settings::integer(std::string_view key) const {
  return of(key).value.as_int();
}

double Settings::decimal(std::string_view key) const {
  return of(key).value.as_double();
}

bool Settings::flag(std::string_view key) const {
  return of(key).value.as_bool();
}

std::vector<std::string> Settings::list(std::string_view key) const {
  std::vector<std::string> texts;
  for (const Json& item : of(key).value.items()) texts.emplace_back(item.as_string());
  return texts;
}

Json Settings::json(std::string_view key) const {
  return of(key).value;
}

std::string Settings::origin(std::string_view key) const {
  return of(key).origin;
}

Automation Settings::automation() const {
  const std::string chosen = text("automation");
  if (chosen == "auto") return Automation::automatic;
  return chosen == "manual" ? Automation::manual : Automation::hybrid;
}

hook::Flags Settings::hook_flags() const {
  hook::Flags flags;
  flags.sync = text("hook.sync") == "disk" ? hook::Flags::Sync::disk : hook::Flags::Sync::process;
  flags.capture = flag("capture.enabled");
  flags.session_start_ms = static_cast<int>(integer("hook.deadline_ms.session_start"));
  flags.user_prompt_submit_ms = static_cast<int>(integer("hook.deadline_ms.user_prompt_submit"));
  flags.help_compaction = flag("context.on_compact");
  flags.help_failure = flag("context.on_failure");
  flags.help_subagent = flag("context.on_subagent");
  return flags;
}

Status set_setting(os::Disk& disk, const hook::Home& home, std::string_view key, std::string_view value) {
  const Setting* setting = find_setting(key);
  if (!setting) return Error{Code::invalid, unknown_key(key)};
  const Json checked = as_typed(*setting, value);
  if (const auto problem = check(*setting, checked)) return Error{Code::invalid, *problem};

  // config.toml may be a link into a repository of dotfiles. Replacing the file that it points to keeps the
  // link.
  const std::string path = disk.real_path(home.config_file);
  const std::string before = TRY(read_config(disk, path));
  const std::string after = TRY(edit_config(before, key, to_toml(checked)));
  if (after != before) {
    TRY(os::make_dirs(disk, std::filesystem::path(path).parent_path().string()));
    TRY(os::replace_file(disk, path, after).in(kFile));
  }
  // A hook reads only hook.flags. The file is written after config.toml, from what that says then.
  const bool hooks_read_it =
      key.starts_with("hook.") || key.starts_with("context.on_") || key == "capture.enabled";
  if (!hooks_read_it) return {};
  TRY(os::make_dirs(disk, home.data));
  // Do not rewrite an unchanged file: its modification time says when capture was switched.
  const std::string flags = Settings::load(disk, home).hook_flags().encode();
  if (const auto known = os::read_file(disk, home.flags(), flags.size()); known && *known == flags) return {};
  return os::replace_file(disk, home.flags(), flags).in("hook.flags");
}

}  // namespace cairn::ops
