// Finds the tags of a model's reply and the texts between them. The scanner (agent/reply.cpp) decides what
// they mean. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::agent::tags {

// In this order: a name is compared with the first and the last one of its group.
enum Name : std::uint8_t {
  // Blocks.
  observation,
  summary,
  skip,
  think,
  // Fields of an observation.
  type,
  title,
  subtitle,
  narrative,
  facts,
  concepts,
  files_read,
  files_modified,
  events,
  // Fields of a summary.
  request,
  investigated,
  learned,
  completed,
  next_steps,
  notes,
  rules,
  // Items of lists.
  fact,
  concept_item,
  file,
  rule,
  step,
  kNames
};

inline bool is_block(Name name) {
  return name <= think;
}
inline bool is_field_of(Name block, Name name) {
  return block == observation ? name >= type && name <= events : name >= request && name <= rules;
}
// The name as a reply has it; the first, where there are several.
std::string_view word_of(Name name);

struct Tag {
  Name name = kNames;
  bool closes = false;
  bool empty = false;  // <title/>
  std::size_t begin = 0, end = 0;
  std::string_view attributes;
};
// The known tag that begins at text[at], a '<'.
std::optional<Tag> tag_at(std::string_view text, std::size_t at);
// The value of an attribute: name="value", name='value' or name=value.
std::string attribute(std::string_view attributes, std::string_view name);

// Undoes entities once, and takes the text out of a CDATA section.
std::string plain(std::string_view raw);
// A line of a list without its mark.
std::string_view unmarked(std::string_view line);
// "12, 14-16": numbers and ranges.
std::vector<std::int64_t> numbers_in(std::string_view text);

}  // namespace cairn::agent::tags
