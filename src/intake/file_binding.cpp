#include "intake/file_binding.h"

#include <chrono>

#include "git/blob.h"
#include "store/bound_files.h"

namespace cairn::intake {

namespace {

constexpr std::size_t kFilesAStep = 32;
// Together with kFilesAStep it bounds the time of a step: hooks are answered between two steps.
constexpr std::size_t kLargestBound = 1u << 20;
// An observation of an older turn (imported, or distilled again) says nothing about the present files.
constexpr Millis kInTime = std::chrono::hours(1);

}  // namespace

Result<bool> FileBinding::step() {
  auto files = TRY(store::files_to_bind(db_, kFilesAStep));
  if (files.empty()) return false;
  const WallTime now = clock_.now();
  for (store::BoundFile& file : files) {
    // Stored too, so that a file that cannot be read is not tried again at every step.
    file.blob = store::kNoBlob;
    const auto path = git::path_below(file.root, file.path);
    if (!path || file.made_at + kInTime < now) continue;
    if (auto blob = git::blob_of_file(disk_, *path, kLargestBound)) file.blob = *std::move(blob);
  }
  TRY(store::in_transaction(db_, [&]() -> Status {
    for (const store::BoundFile& file : files) TRY(store::bind_file(db_, file));
    return {};
  }));
  return true;
}

}  // namespace cairn::intake
