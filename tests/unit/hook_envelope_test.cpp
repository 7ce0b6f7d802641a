#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/hash.h"
#include "hook/envelope.h"

namespace cairn::hook {
namespace {

constexpr std::string_view kPayload = R"({"hook_event_name":"PostToolUse"})";

Envelope sample(std::string_view payload = kPayload) {
  Envelope e;
  e.event = "PostToolUse";
  e.wall_ns = 1'790'000'000'123'456'789;
  e.boot_ns = 3'600'000'000'001;
  e.boot_id = "0123456789abcdef0123456789abcdef";
  e.host_process = {4242, 987654321};
  e.project_dir = "/home/dev/a project\nwith a line feed";
  e.env_file = "";
  e.config_dir = "/home/dev/.claude";
  e.entrypoint = "cli";
  e.payload_bytes = e.total_bytes = payload.size();
  e.payload_checksum = checksum(payload);
  return e;
}

std::string file_of(const Envelope& e, std::string_view payload = kPayload) {
  return e.encode() + std::string(payload);
}

void expect_equal(const Envelope& a, const Envelope& b) {
  EXPECT_EQ(a.event, b.event);
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.wall_ns, b.wall_ns);
  EXPECT_EQ(a.boot_ns, b.boot_ns);
  EXPECT_EQ(a.boot_id, b.boot_id);
  EXPECT_EQ(a.host_process, b.host_process);
  EXPECT_EQ(a.project_dir, b.project_dir);
  EXPECT_EQ(a.env_file, b.env_file);
  EXPECT_EQ(a.config_dir, b.config_dir);
  EXPECT_EQ(a.entrypoint, b.entrypoint);
  EXPECT_EQ(a.payload_bytes, b.payload_bytes);
  EXPECT_EQ(a.payload_checksum, b.payload_checksum);
  EXPECT_EQ(a.head_bytes, b.head_bytes);
  EXPECT_EQ(a.total_bytes, b.total_bytes);
}

// `header` with a checksum that fits, as if a faulty writer had made it.
std::string sealed(std::string header) {
  header.resize(header.size() - 17);
  return header + to_hex(checksum(header)) + "\n";
}

TEST(Envelope, ComesBackAsItWasWritten) {
  const std::string file = file_of(sample());
  const auto decoded = Envelope::decode(file);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  expect_equal(decoded->envelope, sample());
  EXPECT_EQ(decoded->payload, kPayload);
}

// The bytes are a promise to other versions: see docs/reference/inbox.md, which shows this very line.
TEST(Envelope, IsWrittenByteForByteAsDocumented) {
  Envelope e = sample("{}");
  e.project_dir = "/home/dev/site";
  const std::string header = e.encode();
  EXPECT_EQ(header, "cairn1 000272 000000000002 " + to_hex(checksum("{}")) +
                        " 000000000000 000000000002 01790000000123456789 00000003600000000001 "
                        "0123456789abcdef0123456789abcdef "
                        "0000004242 00000000000987654321 11:PostToolUse 11:claude-code 14:/home/dev/site 0: "
                        "17:/home/dev/.claude "
                        "3:cli " +
                        to_hex(checksum(header.substr(0, header.size() - 17))) + "\n");
}

TEST(Envelope, HasOneLengthWhateverTheNumbersSay) {
  Envelope e = sample();
  const std::size_t length = e.encode().size();
  e.payload_bytes = e.total_bytes = 67'108'864;
  e.head_bytes = 1 << 20;
  e.payload_checksum = ~std::uint64_t{0};
  e.wall_ns = e.boot_ns = 0;
  EXPECT_EQ(e.encode().size(), length);
}

TEST(Envelope, KnowsNoBootWhenThereIsNone) {
  Envelope e = sample();
  e.boot_id.clear();
  EXPECT_EQ(Envelope::decode(file_of(e))->envelope.boot_id, "");
}

TEST(Envelope, CutsTextsThatAreTooLong) {
  Envelope e = sample();
  e.project_dir = std::string(5000, 'p');
  const std::string file = file_of(e);
  const auto decoded = Envelope::decode(file);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->envelope.project_dir, std::string(4096, 'p'));
}

TEST(Envelope, RefusesEveryTruncation) {
  const std::string file = file_of(sample());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto decoded = Envelope::decode(std::string_view(file).substr(0, size));
    ASSERT_FALSE(decoded.ok()) << size;
    ASSERT_EQ(decoded.error().code, Code::corrupt) << size;
  }
}

TEST(Envelope, RefusesEveryFlippedBit) {
  const std::string file = file_of(sample());
  for (std::size_t at = 0; at < file.size() * 8; ++at) {
    std::string damaged = file;
    damaged[at / 8] = static_cast<char>(damaged[at / 8] ^ (1 << (at % 8)));
    ASSERT_FALSE(Envelope::decode(damaged).ok()) << "bit " << at;
  }
}

TEST(Envelope, RefusesBytesBehindThePayload) {
  EXPECT_FALSE(Envelope::decode(file_of(sample()) + "x").ok());
}

TEST(Envelope, RefusesAFormatItDoesNotKnow) {
  std::string file = file_of(sample());
  file[5] = '2';
  EXPECT_EQ(Envelope::decode(file).error().code, Code::corrupt);
  EXPECT_NE(Envelope::decode(file).error().message.find("version"), std::string::npos);
}

TEST(Envelope, RefusesAHeaderWithAValidChecksumThatMakesNoSense) {
  const std::string header = sample("").encode();
  ASSERT_TRUE(Envelope::decode(sealed(header)).ok());
  const auto with = [&](std::size_t at, std::string_view text) {
    std::string changed = header;
    changed.replace(at, text.size(), text);
    return sealed(changed);
  };
  EXPECT_FALSE(Envelope::decode(with(14, "0000000000x0")).ok()) << "a number that is none";
  EXPECT_FALSE(Envelope::decode(with(26, "0")).ok()) << "no blank between fields";
  EXPECT_FALSE(Envelope::decode(with(44, "000000000001")).ok()) << "a head longer than the payload";
  EXPECT_FALSE(Envelope::decode(with(57, "000000000001")).ok()) << "not cut, but shorter than what was sent";
  EXPECT_FALSE(Envelope::decode(with(177, "99:")).ok()) << "a text beyond the header's end";
  EXPECT_FALSE(Envelope::decode(with(177, "10:")).ok()) << "a text that ends early";
}

TEST(Envelope, RefusesACutThatKeptEverything) {
  Envelope e = sample();
  e.head_bytes = 1;
  EXPECT_FALSE(Envelope::decode(file_of(e)).ok());
  e.total_bytes += 1;
  EXPECT_TRUE(Envelope::decode(file_of(e)).ok());
}

TEST(Envelope, ShowsTheOrderInItsFirstBytes) {
  const std::string file = file_of(sample());
  const auto order = Envelope::peek_order(std::string_view(file).substr(0, Envelope::kPeekBytes));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->first, sample().boot_id);
  EXPECT_EQ(order->second, sample().boot_ns);
  EXPECT_FALSE(Envelope::peek_order(std::string_view(file).substr(0, Envelope::kPeekBytes - 1)));
  EXPECT_FALSE(Envelope::peek_order(std::string(200, ' ')));
  Envelope unknown = sample();
  unknown.boot_id.clear();
  EXPECT_FALSE(Envelope::peek_order(file_of(unknown)));
}

TEST(Envelope, ComesBackWhateverItHolds) {
  const bool held = rc::check([] {
    const auto text = [] { return *rc::gen::container<std::string>(rc::gen::arbitrary<char>()); };
    const std::string payload = text();
    Envelope e = sample(payload);
    e.event = text();
    e.host = text();
    e.project_dir = text();
    e.entrypoint = text();
    e.wall_ns = *rc::gen::inRange<std::int64_t>(0, INT64_MAX);
    e.host_process.start = *rc::gen::arbitrary<std::uint64_t>();
    const std::string file = e.encode() + payload;
    const auto decoded = Envelope::decode(file);
    RC_ASSERT(decoded.ok());
    RC_ASSERT(decoded->payload == payload);
    RC_ASSERT(decoded->envelope.event == e.event);
    RC_ASSERT(decoded->envelope.host == e.host);
    RC_ASSERT(decoded->envelope.project_dir == e.project_dir);
    RC_ASSERT(decoded->envelope.entrypoint == e.entrypoint);
    RC_ASSERT(decoded->envelope.wall_ns == e.wall_ns);
    RC_ASSERT(decoded->envelope.host_process == e.host_process);
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace cairn::hook
