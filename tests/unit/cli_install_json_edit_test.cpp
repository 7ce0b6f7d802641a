#include <gtest/gtest.h>

#include "cli/diff.h"
#include "host/json_edit.h"

namespace cairn::cli {
namespace {

using namespace host;

std::string why_not(std::string_view text) {
  const auto root = scan(text);
  return root.ok() ? "JSON" : root.error().message;
}

std::string with_member(std::string_view text, std::string_view key, const Json& value) {
  const auto root = scan(text);
  return root ? insert_last(text, JsonStyle::of(text, *root), *root, key, value) : "not JSON";
}

TEST(JsonEdit, FindsWhereValuesStand) {
  const std::string text =
      "\xef\xbb\xbf{ \"a\" : [1, -2.5e+3 ,\"x\\u00e4\\\"\"], \"\\u0062\": {\"c\":null} }\n";
  const auto root = scan(text);
  ASSERT_TRUE(root.ok()) << root.error().message;
  ASSERT_EQ(root->children.size(), 2u);
  const JsonNode& list = root->children[0];
  EXPECT_EQ(text.substr(list.begin, list.end - list.begin), "[1, -2.5e+3 ,\"x\\u00e4\\\"\"]");
  ASSERT_NE(root->find("b"), nullptr);
  EXPECT_NE(root->find("b")->find("c"), nullptr);
  EXPECT_EQ(root->find("c"), nullptr);
}

TEST(JsonEdit, TakesTheLastOfEqualKeys) {
  const std::string text = R"({"a":1,"a":2})";
  const auto root = scan(text);
  EXPECT_EQ(root->find("a"), &root->children[1]);
}

TEST(JsonEdit, SaysWhereTheTextStopsBeingJson) {
  EXPECT_EQ(why_not("{\n  \"ä\": 1\n  \"b\": 2\n}"), "line 3, column 3: a comma is missing");
  EXPECT_EQ(why_not("{\"ä\" 1}"), "line 1, column 6: a colon is missing");
  EXPECT_EQ(why_not("{\"a\": 1,}"), "line 1, column 9: a name in quotes is expected");
  EXPECT_EQ(why_not("[1,]"), "line 1, column 4: a value is expected");
  EXPECT_EQ(why_not("{} {}"), "line 1, column 4: text after the end of the document");
  EXPECT_EQ(why_not("// note\n{}"), "line 1, column 1: comments are not JSON");
  EXPECT_EQ(why_not("[\"a\nb\"]"), "line 1, column 4: a control character in a text");
  EXPECT_EQ(why_not("[\"\\x\"]"), "line 1, column 4: a bad escape in a text");
  EXPECT_EQ(why_not("\"\\"), "line 1, column 3: a bad escape in a text");
  EXPECT_EQ(why_not("[\"a"), "line 1, column 4: a text without its closing quote");
  EXPECT_EQ(why_not("["), "line 1, column 2: the text ends where a value is expected");
  for (const char* bad : {"", "01", "1.", "-", "1e", ".5", "nul", "{a:1}", "[1 2]", "+1"})
    EXPECT_NE(why_not(bad), "JSON") << bad;
  for (const char* good : {"0", "-0", "1.5E-7", "true", " [ ] ", "{ }", "\"\""})
    EXPECT_EQ(why_not(good), "JSON");
}

TEST(JsonEdit, RefusesWhatIsTooDeep) {
  EXPECT_EQ(why_not(std::string(150, '[') + std::string(150, ']')), "JSON");
  EXPECT_NE(why_not(std::string(100'000, '[')).find("too deep"), std::string::npos);
}

TEST(JsonEdit, InsertsInTheFilesOwnStyle) {
  const Json value = Json::object({{"x", Json::array({Json(1)})}});
  EXPECT_EQ(with_member("{\n    \"a\": 1\n}", "b", value),
            "{\n    \"a\": 1,\n    \"b\": {\n        \"x\": [\n            1\n        ]\n    }\n}");
  EXPECT_EQ(with_member("{\r\n\t\"a\":1\r\n}\r\n", "b", value),
            "{\r\n\t\"a\":1,\r\n\t\"b\":{\r\n\t\t\"x\":[\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n");
  EXPECT_EQ(with_member("{\"a\":1}", "b", value), "{\"a\":1,\"b\":{\"x\":[1]}}");
  EXPECT_EQ(with_member("{ \"a\": 1 }", "b", value), "{ \"a\": 1, \"b\": {\"x\": [1]} }");
  EXPECT_EQ(with_member("{}", "b", Json("ü\n")), "{\n  \"b\": \"ü\\n\"\n}");
}

TEST(JsonEdit, ErasesAChildAndOneComma) {
  const std::string text = "[\n  1,\n  2,\n  3\n]";
  const JsonNode root = *scan(text);
  EXPECT_EQ(erase(text, root, 0), "[\n  2,\n  3\n]");
  EXPECT_EQ(erase(text, root, 1), "[\n  1,\n  3\n]");
  EXPECT_EQ(erase(text, root, 2), "[\n  1,\n  2\n]");
  EXPECT_EQ(erase("[ 1 ]", *scan("[ 1 ]"), 0), "[]");
}

TEST(Diff, ShowsThreeLinesAroundEachChange) {
  EXPECT_EQ(diff_text("a\n", "a\n", "f"), "");
  EXPECT_EQ(diff_text("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n", "f"),
            "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
  EXPECT_EQ(diff_text("", "{}\n", "f"), "--- f\n+++ f\n@@ -0,0 +1 @@\n+{}\n");
  EXPECT_EQ(diff_text("a", "a\n", "f"), "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST(Diff, MakesTwoHunksOfDistantChangesAndOneOfNearOnes) {
  std::string before, after, near;
  for (int i = 1; i <= 30; ++i) {
    const std::string line = std::to_string(i) + "\n";
    before += line;
    if (i != 3 && i != 20) after += line;
    if (i != 3 && i != 10) near += line;
  }
  EXPECT_EQ(diff_text(before, after, "f"),
            "--- f\n+++ f\n@@ -1,6 +1,5 @@\n 1\n 2\n-3\n 4\n 5\n 6\n@@ -17,7 +16,6 @@\n 17\n 18\n 19\n-20\n "
            "21\n 22\n "
            "23\n");
  EXPECT_EQ(diff_text(before, near, "f"),
            "--- f\n+++ f\n@@ -1,13 +1,11 @@\n 1\n 2\n-3\n 4\n 5\n 6\n 7\n 8\n 9\n-10\n 11\n 12\n 13\n");
}

TEST(Diff, ReplacesWholeWhatIsTooLongToCompare) {
  std::string before, after;
  for (int i = 0; i < 5000; ++i)
    before += "a" + std::to_string(i) + "\n", after += "b" + std::to_string(i) + "\n";
  const std::string diff = diff_text(before, after, "f");
  EXPECT_EQ(diff.find("@@ -1,5000 +1,5000 @@\n-a0\n"), 12u);
  EXPECT_NE(diff.find("-a4999\n+b0\n"), std::string::npos);
}

}  // namespace
}  // namespace cairn::cli
