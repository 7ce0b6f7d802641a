#include "context/open_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/quoted.h"
#include "base/text.h"
#include "context/entries.h"
#include "context/page.h"
#include "event/origin.h"
#include "store/sessions.h"

namespace cairn::context {

using event::OpenSource;
using event::OpenState;
using store::OpenItem;

static constexpr std::size_t kMostNotes = 50, kMostOrders = 3, kMostOpen = 10, kMostEarlier = 3;

// The order of the list: what a person added, tasks, next steps, questions, plans, interruptions. It is the
// order of the enum. Of tasks, those that were begun come first.
static int place_of(const OpenItem& item) {
  return 2 * static_cast<int>(item.source) + (item.state == OpenState::pending ? 1 : 0);
}

Result<OpenWork> read_open_work(store::Db& db, const std::string& project,
                                const std::optional<WallTime>& since, const std::string& session,
                                const std::string& worktree) {
  OpenWork out;
  out.notes = TRY(store::notes_for(db, project, kMostNotes));
  // A resumed session has seen them at its start.
  if (!since) out.orders = TRY(store::standing_orders(db, project, kMostOrders));
  // Counted back from the last activity: items do not grow old while there is no work on the project.
  const WallTime oldest = TRY(store::last_activity(db, project)) - store::kOpenItemAge;
  for (OpenItem& item : TRY(store::open_items(db, {.project = project, .all_plans = true}))) {
    const bool refused = item.source == OpenSource::plan && item.state != OpenState::accepted;
    (refused ? out.plans : item.last_seen_at < oldest ? out.earlier : out.open).push_back(std::move(item));
  }
  // Items that were mentioned last come first; items of one answer keep its order.
  std::sort(out.open.begin(), out.open.end(), [](const OpenItem& a, const OpenItem& b) {
    if (place_of(a) != place_of(b)) return place_of(a) < place_of(b);
    return a.last_seen_at != b.last_seen_at ? a.last_seen_at > b.last_seen_at : a.id < b.id;
  });
  if (since) {
    std::erase_if(out.notes, [&](const store::Note& note) { return note.created_at <= *since; });
    std::erase_if(out.open, [&](const OpenItem& item) { return item.last_seen_at <= *since; });
    out.earlier.clear();
  }
  out.edited = TRY(store::edited_since_commit(db, project, worktree));
  out.branch = TRY(store::branch_of(db, session));
  return out;
}

// Stored text as data on one line.
static std::string line_of(std::string_view text, std::size_t max) {
  return closed(one_line(labelled(as_data(text)), max));
}

std::string item_text(const OpenItem& item) {
  const std::string text = line_of(item.text, 400);
  if (item.source == OpenSource::task)
    return item.state == OpenState::in_progress ? "task, begun: " + text : "task: " + text;
  if (item.source == OpenSource::question) return "asked: " + text;
  if (item.source == OpenSource::plan)
    return "plan " + quoted(text, '"') +
           (item.state == OpenState::accepted ? ", accepted and not finished" : ", not implemented");
  return text;
}

static std::string id_of(const OpenItem& item) {
  return "W" + std::to_string(item.id);
}

// A note with all its lines, as one entry of the list.
static std::string whole(const store::Note& note) {
  std::string text;
  const std::string data = as_data(note.text);
  for (const std::string_view line : lines(data))
    if (!trim(line).empty()) text += (text.empty() ? "" : "\n  ") + labelled(line);
  return fmt::format("- O{} {}{}{}: {}\n", note.observation, date(note.created_at).substr(0, 10),
                     note.for_all ? " (for all projects)" : "", note.is_stale ? " (file changed since)" : "",
                     text);
}

OpenSection notes_section(const OpenWork& work, std::size_t max_tokens) {
  OpenSection out;
  std::string rest;
  std::size_t tokens = 0;
  for (const store::Note& note : work.notes) {
    const std::string text = whole(note);
    const std::size_t cost = estimate_tokens(text);
    if (tokens + cost <= max_tokens) {
      out.text += text;
      tokens += cost;
      // Notes that do not fit are named, within about 100 tokens.
    } else if (rest.size() < 400) {
      rest += fmt::format("- O{} (~{}): {}\n", note.observation, cost, line_of(note.title, 100));
    } else {
      continue;  // not shown at all
    }
    out.ids.push_back("O" + std::to_string(note.observation));
  }
  out.text += rest;
  for (const store::StandingOrder& order : work.orders) {
    out.text += fmt::format("- P{} said once, no note yet: {}\n", order.prompt,
                            quoted(line_of(order.text, 200), '"'));
    out.ids.push_back("P" + std::to_string(order.prompt));
  }
  if (!out.text.empty()) out.text = "# Notes\n" + out.text + "\n";
  return out;
}

// "; not begun: 2. Test it; 3. Say it". Lists the steps of the plan that were not begun.
static std::string steps_of(const OpenWork& work, const OpenItem& item) {
  constexpr std::size_t kSteps = 4;
  const auto steps = work.steps.find(item.id);
  if (steps == work.steps.end() || steps->second.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(kSteps, steps->second.size()); ++i)
    text += (i == 0 ? "; not begun: " : "; ") + line_of(steps->second[i], 120);
  const std::size_t more = steps->second.size() - std::min(kSteps, steps->second.size());
  return text + (more > 0 ? fmt::format(" and {} more", more) : "");
}

OpenSection open_section(const OpenWork& work, const std::vector<std::string>& uncommitted,
                         std::size_t max_tokens) {
  OpenSection out;
  std::vector<std::string> ours;
  for (const std::string& file : uncommitted)
    // Other changed files are in the section "State".
    if (work.edits(file)) ours.push_back(line_of(file, 300));
  if (!ours.empty()) out.text = fmt::format("- Not committed: {}.\n", first_few(ours, 12));
  std::size_t tokens = estimate_tokens(out.text);
  for (const OpenItem& item : work.open) {
    const bool elsewhere = item.branch && work.branch && item.branch != work.branch;
    const std::string line = fmt::format(
        "- {} {}{}{}{}\n", id_of(item), item_text(item), steps_of(work, item), label(item.origins),
        elsewhere ? " (branch " + line_of(as_name(*item.branch), 80) + ")" : "");
    const std::size_t cost = estimate_tokens(line);
    // Stop at the first that does not fit: the list is in the order of importance.
    if (out.ids.size() == kMostOpen || tokens + cost > max_tokens) break;
    tokens += cost;
    out.text += line;
    out.ids.push_back(id_of(item));
    out.texts.push_back(line_of(item.text, 400));
  }
  if (const std::size_t more = work.open.size() - out.ids.size(); more > 0)
    out.text += fmt::format("- and {} more: `cairn open` lists them\n", more);
  if (!out.text.empty()) out.text = "# Open\n" + out.text + "\n";
  return out;
}

std::vector<std::pair<std::string, std::string>> earlier_open(const OpenWork& work) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const OpenItem& item : work.earlier)
    if (out.size() < kMostEarlier)
      out.emplace_back(id_of(item), fmt::format("- {} {} was left open: {}\n", id_of(item),
                                                date(item.last_seen_at).substr(0, 10), item_text(item)));
  return out;
}

}  // namespace cairn::context
