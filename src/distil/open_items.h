// What a turn leaves open, and what it did that can close items of other turns. A pure function of the turn.
//
// Sources: the host's task list; a next-steps heading, a label such as "Next:", or a sentence
// of obligation in the answer; the agent's closing question; a plan; an interruption. Doubtful cases (a cue
// word in the middle of an explanation, a line that ends in a colon, a command that failed, a refused
// permission) are left out: a wrong line is worse than a missing one.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "distil/likeness.h"
#include "distil/mode.h"
#include "distil/turn.h"
#include "event/open_kind.h"
#include "host/action.h"

namespace cairn::distil {

// As store::OpenItem has them.
struct OpenItem {
  event::OpenSource source;  // never `task`: those are in WorkDone
  event::OpenState state = event::OpenState::none;
  std::string key;  // folded text: the same for a repetition in the same words
  std::string text;
  std::string detail;      // a plan's whole text
  std::int64_t event = 0;  // as Step::event; 0: not known
  bool operator==(const OpenItem&) const = default;
};

// What a turn did to one task of the host's list.
struct TaskChange {
  std::string id;       // the host's; empty for a list that is written as a whole
  std::string subject;  // empty: not said
  host::TaskChange::State state = host::TaskChange::State::unknown;
  std::int64_t event = 0;
};

// What a turn did that can close open items.
struct WorkDone {
  bool finished = false;              // it reached its end, with an answer
  bool work = false;                  // it changed files, committed or published
  bool agrees = false;                // its prompt is short and has a word of agreement, or is a number
  std::vector<Words> said;            // sentences of the answer, except those about remaining work
  std::vector<Words> did;             // commits, pushes, requests to merge, completed tasks
  std::vector<Words> ran;             // the purposes of commands
  std::set<std::string> files;        // edited, by name
  std::set<std::string> uncommitted;  // edited after the last commit of the turn; paths relative to its root
  bool committed = false;
  std::vector<TaskChange> tasks;
  bool whole_list = false;  // `tasks` is the complete list
};

struct LeftOpen {
  std::vector<OpenItem> items;
  WorkDone done;
};

// Reads the steps of a turn one by one, with bounded memory.
class OpenReader {
 public:
  explicit OpenReader(std::string root);
  OpenReader(const OpenReader& other);
  ~OpenReader();
  void add(const Step& step, const host::Action& action);
  // After the last step. `turn` is the same turn; its steps are not looked at.
  LeftOpen left_open(const Turn& turn, const Mode& mode) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The same for a turn that has its steps.
LeftOpen left_open(const Turn& turn, const Mode& mode = code_mode());

// Whether the turn did what `text` asks for: a sentence, a commit or, for something to run, the purpose of a
// command has most of its words; or its file was edited, and a third of its other words was said. Only a turn
// that reached its end and did work (WorkDone::work) closes anything.
bool did(const WorkDone& done, std::string_view text);

// The standing orders in a prompt: short sentences with "always", "never", "from now on". Only a few; a long
// prompt is probably pasted text and gives none.
std::vector<std::string> standing_orders(std::string_view prompt, const Mode& mode = code_mode());

// The key of an item: its text in lower case, on one line, without *, _ and `, and without . or ! at its end.
std::string item_key(std::string_view text);

}  // namespace cairn::distil
