// One session as the composer reads it: its turns, and all that was said in them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "distil/distil.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/summaries.h"
#include "store/texts.h"
#include "store/turns.h"

namespace cairn::context {

using distil::is_chore;

struct Story {
  std::string session;  // content id
  std::optional<std::string> branch, worktree;
  WallTime started_at;
  std::vector<store::Summary> turns;            // oldest first
  std::vector<store::Text> texts;               // in the order of turns and time
  std::map<std::int64_t, std::string> prompts;  // by turn

  bool running() const { return !turns.empty() && turns.back().interim; }
  // The summary of a turn; null: there is none.
  const store::Summary* turn(std::int64_t number) const;
  // The host's title of it; empty: it has none.
  std::string host_title(std::size_t max) const;
  // What the session is called: the host's title, else the request that most was done for.
  std::string title(std::size_t max) const;
  // First lines of the texts of a kind, oldest first, each once.
  std::vector<std::string> first_lines(store::TextKind kind) const;
};

// What a request is called: its first sentence, or the heading of a plan that it carries.
std::string title_of_request(std::string_view request, std::size_t max);

struct StoryQuery {
  std::string project;
  std::optional<WallTime> since;  // only turns that were written after that
  std::string except_session;
  std::string own_session;  // whose running turn is not another's
};

// The newest sessions of a project, newest first; one that is at work now does not come first when there is
// another. Reads a bounded number of rows and bytes, however long the sessions were.
Result<std::vector<Story>> newest_stories(store::Db& db, const StoryQuery& query);

}  // namespace cairn::context
