// Stored text that a model may read, so that nothing of it passes for a tag of the host's or of ours, nor for
// another speaker of the conversation: however it is spelt, in whatever alphabet, escaped or not. What is
// left is words.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

// `text` with the sign that opens such a tag replaced by '‹'. Tags are known by their names; a name that no
// program gives a type (with a dash, in another alphabet) is one, too.
std::string without_tags(std::string_view text);

// Whether `line` begins as a turn of a conversation does: "Human: go on".
bool is_speaker(std::string_view line);

}  // namespace cairn
