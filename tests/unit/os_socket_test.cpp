#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/disk.h"
#include "os/socket.h"
#include "support/temp_dir.h"

namespace cairn::os {
namespace {

constexpr std::int64_t kMs = 1'000'000;

std::int64_t in_ms(int ms) {
  return RealClock().boot_ns() + ms * kMs;
}

struct Pair {
  Fd one, two;
  Pair() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    one = Fd(fds[0]);
    two = Fd(fds[1]);
  }
};

void expect_round_trip(const std::string& path) {
  const auto listener = listen_unix(path);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  const auto client = connect_unix(path, 1000);
  ASSERT_TRUE(client.ok()) << client.error().message;
  const Fd server(accept(listener->get(), nullptr, nullptr));
  ASSERT_TRUE(server);
  EXPECT_TRUE(peer_is_me(server.get()));
  ASSERT_TRUE(send_all(client->get(), "ping\n", in_ms(1000)).ok());
  std::string rest;
  EXPECT_EQ(read_line(server.get(), rest, 100, in_ms(1000)).value(), "ping");
}

TEST(Socket, CarriesALine) {
  const test::TempDir dir;
  expect_round_trip(dir / "s");
}

TEST(Socket, IsReachedAtAPathLongerThanTheKernelTakes) {
  const test::TempDir dir;
  RealDisk disk;
  const std::string deep = dir / (std::string(100, 'a') + "/" + std::string(100, 'b'));
  ASSERT_TRUE(make_dirs(disk, deep).ok());
  expect_round_trip(deep + "/daemon.sock");
  EXPECT_TRUE(test::exists(deep + "/daemon.sock"));
}

TEST(Socket, IsReachedAtEveryLengthAroundTheLimit) {
  const test::TempDir dir;
  RealDisk disk;
  for (std::size_t length = 105; length <= 110; ++length) {
    const std::string directory = dir / std::string(length - dir.path().size() - 3, 'd');
    ASSERT_TRUE(make_dirs(disk, directory).ok());
    ASSERT_EQ((directory + "/s").size(), length);
    expect_round_trip(directory + "/s");
  }
}

TEST(Socket, IsPrivateWhateverTheUmask) {
  const test::TempDir dir;
  const mode_t old = umask(0);
  const auto listener = listen_unix(dir / "s");
  umask(old);
  ASSERT_TRUE(listener.ok());
  struct stat st {};
  ASSERT_EQ(stat((dir / "s").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST(Socket, ReplacesTheSocketOfADeadServer) {
  const test::TempDir dir;
  ignore(listen_unix(dir / "s"));
  EXPECT_TRUE(test::exists(dir / "s"));
  EXPECT_EQ(connect_unix(dir / "s", 100).error().code, Code::not_found);
  expect_round_trip(dir / "s");
}

TEST(Socket, IsNotFoundWhereNothingListens) {
  const test::TempDir dir;
  EXPECT_EQ(connect_unix(dir / "s", 100).error().code, Code::not_found);
  EXPECT_EQ(connect_unix(dir / "none/s", 100).error().code, Code::not_found);
}

TEST(Socket, OfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a socket away";
  const test::TempDir dir;
  const auto listener = listen_unix(dir / "s");
  ASSERT_EQ(chown((dir / "s").c_str(), 65534, 65534), 0);
  EXPECT_EQ(connect_unix(dir / "s", 100).error().code, Code::denied);
}

TEST(Socket, GivesUpConnectingWhenTheQueueStaysFull) {
  const test::TempDir dir;
  const auto listener = listen_unix(dir / "s");
  ASSERT_TRUE(listener.ok());
  ASSERT_EQ(listen(listener->get(), 0), 0);
  const auto queued = connect_unix(dir / "s", 1000);
  ASSERT_TRUE(queued.ok());
  EXPECT_EQ(connect_unix(dir / "s", 20).error().code, Code::timeout);
}

TEST(Socket, KeepsWhatCameBehindALineForTheNext) {
  const Pair pair;
  ASSERT_TRUE(send_all(pair.one.get(), "one\ntwo\nthr", in_ms(1000)).ok());
  std::string rest;
  EXPECT_EQ(read_line(pair.two.get(), rest, 100, in_ms(1000)).value(), "one");
  EXPECT_EQ(read_line(pair.two.get(), rest, 100, in_ms(1000)).value(), "two");
  ASSERT_TRUE(send_all(pair.one.get(), "ee\n", in_ms(1000)).ok());
  EXPECT_EQ(read_line(pair.two.get(), rest, 100, in_ms(1000)).value(), "three");
  EXPECT_EQ(rest, "");
}

TEST(Socket, StopsWaitingForALineAtTheDeadline) {
  const Pair pair;
  ASSERT_TRUE(send_all(pair.one.get(), "no end", in_ms(1000)).ok());
  std::string rest;
  EXPECT_EQ(read_line(pair.two.get(), rest, 100, in_ms(10)).error().code, Code::timeout);
}

TEST(Socket, RefusesALineThatIsTooLong) {
  const Pair pair;
  ASSERT_TRUE(
      send_all(pair.one.get(), std::string(100, 'x') + "\n" + std::string(101, 'y') + "\n", in_ms(1000))
          .ok());
  std::string rest;
  EXPECT_EQ(read_line(pair.two.get(), rest, 100, in_ms(1000)).value().size(), 100u);
  EXPECT_EQ(read_line(pair.two.get(), rest, 100, in_ms(1000)).error().code, Code::invalid);
}

TEST(Socket, ReportsThatTheOtherSideClosedTheConnection) {
  Pair pair;
  pair.one = Fd();
  std::string rest;
  EXPECT_EQ(read_line(pair.two.get(), rest, 100, in_ms(1000)).error().code, Code::canceled);
  EXPECT_FALSE(send_all(pair.two.get(), "x", in_ms(1000)).ok());
}

TEST(Socket, StopsSendingToOneWhoDoesNotRead) {
  const Pair pair;
  EXPECT_EQ(send_all(pair.one.get(), std::string(8u << 20, 'x'), in_ms(20)).error().code, Code::timeout);
}

}  // namespace
}  // namespace cairn::os
