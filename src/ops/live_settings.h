// The settings that requests use: kept in memory, read again when config.toml has changed.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "hook/home.h"
#include "ops/settings.h"
#include "os/disk.h"

namespace cairn::ops {

// Thread-safe.
class LiveSettings {
 public:
  LiveSettings(os::Disk& disk, const hook::Home& home) : disk_(disk), home_(home) {}

  // The current settings. Costs one stat() when the file has not changed.
  std::shared_ptr<const Settings> now();
  // Reads the file even when it has not changed: a mode file beside it may have.
  std::shared_ptr<const Settings> reload();

 private:
  std::shared_ptr<const Settings> load(const std::optional<os::Stat>& file);
  std::optional<os::Stat> look() const;

  os::Disk& disk_;
  const hook::Home home_;
  std::mutex mutex_;
  std::optional<os::Stat> file_;  // config.toml when it was last read; nothing: it did not exist
  std::shared_ptr<const Settings> settings_;
};

}  // namespace cairn::ops
