// A document as Markdown: its front matter, and its sections. Reads what cairn, people and other tools write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documents/template.h"
#include "store/documents.h"

namespace cairn::documents {

// One "key: value" of the front matter; a list has a value for each item.
struct Field {
  std::string key;
  std::vector<std::string> values;
  std::int64_t line = 0;
};

struct Section {
  std::string name;  // of its heading "## Name"; empty: the text before the first one
  std::string text;  // without the heading, trimmed
  std::int64_t line = 0;
};

struct DocumentText {
  bool has_front = false;
  std::vector<Field> front;
  std::vector<Section> sections;
  const Field* field(std::string_view key) const;
  const Section* section(std::string_view name) const;  // in any case of letters
  // The first value of a field; empty when it is not there or "null".
  std::string value(std::string_view key) const;
};

// Never fails. A heading inside a block of code is no heading.
DocumentText read_text(std::string_view markdown);

// The sections as Markdown, without front matter.
std::string write_sections(const std::vector<Section>& sections);

// The front matter of a stored document, with its lines of dashes. `previous`: the name of
// its predecessor; empty: it has none.
std::string front_matter(const store::Document& document, std::string_view previous);

inline constexpr std::string_view kStatuses = "in-progress|completed|blocked";

struct TextProblem {
  std::int64_t line = 0;  // 0: it is about the whole document
  std::string what;
};
// What a document lacks by `form`, and what is wrong with its front matter. Empty: nothing.
std::vector<TextProblem> lint(std::string_view markdown, const Template& form);

// The names of the sections that coalescing appends begin with this.
inline constexpr std::string_view kContinuation = "Session Continuation";

}  // namespace cairn::documents
