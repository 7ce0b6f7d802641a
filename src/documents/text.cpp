#include "documents/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"

namespace cairn::documents {

namespace {

// Whether a line opens or closes a block of code.
bool is_fence(std::string_view line) {
  const std::string_view text = trim(line);
  return text.starts_with("```") || text.starts_with("~~~");
}

std::string unquoted(std::string_view value) {
  value = trim(value);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    // Double quotes have the escapes of JSON. What is not JSON keeps its text without the quotes.
    if (value.front() == '"')
      if (const auto read = Json::parse(value); read && read->is_string())
        return std::string(read->as_string());
    return std::string(value.substr(1, value.size() - 2));
  }
  return std::string(value);
}

// "[a, b]" or a plain value.
std::vector<std::string> values_of(std::string_view text) {
  text = trim(text);
  std::vector<std::string> values;
  if (!text.starts_with('[') || !text.ends_with(']')) {
    if (!text.empty()) values.push_back(unquoted(text));
    return values;
  }
  for (const std::string_view item : split(text.substr(1, text.size() - 2), ','))
    if (!trim(item).empty()) values.push_back(unquoted(item));
  return values;
}

// Reads the front matter; gives the number of lines that it takes, with both lines of dashes.
std::size_t read_front(const std::vector<std::string_view>& all, DocumentText& text) {
  if (all.empty() || trim(all[0]) != "---") return 0;
  std::size_t end = 1;
  while (end < all.size() && trim(all[end]) != "---") ++end;
  if (end == all.size()) return 0;  // a rule, no front matter
  for (std::size_t i = 1; i < end; ++i) {
    const std::string_view line = all[i];
    if (trim(line).empty() || trim(line).starts_with('#')) continue;
    // An item of a list below its key.
    if (trim(line).starts_with("- ") && !text.front.empty()) {
      text.front.back().values.push_back(unquoted(trim(line).substr(2)));
      continue;
    }
    const std::size_t colon = line.find(':');
    Field& field = text.front.emplace_back();
    field.key = trim(line.substr(0, colon));
    field.line = static_cast<std::int64_t>(i) + 1;
    if (colon != std::string_view::npos) field.values = values_of(line.substr(colon + 1));
  }
  text.has_front = true;
  return end + 1;
}

// A value as YAML reads it back: in quotes, if one of its characters has a meaning there. JSON is valid
// YAML.
std::string as_yaml(std::string_view value) {
  const bool plain = !value.empty() && value.front() != ' ' && value.back() != ' ' && value != "null" &&
                     value.find_first_of("\"'#:[]{},&*!|>%@`\\\n\t") == std::string_view::npos &&
                     value.front() != '-';
  return plain ? std::string(value) : Json(value).dump();
}

// A time without its fraction of a second.
std::string to_the_second(WallTime time) {
  return iso8601(time).substr(0, 19) + "Z";
}

}  // namespace

const Field* DocumentText::field(std::string_view key) const {
  const auto found =
      std::find_if(front.begin(), front.end(), [&](const Field& field) { return field.key == key; });
  return found == front.end() ? nullptr : &*found;
}

const Section* DocumentText::section(std::string_view name) const {
  const std::string wanted = ascii_lower(name);
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const Section& section) {
    return ascii_lower(section.name) == wanted;
  });
  return found == sections.end() ? nullptr : &*found;
}

std::string DocumentText::value(std::string_view key) const {
  const Field* found = field(key);
  if (!found || found->values.empty() || found->values.front() == "null") return {};
  return found->values.front();
}

DocumentText read_text(std::string_view markdown) {
  DocumentText text;
  const std::vector<std::string_view> all = split(markdown, '\n');
  std::size_t at = read_front(all, text);
  bool in_code = false;
  Section section{"", "", static_cast<std::int64_t>(at) + 1};
  const auto end_section = [&] {
    section.text = std::string(trim(section.text));
    // The line of dashes before a continuation belongs to its heading.
    if (section.text == "---") section.text.clear();
    if (section.text.ends_with("\n---"))
      section.text = std::string(trim(std::string_view(section.text).substr(0, section.text.size() - 4)));
    if (!section.name.empty() || !section.text.empty()) text.sections.push_back(std::move(section));
  };
  for (; at < all.size(); ++at) {
    std::string_view line = all[at];
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_fence(line)) in_code = !in_code;
    if (!in_code && line.starts_with("## ")) {
      end_section();
      section = Section{std::string(trim(line.substr(3))), "", static_cast<std::int64_t>(at) + 1};
      continue;
    }
    section.text.append(line).append("\n");
  }
  end_section();
  return text;
}

std::string write_sections(const std::vector<Section>& sections) {
  std::string out;
  for (const Section& section : sections) {
    if (!out.empty()) out += "\n";
    if (!section.name.empty()) {
      if (section.name.starts_with(kContinuation)) out += "---\n\n";
      out += "## " + section.name + "\n\n";
    }
    if (!section.text.empty()) out += section.text + "\n";
  }
  return out;
}

std::string front_matter(const store::Document& d, std::string_view previous) {
  std::string tags;
  for (const std::string& tag : d.tags) tags += (tags.empty() ? "" : ", ") + as_yaml(tag);
  std::string out = "---\n";
  out += "document: " + store::document_label(d.id) + "\n";
  if (!d.title.empty()) out += "title: " + as_yaml(d.title) + "\n";
  out += "date: " + to_the_second(d.created_at) + "\n";
  if (d.updated_at) out += "updated: " + to_the_second(*d.updated_at) + "\n";
  out += "project: " + as_yaml(d.project) + "\nstatus: " + d.status + "\ntags: [" + tags + "]\n";
  out += "previous_session: " + (previous.empty() ? "null" : as_yaml(previous)) + "\n";
  if (d.branch) out += "branch: " + as_yaml(*d.branch) + "\n";
  if (!d.head_commit.empty()) out += "commit: " + d.head_commit.substr(0, 12) + "\n";
  if (!d.session.empty()) out += "session: " + as_yaml(d.session) + "\n";
  if (d.backup) out += "transcript: B" + std::to_string(*d.backup) + "\n";
  if (d.anchor.lines) {
    out += fmt::format("anchor: line {}", *d.anchor.lines);
    if (!d.anchor.uuid.empty()) out += " " + as_yaml(d.anchor.uuid);
    out += "\n";
  }
  return out + "---\n";
}

namespace {

constexpr std::string_view kKeys[] = {
    "document",         "title",  "date",   "updated", "project",    "status", "tags",
    "previous_session", "branch", "commit", "session", "transcript", "anchor"};

void lint_front(const DocumentText& text, std::vector<TextProblem>& problems) {
  const auto add = [&](std::int64_t line, std::string what) { problems.push_back({line, std::move(what)}); };
  if (!text.has_front) return add(1, "no front matter: the lines between two lines of --- at the top");
  std::set<std::string> seen;
  for (const Field& field : text.front) {
    if (std::find(std::begin(kKeys), std::end(kKeys), field.key) == std::end(kKeys))
      add(field.line, "unknown key \"" + field.key + "\" in the front matter");
    if (!seen.insert(field.key).second) add(field.line, "\"" + field.key + "\" occurs twice");
  }
  for (const char* key : {"date", "project", "status"})
    if (!seen.contains(key)) add(0, std::string("the front matter has no \"") + key + "\"");
  const std::string status = text.value("status"), date = text.value("date");
  const auto allowed = split(kStatuses, '|');
  if (!status.empty() && std::find(allowed.begin(), allowed.end(), status) == allowed.end())
    add(text.field("status")->line, "status \"" + status + "\" is none of in-progress, completed, blocked");
  if (!date.empty() && !parse_iso8601(date))
    add(text.field("date")->line, "date \"" + date + "\" is not a time as 2026-11-17T04:30:00Z");
}

// Whether a text is only what a template leaves for the writer: "[What was done]", "{{summary}}".
bool is_placeholder(std::string_view text) {
  text = trim(text);
  // "](" is a link: [notes](notes.md) is a text.
  return (text.starts_with('[') && text.ends_with(']') && text.find("](") == std::string_view::npos &&
          text.find('\n') == std::string_view::npos) ||
         (text.starts_with("{{") && text.ends_with("}}"));
}

}  // namespace

std::vector<TextProblem> lint(std::string_view markdown, const Template& form) {
  const DocumentText text = read_text(markdown);
  std::vector<TextProblem> problems;
  lint_front(text, problems);
  std::set<std::string> seen;
  for (const Section& section : text.sections) {
    if (section.name.empty() || section.name.starts_with(kContinuation)) continue;
    if (!form.find(section.name)) {
      problems.push_back({section.line, "unknown section \"" + section.name + "\""});
    } else if (!seen.insert(ascii_lower(section.name)).second) {
      problems.push_back({section.line, "section \"" + section.name + "\" occurs twice"});
    } else if (section.text.empty()) {
      problems.push_back({section.line, "section \"" + section.name + "\" is empty"});
    } else if (is_placeholder(section.text)) {
      problems.push_back({section.line, "section \"" + section.name + "\" has only a placeholder"});
    }
  }
  for (const TemplateSection& wanted : form.sections)
    if (!wanted.optional && !seen.contains(ascii_lower(wanted.name)))
      problems.push_back({0, "section \"" + wanted.name + "\" is missing"});
  std::stable_sort(problems.begin(), problems.end(), [](const TextProblem& a, const TextProblem& b) {
    // By line; problems of the whole document last.
    return a.line != 0 && (b.line == 0 || a.line < b.line);
  });
  return problems;
}

}  // namespace cairn::documents
