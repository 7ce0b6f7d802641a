#include "ops/live_settings.h"

namespace cairn::ops {

// Inode too: an editor that replaces the file may keep its size, and file times can be coarse.
static bool is_same(const std::optional<os::Stat>& a, const std::optional<os::Stat>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->inode == b->inode && a->size == b->size && a->modified_ns == b->modified_ns;
}

std::optional<os::Stat> LiveSettings::look() const {
  auto file = disk_.stat(home_.config_file);
  return file ? std::optional(*file) : std::nullopt;
}

std::shared_ptr<const Settings> LiveSettings::load(const std::optional<os::Stat>& file) {
  settings_ = std::make_shared<const Settings>(Settings::load(disk_, home_));
  file_ = file;
  return settings_;
}

std::shared_ptr<const Settings> LiveSettings::now() {
  // stat() before reading: a change in between is seen by the next request.
  const auto file = look();
  const std::lock_guard lock(mutex_);
  return settings_ && is_same(file, file_) ? settings_ : load(file);
}

std::shared_ptr<const Settings> LiveSettings::reload() {
  const auto file = look();
  const std::lock_guard lock(mutex_);
  return load(file);
}

}  // namespace cairn::ops
