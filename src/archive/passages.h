// Makes archived transcripts searchable: the texts of the user and the agent, and the beginnings of the
// inputs and outputs of tools.
//
// A passage is some consecutive lines of one turn. Text that cairn itself gave to a session is left out.
#pragma once

#include <cstdint>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "event/origin.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/passages.h"
#include "store/sql.h"

namespace cairn::archive {

struct PassageText {
  std::string text;  // a paragraph for each line
  Origins origins;   // the origins of the tools' texts in it
};
// The text of a passage, read from the archive in `directory`. Fails with `corrupt` when it cannot be read.
Result<PassageText> passage_text(store::Db& db, os::Disk& disk, const std::string& directory,
                                 const store::Passage& passage);

// Indexes what was copied, a frame (about a megabyte) a step. When interrupted, it continues where it
// stopped. Belongs to the writer's thread.
class PassageIndexer {
 public:
  // `home`: the data directory.
  PassageIndexer(store::Db& db, os::Disk& disk, os::Clock& clock, Log& log, const std::string& home)
      : db_(db), disk_(disk), clock_(clock), log_(log), directory_(home + "/archive") {}

  // Call when there may be new copies.
  void look_again() { due_ = true; }
  // Does the next piece. False: all is indexed. An error of the store is logged, and the next try is a minute
  // later.
  bool step();

 private:
  Result<bool> index_frame();

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  Log& log_;
  std::string directory_;
  bool due_ = true;
  std::int64_t not_before_ns_ = 0;  // boot time
};

}  // namespace cairn::archive
