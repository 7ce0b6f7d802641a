#include <gtest/gtest.h>

#include <random>

#include "base/text.h"

namespace cairn {
namespace {

TEST(Utf8, KeepsWhatIsValid) {
  const std::string text = "plain, \xc3\xa9, \xe4\xbd\xa0\xe5\xa5\xbd, \xf0\x9f\x98\x80";
  EXPECT_TRUE(is_utf8(text));
  EXPECT_EQ(valid_utf8(text), text);
}

TEST(Utf8, ReplacesWhatIsNot) {
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(valid_utf8("\xc0\x80"), "\xef\xbf\xbd\xef\xbf\xbd");           // overlong NUL
  EXPECT_EQ(valid_utf8("\xe4\xbd"), "\xef\xbf\xbd");                       // broken off
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80").substr(0, 3), "\xef\xbf\xbd");  // beyond U+10FFFF
  EXPECT_TRUE(is_utf8(valid_utf8("\xed\xa0\xbd\xed\xb8\x80")));            // surrogates
  EXPECT_EQ(valid_utf8("\xed\xa0\xbd").find('\xed'), std::string::npos);
}

TEST(Utf8, AnyBytesBecomeValid) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 3 ? 0x80 | random() % 128 : random() % 128);
    EXPECT_TRUE(is_utf8(valid_utf8(bytes)));
    EXPECT_TRUE(is_utf8(visible(bytes)));
    EXPECT_EQ(visible(visible(bytes)), visible(bytes));
  }
}

TEST(Prefix, EndsAtACharacter) {
  const std::string_view text =
      "a\xe4\xbd\xa0"
      "b";
  EXPECT_EQ(prefix(text, 3), "a");
  EXPECT_EQ(prefix(text, 4), "a\xe4\xbd\xa0");
  EXPECT_EQ(prefix(text, 99), text);
  EXPECT_EQ(suffix(text, 3), "b");
  EXPECT_EQ(suffix(text, 4),
            "\xe4\xbd\xa0"
            "b");
  EXPECT_EQ(suffix(text, 0), "");
}

TEST(Cut, CountsItsMarkerAndSaysHowMuchIsGone) {
  const std::string text(1000, 'x');
  const std::string out = cut(text, 100);
  EXPECT_LE(out.size(), 100u);
  EXPECT_GE(out.size(), 98u);
  const std::size_t kept = out.find_first_not_of('x');
  EXPECT_EQ(out.substr(kept), "\xe2\x80\xa6 [" + std::to_string(1000 - kept) + " bytes cut]");
  EXPECT_EQ(cut(text, 1000), text);
  EXPECT_EQ(cut(text, 5), "xxxxx");
}

TEST(Visible, RemovesTerminalSequences) {
  EXPECT_EQ(visible("\x1b[1;31mred\x1b[0m"), "red");
  EXPECT_EQ(visible("\x1b]0;title\x07"
                    "after"),
            "after");
  EXPECT_EQ(visible("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(visible("\x1bP1$r\x1b\\x"), "x");
  EXPECT_EQ(visible("\x1b(Bx\x1b"
                    "c"),
            "x");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31mred"),
            "red");
  EXPECT_EQ(visible("\xc2\x9d"
                    "0;t\xc2\x9cok"),
            "ok");
  EXPECT_EQ(visible("\x9b"
                    "31m")
                .find('\x9b'),
            std::string::npos);
}

TEST(Visible, AnEndlessControlStringDoesNotHideTheText) {
  EXPECT_EQ(visible("before \x1b]everything else"), "before everything else");
}

TEST(Visible, RemovesHiddenCharacters) {
  EXPECT_EQ(visible("a\xe2\x80\x8b"
                    "b\xe2\x81\xa0"
                    "c\xef\xbb\xbf"
                    "d"),
            "abcd");  // zero width
  EXPECT_EQ(visible("\xe2\x80\xae"
                    "evil\xe2\x81\xa6\xd8\x9c"),
            "evil");                                             // bidirectional
  EXPECT_EQ(visible("x\xf3\xa0\x81\xa9\xf3\xa0\x81\xa7"), "x");  // tags
  EXPECT_EQ(visible("x\xef\xb8\x80\xf3\xa0\x84\x80"), "x");      // variation selectors
  EXPECT_EQ(visible("\xee\x80\x80"
                    "y"),
            "y");  // private use
  EXPECT_EQ(visible(std::string_view("a\0b\x01\x7f", 5)), "ab");
}

TEST(Visible, KeepsOrdinaryTextAndEmoji) {
  const std::string_view text = "tab\there\nline \xc3\xa9 \xe2\x9d\xa4\xef\xb8\x8f \xf0\x9f\x91\x8d";
  EXPECT_EQ(visible(text), text);
  EXPECT_EQ(visible("a\r\nb\rc"), "a\nb\nc");
}

TEST(OneLine, FoldsWhiteSpaceAndCuts) {
  EXPECT_EQ(one_line("  a\n\n b\t c  ", 100), "a b c");
  EXPECT_EQ(one_line("abcdefghij", 6), "abc\xe2\x80\xa6");
  EXPECT_EQ(one_line("ab cdefghij", 6), "ab\xe2\x80\xa6");
  EXPECT_EQ(one_line("", 6), "");
  EXPECT_TRUE(is_utf8(one_line("\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0", 8)));
}

TEST(Lines, DropTheirEnds) {
  EXPECT_EQ(lines("a\r\nb\n"), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(lines("a\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_TRUE(lines("").empty());
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Text, TrimsAndComparesWithoutCase) {
  EXPECT_EQ(trim(" \t\na b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_TRUE(starts_with_nocase("PRIVATE>", "private"));
  EXPECT_FALSE(starts_with_nocase("priv", "private"));
  EXPECT_EQ(ascii_lower("AbC"), "abc");
}

TEST(Lengths, CountAsTheHostTheModelAndTheTerminalDo) {
  EXPECT_EQ(utf16_length("a\xc3\xa9\xf0\x9f\x98\x80"), 4u);
  EXPECT_EQ(estimate_tokens("abcde"), 2u);
  EXPECT_EQ(estimate_tokens("\xe4\xbd\xa0\xe5\xa5\xbd"), 2u);
  EXPECT_EQ(display_width("ab"), 2u);
  EXPECT_EQ(display_width("\xe4\xbd\xa0"), 2u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);
}

TEST(Glob, CoversWhatIsBelowWhatItMatches) {
  for (const char* pattern : {"/a/b", "/a/*", "**/b", "b", "/a/b/**", "/a/b/c", "?"})
    EXPECT_TRUE(glob_covers(pattern, "/a/b/c")) << pattern;
  for (const char* pattern : {"/a/b/c/d", "/b", "/a/c", "d", "/a/bb", "b/c/", ""})
    EXPECT_FALSE(glob_covers(pattern, "/a/b/c")) << pattern;
}

TEST(Glob, StarsStopAtSlashesUnlessDoubled) {
  EXPECT_TRUE(glob_match("/a/*.txt", "/a/b.txt"));
  EXPECT_FALSE(glob_match("/a/*.txt", "/a/c/b.txt"));
  EXPECT_TRUE(glob_match("/a/**", "/a/c/b.txt"));
  EXPECT_TRUE(glob_match("**/.env", "/a/b/.env"));
  EXPECT_TRUE(glob_match("**/.env", ".env"));
  EXPECT_FALSE(glob_match("**/.env", "/a/b/x.env"));
  EXPECT_TRUE(glob_match("/a/**/b", "/a/b"));
  EXPECT_TRUE(glob_match("/a/**/b", "/a/x/y/b"));
  EXPECT_FALSE(glob_match("/a/**/b", "/a/xb"));
  EXPECT_TRUE(glob_match("/a/?", "/a/b"));
  EXPECT_FALSE(glob_match("/a?b", "/a/b"));
}

TEST(Glob, WithoutASlashMatchesTheLastComponent) {
  EXPECT_TRUE(glob_match(".env", "/a/b/.env"));
  EXPECT_TRUE(glob_match("*.pem", "/keys/id.pem"));
  EXPECT_FALSE(glob_match("keys", "/keys/id.pem"));
  EXPECT_TRUE(glob_match("Read", "Read"));
  EXPECT_TRUE(glob_match("mcp__*", "mcp__server__tool"));
  EXPECT_FALSE(glob_match("", "a"));
}

TEST(Glob, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace cairn
