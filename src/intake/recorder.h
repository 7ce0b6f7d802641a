// Records what an event means for its session: the state machine of sessions and turns.
//
// Runs inside the intake transaction, after the gate. Any event may come first, twice, late or never:
// sessions are created when first seen, tool events pair by tool_use_id and prompts by prompt_id, and a turn
// whose facts changed is summarised again before the commit.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/result.h"
#include "distil/distil.h"
#include "gate/gate.h"
#include "intake/session_secrets.h"
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

  // Passes `event` through `gate`, which also removes secrets that occurred earlier in the session.
  std::variant<gate::Gate::Passed, gate::Refusal> pass(const gate::Gate& gate, event::Event event,
                                                       std::size_t max_field);
  // Stores one event that passed the gate.
  Status record(const gate::Gate::Passed& passed);
  // Counts one that the gate refused: it updates its session, but none of its content is stored.
  Status refuse(const event::Event& event, const gate::Refusal& refusal);

  // A call that is stored as a success failed: its transcript says so. Distils its turn again.
  Status correct_to_failure(SessionId session, const std::string& tool_use_id, const std::string& error);

  // Distils every turn that ended or changed since the last call. To be called before the commit.
  Status finish();
  // Forgets those turns: the transaction was rolled back.
  void discard() { changed_.clear(); }

  // Ends turns and sessions whose host is dead, and turns without an event for 10 minutes; sessions of an
  // unknown host after 24 hours.
  Status sweep();
  // Before context is composed for `project`: its dead sessions are ended, and open turns of living ones get
  // an interim summary.
  Status update_project(const std::string& project, const ContentId& except);
  // `cairn process --wait`: ends every open turn.
  Status end_open_turns();
  // `cairn sessions summarize`: distils the session's turns again.
  Status distil_again(const store::Session& session);
  // `cairn sessions end`: ends a session as if its host had said so.
  Status end(const store::Session& session, std::string_view reason, WallTime at);

 private:
  Result<store::Session> session_of(const event::Event& event);
  Result<std::optional<std::int64_t>> turn_for(const event::Event& event, const store::Session& session);
  Status on_session_start(const event::Event& event, const store::Session& session);
  Result<std::optional<std::int64_t>> on_prompt(const event::Event& event, const store::Session& session,
                                                bool muted);
  Status on_stop(const event::Event& event, const store::Session& session, std::optional<std::int64_t> number,
                 bool muted);
  Status on_session_end(const event::Event& event, const store::Session& session);
  Status count_own_agent(const event::Event& event);
  Status keep(const event::CleanEvent& event, const store::Session& session, std::int64_t seq,
              std::optional<std::int64_t> number);
  Status close(SessionId session, std::int64_t number, store::TurnEnd reason, WallTime at);
  Status close_open_turn(SessionId session, store::TurnEnd reason, WallTime at);
  Status request_backup(const store::Session& session, std::string_view cause, std::string_view reason);
  Status request_document(const store::Session& session, std::string_view cause);
  Status note_continuity(const event::Event& event, const store::Session& session);
  bool host_is_dead(const store::Session& session);

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  os::Processes& processes_;
  Log& log_;
  distil::Mode mode_ = distil::code_mode();
  store::SessionBudget budget_;
  bool automatic_ = false;
  SessionSecrets secrets_;
  std::set<std::pair<SessionId, std::int64_t>> changed_;
};

}  // namespace cairn::intake
