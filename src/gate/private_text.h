// Removal of <private>...</private>: nested, unclosed (to the end of the text), in any letter case, with
// blanks and attributes inside the tag, escaped as in JSON, HTML or a URL. A closing tag without an opening
// one means that the text began inside a private part (a partial read of a file): the text before it is
// removed too. In doubt more is removed, never less.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::gate {

// The marker in place of a removed part.
inline constexpr std::string_view kPrivateMark = "[private]";

// Whether a cleaned text shows nothing but such markers.
bool only_private(std::string_view cleaned);

struct PrivateScan {
  std::string text;  // the remaining text, when something was removed
  int depth = 0;     // > 0: the text ends inside a private part
  bool removed = false;
  bool began_inside =
      false;  // a closing tag without an opening one: what came before this text is private too

  // The remaining text; `scanned` is the text that was cleaned.
  std::string_view of(std::string_view scanned) const { return removed ? text : scanned; }
};

// The text of the string `value`, to be changed in place.
std::string& string_of(Json& value);

// Cleans one text that starts at nesting `depth`. kPrivateMark replaces each removed part.
PrivateScan remove_private(std::string_view text, int depth = 0);

// Cleans every string of a value, keys included. All strings in an array are one text in document order (the
// lines of a patch, the blocks of an answer): a private part may open in one item and close in another;
// without a closing tag it ends with the array. The members of an object outside of arrays are separate
// texts. Returns whether something was removed.
bool remove_private(Json& value);

// The same for a tool call. The text of an edit inside a private part of a file contains no tag, so its
// position is looked up in the original file, which the response contains.
bool remove_private(Json& tool_input, Json& tool_response);

}  // namespace cairn::gate
