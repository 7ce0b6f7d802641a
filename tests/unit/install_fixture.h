// A host's settings file on some disk, for the tests of install.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "cli/install.h"
#include "host/claude_code/hooks.h"
#include "host/host.h"

namespace cairn::cli {

inline const host::Hooks& hooks() {
  return host::default_host().hooks();
}

constexpr const char* kHook = "/home/dev/.local/bin/cairn-hook";

// Files in memory: many cases a second, and a disk on which nothing may be created.
class MemoryDisk final : public os::Disk {
 public:
  bool denied = false;

  Result<std::unique_ptr<os::File>> open(const std::string& path, os::Open how) override {
    if (how == os::Open::read && files_.count(path) == 0) return Error{Code::not_found, path};
    if (how != os::Open::read && denied) return Error{Code::denied, "open " + path + ": permission denied"};
    return std::unique_ptr<os::File>(std::make_unique<MemoryFile>(files_[path]));
  }
  Status rename(const std::string& from, const std::string& to) override {
    files_[to] = files_[from];
    files_.erase(from);
    return {};
  }
  Status remove(const std::string& path) override {
    return files_.erase(path) > 0 ? Status() : Error{Code::not_found, path};
  }
  Status make_dir(const std::string&) override { return {}; }
  Result<std::vector<std::string>> list(const std::string&) override { return std::vector<std::string>(); }
  Result<os::Stat> stat(const std::string& path) override {
    if (files_.count(path) == 0) return Error{Code::not_found, path};
    return os::Stat{.size = files_[path].size()};
  }
  Status sync_dir(const std::string&) override { return {}; }

 private:
  class MemoryFile final : public os::File {
   public:
    explicit MemoryFile(std::string& bytes) : bytes_(bytes) {}
    Result<std::size_t> read_at(std::uint64_t offset, char* to, std::size_t size) override {
      return offset < bytes_.size() ? bytes_.copy(to, size, offset) : 0;
    }
    Status write_at(std::uint64_t offset, std::string_view bytes) override {
      bytes_.resize(std::max(bytes_.size(), offset + bytes.size()));
      bytes_.replace(offset, bytes.size(), bytes);
      return {};
    }
    Status truncate(std::uint64_t size) override {
      bytes_.resize(size);
      return {};
    }
    Result<std::uint64_t> size() override { return bytes_.size(); }
    Status sync() override { return {}; }

   private:
    std::string& bytes_;
  };
  std::map<std::string, std::string> files_;
};

// The settings file of a host on some disk.
class Host {
 public:
  Host(os::Disk& disk, std::string file) : disk_(disk), file_(std::move(file)) {}

  void write(std::string_view text) {
    ASSERT_TRUE(os::make_dirs(disk_, std::filesystem::path(file_).parent_path().string()).ok());
    ASSERT_TRUE(os::replace_file(disk_, file_, text).ok());
  }
  std::string text() const { return os::read_file(disk_, file_, 1 << 20).value_or("unreadable"); }
  Json json() const { return Json::parse(text()).value_or(Json("not JSON")); }

  Status install(const std::string& program = kHook, bool exec_form = true) {
    const InstallPlan plan = TRY(plan_install(hooks(), disk_, file_, {program, exec_form}));
    return apply_install(disk_, plan);
  }
  Status uninstall() {
    const InstallPlan plan = TRY(plan_uninstall(hooks(), disk_, file_));
    return apply_install(disk_, plan);
  }

 protected:
  os::Disk& disk_;
  std::string file_;
};

inline std::size_t count_ours(const Json& settings) {
  std::size_t count = 0;
  for (const auto& [event, groups] : settings["hooks"].members())
    for (const Json& group : groups.items())
      for (const Json& hook : group["hooks"].items()) count += host::is_our_entry(hook) ? 1 : 0;
  return count;
}

}  // namespace cairn::cli
