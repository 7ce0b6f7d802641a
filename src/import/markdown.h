// Reads the parts of Markdown that imported files use: front matter, sections and list items.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace cairn::importer {

struct MarkdownSection {
  std::string title;  // from "## Title"; empty: the text before the first one
  std::string text;
};

struct Markdown {
  std::map<std::string, std::string> front;  // "key: value"; a list is joined by commas
  std::string body;                          // without the front matter
  std::string title;                         // of the first "# Title"

  std::vector<MarkdownSection> sections() const;
  // The text of the first section whose title begins with `wanted`, ignoring case; empty when there is none.
  std::string section(std::string_view wanted) const;
};

// Never fails: text without valid front matter is all body.
Markdown read_markdown(std::string_view text);

// The values of "[a, b]" or "a, b".
std::vector<std::string> read_tags(std::string_view text);

// The items of the lists in a text, each on one line, except ticked ones.
std::vector<std::string> open_list_items(std::string_view text);

// Whether the text is an unfilled template: only "[placeholders]" and similar.
bool is_template(std::string_view text);

// A date as people write it: with or without seconds, "T", "Z" or an offset.
std::optional<WallTime> read_date(std::string_view text);

}  // namespace cairn::importer
