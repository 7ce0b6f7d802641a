// Removal of <private>...</private>: nested, unclosed (to the end of the text), in any letter case, with
// blanks and attributes inside the tag, escaped as in JSON, HTML or a URL. A closing tag without an opening
// one means that the text began inside (a partial read of a file): what stands before it goes too. In doubt
// more is removed, never less.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::gate {

// What a removed part leaves behind.
inline constexpr std::string_view kPrivateMark = "[private]";

// Whether a person sees nothing of a cleaned text but marks.
bool only_private(std::string_view cleaned);

struct PrivateScan {
  std::string text;  // what remains, when something was removed
  int depth = 0;     // > 0: the text ends inside a private part
  bool removed = false;
  bool began_inside =
      false;  // a closing tag without an opening one: what came before this text is private too

  // What remains of `scanned`, the text that was looked at.
  std::string_view of(std::string_view scanned) const { return removed ? text : scanned; }
};

// The text that `value`, a string, is: to be changed in place.
std::string& string_of(Json& value);

// Cleans one text that starts at nesting `depth`. What was removed leaves kPrivateMark behind.
PrivateScan remove_private(std::string_view text, int depth = 0);

// Cleans every string of a value, keys included. All that stands in an array is one text in document order
// (the lines of a patch, the blocks of an answer): a part may open in one item and close in another, and one
// that is not closed ends with the array. The members of an object that stands in no array are texts of their
// own. Returns whether something was removed.
bool remove_private(Json& value);

// The same for a tool call. An edit inside a private part of a file shows no tag of its own: its pieces are
// placed by the original file that the response carries.
bool remove_private(Json& tool_input, Json& tool_response);

}  // namespace cairn::gate
