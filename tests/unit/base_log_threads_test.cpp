#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "support/temp_dir.h"

namespace cairn {
namespace {

using test::read_text;

TEST(FileLog, WritesALineAnEntryWithTimeAndLevel) {
  test::TempDir dir;
  FileLog log(dir / "a.log", 1 << 20);
  log.info("two\nlines\x1b[31m");
  log.debug("not shown");
  log.set_level(Log::Level::debug);
  log.debug("shown");
  const std::string text = read_text(dir / "a.log");
  EXPECT_NE(text.find("Z info two lines\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Z debug shown\n"), std::string::npos);
  EXPECT_EQ(text.find("not shown"), std::string::npos);
}

TEST(FileLog, KeepsWithinItsSizeByOneOldFile) {
  test::TempDir dir;
  constexpr std::uint64_t kMax = 8 << 10;
  FileLog log(dir / "a.log", kMax);
  for (int i = 0; i < 1000; ++i) log.info("entry " + std::to_string(i));
  const auto size = [&](const char* name) { return std::filesystem::file_size(dir / name); };
  EXPECT_LE(size("a.log") + size("a.log.1"), kMax);
  EXPECT_NE(read_text(dir / "a.log").find("entry 999\n"), std::string::npos);
  struct stat st {};
  ASSERT_EQ(stat((dir / "a.log").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST(FileLog, GoesOnWithTheFileOfAnEarlierRun) {
  test::TempDir dir;
  FileLog(dir / "a.log", 1 << 20).info("first");
  FileLog(dir / "a.log", 1 << 20).info("second");
  EXPECT_EQ(lines(trim(read_text(dir / "a.log"))).size(), 2u);
}

TEST(FileLog, SurvivesADirectoryThatIsNotThere) {
  test::TempDir dir;
  FileLog log(dir / "none/a.log", 1 << 20);
  log.error("nowhere to go");
  EXPECT_FALSE(test::exists(dir / "none"));
}

TEST(FileLog, KeepsLinesWholeFromManyThreads) {
  test::TempDir dir;
  FileLog log(dir / "a.log", 64 << 20);
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t)
    writers.emplace_back([&log] {
      for (int i = 0; i < 200; ++i) log.info("the same words in every line");
    });
  for (auto& writer : writers) writer.join();
  const std::string text = read_text(dir / "a.log");
  std::size_t whole = 0;
  for (const std::string_view line : lines(trim(text)))
    whole += line.ends_with("info the same words in every line") ? 1 : 0;
  EXPECT_EQ(whole, 800u);
}

TEST(LogLevel, HasANameForEachAndNoOther) {
  EXPECT_EQ(log_level("warn"), Log::Level::warn);
  EXPECT_EQ(log_level("loud"), std::nullopt);
}

}  // namespace
}  // namespace cairn
