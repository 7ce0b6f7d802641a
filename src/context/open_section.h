// The sections "# Notes" and "# Open" of a context: what a person wants every session to know, and what is
// left to do. Each line has an id: `cairn done ID` closes it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/notes.h"
#include "store/open_items.h"
#include "store/sql.h"

namespace cairn::context {

// What stands until somebody ends it.
struct Standing {
  std::vector<store::Note> notes;            // the newest first
  std::vector<store::StandingOrder> orders;  // candidates for notes
  std::vector<store::OpenItem> open;         // in the order of their sources, the newest first within one
  std::vector<store::OpenItem> earlier;      // open, and without any sign for 30 days
  std::vector<store::OpenItem> plans;        // that were not accepted
  // Of accepted plans, by id: the steps whose files nobody edited since.
  std::map<std::int64_t, std::vector<std::string>> steps;
  std::vector<std::string> edited;    // files edited since the last commit, as far as sessions show
  std::optional<std::string> branch;  // of the session that asks: items of others name theirs

  bool edits(const std::string& file) const { return std::binary_search(edited.begin(), edited.end(), file); }
};

// Reads them for `project`, with `since` only what is new. `session` is the content id of who asks,
// `worktree` where it works; empty: the main one.
Result<Standing> read_standing(store::Db& db, const std::string& project,
                               const std::optional<WallTime>& since, const std::string& session,
                               const std::string& worktree);

struct Section {
  std::string text;                // empty: there is nothing to say
  std::vector<std::string> ids;    // of what it shows
  std::vector<std::string> texts;  // of open items, as shown: what need not be said again
};

// The notes, whole, as far as `max_tokens` reach, then by id; then the candidates, in a line each.
Section notes_section(const Standing& standing, std::size_t max_tokens);
// What sessions edited and is not committed (`uncommitted` is what the working tree tells), then a line for
// each open item; "and N more" when there is no room.
Section open_section(const Standing& standing, const std::vector<std::string>& uncommitted,
                     std::size_t max_tokens);
// Items without a sign for long, as lines for the section "# Earlier": each with its id.
std::vector<std::pair<std::string, std::string>> earlier_open(const Standing& standing);

// An open item as one line shows it, without its id: "plan "Retries", not implemented".
std::string item_text(const store::OpenItem& item);

}  // namespace cairn::context
