// One session as the composer reads it: its turns, and all texts in them.
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
  std::string agent;    // the coding agent, as people call it; empty: the default one
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
  // The session's title: the host's, else the request of the turn with the most work.
  std::string title(std::size_t max) const;
  // First lines of the texts of a kind, oldest first, each once.
  std::vector<std::string> first_lines(store::TextKind kind) const;
};

// The title of a request: its first sentence, or the heading of the plan in it.
std::string title_of_request(std::string_view request, std::size_t max);

struct StoryQuery {
  std::string project;
  std::optional<WallTime> since;  // only turns that were written after that
  std::string except_session;
  std::string own_session;  // content id of the asking session
};

// The newest sessions of a project, newest first. A session that is running now comes first only when it is
// the asking one, or when there is no other. Reads a bounded number of rows and bytes, however long the
// sessions were.
Result<std::vector<Story>> newest_stories(store::Db& db, const StoryQuery& query);

}  // namespace cairn::context
