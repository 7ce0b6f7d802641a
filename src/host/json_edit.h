// Edits a JSON file of the user or of a host: every byte outside the change stays.
//
// scan() finds the position of each value; the other functions return the text with one change, in the file's
// own indentation and line ends. Scan again after each change.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn::host {

// A value and its place in the text: bytes [begin, end).
struct JsonNode {
  enum class Kind { object, array, string, other };
  Kind kind = Kind::other;
  std::size_t begin = 0, end = 0;
  std::string key;            // of a member, decoded
  std::size_t key_begin = 0;  // of a member
  std::vector<JsonNode> children;

  bool is_object() const { return kind == Kind::object; }
  bool is_array() const { return kind == Kind::array; }
  // Its position in its container: that of a member's key, or of an item itself.
  std::size_t start() const { return key_begin < begin ? key_begin : begin; }
  // The member `key`, or null. The last of equal keys counts, as in JavaScript.
  const JsonNode* find(std::string_view key) const;
};

// Reads strict JSON, with or without a byte order mark. Fails with `invalid`: "line 3, column 7: a comma is
// missing".
Result<JsonNode> scan(std::string_view text);

// "line 3, column 7" of an offset; columns count characters.
std::string place_of(std::string_view text, std::size_t offset);

// Whether a file has nothing in it but white space and a byte order mark.
bool is_blank(std::string_view text);
// The text of a file; that of an empty object when the file is blank.
std::string or_empty_object(std::string text);

// The formatting of a file, detected from it.
struct JsonStyle {
  std::string indent;   // one step; empty: all on one line
  std::string newline;  // "\n" or "\r\n"
  std::string colon;    // ":" or ": "
  std::string comma;    // between values on one line: "," or ", "
  static JsonStyle of(std::string_view text, const JsonNode& root);
};

// `text` with `value` as the last child of `container`; `key` is used when that is an object.
std::string insert_last(std::string_view text, const JsonStyle& style, const JsonNode& container,
                        std::string_view key, const Json& value);

// `text` with `node` replaced by `value`.
std::string replace(std::string_view text, const JsonStyle& style, const JsonNode& node, const Json& value);

// `text` without the child `index` of `container` and its comma.
std::string erase(std::string_view text, const JsonNode& container, std::size_t index);

}  // namespace cairn::host
