// The files that observations are about, and the content they had when the observation was made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

// The mark of a content that is not known.
inline constexpr std::string_view kNoBlob = "-";

struct BoundFile {
  std::int64_t observation = 0;
  std::string path;  // as the observation names it
  bool modified = false;
  std::string blob;  // git's id of its content; empty: not read yet
  std::string root;  // the working tree of its session
  WallTime made_at;  // when the observation was made
};

// Files whose content was not read yet, those of the newest observations first.
Result<std::vector<BoundFile>> files_to_bind(Db& db, std::size_t limit);
// Stores the blob. In the caller's transaction.
Status bind_file(Db& db, const BoundFile& file);
// The files of an observation whose content is known.
Result<std::vector<BoundFile>> bound_files(Db& db, std::int64_t observation, std::size_t limit);

}  // namespace cairn::store
