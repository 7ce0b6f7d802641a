// Recovers events from transcripts: what a transcript has and the store lacks is stored once, through the
// same gate.
//
// The inbox comes first: a call is checked when its session has ended, or a minute after its result, so that
// its hook has time to arrive. A hook that arrives later is a duplicate. Every call ends with a row or a
// reason why it has none. Cost: an idle session takes a few queries a minute, and for each
// file a stat and one read of up to 4 KB, but no write; a piece of a transcript that grew takes about 30 ms.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "gate/gate.h"
#include "host/transcript.h"
#include "intake/recorder.h"
#include "os/clock.h"
#include "os/disk.h"
#include "os/process.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/transcripts.h"

namespace cairn::intake {

// Belongs to the writer's thread.
class CatchUp {
 public:
  CatchUp(store::Db& db, os::Disk& disk, os::Clock& clock, os::Processes& processes, Recorder& recorder,
          Log& log)
      : db_(db), disk_(disk), clock_(clock), processes_(processes), recorder_(recorder), log_(log) {}

  void configure(gate::Gate gate, std::size_t max_field);

  // Call once a minute: checks active sessions again and searches for lost ones.
  void look_again() { active_due_ = lost_due_ = true; }

  // For sessions whose hooks could not write: looks for their transcripts in every directory where a
  // transcript was seen. A session that is found is read like any other that has ended; an unknown one is
  // created.
  Status find_lost();

  // Creates a session from a transcript that no hook reported, in a transaction of its own that also runs
  // `note`. The next steps read the transcript. Returns why it is left out; empty when it is not.
  Result<std::string> import_session(const std::string& path, const std::string& platform,
                                     const std::string& session, const std::function<Status()>& note);
  // The id that a session of the host is stored under.
  std::string id_of(const std::string& session) const { return gate_.id(session); }

  // Reads the next piece of a transcript and stores it, in a transaction of its own. False: nothing to do. A
  // transcript that cannot be read is tried again each minute, for a day. Fails only when the store does.
  Result<bool> step();

  // Call before context is composed for `project`: reads its ended sessions, newest first, until `deadline`
  // (boot ns).
  Status recover_project(const std::string& project, std::int64_t deadline);

  // Events recovered from transcripts since this was constructed.
  std::int64_t recovered() const { return recovered_; }

 private:
  struct Check;  // one session while it is checked
  // A line at `offset` whose end was not found before `looked`.
  struct Unended {
    std::uint64_t inode = 0, offset = 0, looked = 0;
  };

  Status look_for_lost();
  // False: there is nothing to read yet.
  Result<bool> recover_session(const std::string& path, const std::string& platform,
                               const std::string& session, WallTime since, bool imported = false);
  Result<bool> look_at(SessionId id);
  Result<bool> read_session(Check& check);
  Result<bool> read_file(Check& check, const std::string& path);
  Status read_piece(Check& check, const host::TranscriptPiece& piece, store::TranscriptProgress& progress);
  Status finish(Check& check);
  Result<bool> recover_item(Check& check, const host::TranscriptItem& item, bool given_up);
  Result<bool> recover_call(Check& check, const host::TranscriptItem& item, bool given_up);
  Result<bool> recover_prompt(Check& check, const host::TranscriptItem& item);
  Result<bool> recover_stop(Check& check, const host::TranscriptItem& item);
  Status recover_text(Check& check, const host::TranscriptItem& item);
  Result<std::string> reason_to_skip(const Check& check, const host::TranscriptItem& item);
  // Stores the event. Returns the reason when it was not stored, else an empty text.
  Result<std::string> store_event(Check& check, event::Event event);
  event::Event event_of(const Check& check, const host::TranscriptItem& item, event::Kind kind) const;
  Result<WallTime> watched_since(const store::Session& session);
  Result<std::vector<std::string>> files_of(Check& check);

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  os::Processes& processes_;
  Recorder& recorder_;
  Log& log_;
  gate::Gate gate_{gate::Rules{}};
  std::size_t max_field_ = 256u << 10;
  bool active_due_ = false, lost_due_ = false;
  std::deque<SessionId> due_;
  std::map<SessionId, std::int64_t>
      later_;  // ended sessions whose host may still write, with the boot time (ns) of the next check
  std::map<SessionId, std::map<std::string, Unended>> unended_;  // by path
  std::int64_t recovered_ = 0;
};

}  // namespace cairn::intake
