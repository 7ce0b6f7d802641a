// Open items: what is left to do in a project, one row for each, from when it was opened until something
// closed it.
//
// A turn opens items, sees them again, and closes those of others. Telling a turn again takes back what it
// did and decides anew; what a person did is never taken back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/origin.h"
#include "base/result.h"
#include "base/time.h"
#include "event/open_kind.h"
#include "store/sql.h"

namespace cairn::store {

struct OpenItem {
  std::int64_t id = 0;
  std::string project;
  std::optional<std::string> branch;
  std::optional<SessionId> session;  // none: a person added it
  std::string content_session;       // the host's id of that session; empty for a person's
  std::optional<std::int64_t> prompt_number;
  std::int64_t seen_prompt = 0;  // the turn of its session that spoke of it last
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

// An item without any sign for this long is shown under "Earlier".
inline constexpr Millis kOpenItemAge = std::chrono::hours(24 * 30);

// A turn, as what opens and closes items.
struct OpenTurn {
  SessionId session;
  std::int64_t number = 0;
};

// All within the caller's transaction, on the writer's connection, but for those that only read.
Result<std::int64_t> add_open_item(Db& db, const OpenItem& item);
// Writes text, detail, state, event, last_seen_at, seen_prompt, and session and key: a task can go on in
// another session.
Status update_open_item(Db& db, const OpenItem& item);
// Closes it if it is open. `turn`: which one did, none when a person does.
Status close_open_item(Db& db, std::int64_t id, std::string_view by, const std::optional<OpenTurn>& turn,
                       WallTime at);
// Opens again what `turn` closed.
Status undo_closings(Db& db, const OpenTurn& turn);
// For what was never there: the turn that opened it no longer says it.
Status delete_open_item(Db& db, std::int64_t id);

// Whether a person closed an item of the project with that key: saying it again does not open it again.
Result<bool> closed_by_person(Db& db, const std::string& project, const std::string& key);

// Those that `turn` opened, closed ones too.
Result<std::vector<OpenItem>> items_of_turn(Db& db, const OpenTurn& turn);
struct OpenItemQuery {
  std::optional<std::string> project;  // none: of all
  bool closed = false;                 // those that are closed instead, the last closed first
  std::size_t limit = 300;
  // Plans that were not accepted, too. Nothing is left to do of them, but a later prompt may bring their
  // text.
  bool all_plans = false;
};
// Those that are open, the last seen first.
Result<std::vector<OpenItem>> open_items(Db& db, const OpenItemQuery& query);
Result<std::optional<OpenItem>> find_open_item(Db& db, std::int64_t id);

// The files that a turn edited after its last commit, in place of what stood there; `committed`: it made one,
// so what was edited before the turn is committed.
struct TurnEdits {
  std::string project;
  std::string worktree;  // empty: the main one
  std::vector<std::string> files;
  bool committed = false;
  WallTime at;
};
Status put_edits(Db& db, const OpenTurn& turn, const TurnEdits& edits);
// What was edited since the last commit, each file once.
Result<std::vector<std::string>> edited_since_commit(Db& db, const std::string& project,
                                                     const std::string& worktree);

// The branch of the session with that content id.
Result<std::optional<std::string>> branch_of(Db& db, const std::string& content_session);

// When anything last happened in the newest session of the project, or anywhere: what an item's age is
// counted from.
Result<WallTime> last_activity(Db& db, const std::optional<std::string>& project);
Result<std::int64_t> count_open_items(Db& db, const std::optional<std::string>& project);

}  // namespace cairn::store
