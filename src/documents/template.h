// Which sections a document has. Users replace the built-in template by a file of their own.
//
// A template is Markdown: "## Name" begins a section, "## Name (optional)" one that is left out when there is
// nothing for it. A draft fills in {{word}}. Text before the first section is a remark.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::documents {

struct TemplateSection {
  std::string name;
  bool optional = false;
  std::string text;  // with {{words}}
};

struct Template {
  std::vector<TemplateSection> sections;
  const TemplateSection* find(std::string_view name) const;  // in any case of letters
};

Template read_template(std::string_view markdown);
// The text of the built-in one.
std::string_view default_template();

// The file beside config.toml that replaces it.
inline constexpr std::string_view kTemplateFile = "document.md";

}  // namespace cairn::documents
