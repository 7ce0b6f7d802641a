// A turn's steps sorted by what they were: files changed, commands run, things looked at, tasks. Facts only,
// each with the step it came from; summary.cpp and observations.cpp put them into words.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "distil/turn.h"

namespace cairn::distil {

// Where in the turn something happened.
struct Mark {
  std::size_t at = 0;      // the step's place
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

struct Run {
  enum class How {
    passed,
    failed,
    interrupted,
    background,
    unknown
  };  // unknown: the exit status is another's
  How how = How::passed;
  std::string code;                 // "exit code 1", when it is known
  std::string why;                  // the first telling line of its error
  std::vector<std::string> failed;  // tests
  std::string passed;               // the line that counts what passed
  Mark mark;
};

struct Commit {
  std::string text;     // `1a2b3c4 "message"`
  std::string subject;  // of the message
  std::string whole;    // hash and message as the agent wrote it; empty: not known
  Mark mark;
};

// One command line, with every time it was run, in order. A check that is run with another filter behind it
// is the same.
struct Command {
  std::string shown;          // for a reader: one line, short
  std::string purpose;        // what it is for, in the agent's words; may be empty
  std::string program;        // its first word that does more than show
  bool check = false;         // a test, a build, a linter: passing is news
  bool looks = false;         // it only shows something
  bool only_commits = false;  // told by its commits
  std::vector<Commit> commits;
  std::vector<Run> runs;
};

struct Task {
  std::string id;
  std::string subject;
  std::string status;  // as the host says it: pending, in_progress, completed
};

// A pull request that was made: its number and address, its title and text.
struct Pull {
  std::string text;
  Mark mark;
};

struct Digest {
  std::vector<FileChange> files;
  std::vector<Command> commands;
  std::vector<std::string> agents;       // sentences
  std::vector<std::string> failures;     // sentences: calls that changed nothing because they failed
  std::vector<std::string> other_tools;  // names, in order, with repetitions
  std::vector<std::string> searches;     // patterns
  std::vector<std::string> fetches;      // addresses and web searches
  std::vector<std::string> not_found;    // sentences: reads and fetches that failed
  std::vector<std::string> interrupted;  // what was running
  std::vector<Task> tasks;
  std::vector<Pull> pulls;
  std::set<std::string> read;
  std::set<std::string> edited;
  std::vector<Mark> looked;         // steps that read, searched or fetched
  std::vector<Mark> outside;        // steps that brought text from the web or an MCP server
  std::vector<Mark> delegated;      // subagents' results
  std::vector<Mark> shell_changes;  // commands that changed files
  int subagent_steps = 0;
};

Digest digest(const Turn& turn);

// Whether `text` is a name as hosts give them to tools: others are shown in quotes.
bool is_tool_name(std::string_view text);

// `path` for a reader: relative to `root` where below it, without "." and "..", on one line.
std::string shown_path(std::string_view path, std::string_view root);

}  // namespace cairn::distil
