#include "ops/backup.h"

namespace cairn::ops {

archive::Keep keep_of(const Settings& settings) {
  archive::Keep keep;
  keep.days = settings.integer("archive.keep_days");
  keep.last = settings.integer("archive.keep_last");
  keep.max_bytes = static_cast<std::int64_t>(settings.decimal("archive.max_gb") * (1u << 30));
  return keep;
}

archive::Places archive_of(const hook::Home& home) {
  return {home.data + "/archive"};
}

Result<Json> archive_status(World& world) {
  const store::ArchiveCounts counts = TRY(store::archive_counts(world.db));
  return Json::object({{"backups", counts.backups},
                       {"sessions", counts.sessions},
                       {"failed", TRY(store::failed_requests(world.db)).size()},
                       {"bytes", counts.bytes}});
}

Status add_archive_problems(World& world, Json& problems) {
  constexpr std::size_t kShown = 5;  // when the disk is full, every copy fails
  const auto failed = TRY(store::failed_requests(world.db));
  for (std::size_t i = 0; i < std::min(failed.size(), kShown); ++i)
    problems.push("the transcript of session " + failed[i].session + " could not be backed up (" +
                  failed[i].error.value_or("") + "): it is tried again until it succeeds");
  if (failed.size() > kShown)
    problems.push(std::to_string(failed.size() - kShown) +
                  " more transcripts could not be backed up: `cairn logs` says why");
  return {};
}

}  // namespace cairn::ops
