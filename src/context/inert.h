// Makes stored text harmless for a model that reads it: nothing in it can pass for a tag of the host or of
// ours, or for another speaker of the conversation, in any spelling, alphabet or escape.
#pragma once

#include <string>
#include <string_view>

namespace cairn::context {

// Replaces the sign that opens such a tag by '‹'. Tags are recognised by their names. A name that cannot be a
// type in a program (with a dash, in another alphabet) counts as a tag too.
std::string without_tags(std::string_view text);

// Whether `line` begins as a turn of a conversation does: "Human: go on".
bool is_speaker(std::string_view line);

}  // namespace cairn::context
