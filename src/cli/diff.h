// A unified diff of two texts, for people.
#pragma once

#include <string>

namespace cairn::cli {

// Three lines of context, `name` in both header lines; empty when the texts are equal. When very many lines
// differ, all lines between the common beginning and end are shown as replaced.
std::string diff_text(const std::string& before, const std::string& after, const std::string& name);

}  // namespace cairn::cli
