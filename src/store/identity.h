// The memory id of a session: the memory agent's own conversation about it. Absent until it is captured, and
// whether it is stands in the type, so that nobody can forget to ask.
//
// A memory id is never empty, never the content id of any session, and belongs to one session: checked here
// for the message, and by constraints and triggers of the store whoever writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct NotCaptured {};
struct Captured {
  MemoryId id;
  std::string provider;  // who issued it
};
using Identity = std::variant<NotCaptured, Captured>;

// All within the caller's transaction, on the writer's connection. A session that is not there is
// `not_found`.
Result<Identity> identity_of(Db& db, SessionId session);

// Registers what a provider's first message said. A later id replaces the earlier one, and observations and
// summaries follow it. Fails with `invalid`, changing nothing, when the id is empty, a content id, or another
// session's. No observation can be stored before: its row refers to the registered id.
Result<Captured> register_memory_id(Db& db, SessionId session, const MemoryId& id, std::string_view provider,
                                    WallTime now);

// The session's memory id, registering a synthesised one (`cairn-UUID`, provider `builtin`) when it has none.
Result<MemoryId> ensure_memory_id(Db& db, SessionId session, WallTime now);

struct Repaired {
  SessionId session;
  ContentId content_id;
  MemoryId memory_id;
};
// Gives every session without a memory id one of its own (`manual-UUID`, provider `manual`): never its
// content id. No provider resumes it, and a capture later replaces it.
Result<std::vector<Repaired>> repair_missing_ids(Db& db, WallTime now);

// Whether the id was given by such a repair.
bool is_by_hand(const Captured& captured);

// One run of a provider for a session.
struct Run {
  std::string_view provider;
  std::int64_t prompt_number = 0;
  bool fresh = false;  // forced: after a restart or a crash
};
// The id to resume the memory agent's conversation with: only one that is captured, was issued by this very
// provider, from the second prompt on, and when nothing forces a fresh start. Synthesised ids, never.
std::optional<MemoryId> may_resume(const Identity& identity, const Run& run);

}  // namespace cairn::store
