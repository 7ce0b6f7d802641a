// What the next session is given: the newest work of its project, within a budget, fenced as data.
//
// In sections: what is so now (state), what is open, the last session in its own words, then a block for each
// session before it. The sentences are the agent's; which of them are told is chosen by what they bring
// (choice.h). Nothing is cut inside a sentence and nothing is said twice; every block has an id to fetch the
// whole by. Deterministic: the same store and working tree give the same bytes (times are absolute). Nothing
// in it was not cleaned: control and invisible characters are gone, and the fence carries a keyed hash of its
// own content that stored text cannot know.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "context/open_section.h"
#include "context/story.h"
#include "os/disk.h"
#include "store/sql.h"
#include "store/summaries.h"

namespace cairn::context {

struct Request {
  std::string project;
  std::size_t budget_tokens = 2000;
  std::string key;                // the home's 32 secret bytes
  std::optional<WallTime> since;  // only what was written after that (a resumed session)
  std::string except_session;     // content id whose own turns are left out
  std::string own_session;        // content id of who asks: no other session to it
  os::Disk* disk = nullptr;       // where the working tree lies; null: it is not looked at
  std::string working_tree;       // where to look for files that are not committed; empty: the project's root
};

struct Composed {
  std::string text;  // empty: there is nothing to give
  std::size_t tokens = 0;
  std::size_t characters = 0;      // UTF-16 units, as the host counts
  std::vector<std::string> items;  // ids shown: "S12", "O7"
  // For the one-line notice:
  std::string last_request;
  std::optional<WallTime> last_at;
  std::size_t open = 0;      // items that are open
  bool interrupted = false;  // the newest session ended in the middle of its work
};

// The host's limit on one injected text, with room for what it puts before it.
inline constexpr std::size_t kMaxCharacters = 9'900;

// What a context is made of.
struct Material {
  std::vector<Story> stories;            // newest first
  Standing standing;                     // notes and open items
  std::vector<std::string> uncommitted;  // files
};

// Reads only. Costs a bounded number of index look-ups, however much the store holds, and a look at the
// working tree that ends after 100 ms.
Result<Composed> compose(store::Db& db, const Request& request);

// The same of what was read. A pure function: whatever the texts are, they come out as data.
Composed render(const Request& request, Material material);

}  // namespace cairn::context
