#include "distil/plans.h"

#include <algorithm>

#include "base/text.h"
#include "distil/likeness.h"
#include "distil/mode.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxHeading = 160;

std::string_view without_signs(std::string_view line, std::string_view signs) {
  line = trim(line);
  while (!line.empty() && signs.find(line.front()) != std::string_view::npos) line.remove_prefix(1);
  return trim(line);
}

std::string bare(std::string_view text) {
  std::string out = one_line(text, kMaxHeading);
  for (std::size_t at = out.find("**"); at != std::string::npos; at = out.find("**", at)) out.erase(at, 2);
  return out;
}

// "1. " or "2) " or "Step 3: " at its beginning.
bool is_numbered(std::string_view line) {
  for (const std::string_view word : {"step ", "phase ", "part "})
    if (starts_with_nocase(line, word)) line = line.substr(word.size());
  const std::size_t digits = line.find_first_not_of("0123456789");
  return digits > 0 && digits < 4 && digits != std::string_view::npos &&
         any_of(line.substr(digits, 1), {".", ")", ":"});
}

}  // namespace

std::string plan_heading(std::string_view plan) {
  std::string_view found;
  for (const std::string_view line : lines(plan)) {
    if (trim(line).empty()) continue;
    if (found.empty()) found = line;
    if (trim(line).starts_with("# ")) {
      found = line;
      break;
    }
  }
  std::string_view name = without_signs(found, "#*");
  for (const std::string_view word : {"implementation plan:", "plan:", "plan -", "plan \u2014"})
    if (starts_with_nocase(name, word)) name = trim(name.substr(word.size()));
  return bare(name);
}

std::vector<PlanStep> plan_steps(std::string_view plan) {
  std::vector<PlanStep> steps;
  bool code = false, aside = false;  // aside: in a section that is no work
  for (const std::string_view line : lines(plan)) {
    if (trim(line).starts_with("```")) code = !code;
    if (code) continue;
    const std::string_view text = without_signs(line, "#*");
    const bool heading = line.starts_with('#'), numbered = is_numbered(text);
    // A numbered heading begins no such section, even with one of its words: "3. Test the parser" is a step.
    if (heading && !numbered) aside = has_cue(fold(text), code_mode().sections_without_steps);
    if (aside) continue;
    // An indented number belongs to the step above it.
    const bool below = line.starts_with(' ') || line.starts_with('\t');
    if (numbered && !below) steps.push_back({bare(text), {}});
    if (!steps.empty() && (numbered || !heading)) steps.back().files.merge(named_files(text));
    if (heading && !numbered && !steps.empty()) steps.push_back({"", {}});  // next lines belong to no step
  }
  std::erase_if(steps, [](const PlanStep& step) { return step.title.empty(); });
  return steps;
}

bool brings_plan(std::string_view prompt, std::string_view plan) {
  // A prompt that brings a plan may cut or extend its end: compare the beginning, with blanks made equal.
  constexpr std::size_t kBeginning = 400;
  const std::string asked = one_line(prompt, prompt.size() + 4);
  const std::string begins = std::string(prefix(one_line(trim(plan), plan.size() + 4), kBeginning));
  return begins.size() >= 20 && asked.find(begins) != std::string::npos;
}

// The steps that name files, and those among them of which no file was edited.
static std::pair<std::size_t, std::vector<std::string>> split_steps(std::string_view plan,
                                                                    const std::set<std::string>& edited) {
  std::pair<std::size_t, std::vector<std::string>> out;
  for (PlanStep& step : plan_steps(plan)) {
    if (step.files.empty()) continue;
    ++out.first;
    const bool done = std::any_of(step.files.begin(), step.files.end(),
                                  [&](const std::string& file) { return edited.contains(file); });
    if (!done) out.second.push_back(std::move(step.title));
  }
  return out;
}

std::vector<std::string> steps_untouched(std::string_view plan, const std::set<std::string>& edited) {
  return split_steps(plan, edited).second;
}

std::vector<std::string> steps_left(std::string_view plan, const std::set<std::string>& edited) {
  auto [all, left] = split_steps(plan, edited);
  if (4 * left.size() <= all) left.clear();
  return left;
}

}  // namespace cairn::distil
