// How texts become terms, and what people type a query.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "recall/query.h"
#include "recall/record.h"
#include "store/terms.h"

namespace cairn::recall {
namespace {

using store::Term;
using store::TermReader;
using store::TermsOf;

std::string terms(std::string_view text, TermsOf mode = TermsOf::document) {
  std::string out;
  TermReader reader(text, mode);
  Term term;
  while (reader.next(term)) out += (out.empty() ? "" : " ") + std::string(term.whole ? "+" : "") + term.text;
  return out;
}

TEST(Terms, AreWordsInLowerCaseWithoutAccents) {
  EXPECT_EQ(terms("The Lexer, reads: WORDS!"), "the lexer reads words");
  EXPECT_EQ(terms("Café naïve ÉTÉ Straße Ωμέγα"), "cafe naive ete strasse ωμεγα");
  EXPECT_EQ(terms("cafe\u0301"), "cafe");
  EXPECT_EQ(terms("utf8 sha256 3.14"), "utf8 sha256 3 14");
  EXPECT_EQ(terms(""), "");
  EXPECT_EQ(terms(" ,.;🚀 \t\n"), "");
}

TEST(Terms, OfAnIdentifierAreItsPartsAndItsWhole) {
  EXPECT_EQ(terms("parseHeader"), "parse +parseheader header");
  EXPECT_EQ(terms("parse_header"), "parse +parseheader header");
  EXPECT_EQ(terms("HTTPServer"), "http +httpserver server");
  EXPECT_EQ(terms("HTTP2Server x"), "http2 +http2server server x");
  EXPECT_EQ(terms("__init__ foo_ _bar"), "init foo bar");
  EXPECT_EQ(terms("MAX_SIZE"), "max +maxsize size");
  EXPECT_EQ(terms("src/base/text_cut.cpp"), "src base text +textcut cut cpp");
}

TEST(Terms, OfChineseAndJapaneseArePairs) {
  EXPECT_EQ(terms("記憶力"), "記憶 憶力 力");
  EXPECT_EQ(terms("記憶力", TermsOf::query), "記憶 憶力");
  EXPECT_EQ(terms("力", TermsOf::query), "力");
  EXPECT_EQ(terms("fix記憶 now", TermsOf::query), "fix 記憶 now");
  EXPECT_EQ(terms("fix記 now", TermsOf::query), "fix 記 now");
  EXPECT_EQ(terms("データを x 한국어"), "デー ータ タを を x 한국 국어 어");
}

TEST(Terms, HaveTheirPositions) {
  TermReader reader("a parseHeader(é)", TermsOf::document);
  Term term;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  while (reader.next(term)) places.emplace_back(term.start, term.end);
  EXPECT_EQ(places,
            (std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {2, 7}, {2, 13}, {7, 13}, {14, 16}}));
}

TEST(Terms, AreReadFromAnyBytesAndOfBoundedLength) {
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += static_cast<char>(i * 7 + i / 251);
  TermReader reader(bytes, TermsOf::document);
  Term term;
  std::size_t count = 0;
  while (reader.next(term)) {
    EXPECT_FALSE(term.text.empty());
    EXPECT_LT(term.start, term.end);
    EXPECT_LE(term.end, bytes.size());
    ++count;
  }
  EXPECT_GT(count, 100u);
  EXPECT_LT(terms(std::string(100'000, 'x')).size(), 200u);
}

constexpr std::int64_t kNowMs = 1'790'000'000'000;  // 2026-09-21T14:13:20Z
const WallTime kNow = from_epoch_ms(kNowMs);

std::string when(std::string_view text, bool end = false) {
  const auto moment = read_moment(text, kNow, end);
  return moment ? iso8601(*moment) : "none";
}

class Moments : public testing::Test {
 protected:
  Moments() {
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
  }
  ~Moments() override {
    unsetenv("TZ");
    tzset();
  }
};

TEST_F(Moments, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(when("2h"), "2026-09-21T12:13:20.000Z");
  EXPECT_EQ(when("30min"), "2026-09-21T13:43:20.000Z");
  EXPECT_EQ(when("2w"), "2026-09-07T14:13:20.000Z");
  EXPECT_EQ(when("2026-09-01T08:30Z"), "2026-09-01T08:30:00.000Z");
  EXPECT_EQ(when("2026-09-01T08:30:15Z"), "2026-09-01T08:30:15.000Z");
  for (const char* bad : {"", "x", "2", "2x", "2026", "2026-13-01", "2026-02-30", "2026-09-01T25:00",
                          "99999999999999999999d", "-3d"})
    EXPECT_EQ(when(bad), "none") << bad;
}

TEST_F(Moments, AreThoseOfTheUsersTimeZone) {
  // Berlin has summer time in September.
  EXPECT_EQ(when("2026-09-01"), "2026-08-31T22:00:00.000Z");
  EXPECT_EQ(when("2026-09-01", true), "2026-09-01T21:59:59.999Z");
  EXPECT_EQ(when("2026-08", true), "2026-08-31T21:59:59.999Z");
  EXPECT_EQ(when("today"), "2026-09-20T22:00:00.000Z");
  EXPECT_EQ(when("yesterday", true), "2026-09-20T21:59:59.999Z");
  EXPECT_EQ(when("2026-12-01 14:30"), "2026-12-01T13:30:00.000Z");
}

TEST(Query, TakesFiltersPhrasesAndExclusionsOutOfTheText) {
  const Query q = read_query(
      R"(wide lexer type:bugfix file:"my dir/x.cpp" since:2w "exact words" -slow kind:summary concept:how-it-works)",
      kNow);
  EXPECT_EQ(q.words, "wide lexer ");
  EXPECT_EQ(q.type, "bugfix");
  EXPECT_EQ(q.file, "my dir/x.cpp");
  EXPECT_EQ(q.kind, "summary");
  EXPECT_EQ(q.concept_name, "how-it-works");
  EXPECT_EQ(q.phrases, std::vector<std::string>{"exact words"});
  EXPECT_EQ(q.without, std::vector<std::string>{"slow"});
  ASSERT_TRUE(q.since.has_value());
  EXPECT_EQ(epoch_ms(*q.since), kNowMs - 14 * 86'400'000ll);
}

TEST(Query, TakesAFilterThatMakesNoSenseAsWords) {
  const Query q = read_query("since:never type: - a-b \"open", kNow);
  EXPECT_EQ(q.words, "since:never type: - a-b ");
  EXPECT_EQ(q.phrases, std::vector<std::string>{"open"});
  EXPECT_FALSE(q.since);
  EXPECT_TRUE(q.type.empty());
}

TEST(RecordIds, AreReadInEitherCaseAndWrittenInOne) {
  for (const char* text : {"O12", "S3", "P7"}) EXPECT_EQ(text_of(*read_record_id(text)), text);
  EXPECT_EQ(text_of(*read_record_id("o12")), "O12");
  for (const char* bad : {"", "O", "X1", "S1x", "12", "S -1", "S99999999999999999999"})
    EXPECT_FALSE(read_record_id(bad).ok()) << bad;
}

}  // namespace
}  // namespace cairn::recall
