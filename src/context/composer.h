// Composes what the next session is given: the newest work of its project, within a budget, fenced as data.
//
// Sections: the current state, open items, the last session in its own words, then a block for each earlier
// session. The sentences are the agent's; choice.h selects them. No sentence is cut and none is repeated;
// every block has an id to fetch the whole. Deterministic: the same store and working tree give the same
// bytes (times are absolute). All stored text is cleaned, and the fence contains a keyed hash of its content
// that stored text cannot predict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "context/kept.h"
#include "context/open_section.h"
#include "context/story.h"
#include "os/disk.h"
#include "store/sql.h"
#include "store/summaries.h"

namespace cairn::context {

// A text that comes before all else, with the id of its record: a document that is resumed.
struct StartDocument {
  std::string id;
  std::string text;
};

struct Request {
  std::string project;
  std::size_t budget_tokens = 2000;
  std::string key;                     // the home's 32 secret bytes
  std::optional<WallTime> since;       // only what was written after that (a resumed session)
  std::string except_session;          // content id whose own turns are left out
  std::string own_session;             // content id of the asking session: not listed as another one at work
  os::Disk* disk = nullptr;            // the disk of the working tree; null: do not read it
  std::optional<StartDocument> lead;   // the caller cuts it to half of the budget
  std::optional<SessionId> compacted;  // the asking session, right after a compaction
  bool counts_bytes = false;           // the host's limit is in bytes, not in characters
  std::string working_tree;            // directory to check for uncommitted files; empty: the project's root
};

struct Composed {
  std::string text;  // empty: nothing to give
  std::size_t tokens = 0;
  std::size_t characters = 0;      // UTF-16 units, as the host counts
  std::vector<std::string> items;  // ids shown: "S12", "O7"
  // For the one-line notice:
  std::string last_request;
  std::optional<WallTime> last_at;
  std::size_t open = 0;      // items that are open
  bool interrupted = false;  // the newest session was interrupted
};

// The host's limit for one injected text, minus what it adds itself.
inline constexpr std::size_t kMaxCharacters = 9'900;

// The input of render().
struct ContextMaterial {
  std::vector<Story> stories;            // newest first
  OpenWork work;                         // notes and open items
  std::vector<std::string> uncommitted;  // files
  std::vector<DroppedLine> dropped;      // by a compaction
};

// Only reads. Needs a bounded number of index look-ups, however large the store, and at most 100 ms for the
// working tree.
Result<Composed> compose(store::Db& db, const Request& request);

// Composes from what was read. Stored texts always come out as data.
Composed render(const Request& request, ContextMaterial material);

}  // namespace cairn::context
