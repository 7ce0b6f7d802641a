// The steps of a turn sorted by kind: files changed, commands run, files read, tasks. Only facts, each with
// its step; summary.cpp and observations.cpp turn them into sentences.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "distil/turn.h"
#include "host/action.h"

namespace cairn::distil {

// The position of something in the turn.
struct Mark {
  std::size_t at = 0;      // index of the step
  std::int64_t event = 0;  // as Step::event
};

struct FileChange {
  std::string path;
  bool created = false;
  bool edited = false;
  std::int64_t lines = 0;  // of a created or rewritten file
  std::int64_t added = 0;
  std::int64_t removed = 0;
  std::vector<std::string> symbols;  // functions and types that were touched
  std::vector<Mark> marks;
};

struct CommandRun {
  enum class How {
    passed,
    failed,
    interrupted,
    background,
    unknown
  };  // unknown: the exit status belongs to another command
  How how = How::passed;
  std::string code;                 // "exit code 1", when it is known
  std::string why;                  // the first informative line of its error
  std::vector<std::string> failed;  // tests
  std::string passed;               // the line that counts what passed
  Mark mark;
};

struct Commit {
  std::string text;     // `1a2b3c4 "message"`
  std::string subject;  // of the message
  std::string whole;    // hash and whole message; empty when unknown
  Mark mark;
};

// One command line with all its runs, in order. A check piped into another filter is the same command.
struct Command {
  std::string key;            // identifies the command
  std::string shown;          // for a reader: one line, short
  std::string purpose;        // its purpose in the agent's words; may be empty
  std::string program;        // the first program that does more than print
  bool check = false;         // a test, a build or a linter: passing is worth reporting
  bool looks = false;         // it only prints something
  bool only_commits = false;  // only makes commits, which are listed separately
  std::vector<Commit> commits;
  std::vector<CommandRun> runs;
};

struct Task {
  std::string id;
  std::string subject;
  host::TaskChange::State state = host::TaskChange::State::unknown;
};

// A pull request that was created.
struct Pull {
  std::string text;
  Mark mark;
};

struct Digest {
  std::vector<FileChange> files;
  std::vector<Command> commands;
  std::vector<std::string> agents;    // sentences
  std::vector<std::string> failures;  // sentences: calls that changed nothing because they failed
  std::map<std::string, std::size_t> other_tools;  // names, with how often
  std::vector<std::string> searches;               // patterns
  std::vector<std::string> fetches;                // addresses and web searches
  std::vector<std::string> not_found;              // sentences: reads and fetches that failed
  std::vector<std::string> interrupted;            // what was running
  std::vector<Task> tasks;
  std::vector<Pull> pulls;
  std::set<std::string> read;
  std::set<std::string> edited;
  std::vector<Mark> looked;         // steps that read, searched or fetched
  std::vector<Mark> outside;        // steps that brought text from the web or an MCP server
  std::vector<Mark> delegated;      // subagents' results
  std::vector<Mark> shell_changes;  // steps whose commands changed files
  int subagent_steps = 0;
};

// Collects the steps of a turn one by one. Its memory is bounded for any number of steps: very long lists
// of events and sentences keep their newest entries, those of files and searches their first ones, and the
// list of commands its most informative ones.
class Digester {
 public:
  // `root`: as Turn::root.
  explicit Digester(std::string root);
  // A copy goes on by itself: what is added to it does not change the other.
  Digester(const Digester& other);
  ~Digester();

  // `action` is the step as its host interprets it.
  void add(const Step& step, const host::Action& action);
  const Digest& digest() const;

 private:
  class Collector;
  std::unique_ptr<Collector> collector_;
};

// Whether `text` looks like a tool name. Other texts are shown in quotes.
bool is_tool_name(std::string_view text);

// `path` as shown to a reader: relative to `root` if below it, without "." and "..", on one line.
std::string shown_path(std::string_view path, std::string_view root);

}  // namespace cairn::distil
