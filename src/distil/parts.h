// The two parts of the distiller, each from the same digest of a turn. `answer` is the last answer, cleaned;
// the service's error message when the turn failed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "distil/digest.h"
#include "distil/mode.h"
#include "distil/turn.h"

namespace cairn::distil {

constexpr std::size_t kMaxField = 2000;
constexpr std::size_t kMaxTitle = 160;
constexpr std::size_t kMaxNarrative = 700;

// Quotes in their words are marked, not labelled yet (base/origin.h), and titles not cut.
Summary summarise(const Turn& turn, const Digest& digest, const std::string& answer, const Mode& mode);
std::vector<Observation> observe(const Turn& turn, const Digest& digest, const std::string& answer,
                                 const Mode& mode);

// The files as a list of bounded length.
std::vector<std::string> listed(const std::set<std::string>& files);

}  // namespace cairn::distil
