#include "context/composer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "context/page.h"
#include "store/observations.h"
#include "store/summaries.h"

namespace cairn::context {

using store::Summary;

static std::string date(WallTime t) {
  const std::string iso = iso8601(t);
  return iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC";
}

static std::string id_of(const Summary& s) {
  return "S" + std::to_string(s.id);
}

// Whether the work of this summary was broken off, and by what.
static std::string_view broken_by(const Summary& s) {
  if (s.turn_end == "dead_host" || s.turn_end == "session_start") return "its process died";
  if (s.turn_end == "session_end" && s.session_status == "failed") return "it was closed";
  if (s.turn_end == "stop_failure") return "the model's service failed";
  return {};
}

static std::string joined(const std::vector<std::string>& items, std::size_t max_items) {
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < max_items; ++i) text += (i ? ", " : "") + items[i];
  if (items.size() > max_items) text += fmt::format(" and {} more", items.size() - max_items);
  return text;
}

// A field as a labelled paragraph; its further lines are indented so that it stays one entry of the list.
static void add_field(std::string& to, std::string_view label, std::string_view text) {
  if (trim(text).empty()) return;
  to += fmt::format("{}: ", label);
  bool first = true;
  for (const std::string_view line : lines(trim(text))) {
    if (trim(line).empty()) continue;
    to += first ? "" : "  ";
    to += line;
    to += '\n';
    first = false;
  }
}

// The lines of `text` that `told` does not say already: nothing is given twice.
static std::string not_yet_told(std::string_view text, std::string_view told) {
  std::string rest;
  for (const std::string_view line : lines(text))
    if (told.find(trim(line)) == std::string_view::npos) rest += std::string(line) + "\n";
  return rest;
}

static std::string heading(const Summary& s) {
  std::string text = fmt::format("## {} · {}", id_of(s), date(s.created_at));
  if (s.branch) text += " · branch " + *s.branch;
  if (s.interim) text += " · still running";
  if (!broken_by(s).empty()) text += " · interrupted";
  return text + "\n";
}

static std::string full_entry(const Summary& s) {
  std::string text = heading(s);
  add_field(text, "Request", s.request);
  add_field(text, "Done", s.completed);
  add_field(text, "Learned", not_yet_told(s.learned, s.completed));
  add_field(text, "Looked at", s.investigated);
  if (!s.files_edited.empty()) text += "Files changed: " + joined(s.files_edited, 20) + "\n";
  add_field(text, "Notes", s.notes);
  return text + "\n";
}

static std::string brief_entry(const Summary& s) {
  std::string text = heading(s);
  add_field(text, "Request", one_line(s.request, 200));
  add_field(text, "Done", one_line(s.completed, 300));
  if (!s.files_edited.empty()) text += "Files changed: " + joined(s.files_edited, 6) + "\n";
  return text + "\n";
}

static std::string line_entry(const Summary& s) {
  const std::string what = one_line(s.request.empty() ? s.completed : s.request, 110);
  return fmt::format("- {} {}: {}\n", id_of(s), date(s.created_at).substr(0, 10), what);
}

// What the project's newest session left open, and what any newer interrupted one did.
static std::vector<std::string> open_steps(const std::vector<Summary>& summaries) {
  std::vector<std::string> steps;
  std::set<std::string> seen_sessions, seen_steps;
  for (const Summary& s : summaries) {
    const bool newest_of_its_session = seen_sessions.insert(s.session).second;
    if (!newest_of_its_session || (seen_sessions.size() > 1 && broken_by(s).empty())) continue;
    for (const std::string_view line : lines(s.next_steps)) {
      std::string step = one_line(line, 300);
      if (step.starts_with("- ")) step.erase(0, 2);
      if (!step.empty() && steps.size() < 12 && seen_steps.insert(step).second)
        steps.push_back(std::move(step));
    }
  }
  return steps;
}

static void add_interrupted(Page& page, const std::vector<Summary>& summaries, Composed& out) {
  const Summary& newest = summaries.front();
  const std::string_view cause = broken_by(newest);
  if (cause.empty()) return;
  out.interrupted = true;
  page.add(
      fmt::format("The last session was interrupted ({}): {} of {} did not reach its end. What it did until "
                  "then is below.\n\n",
                  cause, id_of(newest), date(newest.created_at)));
}

static void add_open(Page& page, const std::vector<Summary>& summaries, Composed& out) {
  const auto steps = open_steps(summaries);
  if (steps.empty()) return;
  std::string text = "# Open\n";
  for (const std::string& step : steps) text += "- " + step + "\n";
  if (page.add(text + "\n")) out.open = steps.size();
}

// The newest in full, the next ones shorter, the rest a line each: what is older matters less.
static void add_work(Page& page, const std::vector<Summary>& summaries, Composed& out) {
  constexpr std::size_t kFull = 2, kBrief = 6;
  page.add("# Recent work, newest first\n");
  std::string rest;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const Summary& s = summaries[i];
    const bool shown = (i < kFull && page.add(full_entry(s), page.budget() * 7 / 10)) ||
                       (i < kBrief && page.add(brief_entry(s), page.budget() * 9 / 10)) ||
                       page.add(line_entry(s));
    if (!shown) break;
    out.items.push_back(id_of(s));
  }
}

static void add_observations(Page& page, const std::vector<store::Observation>& observations, Composed& out) {
  bool first = true;
  for (const auto& o : observations) {
    const std::string line = fmt::format("- O{} {} {}: {}\n", o.id, date(o.created_at).substr(0, 10), o.type,
                                         one_line(o.title, 160));
    if (!page.add(first ? "# Observations\n" + line : line)) break;
    out.items.push_back("O" + std::to_string(o.id));
    first = false;
  }
}

Result<Composed> compose(store::Db& db, const Request& request) {
  constexpr std::size_t kSummaries = 30, kObservations = 30;  // more than a budget of thousands can show
  const auto summaries =
      TRY(store::newest_summaries(db, {request.project, request.since, request.except_session, kSummaries}));
  const auto observations =
      TRY(store::newest_observations(db, request.project, request.since, kObservations));
  Composed out;
  if (summaries.empty() && observations.empty()) return out;
  Page page(request.budget_tokens, kMaxCharacters);
  page.add(fmt::format("Project {}.{}\n\n", one_line(visible(request.project), 200),
                       request.since ? " New since this session was last given notes:" : ""));
  if (!summaries.empty()) {
    out.last_request = one_line(visible(summaries.front().request), 80);
    out.last_at = summaries.front().created_at;
    add_interrupted(page, summaries, out);
    add_open(page, summaries, out);
    add_work(page, summaries, out);
  }
  add_observations(page, observations, out);
  if (out.items.empty()) return out;  // the budget is too small for anything
  out.text = page.fenced(request.key);
  out.tokens = estimate_tokens(out.text);
  out.characters = utf16_length(out.text);
  return out;
}

}  // namespace cairn::context
