// The origin of text that neither the person nor the agent wrote: the output of a program, a web page, an MCP
// server. A stranger may have written it, so it is always shown with its origin.
//
// A quote of such text has a label: "[output: 3 tests failed]". Code that writes such text marks the quote
// with quote(), and turns the marks into labels with labelled() once, when the text is final. Every other
// text that is stored also passes labelled(), which removes anything that looks like a label.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cairn {

enum class Origin { output, web, mcp };
using Origins = std::set<Origin>;

std::string_view origin_name(Origin origin);

// `text`, marked as a quote; unchanged when it has no outside origin or is empty. The marks are control
// characters: text that went through visible() has none.
std::string quote(std::optional<Origin> origin, std::string_view text);

// `text` with its marked quotes as labels. A quote ends at its mark, at the end of its line or of the text;
// brackets without a partner in it, and whatever reads like a label of ours, become parentheses.
std::string labelled(std::string_view text);

// `text` cut to `max` bytes as `cut(text, bytes)` does it, with its labels whole.
template <class Cut>
std::string labelled(std::string_view text, std::size_t max, const Cut& cut) {
  for (std::size_t room = max;;) {
    std::string out = labelled(cut(text, room));
    if (out.size() <= max) return out;
    room -= std::min(room, out.size() - max);
  }
}

// Closes the label in which the labelled text `cut` was cut off, if any.
std::string closed(std::string cut);

// The label that is open at text[at] in labelled text: "[output: ", or nothing.
std::string_view open_label(std::string_view text, std::size_t at);

// The labels in labelled text.
Origins origins_in(std::string_view text);

// " [web, mcp]", to append to a record's name; empty when there are none.
std::string label(const Origins& origins);

}  // namespace cairn
