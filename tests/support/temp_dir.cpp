#include "support/temp_dir.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/result.h"

namespace cairn::test {

namespace fs = std::filesystem;

TempDir::TempDir(std::string_view name) {
  const char* top = std::getenv("TMPDIR");
  std::error_code error;
  std::string made =
      fs::canonical(top && *top ? top : "/tmp", error).string() + "/" + std::string(name) + "-XXXXXX";
  CAIRN_ASSERT(!error && ::mkdtemp(made.data()) != nullptr);
  path_ = made;
}

TempDir::~TempDir() {
  if (std::getenv("CAIRN_KEEP_TMP")) {
    std::fprintf(stderr, "kept: %s\n", path_.c_str());
    return;
  }
  // A process that is just ending may still write there: what it adds during the first pass goes with the
  // second.
  std::error_code error;
  for (int pass = 0; pass < 3 && fs::exists(path_, error); ++pass) fs::remove_all(path_, error);
}

void write_file(const std::string& path, std::string_view bytes) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  std::FILE* file = std::fopen(path.c_str(), "we");
  CAIRN_ASSERT(file != nullptr);
  CAIRN_ASSERT(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
  CAIRN_ASSERT(std::fclose(file) == 0);
}

std::string read_text(const std::string& path) {
  std::string text;
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return text;
  char buffer[65536];
  while (std::size_t got = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, got);
  std::fclose(file);
  return text;
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace cairn::test
