// What one tool call did, in terms that all hosts share.
//
// Each host calls its tools and their fields by its own names. A Host reads a call into an Action, and
// everything after it (distiller, context, search) works only with Actions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "event/origin.h"

namespace cairn::host {

// A tool call as it was stored: the host's own names and fields.
struct ToolCall {
  std::string_view tool;
  const Json& input;
  const Json& response;
  std::string_view error = {};  // of a call that failed
};

// A tool call that cairn makes up, with the host's own names and fields: for `doctor` and `policy explain`.
struct MadeCall {
  std::string tool;
  Json input, response;
};

// A block of changed lines, each beginning with ' ', '+' or '-', as in a unified diff.
struct Hunk {
  std::int64_t old_start = 0;  // first line in the file before the change; from 1
  std::vector<std::string_view> lines;
};

// A replaced part of a file, when the host gives no line numbers.
struct Replacement {
  std::string_view before, after;
};

// One entry of the agent's list of tasks. Members that the call did not name are empty.
struct TaskChange {
  enum class State { unknown, pending, in_progress, completed, deleted };
  std::string id;
  std::string_view subject;
  State state = State::unknown;
};

struct Question {
  std::string_view text;
  std::string_view answer;  // empty: not answered, or not known
};

// Views point into the ToolCall's JSON, which must live as long.
struct Action {
  enum class Verb {
    run,         // a shell command
    write,       // a whole file
    edit,        // part of a file
    read,        // a file
    search,      // in files
    fetch,       // a page of the web
    search_web,  // the web
    plan,        // proposed a plan to the user
    ask,         // asked the user something
    delegate,    // gave work to a subagent
    track,       // changed the list of tasks
    routine,     // concerns only the host itself, not the work
    other,       // anything else, MCP tools among them
  };
  Verb verb = Verb::other;
  std::string_view tool;         // the host's name of the tool, shown when nothing better is known
  std::optional<Origin> origin;  // where its result comes from, if from outside the project

  std::string_view path;  // read, write, edit

  std::string_view command;      // run
  std::string_view description;  // run, delegate: what for, in the agent's words; may be empty
  std::string_view output;       // run: standard output
  bool background = false;       // run: it continued in the background
  bool interrupted = false;      // it began and was stopped
  bool refused = false;          // the user or the host did not let it run; not a failure

  std::string_view query;  // search: the pattern; fetch: the address; search_web: the words

  std::string_view content;               // write: the new text
  bool existed = false;                   // write: there was a file before
  std::vector<Hunk> hunks;                // write, edit: the changes, if the host gives them
  std::string_view before;                // edit: the text before, if the host gives it
  std::vector<Replacement> replacements;  // edit without hunks

  std::string_view plan;  // plan: its whole text

  std::vector<Question> questions;  // ask

  std::string_view agent;   // delegate: the kind of subagent
  std::string_view result;  // delegate: what it answered

  std::vector<TaskChange> tasks;  // track
  bool all_tasks = false;         // track: `tasks` is the whole list
};

// Whether a tool's response says that the call began and was stopped.
bool was_interrupted(const Json& response);

}  // namespace cairn::host
