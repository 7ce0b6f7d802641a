// The ways in: what an operation refuses, the control socket, the command line and the tools for agents
// refuse in the same words, for every operation and every argument. Only the names of arguments are spelled
// as the caller gave them.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <map>

#include "base/text.h"
#include "cli/command.h"
#include "daemon/dispatcher.h"
#include "mcp/render.h"
#include "mcp/tools.h"
#include "ops/operation.h"
#include "support/engine_fixture.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

using ops::Argument;
using ops::Operation;
using Place = Argument::Place;
using Type = Argument::Type;
using Words = std::vector<std::string>;

constexpr const char* kProject = "/home/dev/code/proj";

// A daemon without its socket: requests go through the dispatcher to its threads. This thread is its loop.
class Daemon final : public mcp::Memory {
 public:
  ~Daemon() override {
    dispatcher_.stop();
    for (daemon::JobThread* thread : {&writer_, &reader_, &slow_reader_}) thread->stop();
  }
  Result<Json> ask(std::string_view operation, const Json& args) {
    std::promise<Result<Json>> reply;
    dispatcher_.request(operation, args, [&](const Result<Json>& result) { reply.set_value(result); });
    return reply.get_future().get();
  }
  Result<Json> call(std::string_view operation, const Json& args, const std::function<bool()>&) override {
    return ask(operation, args);
  }

 private:
  TempDir directory_;
  hook::Home home_ = hook::Home::at(directory_ / "home");
  os::RealDisk disk_;
  os::RealClock clock_;
  os::RealProcesses processes_;
  NullLog log_;
  std::unique_ptr<daemon::Engine> engine_ =
      must(daemon::Engine::open(home_, {disk_, clock_, processes_, log_, "", false}));
  std::unique_ptr<daemon::Loop> loop_ = must(daemon::Loop::create());
  daemon::JobThread writer_{"writer", log_};
  daemon::JobThread reader_{"reader", log_};
  daemon::JobThread slow_reader_{"slow reader", log_};
  daemon::Dispatcher dispatcher_{{home_, disk_, clock_, *loop_, *engine_, writer_, reader_, slow_reader_,
                                  [] {}, [](const std::string&) {}}};
};

// An argument of a request, as JSON and as it is typed.
struct Given {
  const Argument* argument;
  Json value;
  std::string word;
};

Given good(const Argument& argument) {
  const auto text = [&](std::string_view value) { return Given{&argument, value, std::string(value)}; };
  const std::string id = std::string(1, argument.kinds.empty() ? ' ' : argument.kinds.front()) + "1";
  switch (argument.type) {
    case Type::text: return text("proj");
    case Type::choice: return text(argument.choices.substr(0, argument.choices.find('|')));
    case Type::integer: return {&argument, argument.min, std::to_string(argument.min)};
    case Type::flag: return {&argument, true, "true"};
    case Type::texts: return {&argument, Json::array({"a"}), "a"};
    case Type::moment: return text("3d");
    case Type::name: return text("1111");
    case Type::record: return text(id);
    case Type::records: return {&argument, Json::array({id}), id};
    case Type::path: return text(kProject);
  }
  return {};
}

// What the argument does not take. A text takes everything that can be typed.
std::vector<Given> bad(const Argument& argument) {
  Words words = {""};
  switch (argument.type) {
    case Type::text:
    case Type::texts: return {};
    case Type::choice: words.emplace_back("nonsense"); break;
    case Type::integer:
      words.insert(words.end(), {"x", "1.5", "99999999999999999999"});
      if (argument.min > INT64_MIN) words.push_back(std::to_string(argument.min - 1));
      if (argument.max < INT64_MAX) words.push_back(std::to_string(argument.max + 1));
      break;
    case Type::flag: words.insert(words.end(), {"maybe", "1"}); break;
    case Type::moment: words.emplace_back("someday"); break;
    case Type::record:
    case Type::records: words.insert(words.end(), {"X1", "B1", "O", "O1x", "O99999999999999999999"}); break;
    case Type::name:
    case Type::path: break;
  }
  std::vector<Given> all;
  for (const std::string& word : words) {
    Json value = word;
    if (argument.type == Type::records) value = Json::array({word});
    const bool number =
        !word.empty() && word.size() < 19 && word.find_first_not_of("-0123456789") == std::string::npos;
    if (argument.type == Type::integer && number) value = Json(std::stoll(word));
    all.push_back({&argument, value, word});
  }
  return all;
}

bool is_scope(const Argument& argument) {
  return argument.name == "cwd" || argument.name == "project" || argument.name == "all";
}

// What a request must have, but for `except`.
std::vector<Given> needed(const Operation& operation, std::string_view except = {}) {
  std::vector<Given> all;
  const std::string_view first = operation.one_of.substr(0, operation.one_of.find(' '));
  for (const Argument& argument : operation.arguments)
    if (!is_scope(argument) && argument.name != except && (argument.required || first == argument.name))
      all.push_back(good(argument));
  return all;
}

std::vector<Given> needed_and(const Operation& operation, const Given& more) {
  std::vector<Given> all = needed(operation, more.argument->name);
  all.push_back(more);
  return all;
}

Json request(const Operation& operation, const std::vector<Given>& given) {
  Json args = Json::object();
  for (const Given& one : given) args.set(one.argument->name, one.value);
  const bool scoped = operation.scope != ops::Scope::none && (args.has("project") || args.has("all"));
  if (operation.find("cwd") && !args.has("cwd") && !scoped) args.set("cwd", kProject);
  return args;
}

Words command_words(const Operation& operation) {
  Words words;
  for (const std::string_view word : split(operation.name, '.')) words.emplace_back(word);
  return words;
}

Words line(const Operation& operation, const std::vector<Given>& given) {
  Words words = command_words(operation);
  for (const Given& one : given)
    if (one.argument->place == Place::option) words.push_back(one.argument->option() + "=" + one.word);
  // Words have the order of their declaration.
  for (const Argument& argument : operation.arguments)
    for (const Given& one : given)
      if (one.argument == &argument && argument.place != Place::option && argument.place != Place::nowhere)
        words.push_back(one.word);
  return words;
}

// Why a command line is refused, by what reads every command line; empty when it is not.
std::string typed(const Words& words) {
  const auto read = cli::read_arguments(words);
  if (!read) return read.error().message;
  const auto args = cli::checked_arguments(*read, kProject);
  return args ? "" : args.error().message;
}

// The name of an argument, or "NAME=VALUE", as it is typed; empty for one that no command line can give.
std::string typed_name(const Operation& operation, const std::string& what) {
  const std::string name = what.substr(0, what.find('='));
  const Argument* argument = operation.find(name);
  if (argument && argument->place == Place::nowhere) return "";
  if (argument && argument->place != Place::option) return std::string(argument->label);
  std::string option = "--" + name;
  std::replace(option.begin(), option.end(), '_', '-');
  return option + what.substr(name.size());
}

std::string typed_list(const Operation& operation, const std::string& names) {
  std::string list;
  for (const std::string_view name : split(names, ','))
    if (const std::string one = typed_name(operation, std::string(trim(name))); !one.empty())
      list += (list.empty() ? "" : ", ") + one;
  return list.empty() ? "none" : list;
}

// A message of the socket with its names spelled as they are typed.
std::string as_typed(const Operation& operation, const std::string& message) {
  const std::string title = operation.title() + ": ";
  EXPECT_TRUE(message.starts_with(title)) << message;
  std::string rest = message.substr(title.size());
  if (const std::string_view mark = "give one of "; rest.starts_with(mark))
    return title + std::string(mark) + typed_list(operation, rest.substr(mark.size()));
  if (const std::string_view mark = ": it takes "; rest.find(mark) != std::string::npos) {
    const std::size_t quote = rest.find('"') + 1, list = rest.find(mark) + mark.size();
    return title + rest.substr(0, quote) + "--" + rest.substr(quote, list - quote) +
           (rest.substr(list) == "none" ? "none" : typed_list(operation, rest.substr(list)));
  }
  // "A must be ...", "A is missing: ...", "A goes with B: ...", "A and B exclude ..."
  for (const std::string_view mark : {" goes with ", " and "})
    if (const std::size_t at = rest.find(mark); at == rest.find(' ')) {
      const std::size_t second = at + mark.size(), end = rest.find_first_of(" :", second);
      rest = rest.substr(0, second) + typed_name(operation, rest.substr(second, end - second)) +
             rest.substr(end);
    }
  const std::size_t first = rest.find(' ');
  return title + typed_name(operation, rest.substr(0, first)) + rest.substr(first);
}

// Whether a command line can give just these. A word needs the words before it.
bool can_be_typed(const Operation& operation, const std::vector<Given>& given) {
  const auto is_given = [&](const ops::Argument& argument) {
    return std::any_of(given.begin(), given.end(),
                       [&](const Given& one) { return one.argument->name == argument.name; });
  };
  bool skipped = false;  // a word
  for (const ops::Argument& argument : operation.arguments) {
    if (is_given(argument) &&
        (argument.place == Place::nowhere || (argument.place == Place::word && skipped)))
      return false;
    skipped = skipped || (argument.place == Place::word && !is_given(argument));
  }
  return true;
}

class WaysIn : public testing::Test {
 protected:
  // Why the socket refuses a request as `invalid`; empty when it does not.
  std::string asked(const Operation& operation, const Json& args) {
    const auto result = daemon.ask(operation.name, args);
    return !result && result.error().code == Code::invalid ? result.error().message : "";
  }

  // Both must refuse it, alike. Gives the socket's message.
  std::string expect_alike(const Operation& operation, const std::vector<Given>& given) {
    const Json args = request(operation, given);
    const std::string socket = asked(operation, args);
    EXPECT_NE(socket, "") << operation.name << " " << args.dump();
    if (!socket.empty() && operation.group != ops::Group::none && can_be_typed(operation, given)) {
      EXPECT_EQ(typed(line(operation, given)), as_typed(operation, socket)) << args.dump();
      ++alike;
    }
    return socket;
  }

  Daemon daemon;
  int alike = 0;
};

TEST_F(WaysIn, RefuseAValueOfTheWrongTypeOrOutOfRange) {
  for (const Operation& operation : ops::operations())
    for (const Argument& argument : operation.arguments)
      for (const Given& one : bad(argument))
        EXPECT_EQ(expect_alike(operation, needed_and(operation, one)),
                  operation.title() + ": " + std::string(argument.name) + " must be " + wanted(argument));
  EXPECT_GT(alike, 400);
}

TEST_F(WaysIn, RefuseEveryTypeOfJsonThatAnArgumentDoesNotTake) {
  const std::vector<Json> values = {true, -7, 1e300, "\x01", Json::array({1}), Json::object({{"id", 1}})};
  for (const Operation& operation : ops::operations())
    for (const Argument& argument : operation.arguments)
      for (const Json& value : values) {
        if (fits(argument, value)) continue;
        EXPECT_EQ(asked(operation, request(operation, needed_and(operation, {&argument, value, ""}))),
                  operation.title() + ": " + std::string(argument.name) + " must be " + wanted(argument));
      }
}

TEST_F(WaysIn, RefuseARequestThatLacksAnArgument) {
  for (const Operation& operation : ops::operations())
    for (const Given& one : needed(operation)) {
      const std::string name(one.argument->name);
      std::vector<Given> others = needed(operation, name);
      // A word can only be missing together with those after it.
      std::erase_if(others, [&](const Given& other) {
        return other.argument->place == Place::word && other.argument > one.argument;
      });
      const std::string why = expect_alike(operation, others);
      EXPECT_NE(why.find(one.argument->required ? name + " is missing: " + wanted(*one.argument)
                                                : "give one of " + name),
                std::string::npos)
          << why;
    }
  EXPECT_GT(alike, 30);
}

TEST_F(WaysIn, RefuseAnArgumentThatIsUnknown) {
  for (const Operation& operation : ops::operations()) {
    Json args = request(operation, needed(operation));
    args.set("frobnicate", "x");
    const std::string socket = asked(operation, args);
    EXPECT_NE(socket.find("there is no argument \"frobnicate\": it takes "), std::string::npos) << socket;
    if (operation.group == ops::Group::none) continue;
    Words words = command_words(operation);
    words.emplace_back("--frobnicate");
    EXPECT_EQ(typed(words), as_typed(operation, socket));
  }
}

TEST_F(WaysIn, RefuseAWordTooMany) {
  int tried = 0;
  for (const Operation& operation : ops::operations()) {
    if (operation.group == ops::Group::none) continue;
    std::vector<Given> all = needed(operation);
    bool takes_more = false;
    for (const Argument& argument : operation.arguments) {
      takes_more = takes_more || argument.place == Place::words || argument.place == Place::text;
      if (argument.place == Place::word && !argument.required) all.push_back(good(argument));
    }
    if (takes_more) continue;
    Words words = line(operation, all);
    words.emplace_back("hunter2");
    const std::string unknown =
        as_typed(operation, operation.unknown("frobnicate", ops::Spelling::request).message);
    EXPECT_EQ(typed(words), operation.title() + ": there is one word too many" +
                                unknown.substr(unknown.find(": it takes")));
    ++tried;
  }
  EXPECT_GT(tried, 50);
}

TEST_F(WaysIn, RefuseArgumentsThatDoNotGoTogether) {
  for (const Operation& operation : ops::operations()) {
    for (const Argument& argument : operation.arguments) {
      if (!argument.with.empty()) expect_alike(operation, needed_and(operation, good(argument)));
      for (const std::string_view other : split(argument.excluded, ' ')) {
        if (other.empty()) continue;
        std::vector<Given> both = needed_and(operation, good(argument));
        const std::size_t sign = std::min(other.find('='), other.size());
        Given excluded = good(*operation.find(other.substr(0, sign)));
        if (sign < other.size()) {
          excluded.word = other.substr(sign + 1);
          excluded.value = excluded.word;
        }
        both.push_back(excluded);
        EXPECT_NE(expect_alike(operation, both).find(" exclude each other: leave one out"),
                  std::string::npos);
      }
    }
    const auto alternatives = split(operation.one_of, ' ');
    if (alternatives.size() > 2)
      expect_alike(operation,
                   {good(*operation.find(alternatives[0])), good(*operation.find(alternatives[1]))});
    if (operation.scope != ops::Scope::any) continue;
    std::vector<Given> both = needed(operation);
    both.push_back(good(*operation.find("all")));
    both.push_back(good(*operation.find("project")));
    expect_alike(operation, both);
  }
  EXPECT_GT(alike, 20);
}

// Each tool of an agent is a part of one operation.
const std::map<std::string, std::string_view> kOperationOf = {
    {"search", "search"},     {"timeline", "timeline"},     {"get", "show"},
    {"remember", "remember"}, {"forget", "forget.request"}, {"resume", "resume"}};

TEST_F(WaysIn, OfAgentsRefuseInTheSameWords) {
  const mcp::Tools tools(daemon, {kProject, ""});
  const auto refused = [&](const std::string& tool, const Json& arguments) {
    const mcp::ToolResult result = tools.call(tool, arguments, [] { return true; });
    EXPECT_TRUE(result.is_error) << tool << " " << arguments.dump();
    return result.text;
  };
  int tried = 0;
  for (const Json& definition : tools.definitions().items()) {
    const std::string tool(definition["name"].as_string());
    const Operation& operation = *ops::find_operation(kOperationOf.at(tool));
    const auto as_tool = [&](const std::string& message) {
      return mcp::harmless(tool + message.substr(operation.title().size()));
    };
    std::string names;
    Json fine = Json::object();
    for (const auto& [name, schema] : definition["inputSchema"]["properties"].members()) {
      names += (names.empty() ? "" : ", ") + name;
      if (const Argument* argument = operation.find(name); argument && (argument->required || name == "id"))
        fine.set(name, good(*argument).value);
    }
    for (const auto& [name, schema] : definition["inputSchema"]["properties"].members()) {
      const Argument* argument = operation.find(name);
      if (!argument) continue;  // the tool's own
      for (const Json& value : {Json(true), Json(-7), Json("\x01"), Json::array({1}), Json("nonsense")}) {
        if (fits(*argument, value) && !argument->wrong) continue;
        Json args = fine;
        const std::string socket =
            asked(operation, request(operation, needed_and(operation, {argument, value, ""})));
        EXPECT_EQ(refused(tool, args.set(name, value)), as_tool(socket));
        ++tried;
      }
    }
    for (const Json& name : definition["inputSchema"]["required"].items()) {
      const Argument& argument = *operation.find(name.as_string());
      EXPECT_EQ(refused(tool, Json::object()),
                tool + ": " + std::string(argument.name) + " is missing: " + wanted(argument));
    }
    Json unknown = fine;
    EXPECT_EQ(refused(tool, unknown.set("frobnicate", "x")),
              tool + ": there is no argument \"frobnicate\": it takes " + names);
    EXPECT_EQ(refused(tool, Json("text")), tool + ": the arguments are not a JSON object");
  }
  EXPECT_EQ(refused("get", Json::object({{"ids", Json::array({"S1"})}, {"tokens", 1}})),
            "get: tokens must be a whole number from 50 to 20000");
  EXPECT_GT(tried, 50);
}

}  // namespace
}  // namespace cairn::test
