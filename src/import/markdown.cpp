#include "import/markdown.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace cairn::importer {

static std::string unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

static std::string rest_of(const std::vector<std::string_view>& all, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < all.size(); ++i) text.append(all[i]).append("\n");
  return std::string(trim(text));
}

Markdown read_markdown(std::string_view text) {
  Markdown out;
  const std::string plain = visible(text);
  const auto all = lines(plain);
  std::size_t begin = 0;
  // Without a second line of dashes the first one is a rule, and all is body.
  if (!all.empty() && trim(all.front()) == "---") {
    const auto end =
        std::find_if(all.begin() + 1, all.end(), [](std::string_view line) { return trim(line) == "---"; });
    std::string key;
    for (auto line = all.begin() + 1; end != all.end() && line != end; ++line) {
      const std::string_view bare = trim(*line);
      const std::size_t colon = bare.find(':');
      if (bare.starts_with("- ") && !key.empty()) {
        out.front[key] += (out.front[key].empty() ? "" : ", ") + unquoted(bare.substr(2));
      } else if (colon != std::string_view::npos) {
        key = ascii_lower(trim(bare.substr(0, colon)));
        out.front[key] = unquoted(bare.substr(colon + 1));
      }
    }
    if (end != all.end()) begin = static_cast<std::size_t>(end - all.begin()) + 1;
  }
  out.body = rest_of(all, begin);
  for (std::size_t i = begin; i < all.size() && out.title.empty(); ++i)
    if (all[i].starts_with("# ")) out.title = trim(all[i].substr(2));
  return out;
}

std::vector<MarkdownSection> Markdown::sections() const {
  std::vector<MarkdownSection> sections(1);
  bool code = false;
  for (const std::string_view line : lines(body)) {
    if (trim(line).starts_with("```")) code = !code;
    if (!code && line.starts_with("## "))
      sections.push_back({std::string(trim(line.substr(3))), ""});
    else
      sections.back().text.append(line).append("\n");
  }
  for (MarkdownSection& section : sections) section.text = trim(section.text);
  return sections;
}

std::string Markdown::section(std::string_view wanted) const {
  for (const MarkdownSection& section : sections())
    if (starts_with_nocase(section.title, wanted)) return section.text;
  return "";
}

std::vector<std::string> read_tags(std::string_view text) {
  text = trim(text);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<std::string> tags;
  for (const std::string_view part : split(text, ','))
    if (std::string tag = unquoted(part); !tag.empty()) tags.push_back(std::move(tag));
  return tags;
}

// "- x", "* x", "3. x" or "3) x": what follows the mark; nothing for another line.
static std::optional<std::string_view> list_item(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return trim(line.substr(2));
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits]))) ++digits;
  if (digits == 0 || digits + 1 >= line.size() || (line[digits] != '.' && line[digits] != ')'))
    return std::nullopt;
  return trim(line.substr(digits + 1));
}

std::vector<std::string> open_list_items(std::string_view text) {
  std::vector<std::string> items;
  bool open = false;  // the last item is still to do
  for (const std::string_view line : lines(text)) {
    if (const auto item = list_item(line)) {
      std::string_view words = *item;
      open = !starts_with_nocase(words, "[x]");
      if (words.starts_with("[ ]")) words = trim(words.substr(3));
      if (open && !is_template(words))
        items.emplace_back(words);
      else
        open = false;
      // An indented line continues its item, unless it is an item of its own.
    } else if (open && line.starts_with(' ') && !list_item(trim(line))) {
      items.back().append(" ").append(trim(line));  // it continues
    } else if (!line.starts_with(' ')) {
      open = false;
    }
  }
  return items;
}

bool is_template(std::string_view text) {
  for (const std::string_view line : lines(text)) {
    std::string_view words = trim(line);
    if (const auto item = list_item(words)) words = *item;
    if (words.starts_with("[ ]")) words = trim(words.substr(3));
    // "[Describe the task]", but not "[a](b) and [c]".
    const bool placeholder =
        words.starts_with('[') && words.ends_with(']') && words.find(']') == words.size() - 1;
    const bool comment = words.starts_with("<!--") && words.ends_with("-->");
    if (!words.empty() && !placeholder && !comment && words != "None" && words != "-") return false;
  }
  return true;
}

std::optional<WallTime> read_date(std::string_view given) {
  std::string text(trim(given));
  if (text.size() >= 16 && text[10] == ' ') text[10] = 'T';
  if (text.size() == 10) text += "T00:00:00Z";
  Millis offset{0};
  // An offset such as +02:00. The date before it also has dashes.
  const std::size_t sign = text.find_first_of("+-", std::min<std::size_t>(text.size(), 11));
  if (sign != std::string::npos) {
    int hours = 0, minutes = 0;
    if (std::sscanf(text.c_str() + sign + 1, "%2d:%2d", &hours, &minutes) < 1) return std::nullopt;
    offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
    if (text[sign] == '-') offset = -offset;
    text.resize(sign);
  }
  if (text.ends_with('Z')) text.pop_back();
  if (text.size() == 16) text += ":00";
  const auto time = parse_iso8601(text + "Z");
  if (!time) return std::nullopt;
  return *time - offset;
}

}  // namespace cairn::importer
