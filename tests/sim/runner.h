// Runs many schedules and reports the first that fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/schedule.h"

namespace cairn::sim {

// The report of a failed schedule: its seed, its step, what is wrong, the steps before, and how to see it
// again.
std::string report(const Options& options, const Outcome& outcome);

// Runs the seeds from `first` on, `count` of them. Returns the report of the first that fails.
std::optional<std::string> run_seeds(std::uint64_t first, std::uint64_t count, Options options = {});

// The same on `jobs` processes at once; an assertion that ends one of them is a failure too. Returns the
// reports.
std::optional<std::string> run_seeds_at_once(std::uint64_t first, std::uint64_t count, unsigned jobs,
                                             const Options& options = {});

}  // namespace cairn::sim
