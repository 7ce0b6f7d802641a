// What the built-in distiller reads and writes: one turn's facts in, one summary out. No ids, no I/O, no
// clock.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

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
};

struct Turn {
  std::string prompt;  // empty: the session began without one we saw
  std::vector<Step> steps;
  std::string last_answer;  // the assistant's last message; empty when the turn did not reach one
  // How it ended. `open` is an interim summary of a turn that goes on; `cut_off` a dead host, a hang-up, an
  // Esc.
  enum class End { stopped, failed, cut_off, open } end = End::open;
  std::string failure;  // StopFailure's error, e.g. "rate_limit"
  std::string root;     // project directory: paths below it are shown relative
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

// Deterministic: the same turn gives the same summary, byte for byte. Each field is at most 2,000 bytes of
// visible text.
Summary summarise(const Turn& turn);

}  // namespace cairn::distil
