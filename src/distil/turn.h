// What the built-in distiller reads and writes: one turn's facts in, one summary and a few observations out.
// No I/O, no clock.
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
  std::int64_t event = 0;  // the caller's number of it: what an observation gives as its evidence
};

struct Turn {
  std::string host;    // whose tools the steps name
  std::string prompt;  // empty: the session began without one we saw
  std::vector<Step> steps;
  std::string last_answer;  // the assistant's last message; empty when the turn did not reach one
  // How it ended. `open` is an interim summary of a turn that goes on; `cut_off` a dead host, a hang-up, an
  // Esc.
  enum class End { stopped, failed, cut_off, open } end = End::open;
  std::string failure;            // StopFailure's error, e.g. "rate_limit"
  std::string root;               // project directory: paths below it are shown relative
  std::int64_t answer_event = 0;  // the event that brought last_answer; 0: not known
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

// One thing worth finding again, with the events that it was taken from.
struct Observation {
  // A turn has at most one of each, so that telling it again later finds the same.
  enum class Slot { fixed, changed, failing, worked, decided, found };
  Slot slot = Slot::changed;
  std::string type;
  std::string title;
  std::string subtitle;
  std::vector<std::string> facts;  // sentences that stand for themselves
  std::string narrative;
  std::vector<std::string> concepts;
  std::vector<std::string> files_read;
  std::vector<std::string> files_modified;
  std::vector<std::int64_t> events;  // in order, each once
  bool operator==(const Observation&) const = default;
};

// A text that the turn's tool calls carry and that is worth keeping whole.
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

// Deterministic: the same turn gives the same words, byte for byte. Linear in the turn. Each field is at most
// 2,000 bytes of visible text. Events that are 0 are left out of the evidence.
Distilled distil(const Turn& turn, const Mode& mode = code_mode());

}  // namespace cairn::distil
