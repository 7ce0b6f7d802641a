// What every operation refuses, and that a request and a command line are refused in the same words.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/command.h"
#include "ops/operation.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using ops::Argument;
using ops::Operation;
using Place = Argument::Place;
using Type = Argument::Type;

// A value that the argument takes, as JSON and as a word of the command line.
struct Good {
  Json value;
  std::string word;
};

Good good(const Argument& argument) {
  switch (argument.type) {
    case Type::text: return {"proj", "proj"};
    case Type::choice: {
      const std::string first(argument.choices.substr(0, argument.choices.find('|')));
      return {first, first};
    }
    case Type::integer: return {argument.min, std::to_string(argument.min)};
    case Type::flag: return {true, ""};
    case Type::texts: return {Json::array({"a"}), "a"};
    case Type::moment: return {"3d", "3d"};
    case Type::session: return {"1111", "1111"};
    case Type::record: return {"S1", "S1"};
    case Type::records: return {Json::array({"S1"}), "S1"};
    case Type::path: return {"/home/dev/code/proj", "/home/dev/code/proj"};
  }
  return {};
}

// Texts that the argument does not take.
std::vector<std::string> bad_words(const Argument& argument) {
  switch (argument.type) {
    case Type::choice: return {"nonsense"};
    case Type::integer: {
      std::vector<std::string> words = {"x", "1.5"};
      if (argument.min > INT64_MIN) words.push_back(std::to_string(argument.min - 1));
      if (argument.max < INT64_MAX) words.push_back(std::to_string(argument.max + 1));
      return words;
    }
    case Type::moment: return {"someday"};
    case Type::record:
    case Type::records: return {"X1"};
    default: return {};
  }
}

Json as_json(const Argument& argument, const std::string& word) {
  if (argument.type == Type::records) return Json::array({word});
  if (argument.type == Type::integer && word != "x" && word != "1.5") return Json(std::stoll(word));
  return Json(word);
}

std::vector<std::string> command_words(const Operation& operation) {
  std::vector<std::string> words;
  std::string name = operation.title();
  words.push_back(name.substr(0, name.find(' ')));
  if (name.find(' ') != std::string::npos) words.push_back(name.substr(name.find(' ') + 1));
  return words;
}

bool is_scope(const Argument& argument) {
  return argument.name == "cwd" || argument.name == "project" || argument.name == "all";
}

// Whether a request has to have it.
bool is_needed(const Operation& operation, const Argument& argument) {
  return argument.required || operation.one_of.substr(0, operation.one_of.find(' ')) == argument.name;
}

constexpr const char* kHere = "/home/dev/code/proj";

// A request that is fine, but for `name`, which is `value`; null leaves it out.
Json request(const Operation& operation, std::string_view name, const Json& value) {
  Json args = Json::object();
  if (operation.find("cwd")) args.set("cwd", kHere);
  for (const Argument& argument : operation.arguments)
    if (!is_scope(argument) && argument.name != name && is_needed(operation, argument))
      args.set(argument.name, good(argument).value);
  if (!name.empty() && !value.is_null()) args.set(name, value);
  return args;
}

// The same as a command line gives it: `word` for the argument `name`.
Result<Json> request_of_line(const Operation& operation, std::string_view name, const std::string& word) {
  std::vector<std::string> line = command_words(operation), text;
  for (const Argument& argument : operation.arguments) {
    const bool wanted = argument.name == name;
    if (!wanted && (is_scope(argument) || !is_needed(operation, argument))) continue;
    const std::string value = wanted ? word : good(argument).word;
    if (argument.place == Place::option) {
      line.push_back(argument.option());
      if (argument.type != Type::flag) line.push_back(value);
    } else if (argument.place != Place::nowhere) {
      text.push_back(value);
    }
  }
  line.insert(line.end(), text.begin(), text.end());
  const cli::Line read = TRY(cli::read_arguments(line));
  return cli::request_arguments(read, kHere);
}

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
    const auto done = operation.access == ops::Access::daemon ? [&]() -> Result<Json> {
      TRY(operation.check(args));
      return Json();
    }()
        : m.run(operation.name, args);
    return !done && done.error().code == Code::invalid ? done.error().message : "";
  }

  // The same of a command line.
  std::string refusal(const Operation& operation, const Result<Json>& args) {
    return args ? refusal(operation, *args) : args.error().message;
  }

  Machine m;
  Chat chat;
};

TEST_F(Arguments, AreDeclaredWithAMeaningAndOnce) {
  std::set<std::string_view> operations;
  for (const Operation& operation : ops::operations()) {
    EXPECT_TRUE(operations.insert(operation.name).second) << operation.name;
    EXPECT_FALSE(operation.summary.empty()) << operation.name;
    std::set<std::string_view> names;
    for (const Argument& argument : operation.arguments) {
      EXPECT_TRUE(names.insert(argument.name).second) << operation.name << " " << argument.name;
      EXPECT_FALSE(argument.meaning.empty()) << operation.name << " " << argument.name;
      EXPECT_FALSE(argument.type == Type::integer && argument.min > argument.max) << argument.name;
      EXPECT_TRUE(fits(argument, good(argument).value)) << operation.name << " " << argument.name;
      EXPECT_TRUE(argument.with.empty() || operation.find(argument.with)) << argument.name;
    }
  }
}

TEST_F(Arguments, OfAWrongTypeAreRefusedByNameWithWhatIsAllowed) {
  const std::vector<Json> values = {false, -7, 1e300, "\x01", Json::array({1}), Json::object({{"id", 1}})};
  for (const Operation& operation : ops::operations())
    for (const Argument& argument : operation.arguments)
      for (const Json& value : values) {
        if (fits(argument, value)) continue;
        const std::string why = refusal(operation, request(operation, argument.name, value));
        EXPECT_EQ(why.substr(0, operation.title().size()), operation.title()) << argument.name;
        EXPECT_NE(why.find(std::string(argument.name) + " must be " + wanted(argument)), std::string::npos)
            << why;
      }
}

TEST_F(Arguments, OutOfBoundsAreRefusedAlikeOverTheSocketAndOnTheCommandLine) {
  int tried = 0;
  for (const Operation& operation : ops::operations()) {
    if (operation.group == ops::Group::none) continue;
    for (const Argument& argument : operation.arguments) {
      if (argument.place == Place::nowhere) continue;
      for (const std::string& word : bad_words(argument)) {
        const std::string socket =
            refusal(operation, request(operation, argument.name, as_json(argument, word)));
        EXPECT_NE(socket, "") << operation.name << " " << argument.name << " " << word;
        EXPECT_EQ(refusal(operation, request_of_line(operation, argument.name, word)), socket);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 40);
}

TEST_F(Arguments, ThatAreMissingAreRefusedAlikeOverTheSocketAndOnTheCommandLine) {
  for (const Operation& operation : ops::operations()) {
    if (operation.group == ops::Group::none) continue;
    const bool needs =
        std::any_of(operation.arguments.begin(), operation.arguments.end(),
                    [&](const Argument& one) { return !is_scope(one) && is_needed(operation, one); });
    Json bare = Json::object();
    if (operation.find("cwd")) bare.set("cwd", kHere);
    const auto line = cli::read_arguments(command_words(operation));
    ASSERT_TRUE(line.ok()) << operation.name;
    const Result<Json> args = cli::request_arguments(*line, kHere);
    EXPECT_EQ(refusal(operation, args), refusal(operation, bare));
    EXPECT_EQ(refusal(operation, bare).empty(), !needs) << operation.name;
  }
}

TEST_F(Arguments, ThatAreUnknownAreRefusedAlikeOverTheSocketAndOnTheCommandLine) {
  for (const Operation& operation : ops::operations()) {
    Json args = request(operation, "", Json());
    args.set("frobnicate", "x");
    const std::string socket = refusal(operation, args);
    EXPECT_NE(socket.find("there is no argument \"frobnicate\""), std::string::npos) << socket;
    if (operation.group == ops::Group::none) continue;
    std::vector<std::string> line = command_words(operation);
    line.emplace_back("--frobnicate");
    EXPECT_EQ(cli::read_arguments(line).error().message, socket);
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
  EXPECT_EQ(why("status", Json("text")), "status: the arguments are not a JSON object");
}

TEST_F(Arguments, OfTheExamplesThatPassedOnceAreRefused) {
  const auto why = [&](std::string_view key, const Json& value) {
    Json args = Json::object({{"cwd", kHere}});
    args.set(key, value);
    return refusal(*ops::find_operation("search"), args);
  };
  EXPECT_EQ(why("limit", "x"), "search: limit must be a whole number from 1 to 1000");
  EXPECT_EQ(why("limit", -1), "search: limit must be a whole number from 1 to 1000");
  EXPECT_EQ(why("kind", "nonsense"),
            "search: kind must be " + wanted(*ops::find_operation("search")->find("kind")));
  EXPECT_EQ(refusal(*ops::find_operation("search"), Json::object({{"all", "yes"}})),
            "search: all must be true or false");
  EXPECT_EQ(why("type", "weird"),
            "search: type must be one of security, bugfix, refactor, feature, decision, discovery, "
            "change");
}

TEST_F(Arguments, ThatAreRefusedAreNotRepeatedInTheMessage) {
  const std::string secret = "hunter2-correct-horse";
  for (const Operation& operation : ops::operations())
    for (const Argument& argument : operation.arguments)
      for (const Json& value :
           {Json(secret), Json::array({secret, 1}), Json::object({{"password", secret}})}) {
        if (fits(argument, value) && !argument.wrong) continue;
        const auto result = m.run(operation.name, request(operation, argument.name, value));
        ASSERT_FALSE(result.ok()) << operation.name << " " << argument.name;
        EXPECT_EQ(result.error().message.find(secret), std::string::npos) << result.error().message;
      }
  const auto why = m.run("remember", Json::object({{"cwd", kHere}, {"text", "A note."}, {"type", secret}}));
  EXPECT_EQ(why.error().message,
            "remember: type must be one of security, bugfix, refactor, feature, decision, discovery, change");
}

TEST_F(Arguments, ThatAreRecordsNameEveryKindOfId) {
  for (const char letter : {'S', 'O', 'P', 'T', 'W'}) {
    const std::string id = letter + std::to_string(4);
    const Argument& argument = *ops::find_operation("show")->find("ids");
    EXPECT_TRUE(fits(argument, Json::array({id})));
    EXPECT_NE(wanted(argument).find(letter), std::string::npos) << letter;
  }
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
