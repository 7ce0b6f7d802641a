#include "context/entries.h"

#include <fmt/format.h>

#include "base/quoted.h"
#include "base/text.h"
#include "context/page.h"
#include "distil/words.h"

namespace cairn::context {

using store::Observation;
using store::Summary;

std::string date(WallTime t) {
  const std::string iso = iso8601(t);
  return iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC";
}

std::string id_of(const Summary& s) {
  return "S" + std::to_string(s.id);
}

std::string id_of(const Observation& o) {
  return "O" + std::to_string(o.id);
}

std::string_view broken_by(const Summary& s) {
  if (s.turn_end == "dead_host" || s.turn_end == "session_start") return "its process died";
  if (s.turn_end == "session_end" && s.session_status == "failed") return "it was closed";
  if (s.turn_end == "stop_failure") return "the model's service failed";
  return {};
}

std::string joined(const std::vector<std::string>& items, std::size_t max_items) {
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < max_items; ++i) text += (i ? ", " : "") + items[i];
  if (items.size() > max_items) text += fmt::format(" and {} more", items.size() - max_items);
  return text;
}

static bool ends_sentence(std::string_view text) {
  for (const std::string_view mark : {".", "!", "?", "\u3002", "\uff01", "\uff1f"})
    if (text.ends_with(mark)) return true;
  return false;
}

// Where `step` stands in `line` as a sentence or an item of its own; npos: nowhere. Words in the middle of
// another sentence are that sentence's.
static std::size_t find_sentence(std::string_view line, std::string_view step) {
  std::size_t at = line.find(step);
  for (; at != std::string_view::npos; at = line.find(step, at + 1)) {
    const std::string_view before = trim(line.substr(0, at)), after = trim(line.substr(at + step.size()));
    const bool begins = before.find_first_not_of("-*#\u2022[] xX0123456789.)") == std::string_view::npos ||
                        ends_sentence(before);
    const bool ends = after.find_first_not_of('*') == std::string_view::npos || ends_sentence(step);
    if (begins && ends) break;
  }
  return at;
}

// `line` without the sentences that are told already; empty when only signs are left of it.
static std::string without_told(std::string_view line, const std::set<std::string>& told) {
  std::string rest(line);
  for (const std::string& step : told)
    if (const std::size_t at = find_sentence(rest, step); at != std::string::npos) {
      const bool between = (at == 0 || rest[at - 1] == ' ') && rest.substr(at + step.size()).starts_with(' ');
      rest.erase(at, step.size() + (between ? 1 : 0));
    }
  const bool empty = trim(rest).find_first_not_of("-*#\u2022 ") == std::string_view::npos;
  return empty ? std::string() : rest.substr(0, rest.find_last_not_of(' ') + 1);
}

// A line that announces others; `as_data` has quoted headings.
static bool is_heading(std::string_view line) {
  return trim(line).starts_with("| #") || trim(line).ends_with(':');
}

// A field as a labelled paragraph, without what is told already, nor headings that nothing is left under; its
// further lines are indented so that it stays one entry of the list. Of its first `whole` lines nothing is
// left out.
static void add_field(std::string& to, std::string_view label, std::string_view text,
                      const std::set<std::string>& told, std::size_t whole = 0) {
  const std::vector<std::string_view> all = lines(trim(text));
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    // What is left of a line may begin otherwise than the line did.
    if (std::string rest = i < whole ? std::string(all[i]) : without_told(all[i], told); !rest.empty())
      kept.push_back(as_data(rest));
  while (all.size() > 1 && !kept.empty() && is_heading(kept.back())) kept.pop_back();
  for (std::size_t i = 0; i < kept.size(); ++i)
    to += (i == 0 ? fmt::format("{}: ", label) : "  ") + kept[i] + "\n";
}

// The lines of `text` that `said` does not say already.
static std::string not_said(std::string_view text, std::string_view said) {
  std::string rest;
  for (const std::string_view line : lines(text))
    if (said.find(trim(line)) == std::string_view::npos) rest += std::string(line) + "\n";
  return rest;
}

static std::string heading(const Summary& s, const std::vector<const Observation*>& details) {
  std::string text = fmt::format("## {}{} · {}", id_of(s), label(s.origins), date(s.created_at));
  if (s.branch) text += " · branch " + *s.branch;
  if (s.interim) text += " · still running";
  if (!broken_by(s).empty()) text += " · interrupted";
  if (!details.empty()) text += " ·";
  for (const Observation* o : details) text += " " + id_of(*o) + label(o->origins);
  return text + "\n";
}

static bool begins_in_our_words(std::string_view completed) {
  completed = trim(completed);
  if (completed.starts_with("| ")) completed.remove_prefix(2);  // as_data quoted it
  return distil::begins_with_facts(completed);
}

std::string full_entry(const Summary& s, const std::vector<const Observation*>& details,
                       const std::set<std::string>& told) {
  std::string text = heading(s, details);
  add_field(text, "Request", s.request, {});
  // `told` was taken from the answer, not from our own words before it.
  add_field(text, "Done", s.completed, told, begins_in_our_words(s.completed) ? 1 : 0);
  add_field(text, "Learned", not_said(s.learned, s.completed), told);
  add_field(text, "Looked at", s.investigated, {});
  if (!s.files_edited.empty()) text += "Files changed: " + joined(s.files_edited, 20) + "\n";
  add_field(text, "Notes", s.notes, {});
  return text + "\n";
}

std::string line_entry(const Summary& s) {
  // The request is the person's own.
  const std::string of = s.request.empty() ? label(s.origins) : "";
  return fmt::format("- {} {}{}: {}\n", id_of(s), date(s.created_at).substr(0, 10), of,
                     closed(one_line(s.request.empty() ? s.completed : s.request, 110)));
}

// The sentence that makes a title worth reading: why something failed, what else was found.
static std::string beside_title(const Observation& o) {
  if (o.type == "bugfix") return o.narrative;
  return o.facts.size() > 1 && o.facts[0] == o.title ? o.facts[1] : "";
}

std::string line_entry(const Observation& o, bool with_date) {
  std::string text = closed(one_line(o.title, 160));
  if (const std::string more = beside_title(o); !more.empty())
    text += (text.find_last_of(".!?") == text.size() - 1 ? " " : ". ") + closed(one_line(more, 200));
  return fmt::format("- {} {}{}{}: {} (~{})\n", id_of(o),
                     with_date ? date(o.created_at).substr(0, 10) + " " : "", o.type, label(o.origins), text,
                     o.tokens);
}

}  // namespace cairn::context
