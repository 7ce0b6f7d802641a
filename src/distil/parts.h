// The two parts of the distiller; both use the digest of a turn. `answer` is the cleaned last answer, or the
// service's error message when the turn failed.
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

// Quotes in the result are marked but not labelled yet (event/origin.h), and titles are not cut.
Summary summarise(const Turn& turn, const Digest& digest, const std::string& answer, const Mode& mode);
std::vector<Observation> observe(const Turn& turn, const Digest& digest, const std::string& answer,
                                 const Mode& mode);

// The files as a list of bounded length.
std::vector<std::string> listed(const std::set<std::string>& files);

}  // namespace cairn::distil
