// The settings that requests use: held in memory, read again when config.toml has changed.
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

  // The settings as config.toml says now. Costs one stat() while the file stays as it is.
  std::shared_ptr<const Settings> now();
  // Reads the file whatever its times say: a mode's file beside it may have changed too.
  std::shared_ptr<const Settings> reload();

 private:
  std::shared_ptr<const Settings> load(const std::optional<os::Stat>& file);
  std::optional<os::Stat> look() const;

  os::Disk& disk_;
  const hook::Home home_;
  std::mutex mutex_;
  std::optional<os::Stat> file_;  // config.toml as it was last read; nothing: it was not there
  std::shared_ptr<const Settings> settings_;
};

}  // namespace cairn::ops
