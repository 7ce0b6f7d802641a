// Input and output of the built-in distiller: one turn in, one summary and a few observations out. No I/O, no
// clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "distil/mode.h"

namespace cairn::distil {

// One tool call of the turn, in order.
struct Step {
  enum class Outcome { ok, failed, interrupted };  // interrupted: it began and never ended
  std::string tool;
  Json input;
  Json response;
  std::string error;
  Outcome outcome = Outcome::ok;
  std::string agent_type;  // not empty: a subagent did it
  std::int64_t event = 0;  // the event's number, used as evidence of observations
};

struct Turn {
  std::string host;    // the host whose tools the steps name
  std::string prompt;  // empty: the session began without a prompt that we saw
  std::vector<Step> steps;
  std::string last_answer;  // the assistant's last message; empty when there is none
  // How it ended. `open`: it is still running and gets an interim summary. `cut_off`: the host died or was
  // closed, or the user pressed Esc.
  enum class End { stopped, failed, cut_off, open } end = End::open;
  std::string failure;            // the error that ended it, e.g. "rate_limit"
  std::string root;               // project directory: paths below it are shown relative
  std::int64_t answer_event = 0;  // the event of last_answer; 0: unknown
};

struct Summary {
  std::string request;
  std::string investigated;
  std::string learned;
  std::string completed;
  std::string next_steps;
  std::string notes;
  std::vector<std::string> files_read;  // relative to root where below it; sorted, unique
  std::vector<std::string> files_edited;
  bool operator==(const Summary&) const = default;
};

// One thing worth finding again, and the events it came from.
struct Observation {
  // A turn has at most one observation per slot, so that distilling it again replaces the same rows.
  enum class Slot { fixed, changed, failing, worked, decided, found };
  Slot slot = Slot::changed;
  std::string type;
  std::string title;
  std::string subtitle;
  std::vector<std::string> facts;  // sentences that can be understood alone
  std::string narrative;
  std::vector<std::string> concepts;
  std::vector<std::string> files_read;
  std::vector<std::string> files_modified;
  std::vector<std::int64_t> events;  // in order, each once
  bool operator==(const Observation&) const = default;
};

// A text from a tool call that is kept whole.
struct Carried {
  enum class Kind { commit, pull };
  Kind kind = Kind::commit;
  std::string text;
  std::int64_t event = 0;
  bool operator==(const Carried&) const = default;
};

struct Distilled {
  Summary summary;
  std::vector<Observation> observations;  // in the order of their slots
  std::vector<Carried> carried;           // in the order of the calls
  bool operator==(const Distilled&) const = default;
};

// Deterministic: the same turn gives the same bytes. Linear in the turn. Each field has at most 2,000 bytes
// of visible text. Events with number 0 are left out of the evidence.
Distilled distil(const Turn& turn, const Mode& mode = code_mode());

}  // namespace cairn::distil
