// The memory id of a session: the id of the memory agent's conversation about it. It is absent until it is
// captured; the variant type makes every caller handle that case.
//
// A memory id is never empty, never the content id of any session, and belongs to one session. It is checked
// here, for a good error message, and again by constraints and triggers of the database.
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

// All functions run in the caller's transaction, on the writer's connection. An unknown session is
// `not_found`.
Result<Identity> identity_of(Db& db, SessionId session);

// Registers the id from a provider's first message. A later id replaces the earlier one, also in the
// session's observations and summaries. Fails with `invalid`, and changes nothing, when the id is empty, a
// content id, or another session's. Observations can only be stored after this: their rows refer to the
// registered id.
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

// Whether the id comes from such a repair.
bool is_manual(const Captured& captured);

// One run of a provider for a session.
struct AgentRun {
  std::string_view provider;
  std::int64_t prompt_number = 0;
  bool fresh = false;  // forced: after a restart or a crash
};
// The id to resume the memory agent's conversation with. Only an id that was captured from this same
// provider, only from the second prompt on, and only when no fresh start is forced. Never a synthesised id.
std::optional<MemoryId> may_resume(const Identity& identity, const AgentRun& run);

}  // namespace cairn::store
