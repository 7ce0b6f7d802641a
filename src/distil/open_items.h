// What a turn leaves open, and what it did that can close what others left open. A pure function of the turn.
//
// Sources, in this order: the host's task list; a next-steps heading, a label such as "Next:", or a sentence
// of obligation in the answer; the agent's closing question; a plan; an interruption. What only sounds like
// work that is left (a cue word in the middle of an explanation, a line that ends in a colon, a command that
// failed, a refused permission) is left out: a wrong line costs more than a missing one.
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
  event::OpenSource source;  // no task: those are in Deeds
  event::OpenState state = event::OpenState::none;
  std::string key;  // folded text: equal for what is said again in the same words
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

// What a turn did, as far as it can close something.
struct Deeds {
  bool finished = false;              // it reached its end, with an answer
  bool work = false;                  // it changed files, committed or published
  bool agrees = false;                // its prompt only says yes to what was offered before
  std::vector<Words> said;            // sentences of the answer that do not tell what is left
  std::vector<Words> did;             // commits, pushes, requests to merge, completed tasks
  std::vector<Words> ran;             // what commands were for
  std::set<std::string> files;        // edited, by name
  std::set<std::string> uncommitted;  // edited after the last commit of the turn; paths relative to its root
  bool committed = false;
  std::vector<TaskChange> tasks;
  bool whole_list = false;  // the tasks are all there are: the list was written as a whole
};

struct LeftOpen {
  std::vector<OpenItem> items;
  Deeds deeds;
};

// Reads the steps of a turn one by one; what it holds is bounded.
class OpenReader {
 public:
  explicit OpenReader(std::string root);
  ~OpenReader();
  void add(const Step& step, const host::Action& action);
  // After the last step. `turn` is the same turn; its steps are not looked at.
  LeftOpen left_open(const Turn& turn, const Mode& mode) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The same of a turn whose steps are at hand.
LeftOpen left_open(const Turn& turn, const Mode& mode = code_mode());

// Whether `deeds` did what `text` asks for: its words in one sentence, in a commit, or its file edited and
// spoken of. Only a finished turn that worked closes anything.
bool did(const Deeds& deeds, std::string_view text);

// What the prompt orders for good: sentences with "always", "never", "from now on". Few and short; a long
// prompt is a text that was pasted.
std::vector<std::string> standing_orders(std::string_view prompt, const Mode& mode = code_mode());

// Text as keys are: folded, on one line, without list marks and emphasis.
std::string item_key(std::string_view text);

}  // namespace cairn::distil
