#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "hook/inbox.h"
#include "support/sim_clock.h"
#include "support/sim_disk.h"

namespace cairn::hook {
namespace {

constexpr const char* kHome = "/home/dev/cairn";
constexpr const char* kInbox = "/home/dev/cairn/inbox";

// A payload that arrives in pieces of at most `piece` bytes.
Inbox::Source source_of(std::string_view bytes, std::size_t piece = 64u << 10) {
  return [bytes, piece](char* to, std::size_t size) mutable -> Result<std::size_t> {
    const std::size_t step = std::min({size, piece, bytes.size()});
    std::copy_n(bytes.data(), step, to);
    bytes.remove_prefix(step);
    return step;
  };
}

// `size` bytes of which no two stretches are equal.
std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 12345;
  for (char& c : bytes) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

// On a file system of each kind.
class InboxTest : public testing::TestWithParam<test::SimDisk::Unnamed> {
 protected:
  InboxTest() {
    disk_.provide_dir("/home/dev");
    disk_.set_unnamed(GetParam());
  }

  Result<EventId> deliver(std::string_view payload, Flags::Sync sync = Flags::Sync::process,
                          std::size_t piece = 64u << 10) {
    Envelope envelope;
    envelope.event = "PostToolUse";
    return Inbox(disk_, clock_, kInbox).deliver(envelope, source_of(payload, piece), sync);
  }
  std::vector<std::string> names(const std::string& folder) {
    return disk_.list(std::string(kInbox) + "/" + folder).value_or({});
  }
  std::string delivered(const std::string& id) {
    return os::read_file(disk_, std::string(kInbox) + "/new/" + id, 128u << 20).value();
  }

  test::SimDisk disk_;
  test::SimClock clock_;
};

INSTANTIATE_TEST_SUITE_P(FileSystems, InboxTest,
                         testing::Values(test::SimDisk::Unnamed::can_be_named,
                                         test::SimDisk::Unnamed::stay_unnamed,
                                         test::SimDisk::Unnamed::refused));

TEST_P(InboxTest, DeliversAnEventUnderItsId) {
  const auto id = deliver("{}");
  ASSERT_TRUE(id.ok()) << id.error().message;
  EXPECT_TRUE(is_event_id(id->value));
  EXPECT_EQ(names("new"), std::vector<std::string>{id->value});
  EXPECT_TRUE(names("tmp").empty());
  const std::string file = delivered(id->value);
  const auto decoded = Envelope::decode(file);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->payload, "{}");
  EXPECT_EQ(decoded->envelope.event, "PostToolUse");
  EXPECT_EQ(decoded->envelope.wall_ns, clock_.wall_ns());
  EXPECT_EQ(decoded->envelope.boot_id, clock_.boot_id());
}

TEST_P(InboxTest, NamesSortByTime) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(deliver("{}")->value);
    clock_.advance(std::chrono::nanoseconds(1));
  }
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
}

TEST_P(InboxTest, KeepsPayloadsOfEverySizeAroundItsBuffer) {
  for (const std::size_t size : {0u, 1u, 97'000u, 98'080u, 98'304u, 98'305u, 196'608u, 1u << 20}) {
    const std::string payload = pattern(size);
    for (const std::size_t piece : {1000u, 65'536u, 1u << 20}) {
      const std::string file = delivered(deliver(payload, Flags::Sync::process, piece)->value);
      const auto decoded = Envelope::decode(file);
      ASSERT_TRUE(decoded.ok()) << size << ": " << decoded.error().message;
      EXPECT_TRUE(decoded->payload == payload) << size;
      EXPECT_FALSE(decoded->envelope.cut());
    }
  }
}

TEST_P(InboxTest, KeepsEveryBoundaryOfTheFirstWrite) {
  const std::size_t header = delivered(deliver("")->value).size();
  for (std::size_t size = (96u << 10) - header - 2; size <= (96u << 10) - header + 2; ++size) {
    const std::string payload = pattern(size);
    const std::string file = delivered(deliver(payload)->value);
    ASSERT_TRUE(Envelope::decode(file).ok()) << size;
    EXPECT_TRUE(Envelope::decode(file)->payload == payload) << size;
  }
}

TEST_P(InboxTest, KeepsTheLargestPayloadWholeAndCutsTheNextToHeadAndTail) {
  std::string payload = pattern(kMaxPayload);
  const auto whole = deliver(payload, Flags::Sync::process, 1u << 20);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  const std::string whole_file = delivered(whole->value);
  ASSERT_TRUE(Envelope::decode(whole_file).ok());
  EXPECT_TRUE(Envelope::decode(whole_file)->payload == payload);

  payload += "}";
  const std::string cut_file = delivered(deliver(payload, Flags::Sync::process, 1u << 20)->value);
  const auto cut = Envelope::decode(cut_file);
  ASSERT_TRUE(cut.ok()) << cut.error().message;
  EXPECT_EQ(cut->envelope.head_bytes, kCutHead);
  EXPECT_EQ(cut->envelope.total_bytes, kMaxPayload + 1);
  EXPECT_EQ(cut->payload.size(), kCutHead + kCutTail);
  EXPECT_TRUE(cut->payload.substr(0, kCutHead) == std::string_view(payload).substr(0, kCutHead));
  EXPECT_TRUE(cut->payload.substr(kCutHead) == std::string_view(payload).substr(payload.size() - kCutTail));
}

TEST_P(InboxTest, StopsReadingAPayloadThatNeverEnds) {
  std::uint64_t read = 0;
  const Inbox::Source endless = [&](char*, std::size_t size) -> Result<std::size_t> {
    read += size;
    return size;
  };
  const auto id = Inbox(disk_, clock_, kInbox).deliver({}, endless, Flags::Sync::process);
  ASSERT_TRUE(id.ok());
  EXPECT_LT(read, 1.1 * (1u << 30));
  EXPECT_TRUE(Envelope::decode(delivered(id->value)).ok());
}

TEST_P(InboxTest, LeavesNothingWhenThePayloadCannotBeRead) {
  const Inbox::Source broken = [](char*, std::size_t) -> Result<std::size_t> {
    return Error{Code::internal, "torn"};
  };
  EXPECT_FALSE(Inbox(disk_, clock_, kInbox).deliver({}, broken, Flags::Sync::process).ok());
  EXPECT_TRUE(names("tmp").empty());
  EXPECT_TRUE(names("new").empty());
}

TEST_P(InboxTest, MakesTheDirectoryOfDeliveredEventsWhenOnlyThatIsMissing) {
  disk_.provide_dir(std::string(kInbox) + "/tmp");
  ASSERT_TRUE(deliver("{}").ok());
  EXPECT_EQ(names("new").size(), 1u);
  EXPECT_TRUE(names("tmp").empty());
}

TEST_P(InboxTest, LeavesNothingBehindWhicheverCallFails) {
  ASSERT_TRUE(deliver("{}", Flags::Sync::disk).ok());
  const std::uint64_t before = disk_.calls();
  ASSERT_TRUE(deliver("{}", Flags::Sync::disk).ok());
  const std::uint64_t calls = disk_.calls() - before;
  ASSERT_GE(calls, 5u) << "create, write, sync, rename, sync";
  for (const int error : {ENOSPC, EIO, EACCES, EROFS}) {
    for (std::uint64_t k = 1; k <= calls; ++k) {
      const std::size_t there = names("new").size();
      disk_.fail_at(k, error);
      const auto id = deliver("{}", Flags::Sync::disk);
      disk_.clear_faults();
      EXPECT_FALSE(id.ok()) << "call " << k;
      EXPECT_TRUE(names("tmp").empty()) << "call " << k;
      // Only a failed last sync leaves the event: it is delivered, but not proved.
      EXPECT_EQ(names("new").size(), there + (k == calls ? 1 : 0)) << "call " << k;
    }
  }
}

TEST_P(InboxTest, AHookThatDiesLeavesSomethingInTmpOnlyWhereItMust) {
  ASSERT_TRUE(deliver("{}").ok());
  bool left = false;
  for (std::uint64_t k = 1; k <= 12; ++k) {
    disk_.halt_at(k);
    ignore(deliver("{}"));
    disk_.crash();
    left = left || !names("tmp").empty();
  }
  EXPECT_EQ(left, GetParam() != test::SimDisk::Unnamed::can_be_named);
}

TEST_P(InboxTest, SaysThatTheDiskIsFull) {
  disk_.set_capacity(100);
  EXPECT_EQ(deliver("{}").error().code, Code::full);
  EXPECT_TRUE(names("tmp").empty());
}

TEST_P(InboxTest, SurvivesAPowerCutAfterASyncedDelivery) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    test::SimDisk disk;
    disk.set_unnamed(GetParam());
    disk.provide_dir("/home");
    const auto id = Inbox(disk, clock_, kInbox).deliver({}, source_of("{\"a\":1}"), Flags::Sync::disk);
    ASSERT_TRUE(id.ok()) << id.error().message;
    disk.power_cut(seed);
    const auto file = os::read_file(disk, std::string(kInbox) + "/new/" + id->value, 4096);
    ASSERT_TRUE(file.ok()) << "seed " << seed << ": " << file.error().message;
    EXPECT_TRUE(Envelope::decode(*file).ok()) << "seed " << seed;
  }
}

TEST_P(InboxTest, SurvivesTheDeathOfTheProcessWithoutSync) {
  const auto id = deliver("{}");
  disk_.crash();
  EXPECT_TRUE(Envelope::decode(delivered(id->value)).ok());
}

TEST_P(InboxTest, ShowsAnEventWholeOrNotAtAllWhereverTheProcessDies) {
  for (std::uint64_t k = 1; k <= 12; ++k) {
    test::SimDisk disk;
    disk.set_unnamed(GetParam());
    disk.provide_dir(kHome);
    disk.halt_at(k, test::SimDisk::Calls::all);
    ignore(Inbox(disk, clock_, kInbox).deliver({}, source_of(pattern(300'000)), Flags::Sync::process));
    disk.crash();
    const std::string folder = std::string(kInbox) + "/new";
    for (const std::string& name : disk.list(folder).value_or({})) {
      const auto file = os::read_file(disk, folder + "/" + name, 1u << 20);
      EXPECT_TRUE(Envelope::decode(file.value()).ok()) << "halted at " << k;
    }
    EXPECT_TRUE(Inbox(disk, clock_, kInbox).deliver({}, source_of("{}"), Flags::Sync::process).ok());
  }
}

}  // namespace
}  // namespace cairn::hook
