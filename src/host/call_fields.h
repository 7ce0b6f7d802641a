// The names that hosts give to the members of a tool call, for the gate: it must find paths, file texts and
// command lines in the call of any tool, also of one that no host declares. So these are the names of all
// hosts together. Where the tool is known, host/action.h says what the call did.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "event/event.h"

namespace cairn::host {

// Members with the name of a file whose text is in the same object.
bool names_a_file(std::string_view member);
// The same, and members with other paths.
bool names_a_path(std::string_view member);
// Members of an input that hold the directory for its relative paths.
bool names_a_directory(std::string_view member);
// Members with the text of a file, or a part of it.
bool holds_file_text(std::string_view member);

// Files that an event names beside the call's input: in the result, or in members of the event itself.
std::vector<const Json*> files_beside_input(const event::Event& event);

// The whole text of a file before the call changed it; empty: the response does not have it.
std::string_view original_text(const Json& response);

// What a call changed in a file, for rewriting in place. The pointers hold until the JSON changes its shape.
struct CallEdits {
  struct Texts {
    Json* before = nullptr;
    Json* after = nullptr;  // null: there is none
  };
  std::vector<Texts> texts;
  struct Lines {
    std::int64_t old_start = 1;  // first line in the original; from 1
    Json* lines = nullptr;       // a list
  };
  std::vector<Lines> hunks;
};
CallEdits edits_of(Json& input, Json& response);
// The list of a call with several edits; null: it has none.
Json* edit_list(Json& input);

// Whether `id` looks like an id that a host makes for a session, a message or a call.
bool is_host_id(std::string_view id);

}  // namespace cairn::host
