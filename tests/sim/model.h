// The expected state, in plain maps: which events were acknowledged, their content, and which of them may be
// lost.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/hosts.h"

namespace cairn::sim {

// An event whose hook has returned.
struct Delivered {
  Meaning meaning;
  bool durable = false;      // it must survive a power cut
  bool may_be_lost = false;  // it was not durable, and the power was cut
  std::int64_t wall_ms = 0;
  std::string boot_id;
  std::int64_t order = 0;  // among all deliveries
  bool in_order = true;    // it must be read after earlier ones
  std::string outcome;     // as the store says; empty: not read yet
  std::int64_t seq = 0;
};

struct Model {
  std::map<std::string, Delivered> events;  // by event id
  std::set<std::string> waiting;            // ids that the store has not shown yet
  std::set<std::string> suspects;           // ids whose reading ended a daemon
  std::set<std::string> tried;          // keys of calls whose delivery failed: it may be there all the same
  std::set<std::string> ended_by_hand;  // sessions
  std::int64_t failed_deliveries = 0;
  std::int64_t strangers = 0;  // events of the store that nobody acknowledged
  std::int64_t deliveries = 0;
  std::int64_t lost_tries = 0;  // what may have cost a message a try
  bool clock_was_set = false;
  bool capture_was_off = false;

  void acknowledge(const std::string& id, const Meaning& meaning, bool durable, std::int64_t wall_ms,
                   const std::string& boot_id);
  void fail(const Meaning& meaning);
  void power_cut();
  // A disk that fails, or an answer that could not wait, lets an event overtake earlier ones.
  void order_is_lost();
};

}  // namespace cairn::sim
