// Records what an event means for its session: the state machine of sessions and turns.
//
// Runs inside the intake transaction, after the gate. Any event may come first, twice, late or never:
// sessions are created when first seen, tool events pair by tool_use_id and prompts by prompt_id, and a turn
// that ends is summarised before the commit. A turn that gets events while it is open, or late ones, is
// marked. It is summarised when context is composed for its project, or when there is nothing else to do.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/result.h"
#include "distil/distil.h"
#include "gate/gate.h"
#include "intake/session_secrets.h"
#include "intake/turn_digest.h"
#include "os/clock.h"
#include "os/disk.h"
#include "os/process.h"
#include "store/budget.h"
#include "store/events.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/turns.h"

namespace cairn::intake {

// Belongs to the writer's thread.
class Recorder {
 public:
  Recorder(store::Db& db, os::Disk& disk, os::Clock& clock, os::Processes& processes, Log& log)
      : db_(db), disk_(disk), clock_(clock), processes_(processes), log_(log), secrets_(db) {}

  // The mode for distilling turns from now on; the built-in mode until then.
  void set_mode(distil::Mode mode) { mode_ = std::move(mode); }
  // Whether documents are written without being asked: at the end of a session and after a compaction.
  void set_automatic(bool automatic) { automatic_ = automatic; }
  // The limit of observations for one session.
  void set_budget(const store::SessionBudget& budget) { budget_ = budget; }

  // Passes `event` through `gate`, which also removes secrets that occurred earlier in the session. Fails
  // when those cannot be read.
  Result<std::variant<gate::Gate::Passed, gate::Refusal>> pass(const gate::Gate& gate, event::Event event,
                                                               std::size_t max_field);
  // Stores one event that passed the gate. `more`: others may follow in this transaction; what they say about
  // their sessions is then written once, by finish().
  Status record(const gate::Gate::Passed& passed, bool more = false);
  // Counts one that the gate refused: it updates its session, but none of its content is stored.
  Status refuse(const event::Event& event, const gate::Refusal& refusal);

  // A call that is stored as a success failed: its transcript says so. Distils its turn again.
  Status correct_to_failure(SessionId session, const std::string& tool_use_id, const std::string& error);

  // Distils every turn that ended since the last call, or that a transcript changed. To be called before the
  // commit.
  Status finish();
  // Drops those turns: the transaction was rolled back.
  void discard();

  // A text that a summary is made from was added to the turn.
  Status text_added(const store::Turn& turn);

  // When nothing else is to do, and in no transaction: summarises a turn that got late events, or reads some
  // events of an open turn ahead of its summary. False: nothing is left.
  Result<bool> step();
  // Stored events were changed or removed: drops what was read of them.
  void read_again();
  void read_again(SessionId session);

  // Ends turns and sessions whose host is dead, and turns without an event for 10 minutes; sessions of an
  // unknown host after 24 hours.
  Status sweep();
  // Call before context is composed for `project`. Ends its sessions whose host is dead, and gives the open
  // turns of the others an interim summary if they had events since the last one. Does so for the sessions
  // with the newest events; step() does the rest.
  Status update_project(const std::string& project, const ContentId& except);
  // `cairn process --wait`: ends every open turn.
  Status end_open_turns();
  // `cairn sessions summarize`: distils the session's turns again.
  Status distil_again(const store::Session& session);
  // `cairn sessions end`: ends a session as if its host had said so.
  Status end(const store::Session& session, std::string_view reason, WallTime at);

 private:
  Status record_event(const gate::Gate::Passed& passed);
  Result<store::Session> session_of(const event::Event& event);
  Result<std::optional<std::int64_t>> turn_for(const event::Event& event, const store::Session& session);
  Status on_session_start(const event::Event& event, const store::Session& session);
  Result<std::optional<std::int64_t>> on_prompt(const event::Event& event, const store::Session& session,
                                                bool is_private);
  Status on_stop(const event::Event& event, const store::Session& session, std::optional<std::int64_t> number,
                 bool is_private);
  Status on_session_end(const event::Event& event, const store::Session& session);
  Status count_own_agent(const event::Event& event);
  Status keep(const event::CleanEvent& event, const store::Session& session, std::int64_t seq,
              std::optional<std::int64_t> number, const store::Texts& texts);
  Result<std::int64_t> open_turn(const store::Session& session, WallTime at);
  void add_to_digest(const event::CleanEvent& event, const store::Placement& placement, std::int64_t seq,
                     const store::Texts& texts);
  void note_update(SessionId session, const event::Event& event);
  Status write_updates();
  Status close(SessionId session, std::int64_t number, store::TurnEnd reason, WallTime at);
  Status close_open_turn(SessionId session, store::TurnEnd reason, WallTime at);
  Status request_backup(const store::Session& session, store::BackupCause cause, std::string_view reason);
  Status request_document(const store::Session& session, store::DocumentCause cause);
  Status note_continuity(const event::Event& event, const store::Session& session);
  bool host_is_dead(const store::Session& session);
  Status note_change(const event::Event& event, const store::Turn& turn);
  Status finish(ReadLimit& limit);
  Status summarise(SessionId session, std::int64_t number, ReadLimit& limit);
  Status end_dead(const store::Session& session);
  Status end_if_dead(SessionId session, const ContentId& except);
  Status choose_changed(const std::string& project, const ContentId& except);
  Result<bool> summarise_chosen();
  Result<bool> read_ahead();

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  os::Processes& processes_;
  Log& log_;
  distil::Mode mode_ = distil::code_mode();
  store::SessionBudget budget_;
  bool automatic_ = false;
  SessionSecrets secrets_;
  using TurnKey = std::pair<SessionId, std::int64_t>;
  std::map<SessionId, store::SessionUpdate> pending_updates_;  // what events said about their sessions
  std::set<TurnKey> changed_;                                  // to be summarised before the commit
  std::set<TurnKey> unread_;                          // open turns with events that their digest may not have
  std::set<std::string> projects_with_marked_turns_;  // more of them than an answer waits for
  TurnDigests digests_;
  bool is_first_step_ = true;  // digests of open turns may be missing
};

}  // namespace cairn::intake
