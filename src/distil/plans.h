// A plan that the agent proposed: its heading and its steps, read from its text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::distil {

// What the plan is called: its first heading without "Plan:", else its first line. Empty for an empty text.
std::string plan_heading(std::string_view plan);

// A numbered step of a plan, with the files that it names, without their directories.
struct PlanStep {
  std::string title;
  std::set<std::string> files;
};
// Its steps: headings and list items that begin with a number, but for those that tell how to verify it.
std::vector<PlanStep> plan_steps(std::string_view plan);

// Whether `prompt` brings the text of `plan`: work that begins with a plan has accepted it.
bool brings_plan(std::string_view prompt, std::string_view plan);

// The steps that name files of which none was edited. Empty when half of such steps or fewer are left: a
// plan is not followed to the letter.
std::vector<std::string> steps_left(std::string_view plan, const std::set<std::string>& edited);

}  // namespace cairn::distil
