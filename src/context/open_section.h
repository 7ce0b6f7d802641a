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

// What is shown to every session until a person or a turn closes it.
struct OpenWork {
  std::vector<store::Note> notes;            // the newest first
  std::vector<store::StandingOrder> orders;  // candidates for notes
  std::vector<store::OpenItem> open;         // in the order of their sources, the newest first within one
  std::vector<store::OpenItem> earlier;      // open, but not mentioned for 30 days
  std::vector<store::OpenItem> plans;        // plans that were not accepted
  // By id of an accepted plan: its steps whose files were not edited since.
  std::map<std::int64_t, std::vector<std::string>> steps;
  std::vector<std::string> edited;    // files edited since the last commit, as far as sessions show
  std::optional<std::string> branch;  // branch of the asking session; items of other branches show theirs

  bool edits(const std::string& file) const { return std::binary_search(edited.begin(), edited.end(), file); }
};

// Reads them for `project`; with `since` only what is new. `session` is the content id of the asking session,
// `worktree` the worktree it uses (empty: the main one).
Result<OpenWork> read_open_work(store::Db& db, const std::string& project,
                                const std::optional<WallTime>& since, const std::string& session,
                                const std::string& worktree);

struct OpenSection {
  std::string text;                // empty: nothing to show
  std::vector<std::string> ids;    // of the records that it shows
  std::vector<std::string> texts;  // of open items, as shown, so that they are not repeated below
};

// The notes as whole texts within `max_tokens`, the other notes by id, then one line for each candidate.
OpenSection notes_section(const OpenWork& work, std::size_t max_tokens);
// Edited files that are not committed (`uncommitted` comes from the working tree), then one line for each
// open item; "and N more" when there is no space.
OpenSection open_section(const OpenWork& work, const std::vector<std::string>& uncommitted,
                         std::size_t max_tokens);
// Items that were not mentioned for long, as lines with ids for the section "# Earlier".
std::vector<std::pair<std::string, std::string>> earlier_open(const OpenWork& work);

// An open item as one line shows it, without its id: "plan "Retries", not implemented".
std::string item_text(const store::OpenItem& item);

}  // namespace cairn::context
