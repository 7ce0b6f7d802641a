// A directory of a test's own, and plain files in it.
#pragma once

#include <string>
#include <string_view>

namespace cairn::test {

// Created by the constructor below $TMPDIR or /tmp, removed with everything in it by the destructor. With
// CAIRN_KEEP_TMP set it stays and its path is printed. Not movable.
class TempDir {
 public:
  explicit TempDir(std::string_view name = "cairn");
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  // The real path, without a slash at the end.
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view below) const { return path_ + "/" + std::string(below); }

 private:
  std::string path_;
};

// Writes a file, creating the directories above it. A failure ends the process: the test cannot continue.
void write_file(const std::string& path, std::string_view bytes);
// The file's bytes; empty when it cannot be read.
std::string read_text(const std::string& path);
bool exists(const std::string& path);

}  // namespace cairn::test
