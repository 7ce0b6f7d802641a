// A plan that the agent proposed: its heading and its steps, read from its text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::distil {

// The plan's name: its first heading without "Plan:", else its first line. Empty for an empty text.
std::string plan_heading(std::string_view plan);

// A numbered step of a plan and the files that it names, without directories.
struct PlanStep {
  std::string title;
  std::set<std::string> files;
};
// Headings and list items that begin with a number, except in sections without work, such as "Verification",
// "Context" or "Risks" (Mode::sections_without_steps).
std::vector<PlanStep> plan_steps(std::string_view plan);

// Whether `prompt` contains the text of `plan`: then the user has accepted the plan.
bool brings_plan(std::string_view prompt, std::string_view plan);

// The steps that name files of which none was edited.
std::vector<std::string> steps_untouched(std::string_view plan, const std::set<std::string>& edited);

// The steps that remain to be done: none when at most a quarter of the steps that name files is left, because
// plans are rarely followed exactly.
std::vector<std::string> steps_left(std::string_view plan, const std::set<std::string>& edited);

}  // namespace cairn::distil
