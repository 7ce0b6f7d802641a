// What happened in a session, or in a part of it, sorted into the sections of a document.
//
// It is read from the store (turns that were distilled), or from the archive after an anchor: then the lines
// are distilled here, so that the result has exactly what comes after the anchor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/delta.h"
#include "base/result.h"
#include "base/time.h"
#include "distil/distil.h"
#include "os/disk.h"
#include "store/sessions.h"
#include "store/sql.h"

namespace cairn::documents {

struct Material {
  std::string title;  // what it was mostly about
  std::int64_t turns = 0;
  std::optional<WallTime> from, to;
  std::vector<std::string> requests;   // in order, one line each; no chores
  std::vector<std::string> done;       // what was done for a request, in a line or two each
  std::vector<std::string> decisions;  // sentences
  std::vector<std::string> failed;     // what was tried and did not work
  std::vector<std::string> fixed;      // what failed and then passed
  std::vector<std::string> gotchas;    // which command works where another one did not
  std::vector<std::string> findings;
  std::vector<std::string> preferences;  // rules of prompts that are meant for all later work
  std::vector<std::string> commits;      // "1a2b3c4 subject", oldest first
  std::vector<std::string> files;        // that were edited; most recently edited last
  std::vector<std::string> next;         // what the last turn left to do
  std::string last_answer;               // shortened
  bool is_cut_off = false;               // the last turn did not reach its end

  // Whether files were edited or commits made.
  bool has_work() const { return !files.empty() || !commits.empty(); }
  bool empty() const { return turns == 0; }
};

// All of a session that the store has.
Result<Material> material_of(store::Db& db, const store::Session& session, const distil::Mode& mode);

// What the archive has of a session after an anchor.
struct Since {
  archive::Delta delta;  // how the place was found, and how many records there are
  Material material;
  std::int64_t skipped = 0;  // records that are counted but not read: there are too many
};
// `root`: the project's directory. `not_found` when the session has no backup or the anchor says nothing.
Result<Since> material_since(store::Db& db, os::Disk& disk, const archive::Places& places,
                             const store::TranscriptKey& key, const store::Anchor& anchor,
                             const std::string& root, const distil::Mode& mode);

}  // namespace cairn::documents
