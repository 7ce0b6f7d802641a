#include <gtest/gtest.h>

#include "base/text.h"
#include "distil/symbols.h"
#include "distil/test_output.h"
#include "unit/distil_steps.h"

namespace cairn::distil {
namespace {

using Texts = std::vector<std::string>;
using Slot = Observation::Slot;

Turn turn_of(std::vector<Step> steps, std::string answer = "", Turn::End end = Turn::End::stopped) {
  Turn turn;
  turn.prompt = "Please look after the lexer";
  turn.root = "/home/dev/proj";
  turn.steps = std::move(steps);
  for (std::size_t i = 0; i < turn.steps.size(); ++i) turn.steps[i].event = static_cast<std::int64_t>(10 + i);
  turn.last_answer = std::move(answer);
  turn.answer_event = 99;
  turn.end = end;
  return turn;
}

std::vector<Observation> observations_of(std::vector<Step> steps, std::string answer = "",
                                         Turn::End end = Turn::End::stopped) {
  const Turn turn = turn_of(std::move(steps), std::move(answer), end);
  const Distilled distilled = distil(turn);
  EXPECT_EQ(distil(turn), distilled);
  return distilled.observations;
}

const Observation& at(const std::vector<Observation>& list, Slot slot) {
  static const Observation none;
  for (const Observation& o : list)
    if (o.slot == slot) return o;
  ADD_FAILURE() << "no such observation among " << list.size();
  return none;
}

Step red(std::string_view command, std::string output) {
  return failed(bash(command), "Exit code 1\n" + std::move(output));
}

TEST(Observations, AFailureThatPassesLaterIsABugfixWithBothEnds) {
  const auto list = observations_of(
      {red("npm test", "FAIL src/lexer.test.ts\n  \xe2\x9c\x95 reads wide words (3 ms)"),
       edit("/home/dev/proj/src/lexer.ts", Json::array({" function readWord() {", "-a", "+b"})),
       bash("npm test", "Tests: 12 passed, 12 total")},
      "The problem was an index counted in bytes. Everything is green.");
  ASSERT_EQ(list.size(), 1u);
  const Observation& o = list[0];
  EXPECT_EQ(o.type, "bugfix");
  EXPECT_EQ(o.title,
            "'npm test' failed ([output: reads wide words]), now passes after a change of src/lexer.ts");
  EXPECT_EQ(o.subtitle, "Please look after the lexer");
  EXPECT_EQ(o.facts, (Texts{"'npm test' failed (exit code 1: [output: FAIL src/lexer.test.ts]); failing: "
                            "[output: reads wide words].",
                            "Edited src/lexer.ts (+1 -1): readWord.",
                            "'npm test' passed ([output: Tests: 12 passed, 12 total])."}));
  EXPECT_EQ(o.narrative, "The problem was an index counted in bytes.");
  EXPECT_EQ(o.files_modified, Texts{"src/lexer.ts"});
  EXPECT_EQ(o.events, (std::vector<std::int64_t>{10, 11, 12, 99}));
}

TEST(Observations, TheSameCheckBehindAFilterIsTheSameAndItsWordsDecide) {
  const auto list = observations_of(
      {bash("npm test 2>&1 | tail -5", "  \xe2\x9c\x95 reads wide words\nTests: 1 failed, 11 passed"),
       edit("/home/dev/proj/a.ts", Json::array({"+b"})), bash("npm test")});
  EXPECT_EQ(at(list, Slot::fixed).facts.front(),
            "'npm test' failed ([output: Tests: 1 failed, 11 passed]); failing: [output: reads wide words].");
  const Summary s =
      distil(turn_of({bash("make test | tail -3", "done"), bash("cd x && make all; echo ready", "ready")}))
          .summary;
  EXPECT_EQ(s.completed, "Ran 'make test'. Ran 'make all'.") << "nobody saw their exit status";
}

TEST(Observations, APathThatHoldsTheWordTestIsNoTest) {
  for (const char* command :
       {"touch tests/x", "ls tests", "mv test.txt build/", "cat check.md", "echo build"})
    EXPECT_EQ(distil(turn_of({bash(command)})).summary.completed.find("passed"), std::string::npos)
        << command;
  for (const char* command : {"npm run test:unit", "./check", "cargo test -p x", "python3 -m pytest -q",
                              "go vet ./...", "cd web && yarn lint", "scripts/run_tests.sh", "CI=1 make"})
    EXPECT_NE(distil(turn_of({bash(command)})).summary.completed.find("passed"), std::string::npos)
        << command;
}

TEST(Observations, AChangeNamesFilesLinesSymbolsAndCommits) {
  const auto list = observations_of(
      {create("/home/dev/proj/src/cache.py", "import os\n\nclass Cache:\n    def get(self):\n        pass\n"),
       edit("/home/dev/proj/src/app.py", Json::array({" def main():", "+    cache = Cache()"})),
       bash("git add -A && git commit -m 'Add a cache'", "[main 1a2b3c4] Add a cache\n 2 files changed")},
      "Added the cache.");
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].type, "feature");
  EXPECT_EQ(list[0].title, "Add a cache");
  EXPECT_EQ(list[0].facts,
            (Texts{"Committed 1a2b3c4 \"Add a cache\".", "Created src/cache.py (5 lines): Cache.",
                   "Edited src/app.py (+1 -0): main."}));
  EXPECT_EQ(list[0].files_modified, (Texts{"src/app.py", "src/cache.py"}));
  EXPECT_EQ(list[0].events, (std::vector<std::int64_t>{10, 11, 12, 99}));
}

TEST(Observations, ARevertIsACommitToo) {
  const auto list = observations_of(
      {bash("git revert --no-edit HEAD", "[main 9f8e7d6] Revert \"Add a cache\"\n 2 files changed")});
  EXPECT_EQ(at(list, Slot::changed).title, "[output: Revert \"Add a cache\"]");
  EXPECT_EQ(at(list, Slot::changed).type, "bugfix");
}

TEST(Observations, FilesOfCommandsAreAChange) {
  const auto list = observations_of({bash("mv a.txt b.txt && sed -i s/x/y/ c.txt")});
  EXPECT_EQ(at(list, Slot::changed).facts, Texts{"Changed by commands: a.txt, b.txt and c.txt."});
  EXPECT_EQ(at(list, Slot::changed).files_modified, (Texts{"a.txt", "b.txt", "c.txt"}));
}

TEST(Observations, AFailureThatRemainsIsReported) {
  const auto steps = {red("make test", "lexer.cpp:3: error: expected ';'")};
  EXPECT_EQ(at(observations_of(steps), Slot::failing).title,
            "'make test' fails: [output: lexer.cpp:3: error: expected ';']");
  EXPECT_TRUE(observations_of(steps, "", Turn::End::open).empty()) << "it may be fixed later";
}

TEST(Observations, ACommandThatWorkedAfterFailuresIsRecorded) {
  const auto list = observations_of({red("pip install psycopg2", "error: pg_config executable not found"),
                                     bash("pip install psycopg2-binary")});
  EXPECT_EQ(
      at(list, Slot::worked).facts,
      Texts{"'pip install psycopg2' failed (exit code 1: [output: error: pg_config executable not found]); "
            "'pip install psycopg2-binary' worked."});
  EXPECT_EQ(at(list, Slot::worked).events, (std::vector<std::int64_t>{10, 11}));
}

TEST(Observations, FindingsAndDecisionsAreKeptWordForWord) {
  const auto list = observations_of(
      {}, "We decided to keep SQLite instead of a server. It is slow because every row is read.");
  EXPECT_EQ(at(list, Slot::decided).title, "We decided to keep SQLite instead of a server.");
  EXPECT_EQ(at(list, Slot::decided).type, "decision");
  EXPECT_EQ(at(list, Slot::decided).concepts, Texts{"trade-off"});
  EXPECT_EQ(at(list, Slot::found).facts, Texts{"It is slow because every row is read."});
  EXPECT_EQ(at(list, Slot::found).type, "discovery");
}

TEST(Observations, ResearchIsOneDiscovery) {
  const Step look = step("Read", Json::object({{"file_path", "/home/dev/proj/src/auth.py"}}));
  const auto list = observations_of(
      {look, step("Grep", Json::object({{"pattern", "token"}}))},
      "Tokens are made in `auth.py` and checked by the middleware on every request that needs one.");
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].title, "Looked into: Please look after the lexer");
  EXPECT_EQ(list[0].facts, Texts{"Read src/auth.py. Searched for 'token'."});
  EXPECT_EQ(list[0].files_read, Texts{"src/auth.py"});
  EXPECT_TRUE(observations_of({look, look}, "Done.").empty());
}

TEST(Observations, ATurnHasFewHoweverMuchItDid) {
  std::vector<Step> steps;
  for (int i = 0; i < 300; ++i) {
    steps.push_back(red("make part" + std::to_string(i), "error: no part " + std::to_string(i)));
    steps.push_back(edit("/home/dev/proj/src/f" + std::to_string(i) + ".c", Json::array({"+x"})));
    steps.push_back(bash("make part" + std::to_string(i)));
    steps.push_back(bash("./tool " + std::to_string(i)));
  }
  const auto list =
      observations_of(std::move(steps), "We decided it. Because of that it works. " + std::string(3000, 'x'));
  EXPECT_LE(list.size(), 6u);
  for (const Observation& o : list) {
    EXPECT_LE(o.facts.size(), 14u);
    EXPECT_LE(o.events.size(), 200u);
    EXPECT_LE(o.title.size(), 160u);
    EXPECT_LE(o.narrative.size(), 700u);
  }
}

TEST(Observations, ATurnWithoutWorkHasNone) {
  EXPECT_TRUE(observations_of({}, "Hello.").empty());
  EXPECT_TRUE(observations_of({bash("echo one"), bash("ls")}, "Done.").empty());
  EXPECT_TRUE(observations_of({}, "It failed because of the service.", Turn::End::failed).empty());
}

TEST(TestOutput, NamesWhatFailedInTheWordsOfManyRunners) {
  const std::pair<const char*, const char*> lines[] = {
      {"[  FAILED  ] Lexer.ReadsWideWords (3 ms)", "Lexer.ReadsWideWords"},
      {"FAILED tests/test_a.py::test_x - AssertionError: 1 != 2", "tests/test_a.py::test_x"},
      {"--- FAIL: TestParse (0.00s)", "TestParse"},
      {"test parser::wide ... FAILED", "parser::wide"},
      {"not ok 3 - reads a file", "reads a file"},
      {"   \xe2\x9c\x95 reads a file (12 ms)", "reads a file"},
      {"  12 - engine_test (Failed)", "engine_test"},
      {"FAIL: test_wide (tests.test_lexer.Lexer)", "test_wide (tests.test_lexer.Lexer)"},
      {"rspec ./spec/a_spec.rb:3 # A does b", "./spec/a_spec.rb:3"}};
  for (const auto& [line, name] : lines) {
    const TestReport report = read_test_output(std::string("before\n") + line + "\nafter");
    EXPECT_EQ(report.failed, Texts{name}) << line;
    EXPECT_TRUE(report.says_failed) << line;
  }
}

TEST(TestOutput, DistinguishesAPassFromAFailureByItsCount) {
  for (const char* line : {"===== 5 passed in 0.12s =====", "test result: ok. 5 passed; 0 failed",
                           "100% tests passed, 0 tests failed out of 7", "12 examples, 0 failures"}) {
    EXPECT_FALSE(read_test_output(line).says_failed) << line;
    EXPECT_FALSE(read_test_output(line).passed.empty()) << line;
  }
  for (const char* line :
       {"=== 1 failed, 5 passed in 0.12s ===", "12 examples, 2 failures", "Found 3 errors in 1 file"})
    EXPECT_TRUE(read_test_output(line).says_failed) << line;
}

TEST(Symbols, AreReadFromTheLinesOfManyLanguages) {
  const std::pair<const char*, const char*> lines[] = {
      {"def read_word(self):", "read_word"},
      {"async function load(a) {", "load"},
      {"export default class Cache extends Base {", "Cache"},
      {"pub(crate) fn parse<'a>(text: &'a str) -> Ast {", "parse"},
      {"func (s *Server) Handle(w http.ResponseWriter) {", "Handle"},
      {"enum class Mode { a, b };", "Mode"},
      {"static std::string Parser::word(int n) {", "Parser::word"},
      {"const total = (items) => {", "total"},
      {"  int size() const {", "size"}};
  for (const auto& [line, name] : lines) EXPECT_EQ(defined_name(line), name) << line;
  for (const char* line : {"if (ready) {", "return total(items);", "  // def not_this", "call(a, b);",
                           "} else if (x) {", "for (int i = 0; i < 3; ++i) {", "x = f(y)"})
    EXPECT_EQ(defined_name(line), "") << line;
}

TEST(Symbols, TheOneAroundAChangeIsFoundAboveItsHunk) {
  const std::vector<host::Hunk> hunks = {{4, {"     c", "-    d", "+    e"}}};
  EXPECT_EQ(touched_symbols(hunks, "def first():\n    a\ndef second():\n    b\n    c\n    d\n"),
            Texts{"second"});
}

}  // namespace
}  // namespace cairn::distil
