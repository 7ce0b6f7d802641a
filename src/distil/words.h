// Sentences about facts, shared by summary and observations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "distil/digest.h"

namespace cairn::distil {

std::string number(std::int64_t n, std::string_view one, std::string_view many);
// "a, b and 3 more files".
std::string join(const std::vector<std::string>& items, std::size_t max, std::string_view one,
                 std::string_view many);
// "", " twice", " 5 times".
std::string times(std::size_t n);

// "Edited a.cpp (+3 -1)."
std::string described(const FileChange& file);
// "Ran 'make': failed twice (exit code 2: no rule), then passed."
std::string described(const Command& command);
// "exit code 1: expected 3", as far as known.
std::string detail(const CommandRun& run);
// "Read a and b. Searched for 'x'. ..."
std::string looks_text(const Digest& digest);

bool all_passed(const Command& command);
bool ends_failing(const Command& command);
// Commands whose last run failed and whose program passed no later check; at most the last 3.
std::vector<const Command*> still_failing(const Digest& digest);

// Whether the first line of a summary's `completed` is made of facts (our words). Otherwise it is the answer.
bool begins_with_facts(std::string_view completed);

// The request on a few short lines.
std::string request_of(std::string_view prompt);

}  // namespace cairn::distil
