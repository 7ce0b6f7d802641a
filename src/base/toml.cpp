#include "base/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/toml_table.h"

namespace cairn {

Json to_json(const toml::node& node) {
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* number = node.as_integer()) return Json(static_cast<long long>(number->get()));
  if (const auto* number = node.as_floating_point()) return Json(number->get());
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& item : *array) list.push(to_json(item));
    return list;
  }
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (auto&& [key, value] : *table) object.set(key.str(), to_json(value));
    return object;
  }
  return Json();
}

// The position of a byte beyond ASCII outside strings and comments, which TOML does not allow. Checked first,
// because toml++ 3.3 has undefined behaviour there.
static std::optional<std::size_t> stray_letter(std::string_view text) {
  std::size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (i < text.size()) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) return i;
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"' || c == '\'') {
      // Skips a string: 'literal', "basic" with backslash escapes, or one of the two in three quotes, which
      // may span lines.
      const std::string three(3, c);
      const std::string_view mark =
          text.substr(i).starts_with(three) ? std::string_view(three) : text.substr(i, 1);
      for (i += mark.size(); i < text.size() && !text.substr(i).starts_with(mark); ++i) {
        if (c == '"' && text[i] == '\\') ++i;
        // An unclosed string ends with its line: the parser reports it better than we could.
        if (mark.size() == 1 && i < text.size() && text[i] == '\n') break;
      }
      i += mark.size();
    } else {
      ++i;
    }
  }
  return {};
}

Result<toml::table> parse_toml(std::string_view text, std::string_view file) {
  if (const auto at = stray_letter(text)) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*at), '\n');
    return Error{Code::invalid, fmt::format("{}: line {}: a name outside ASCII must be quoted", file, line)};
  }
  toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  const toml::parse_error& error = parsed.error();
  return Error{Code::invalid, fmt::format("{}: line {}, column {}: {}", file, error.source().begin.line,
                                          error.source().begin.column, error.description())};
}

Result<Json> read_toml(std::string_view text, std::string_view file) {
  const toml::table table = TRY(parse_toml(text, file));
  return to_json(table);
}

}  // namespace cairn
