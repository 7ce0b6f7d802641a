// Open items: what is left to do in a project, one row for each, from when it was opened until something
// closed it.
//
// A turn opens items, mentions them again, and closes items of earlier turns. When a turn is distilled again,
// its earlier changes are undone and decided again. A person's changes are never undone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "event/open_kind.h"
#include "event/origin.h"
#include "store/sql.h"

namespace cairn::store {

struct OpenItem {
  std::int64_t id = 0;
  std::string project;
  std::optional<std::string> branch;
  std::optional<SessionId> session;  // none: a person added it
  std::string content_session;       // the host's id of that session; empty for a person's
  std::optional<std::int64_t> prompt_number;
  std::int64_t seen_prompt = 0;  // the last turn of its session that mentioned it
  event::OpenSource source = event::OpenSource::person;
  event::OpenState state = event::OpenState::none;
  std::string key;  // what finds it again within its source
  std::string text;
  std::string detail;                 // the whole text of a plan
  std::optional<std::int64_t> event;  // its evidence
  WallTime opened_at;
  WallTime last_seen_at;
  std::optional<WallTime> closed_at;
  std::string closed_by;  // in words: "task completed", "you"
  Origins origins;        // of the events of its turn: web, mcp
};

// An item that was not mentioned for this long is shown under "Earlier".
inline constexpr Millis kOpenItemAge = std::chrono::hours(24 * 30);

// The turn that opens or closes items.
struct OpenTurn {
  SessionId session;
  std::int64_t number = 0;
};

// All within the caller's transaction, on the writer's connection, but for those that only read.
Result<std::int64_t> add_open_item(Db& db, const OpenItem& item);
// Writes text, detail, state, event, last_seen_at, seen_prompt, and session and key, because a task can
// continue in another session.
Status update_open_item(Db& db, const OpenItem& item);
// Closes the item if it is open. `turn`: the turn that closes it; none: a person does.
Status close_open_item(Db& db, std::int64_t id, std::string_view by, const std::optional<OpenTurn>& turn,
                       WallTime at);
// Opens it again if `by` closed it.
Status reopen_item(Db& db, std::int64_t id, std::string_view by);
// Opens the items again that `turn` closed.
Status undo_closings(Db& db, const OpenTurn& turn);
// Deletes an item: its turn was distilled again and no longer contains it.
Status delete_open_item(Db& db, std::int64_t id);

// Whether a person closed an item of the project with that key. Then mentioning it again does not open it
// again.
Result<bool> closed_by_person(Db& db, const std::string& project, const std::string& key);

// The items that `turn` opened, including closed ones.
Result<std::vector<OpenItem>> items_of_turn(Db& db, const OpenTurn& turn);
struct OpenItemQuery {
  std::optional<std::string> project;  // none: of all
  bool closed = false;                 // those that are closed instead, the last closed first
  std::size_t limit = 300;
  // Also plans that were not accepted. They are not open work, but a later prompt may contain their text and
  // so accept them.
  bool all_plans = false;
};
// The open items; those mentioned last come first.
Result<std::vector<OpenItem>> open_items(Db& db, const OpenItemQuery& query);
Result<std::optional<OpenItem>> find_open_item(Db& db, std::int64_t id);

// The files that a turn edited after its last commit; replaces what was stored for the turn. `committed`: the
// turn made a commit, so edits of earlier turns are committed.
struct TurnEdits {
  std::string project;
  std::string worktree;  // empty: the main one
  std::vector<std::string> files;
  bool committed = false;
  WallTime at;
};
Status put_edits(Db& db, const OpenTurn& turn, const TurnEdits& edits);
// The files that were edited since the last commit, each once.
Result<std::vector<std::string>> edited_since_commit(Db& db, const std::string& project,
                                                     const std::string& worktree);

// The branch of the session with that content id.
Result<std::optional<std::string>> branch_of(Db& db, const std::string& content_session);

// The time of the last event in the project's newest session, or in any session. The age of an item is
// counted back from it.
Result<WallTime> last_activity(Db& db, const std::optional<std::string>& project);
Result<std::int64_t> count_open_items(Db& db, const std::optional<std::string>& project);

}  // namespace cairn::store
