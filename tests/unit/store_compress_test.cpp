#include <gtest/gtest.h>

#include "store/compress.h"

namespace cairn::store {
namespace {

TEST(Compress, GivesBackTheSameBytes) {
  std::string noise;
  for (unsigned i = 0; i < 5000; ++i) noise.push_back(static_cast<char>((i * 2654435761u) >> 24));
  for (const std::string& bytes : {std::string(), std::string("a"), std::string(100'000, 'a'), noise}) {
    EXPECT_EQ(decompress(compress(bytes), bytes.size()).value(), bytes);
  }
  EXPECT_LT(compress(std::string(100'000, 'a')).size(), 100u);
}

TEST(Compress, RefusesContentBeyondTheLimit) {
  EXPECT_EQ(decompress(compress("12345"), 4).error().code, Code::invalid);
}

TEST(Compress, FindsDamageAnywhere) {
  const std::string bytes = "some text that is kept, some text that is kept, and a little more";
  const std::string frame = compress(bytes);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    std::string bad = frame;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    const auto got = decompress(bad, 1000);
    EXPECT_FALSE(got.ok() && *got != bytes) << "byte " << i;
    EXPECT_FALSE(decompress(std::string_view(frame).substr(0, i), 1000).ok()) << "cut at " << i;
  }
  EXPECT_EQ(decompress("not a frame", 1000).error().code, Code::corrupt);
}

}  // namespace
}  // namespace cairn::store
