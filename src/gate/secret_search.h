// The search itself: one pass by literals, and at each of them the rule it belongs to. Works on a plain view
// of a text (plain_view.h); the places it gives are places in that view.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "gate/named_secrets.h"

namespace cairn::gate {

// Appends what the built-in rules find. Places may overlap and are in no order. `depth`: how often the text
// may still be base64 of something.
void search_secrets(std::string_view text, int depth, std::vector<Place>& found);

// The end of the marker that begins at text[at]; 0: none does.
std::size_t marker_at(std::string_view text, std::size_t at);

}  // namespace cairn::gate
