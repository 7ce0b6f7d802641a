// Writes what a provider is sent: the system text, and a request about a batch of events.
//
// Everything recorded is inside blocks whose marks have a code that the recorded text does not contain, so
// that no event can end its block. Long fields are cut in the middle with a visible mark. A pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/provider.h"
#include "distil/distil.h"
#include "store/evidence.h"

namespace cairn::agent {

struct Remark {
  WallTime at;
  std::string text;
  bool by_person = false;  // said when they refused a call
};

// A turn that the batch is about.
struct TurnMaterial {
  std::int64_t number = 0;
  WallTime started_at;
  std::string prompt;
  std::vector<Remark> remarks;  // between tool calls, in the order of time
  std::string answer;           // its last message; empty: not yet, or there is none
  std::string ended;            // in words, when it did not end with an answer
  std::string noted;            // what the built-in distiller wrote about it
  bool wants_summary = false;   // the batch has its last event
};

// What a request is made from. All texts have passed the gate.
struct PromptMaterial {
  std::string batch_id;
  std::string project, host;
  std::vector<store::KeptEvent> events;  // oldest first
  std::vector<TurnMaterial> turns;       // in order
  std::string so_far;                    // the session's running summary, for a fresh conversation
  std::vector<std::string> open;         // open items of the project
  std::string plan;
  std::vector<std::string> rules;  // that the person gave
};

struct PromptLimits {
  std::size_t field_bytes = 1600;  // of one field of an event
  std::size_t text_bytes = 4000;   // of a prompt or an answer
  std::size_t total_bytes = 48'000;
};

// The system text of a mode: the same for all requests of a conversation.
std::string system_text(const distil::Mode& mode);

// The request. Longer than `limits.total_bytes` only when its events do not fit with 160 bytes a field.
Request write_request(const PromptMaterial& material, const distil::Mode& mode,
                      const PromptLimits& limits = {});

}  // namespace cairn::agent
