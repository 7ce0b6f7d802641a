// What cairn does with documents by itself (automation = "auto"): writes them when a session ends, brings
// them up to date after a compaction, and gives them to a session that starts.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ops/operation.h"
#include "store/continuity.h"

namespace cairn::ops {

// Writes the document of a session that has none, or adds to it what happened since; then the job is ended. A
// session with a single prompt that changed nothing gets no document. Doing it twice changes nothing more.
Status keep_document(World& world, const store::DocumentJob& job);

// The newest document of a project as a session that starts is given it: within `max_bytes`, headings as
// plain lines. Nothing when there is none. Changes nothing.
struct StartingDocument {
  std::string id;
  std::string text;
  bool is_behind = false;  // work that is older than context.stale_hours came after it
};
Result<std::optional<StartingDocument>> document_to_start_from(World& world, const store::Session& asking,
                                                               std::size_t max_bytes);

}  // namespace cairn::ops
