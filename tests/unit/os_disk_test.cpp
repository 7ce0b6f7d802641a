#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "os/disk.h"
#include "support/temp_dir.h"

namespace cairn::os {
namespace {

class DiskTest : public testing::Test {
 protected:
  test::TempDir dir_;
  RealDisk disk_;
};

// Sets the umask for one scope.
class Umask {
 public:
  explicit Umask(mode_t mask) : old_(umask(mask)) {}
  ~Umask() { umask(old_); }

 private:
  mode_t old_;
};

int mode_of(const std::string& path) {
  struct stat st {};
  EXPECT_EQ(stat(path.c_str(), &st), 0) << path;
  return st.st_mode & 0777;
}

TEST_F(DiskTest, ReadsBackWhatWasWrittenAtAnOffset) {
  const auto file = disk_.open(dir_ / "f", Open::create_new).value();
  ASSERT_TRUE(file->write_at(0, "hello ").ok());
  ASSERT_TRUE(file->write_at(6, "world").ok());
  ASSERT_TRUE(file->sync().ok());
  char bytes[16];
  EXPECT_EQ(file->read_at(4, bytes, sizeof bytes).value(), 7u);
  EXPECT_EQ(std::string(bytes, 7), "o world");
  ASSERT_TRUE(file->truncate(5).ok());
  EXPECT_EQ(file->size().value(), 5u);
}

TEST_F(DiskTest, CreatesANewFileOnlyOnce) {
  ASSERT_TRUE(disk_.open(dir_ / "f", Open::create_new).ok());
  EXPECT_EQ(disk_.open(dir_ / "f", Open::create_new).error().code, Code::busy);
  EXPECT_EQ(disk_.open(dir_ / "g", Open::read).error().code, Code::not_found);
}

TEST_F(DiskTest, AFileWithoutANameAppearsWholeOrNotAtAll) {
  ASSERT_TRUE(disk_.make_dir(dir_ / "tmp").ok());
  ASSERT_TRUE(disk_.make_dir(dir_ / "new").ok());
  EXPECT_EQ(disk_.open(dir_ / "gone", Open::unnamed).error().code, Code::not_found);
  auto file = disk_.open(dir_ / "tmp", Open::unnamed);
  if (!file.ok() && file.error().code == Code::unsupported) GTEST_SKIP() << file.error().message;
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_TRUE((*file)->write_at(0, "hello").ok());
  EXPECT_TRUE(disk_.list(dir_ / "tmp").value().empty());
  EXPECT_EQ((*file)->give_name(dir_ / "gone/a").error().code, Code::not_found);
  ASSERT_TRUE((*file)->give_name(dir_ / "new/a").ok());
  EXPECT_EQ(test::read_text(dir_ / "new/a"), "hello");
  EXPECT_EQ(mode_of(dir_ / "new/a"), 0600);

  file = disk_.open(dir_ / "tmp", Open::unnamed);
  EXPECT_EQ((*file)->give_name(dir_ / "new/a").error().code, Code::busy);
  EXPECT_EQ(test::read_text(dir_ / "new/a"), "hello") << "nothing is overwritten";
  file->reset();
  EXPECT_TRUE(disk_.list(dir_ / "tmp").value().empty());
  EXPECT_EQ(disk_.list(dir_ / "new").value().size(), 1u);
}

TEST_F(DiskTest, MakesPrivateFilesAndDirectoriesUnderAnOpenUmask) {
  const Umask open(0);
  ASSERT_TRUE(make_dirs(disk_, dir_ / "a/b/c").ok());
  ASSERT_TRUE(disk_.open(dir_ / "a/f", Open::read_write).ok());
  EXPECT_EQ(mode_of(dir_ / "a"), 0700);
  EXPECT_EQ(mode_of(dir_ / "a/b/c"), 0700);
  EXPECT_EQ(mode_of(dir_ / "a/f"), 0600);
}

TEST_F(DiskTest, MakesUsableDirectoriesUnderAUmaskThatTakesEverything) {
  const Umask closed(0777);
  ASSERT_TRUE(make_dirs(disk_, dir_ / "a/b").ok());
  EXPECT_EQ(mode_of(dir_ / "a"), 0700);
  EXPECT_EQ(mode_of(dir_ / "a/b"), 0700);
}

TEST_F(DiskTest, TakesAnExistingDirectoryAsMadeButNotAFile) {
  test::write_file(dir_ / "file", "x");
  EXPECT_TRUE(disk_.make_dir(dir_.path()).ok());
  EXPECT_EQ(disk_.make_dir(dir_ / "file").error().code, Code::invalid);
  EXPECT_FALSE(make_dirs(disk_, dir_ / "file/below").ok());
}

TEST_F(DiskTest, ListsNamesAndTellsFilesFromDirectories) {
  test::write_file(dir_ / "one", "123");
  ASSERT_TRUE(disk_.make_dir(dir_ / "two").ok());
  auto names = disk_.list(dir_.path()).value();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"one", "two"}));
  EXPECT_FALSE(disk_.stat(dir_ / "one").value().is_dir);
  EXPECT_EQ(disk_.stat(dir_ / "one").value().size, 3u);
  EXPECT_TRUE(disk_.stat(dir_ / "two").value().is_dir);
  EXPECT_EQ(disk_.list(dir_ / "none").error().code, Code::not_found);
}

TEST_F(DiskTest, RemovesAndRenames) {
  test::write_file(dir_ / "a", "new");
  test::write_file(dir_ / "b", "old");
  ASSERT_TRUE(disk_.rename(dir_ / "a", dir_ / "b").ok());
  EXPECT_EQ(test::read_text(dir_ / "b"), "new");
  ASSERT_TRUE(disk_.remove(dir_ / "b").ok());
  EXPECT_EQ(disk_.remove(dir_ / "b").error().code, Code::not_found);
}

TEST_F(DiskTest, ReadsAFileUpToALimit) {
  test::write_file(dir_ / "f", "12345");
  EXPECT_EQ(read_file(disk_, dir_ / "f", 5).value(), "12345");
  EXPECT_EQ(read_file(disk_, dir_ / "f", 4).error().code, Code::invalid);
}

TEST_F(DiskTest, ReplacesAFileWholeAndLeavesNothingBeside) {
  ASSERT_TRUE(replace_file(disk_, dir_ / "f", "a longer text").ok());
  ASSERT_TRUE(replace_file(disk_, dir_ / "f", "short").ok());
  EXPECT_EQ(test::read_text(dir_ / "f"), "short");
  EXPECT_EQ(mode_of(dir_ / "f"), 0600);
  EXPECT_EQ(disk_.list(dir_.path()).value().size(), 1u);
}

TEST_F(DiskTest, LeavesNothingBehindWhenAFileCannotBeReplaced) {
  ASSERT_TRUE(disk_.make_dir(dir_ / "f").ok());
  EXPECT_FALSE(replace_file(disk_, dir_ / "f", "x").ok());
  EXPECT_EQ(disk_.list(dir_.path()).value().size(), 1u);
}

TEST_F(DiskTest, AppendsOnlyToARegularFileOfOnesOwn) {
  test::write_file(dir_ / "f", "one\n");
  EXPECT_TRUE(append_to_own(disk_, dir_ / "f", "two\n").ok());
  EXPECT_EQ(read_file(disk_, dir_ / "f", 100).value(), "one\ntwo\n");
  EXPECT_TRUE(append_to_own(disk_, dir_ / "new", "x").ok());
  struct stat made {};
  ASSERT_EQ(stat((dir_ / "new").c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777u, 0600u);
  ASSERT_EQ(symlink((dir_ / "f").c_str(), (dir_ / "link").c_str()), 0);
  ASSERT_EQ(mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(append_to_own(disk_, dir_ / "link", "x").ok());
  EXPECT_FALSE(append_to_own(disk_, dir_ / "pipe", "x").ok()) << "and it does not wait for a reader";
  EXPECT_FALSE(append_to_own(disk_, dir_.path(), "x").ok());
  EXPECT_FALSE(append_to_own(disk_, dir_ / "none/f", "x").ok()) << "no directory is made";
  EXPECT_EQ(read_file(disk_, dir_ / "f", 100).value(), "one\ntwo\n");
  if (geteuid() != 0) return;
  ASSERT_EQ(chown((dir_ / "f").c_str(), 65534, 65534), 0);
  EXPECT_EQ(append_to_own(disk_, dir_ / "f", "x").error().code, Code::invalid);
}

TEST_F(DiskTest, ReadsItsOwnFilesAndFollowsNoLinkWhereOnlyThoseCount) {
  test::write_file(dir_ / "f", "mine");
  ASSERT_EQ(symlink((dir_ / "f").c_str(), (dir_ / "link").c_str()), 0);
  EXPECT_EQ(read_file(disk_, dir_ / "f", 10, Open::read_own).value(), "mine");
  EXPECT_EQ(read_file(disk_, dir_ / "link", 10).value(), "mine");
  EXPECT_EQ(read_file(disk_, dir_ / "link", 10, Open::read_own).error().code, Code::invalid);
  EXPECT_EQ(disk_.open(dir_ / "link", Open::read_write).error().code, Code::invalid);
  EXPECT_EQ(read_file(disk_, dir_ / "none", 10, Open::read_own).error().code, Code::not_found);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown((dir_ / "f").c_str(), 65534, 65534), 0);
  EXPECT_EQ(read_file(disk_, dir_ / "f", 10).value(), "mine");
  EXPECT_EQ(read_file(disk_, dir_ / "f", 10, Open::read_own).error().code, Code::invalid);
}

}  // namespace
}  // namespace cairn::os
