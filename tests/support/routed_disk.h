// A simulated disk that contains one real directory, for repositories made by the real git.
#pragma once

#include <string>
#include <utility>

#include "os/disk.h"

namespace cairn::test {

class RoutedDisk final : public os::Disk {
 public:
  // What is below `directory` is real, everything else is of `disk`.
  RoutedDisk(os::Disk& disk, std::string directory) : disk_(disk), directory_(std::move(directory)) {}

  Result<std::unique_ptr<os::File>> open(const std::string& path, os::Open how) override {
    return of(path).open(path, how);
  }
  Status rename(const std::string& from, const std::string& to) override { return of(from).rename(from, to); }
  Status remove(const std::string& path) override { return of(path).remove(path); }
  Status make_dir(const std::string& path) override { return of(path).make_dir(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return of(path).list(path); }
  Result<os::Stat> stat(const std::string& path) override { return of(path).stat(path); }
  Status sync_dir(const std::string& path) override { return of(path).sync_dir(path); }
  std::string real_path(const std::string& path) override { return of(path).real_path(path); }

 private:
  os::Disk& of(const std::string& path) {
    return path.starts_with(directory_) ? static_cast<os::Disk&>(real_) : disk_;
  }

  os::Disk& disk_;
  os::RealDisk real_;
  std::string directory_;
};

}  // namespace cairn::test
