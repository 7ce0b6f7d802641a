// Turns: from a prompt to the end of the answer. An event belongs to the turn with its prompt id if it has
// one, else to the latest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct Turn {
  SessionId session;
  std::int64_t number = 0;  // the prompt number, from 1
  WallTime started_at;
  WallTime last_event_at;
  std::optional<WallTime> ended_at;
  TurnEnd end_reason = TurnEnd::none;
  std::string failure;
  std::string last_assistant_message;
  bool is_private = false;  // its prompt was only private text: its events are counted, not stored
  bool open() const { return !ended_at; }
  // Whether the user's request was left unanswered. A session that ends so is `failed`.
  bool unfinished() const {
    return open() || end_reason == TurnEnd::stop_failure || end_reason == TurnEnd::session_end ||
           end_reason == TurnEnd::dead_host || end_reason == TurnEnd::session_start;
  }
};

Result<std::optional<Turn>> find_turn(Db& db, SessionId session, std::int64_t number);
Result<std::optional<Turn>> latest_turn(Db& db, SessionId session);
Result<std::optional<std::int64_t>> turn_of_prompt(Db& db, SessionId session, const std::string& prompt_id);
// The turn at that time: the latest one that began before it.
Result<std::optional<std::int64_t>> turn_at(Db& db, SessionId session, WallTime at);
// Opens the next turn of a session, taking the next prompt number.
Result<Turn> open_turn(Db& db, SessionId session, WallTime at);
// Records that a host's prompt id belongs to a turn.
Status name_turn(Db& db, SessionId session, std::int64_t number, const std::string& prompt_id);
Status touch_turn(Db& db, SessionId session, std::int64_t number, WallTime at);
Status end_turn(Db& db, SessionId session, std::int64_t number, TurnEnd reason, WallTime at);
// The host's texts at the end of the turn; empty values change nothing.
Status set_turn_end_texts(Db& db, SessionId session, std::int64_t number, std::string_view last_message,
                          std::string_view failure);
Status reopen_turn(Db& db, SessionId session, std::int64_t number);

// A turn is marked when it got an event that its summary does not have yet, and when it ended or was opened
// again.
Status mark_turn(Db& db, SessionId session, std::int64_t number);
// Removes the mark: the summary has every event.
Status set_summarised(Db& db, SessionId session, std::int64_t number);
// A marked turn that has ended; nothing when there is none.
Result<std::optional<Turn>> marked_ended_turn(Db& db);
// The marked turns of a session, in order.
Result<std::vector<Turn>> marked_turns(Db& db, SessionId session);
// Its open turns, in order.
Result<std::vector<Turn>> open_turns_of(Db& db, SessionId session);
// The sessions of one project (without its links) that have marked turns, and those that are active; each the
// last at work first.
Result<std::vector<SessionId>> marked_sessions(Db& db, const std::string& project, std::size_t limit);
Result<std::vector<SessionId>> active_sessions_of(Db& db, const std::string& project, std::size_t limit);

// The newest turn that an error of the service ended after `since`.
Result<std::optional<Turn>> last_failed_turn(Db& db, WallTime since);

// Open turns, oldest first.
Result<std::vector<Turn>> open_turns(Db& db);
// Those with the last events.
Result<std::vector<Turn>> last_open_turns(Db& db, std::size_t limit);

// Every turn of a session, in order, with its prompt and its summary.
struct SessionTurn {
  Turn turn;
  std::optional<std::int64_t> prompt;
  std::optional<std::string> prompt_text;
  std::optional<std::int64_t> summary;
};
Result<std::vector<SessionTurn>> turns_of(Db& db, SessionId session);

Result<bool> has_prompt(Db& db, SessionId session, std::int64_t number);
Status add_prompt(Db& db, SessionId session, std::int64_t number, std::string_view text, WallTime at);
Result<std::string> prompt_text(Db& db, SessionId session, std::int64_t number);

}  // namespace cairn::store
