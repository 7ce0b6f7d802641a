// Whether what an observation says may be out of date: a file that it is about has other content now than
// when the observation was made.
//
// Reads the files of the working tree, within a limit for all questions to one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/disk.h"
#include "store/bound_files.h"
#include "store/sql.h"

namespace cairn::recall {

// Belongs to one thread, for the length of one request.
class Freshness {
 public:
  Freshness(store::Db& db, os::Disk& disk) : db_(db), disk_(disk) {}

  // The files of the observation that changed since. Empty: none, or it is not known: its files were not
  // looked at, the working tree is not here, or the limit is reached.
  Result<std::vector<std::string>> changed(std::int64_t observation);
  Result<bool> is_stale(std::int64_t observation) { return !TRY(changed(observation)).empty(); }

 private:
  bool has_changed(const store::BoundFile& file);

  store::Db& db_;
  os::Disk& disk_;
  std::map<std::string, std::string, std::less<>> blobs_;  // by path; empty: not known
  std::map<std::string, bool, std::less<>> trees_;         // working trees that exist
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace cairn::recall
