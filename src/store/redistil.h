// Turns that a provider is to distil from their evidence, beside the queue: backlog, and what a person asked
// for. The newest turn comes first.
//
// Every function runs in the caller's transaction on the writer's connection, but for those that only count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/model_calls.h"
#include "store/queue.h"
#include "store/sql.h"

namespace cairn::store {

struct RedistilTurn {
  SessionId session;
  std::int64_t number = 0;
  CallPurpose purpose = CallPurpose::backlog;
  std::string provider;
  std::int64_t done_to = 0;  // events.seq
  std::int64_t tries = 0;
  WallTime at;
};

// Adds a turn. One that is there already starts again when a person asks for it.
Status want_redistil(Db& db, const RedistilTurn& turn);
// Adds the turns of a batch that the built-in distiller ends because the provider cannot be used. What the
// provider has answered before about such a turn is not asked again.
Status want_backlog(Db& db, const Batch& batch, std::string_view provider, WallTime now);

// The newest turn for that provider; what a person asked for comes first. Turns of sessions in `busy` are
// skipped, and backlog that ended before `oldest`.
Result<std::optional<RedistilTurn>> next_redistil(Db& db, std::string_view provider, WallTime oldest,
                                                  const std::vector<SessionId>& busy, bool backlog);
// The turn is distilled up to and including the event number `to`.
Status advance_redistil(Db& db, const RedistilTurn& turn, std::int64_t to);
Status end_redistil(Db& db, const RedistilTurn& turn);
// Counts a failed try. The third one removes the turn from this list; its summary and observations stay.
// False: it was removed.
Result<bool> fail_redistil(Db& db, const RedistilTurn& turn, std::string_view reason);
// Removes backlog that ended before `oldest`: it keeps its built-in form. Returns how many.
Result<std::int64_t> drop_old_backlog(Db& db, WallTime oldest);

struct RedistilCounts {
  std::int64_t backlog = 0, asked = 0;
};
Result<RedistilCounts> redistil_counts(Db& db);

// The turns that can be distilled again: ended, not private, of sessions that are not hidden.
struct DoneTurn {
  SessionId session;
  std::int64_t number = 0;
  WallTime at;
  std::int64_t events = 0;
  std::int64_t bytes = 0;  // of its events' texts, as far as they are kept
  bool imported = false;   // its texts are in the archive
  bool expired = false;    // texts of it were removed
};
Result<std::vector<DoneTurn>> done_turns(Db& db, const std::optional<std::string>& project,
                                         const std::optional<WallTime>& since);

// Removes a model's observations of a turn, before the turn is distilled again. Keeps what a person made.
Status drop_derived(Db& db, SessionId session, std::int64_t number);
// Makes the turn's summary a built-in one again, so that the built-in distiller may replace it.
Status forget_model_summary(Db& db, SessionId session, std::int64_t number);

}  // namespace cairn::store
