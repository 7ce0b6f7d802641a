#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "gate/private_text.h"

namespace cairn::gate {
namespace {

std::string without_private(std::string_view text) {
  return std::string(remove_private(text).of(text));
}

std::string cleaned_json(std::string_view text) {
  Json value = *Json::parse(text);
  remove_private(value);
  return value.dump();
}

TEST(PrivateText, RemovesWhatStandsBetweenTheTags) {
  EXPECT_EQ(without_private("a <private>b</private> c"), "a [private] c");
  EXPECT_EQ(without_private("<private>b</private>"), "[private]");
  EXPECT_EQ(without_private("a<private>b</private>c<private>d</private>"), "a[private]c[private]");
}

TEST(PrivateText, LeavesOtherTextAlone) {
  for (const char* text : {"", "plain", "a < b > c", "<privately>x</privately>", "&lt;privately&gt;x",
                           "public < private && x > 3", "public < private", "< private/>x", "<private/>x",
                           "a \\n b %41 &lt;b&gt; \\u003cb\\u003e"}) {
    EXPECT_EQ(without_private(text), text);
    EXPECT_FALSE(remove_private(text).removed) << text;
  }
}

TEST(PrivateText, KnowsNestedPartsInAnyDepth) {
  EXPECT_EQ(without_private("a<private>b<private>c</private>d</private>e"), "a[private]e");
}

TEST(PrivateText, AnUnclosedPartRunsToTheEnd) {
  const PrivateScan scan = remove_private("a<private>b<private>c</private>d");
  EXPECT_EQ(scan.text, "a[private]");
  EXPECT_EQ(scan.depth, 1);
}

TEST(PrivateText, AnUnopenedPartRunsFromTheStart) {
  const PrivateScan scan = remove_private("secret</private> open <private>b</private>");
  EXPECT_EQ(scan.text, "[private] open [private]");
  EXPECT_TRUE(scan.began_inside);
  EXPECT_EQ(without_private("a</private>b</private>c"), "[private]c");
}

TEST(PrivateText, KnowsOddlyWrittenTags) {
  EXPECT_EQ(without_private("a<PRIVATE>b</Private>c"), "a[private]c");
  EXPECT_EQ(without_private("a<private >b</private >c"), "a[private]c");
  EXPECT_EQ(without_private("a<private reason=\"x\">b</private>c"), "a[private]c");
  EXPECT_EQ(without_private("a<private\n reason='x>y'>b</private\n>c"), "a[private]c");
  EXPECT_EQ(without_private("a<private"), "a[private]");
  EXPECT_EQ(without_private("a</private"), "[private]");
  EXPECT_EQ(without_private("a< private >b</ private>c< / private >d"), "[private]d");
  EXPECT_EQ(without_private("a< private>b< /private>c"), "a[private]c");
}

TEST(PrivateText, KnowsTagsThatSomebodyEscaped) {
  for (const char* text :
       {"a&lt;private&gt;b&lt;/private&gt;c", "a\\u003cprivate\\u003eb\\u003c/private\\u003ec",
        "a\\u003Cprivate>b\\u003c\\/private>c", "a\\\\u003cprivate\\\\u003eb\\\\u003c\\\\/private\\\\u003ec",
        "a<private>b<\\/private>c", "a%3Cprivate%3Eb%3C%2Fprivate%3Ec",
        "a<pri\xe2\x80\x8bvate>b</private\xef\xbb\xbf>c", "a\uff1cprivate\uff1eb\uff1c\uff0fprivate\uff1ec",
        "a<\uff50\uff52\uff49vate>b</private>c"})
    EXPECT_EQ(without_private(text), "a[private]c") << text;
  EXPECT_EQ(without_private("a\\n\\u003cprivate\\u003eb"), "a\\n[private]")
      << "what is kept keeps its escapes";
}

TEST(PrivateText, CleansEveryStringAndKeyOfAValue) {
  EXPECT_EQ(cleaned_json(R"({"a":"x<private>s</private>","b":{"k<private>s</private>":1},"n":2})"),
            R"({"a":"x[private]","b":{"k[private]":1},"n":2})");
}

TEST(PrivateText, LinesOfAnArrayAreOneText) {
  EXPECT_EQ(cleaned_json(R"(["+a","+<private>","+s1","-s2","+</private>","+b"])"),
            R"(["+a","+[private]","+[private]","-[private]","+[private]","+b"])");
  EXPECT_EQ(cleaned_json(R"([" s1","+s2"," </private>"," b"])"),
            R"(["[private]","+[private]","[private]"," b"])");
  EXPECT_EQ(cleaned_json(R"(["<private>s",{"x":"y"},"b"])"), R"(["[private]","[private]","[private]"])");
}

TEST(PrivateText, APartRunsOverTheBlocksOfAnArray) {
  EXPECT_EQ(
      cleaned_json(R"([{"type":"text","text":"o<private>s"},{"type":"text","text":"s"},{"s":[1,true,"s"]},4,)"
                   R"({"type":"text","text":"s</private>p"},{"type":"text","text":"q"}])"),
      R"([{"type":"text","text":"o[private]"},"[private]","[private]","[private]",)"
      R"({"type":"[private]","text":"[private]p"},{"type":"text","text":"q"}])");
  EXPECT_EQ(cleaned_json(R"({"a":[[{"x":"<private>s"}],{"y":["s"]}],"b":"p","c":["p"]})"),
            R"({"a":[[{"x":"[private]"}],"[private]"],"b":"p","c":["p"]})")
      << "it ends with the array";
  EXPECT_EQ(cleaned_json(R"([{"x":"s","n":3},"s</private>p"])"),
            R"([{"x":"[private]","n":"[private]"},"[private]p"])");
  EXPECT_EQ(
      cleaned_json(R"(["<private>s</private>p<private>s","s</private><private>s","s</private>p",{"n":1}])"),
      R"(["[private]p[private]","[private][private]","[private]p",{"n":1}])");
}

TEST(PrivateText, AnEditInsideAPrivatePartIsPlacedByTheOriginalFile) {
  Json input = *Json::parse(R"({"file_path":"f","old_string":"secret1","new_string":"secret2"})");
  Json response = *Json::parse(R"({"oldString":"secret1","newString":"secret2",
    "originalFile":"a\n<private>\nsecret0\nsecret1\n</private>\nb\n",
    "structuredPatch":[{"oldStart":3,"lines":[" secret0","-secret1","+secret2"," </private>"," b"]}]})");
  EXPECT_TRUE(remove_private(input, response));
  EXPECT_EQ(input.dump().find("secret"), std::string::npos) << input.dump();
  EXPECT_EQ(response.dump().find("secret"), std::string::npos) << response.dump();
  EXPECT_EQ(response["structuredPatch"].items()[0]["lines"].items()[1].as_string()[0], '-');
  EXPECT_EQ(response["structuredPatch"].items()[0]["lines"].items()[4].as_string(), " b");
}

TEST(PrivateText, AnEditOutsideThePrivatePartsIsKept) {
  Json input = *Json::parse(R"({"old_string":"b","new_string":"c"})");
  Json response = *Json::parse(
      R"({"originalFile":"<private>x</private>\nb\n","structuredPatch":[{"oldStart":2,"lines":["-b","+c"]}]})");
  EXPECT_TRUE(remove_private(input, response));
  EXPECT_EQ(input.dump(), R"({"old_string":"b","new_string":"c"})");
  EXPECT_EQ(response["structuredPatch"].dump(), R"([{"oldStart":2,"lines":["-b","+c"]}])");
}

// Text is built from pieces that know whether they are private: $ is private text, # public text.
struct Built {
  std::string text;
  bool unopened = false;
};

Built random_text(std::mt19937& random) {
  static constexpr const char* kOpen[] = {"<private>", "<PRIVATE >", "<Private why=\"$\">", "<private\n>"};
  static constexpr const char* kClose[] = {"</private>", "</PRIVATE >", "</private\t>"};
  static constexpr const char* kNoise[] = {"<",    ">",  "</", "<b>", "<privat>",
                                           "</p>", "\"", "é",  "\n",  "<private/>"};
  Built built;
  int depth = 0;
  const int pieces = static_cast<int>(random() % 30);
  for (int i = 0; i < pieces; ++i) {
    switch (random() % 5) {
      case 0:
        built.text += kOpen[random() % 4];
        ++depth;
        break;
      case 1:
        built.unopened = built.unopened || depth == 0;
        depth = depth > 0 ? depth - 1 : 0;
        built.text += kClose[random() % 3];
        break;
      case 2: built.text += kNoise[random() % 10]; break;
      default: built.text += depth > 0 ? "$" : "#";
    }
  }
  return built;
}

TEST(PrivateText, NothingPrivateSurvivesWhateverTheNesting) {
  std::mt19937 random(5);
  for (int round = 0; round < 50'000; ++round) {
    const Built built = random_text(random);
    const std::string out = without_private(built.text);
    ASSERT_EQ(out.find('$'), std::string::npos) << built.text << "\n-> " << out;
    if (!built.unopened) {
      ASSERT_EQ(std::count(out.begin(), out.end(), '#'),
                std::count(built.text.begin(), built.text.end(), '#'))
          << built.text;
    }
    ASSERT_EQ(without_private(out), out);
  }
}

}  // namespace
}  // namespace cairn::gate
