// The events of the session that `cairn demo` plays: a small bug hunt, as the host would report it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cairn::cli {

inline constexpr std::string_view kDemoProject = "webshop";
inline constexpr std::string_view kTuesday = "7e5da000-0000-4000-8000-000000000001";
inline constexpr std::string_view kWednesday = "3ed2e500-0000-4000-8000-000000000002";

struct StoryStep {
  std::string event;
  Json payload;      // the event's own members, besides session and directory
  std::string who;   // "you", "claude"; empty: nothing to show
  std::string what;  // one line for the reader
  bool trouble = false;
};

// The first session, from start to end; files are below `project`.
std::vector<StoryStep> demo_steps(const std::string& project);

}  // namespace cairn::cli
