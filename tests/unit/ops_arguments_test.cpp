// The declarations of arguments, and what the check of a request makes of them. tests/unit/ops_ways_test.cpp
// has the table of all operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/operation.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using ops::Argument;
using ops::Operation;
using Type = Argument::Type;

constexpr const char* kHere = "/home/dev/code/proj";

class Arguments : public testing::Test {
 protected:
  Arguments() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt("fix the lexer"));
    m.tell(chat.stop("Fixed."));
  }

  // Why a request is refused as `invalid`; empty when it is not.
  std::string refusal(const Operation& operation, const Json& args) {
    const auto done = m.run(operation.name, args);
    return !done && done.error().code == Code::invalid ? done.error().message : "";
  }

  Machine m;
  Chat chat;
};

TEST_F(Arguments, AreDeclaredWithAMeaningAndOnce) {
  std::set<std::string_view> operations;
  for (const Operation& operation : ops::operations()) {
    EXPECT_TRUE(operations.insert(operation.name).second) << operation.name;
    EXPECT_FALSE(operation.summary.empty()) << operation.name;
    EXPECT_EQ(operation.access == ops::Access::daemon, operation.task != ops::Task::none) << operation.name;
    EXPECT_EQ(operation.task == ops::Task::none, operation.body != nullptr) << operation.name;
    std::set<std::string_view> names;
    for (const Argument& argument : operation.arguments) {
      EXPECT_TRUE(names.insert(argument.name).second) << operation.name << " " << argument.name;
      EXPECT_FALSE(argument.meaning.empty()) << operation.name << " " << argument.name;
      EXPECT_FALSE(argument.type == Type::integer && argument.min > argument.max) << argument.name;
      EXPECT_EQ(argument.type == Type::choice, !argument.choices.empty()) << argument.name;
      EXPECT_TRUE(argument.with.empty() || operation.find(argument.with)) << argument.name;
    }
  }
}

TEST_F(Arguments, ThatExcludeEachOtherAreRefused) {
  const auto why = [&](std::string_view name, const Json& args) {
    return refusal(*ops::find_operation(name), args);
  };
  const Json both = Json::object({{"all", true}, {"project", "proj"}});
  EXPECT_EQ(why("search", both), "search: give one of cwd, project, all");
  EXPECT_EQ(why("search", Json::object()), "search: give one of cwd, project, all");
  EXPECT_EQ(why("context", Json::object({{"all", true}, {"cwd", kHere}})),
            "context: there is no argument \"all\": it takes cwd, project, budget");
  EXPECT_EQ(why("queue.retry", Json::object({{"id", 1}, {"stuck", true}})),
            "queue retry: give one of id, session, stuck");
  EXPECT_EQ(why("queue.retry", Json::object({{"id", 1}, {"older_than", 5}})),
            "queue retry: older_than goes with stuck: give both or none");
  EXPECT_EQ(why("queue.list", Json::object({{"recent", 5}, {"status", "failed"}})),
            "queue list: recent and status=failed exclude each other: leave one out");
  EXPECT_EQ(why("queue.list", Json::object({{"recent", 5}, {"status", "processed"}})), "");
  EXPECT_EQ(why("open", Json::object({{"all", true}, {"text", "x"}})),
            "open: text and all exclude each other: leave one out");
  EXPECT_EQ(why("save", Json::object({{"cwd", kHere}, {"file", "/a"}, {"text", "x"}})),
            "save: file and text exclude each other: leave one out");
  EXPECT_EQ(why("status", Json("text")), "status: the arguments are not a JSON object");
}

TEST_F(Arguments, WrongValuesThatPassedInEarlierVersionsAreRefused) {
  const auto why = [&](std::string_view key, const Json& value) {
    Json args = Json::object({{"cwd", kHere}});
    args.set(key, value);
    return refusal(*ops::find_operation("search"), args);
  };
  EXPECT_EQ(why("limit", "x"), "search: limit must be a whole number from 1 to 1000");
  EXPECT_EQ(why("limit", -1), "search: limit must be a whole number from 1 to 1000");
  EXPECT_EQ(why("kind", "nonsense"),
            "search: kind must be " + wanted(*ops::find_operation("search")->find("kind")));
  EXPECT_EQ(why("host", "nonsense"),
            "search: host must be one of claude-code, codex, gemini, opencode, qwen, copilot, cursor");
  EXPECT_EQ(refusal(*ops::find_operation("search"), Json::object({{"all", "yes"}})),
            "search: all must be true or false");
  EXPECT_EQ(why("type", "weird"),
            "search: type must be one of security, bugfix, refactor, feature, decision, discovery, "
            "change");
}

// A secret may be given to the wrong argument: neither the check nor a handler repeats it.
TEST_F(Arguments, AreNotRepeatedInAMessage) {
  const std::string secret = "hunter2-correct-horse";
  const Json record = Json::object({{"id", "S1"}, {"ids", Json::array({"S1"})}, {"text", "A note."}});
  int refused = 0;
  for (const Operation& operation : ops::operations())
    for (const Argument& argument : operation.arguments)
      for (const Json& value :
           {Json(secret), Json::array({secret, 1}), Json::array({secret}), Json::object({{"key", secret}})}) {
        if (operation.access == ops::Access::daemon && fits(argument, value)) continue;
        Json args = Json::object();
        for (const Argument& other : operation.arguments) {
          if (other.name == "cwd") args.set("cwd", kHere);
          if (other.required && other.type != Type::path && record.has(other.name))
            args.set(other.name, record[other.name]);
          else if (other.required && other.type == Type::text)
            args.set(other.name, "proj");
        }
        const bool scope = argument.name == "project" && operation.scope != ops::Scope::none;
        if (scope) args.set("cwd", Json());
        const auto result = m.run(operation.name, args.set(argument.name, value));
        if (result) continue;
        ++refused;
        EXPECT_EQ(result.error().message.find(secret), std::string::npos)
            << operation.name << " " << argument.name << ": " << result.error().message;
        EXPECT_EQ(result.error().message.find("with --"), std::string::npos) << result.error().message;
      }
  EXPECT_GT(refused, 500);
}

TEST_F(Arguments, ThatAreRecordsNameEveryKindOfIdThatTheyTake) {
  for (const Operation& operation : ops::operations())
    for (const Argument& argument : operation.arguments) {
      if (argument.type != Type::record && argument.type != Type::records) continue;
      for (const char letter : {'S', 'O', 'P', 'T', 'A', 'E', 'D', 'W', 'B'}) {
        const Json id = letter + std::to_string(4);
        const bool takes = argument.kinds.find(letter) != std::string_view::npos;
        EXPECT_EQ(fits(argument, argument.type == Type::record ? id : Json::array({id})), takes) << letter;
        // "such as S3, O12 or W4"
        const std::string list = wanted(argument).substr(wanted(argument).find("such as"));
        EXPECT_EQ(list.find(letter) != std::string::npos && list != "such as", takes) << list << letter;
      }
    }
  const Argument& ids = *ops::find_operation("show")->find("ids");
  EXPECT_TRUE(fits(ids, Json::array({"claude-mem:12"})));
  EXPECT_FALSE(fits(*ops::find_operation("done")->find("ids"), Json::array({"claude-mem:12"})));
}

TEST_F(Arguments, TakeATypeThatSomethingStoredHasWhateverTheModeSays) {
  const Json args = Json::object({{"cwd", kHere}, {"type", "weird"}});
  ASSERT_EQ(m.run("search", args).error().code, Code::invalid);
  must(m.run("remember", Json::object({{"cwd", kHere}, {"text", "A note."}})));
  must(m.db().exec("UPDATE observations SET type = 'weird'"));
  EXPECT_EQ(must(m.run("search", args))["results"].items().size(), 1u);
}

TEST_F(Arguments, OfSettingsInMemoryFollowTheFile) {
  EXPECT_EQ(must(m.run("queue.clean"))["kept"].as_int(), 1);
  m.put_file(m.home.config_file, "[queue]\nkeep_processed = 0\n");
  EXPECT_EQ(must(m.run("queue.clean"))["kept"].as_int(), 0) << "at the next request, without a reload";
}

}  // namespace
}  // namespace cairn::test
