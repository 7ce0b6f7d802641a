// How much room versions take. With the optimised build: it compresses 500 MB.
#include <gtest/gtest.h>

#include "unit/archive_fixture.h"

namespace cairn::test {
namespace {

// Fifty versions of a transcript that grows to 20 MB.
TEST_F(ArchiveTest, FiftyVersionsTakeLittleMoreThanTheLastOne) {
  set("archive.redact", "false");
  begin();
  std::uint64_t seed = 7;
  const auto words = [&](std::size_t bytes) {
    static const char* const kWords[] = {"parser", "lexer", "token", "value", "number",
                                         "the",    "reads", "of",    "test",  "fails"};
    std::string text;
    while (text.size() < bytes) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      text += kWords[(seed >> 33) % 10];
      text += (seed >> 40) % 7 == 0 ? std::to_string(seed >> 44) + " " : " ";
    }
    return text;
  };
  for (int version = 0; version < 50; ++version) {
    for (int i = 0; i < 100; ++i) transcript.answer(words(4000));
    version == 0 ? end() : end_again();
  }
  ASSERT_EQ(count(), 50);
  ASSERT_GT(transcript.text.size(), 20'000'000u);
  const std::int64_t all = m.number("SELECT sum(file_bytes) FROM backup_segments");
  Chat other{.session = "44444444-aaaa-4bbb-8ccc-000000000004", .prompt_id = "p"};
  TranscriptWriter whole{m, other, transcript.text, ""};
  m.tell(other.start());
  whole.save();
  m.tell(other.end());
  const std::int64_t last = m.number("SELECT sum(file_bytes) FROM backup_segments") - all;
  EXPECT_LE(static_cast<double>(all), 1.2 * static_cast<double>(last)) << all << " " << last;
  RecordProperty("ratio", std::to_string(static_cast<double>(all) / static_cast<double>(last)));
}

}  // namespace
}  // namespace cairn::test
