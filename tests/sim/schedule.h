// One simulated schedule: a machine, its hosts, its daemon and everything that can go wrong, as one seed
// decides.
//
// Nothing in it depends on time, threads or addresses: the same seed makes the same steps, byte for byte.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/hash.h"
#include "sim/dice.h"
#include "sim/hosts.h"
#include "sim/invariants.h"
#include "sim/model.h"
#include "support/engine_fixture.h"
#include "support/scripted_provider.h"

namespace cairn::sim {

struct Options {
  std::uint64_t seed = 1;
  std::int64_t steps = 60;
  bool trace = false;  // print every step
};

struct Outcome {
  Wrong wrong;             // the first violation
  std::int64_t step = 0;   // where it was seen
  std::string last_steps;  // the schedule before it, some thirty lines
  std::uint64_t hash = 0;  // of all steps and of the store at the end
};

// Where the process is, for a signal handler: an assertion of the code under test is a violation too.
struct Position {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};
const Position& current_position();

class Schedule {
 public:
  explicit Schedule(const Options& options);
  ~Schedule() { m_.close(); }  // before the provider that it talks to
  Outcome run();

 private:
  using Work = std::function<Status()>;

  void step();
  void say(std::string what);
  void fail(std::string what);

  // The world (schedule.cpp).
  void deliver_next();
  void deliver(const Call& call);
  void ask(const std::string& id, const Meaning& meaning);
  void check_context(const std::string& text, const Meaning& meaning);
  void start();
  void work();
  bool step_engine();
  void tick();
  void pass_time();
  void operate();
  void configure();
  void process();
  void drain_all();
  void drain();
  void end();
  void call_engine(const std::string& what, Actor actor, const Work& body);
  void note_finished(const Meaning& meaning);

  // Sessions of before (imports.cpp).
  void provide_old_sessions();
  void import_old_sessions();
  void wait_for_old_sessions();
  void check_old_sessions();

  // Notes of which one is forgotten (forgets.cpp).
  bool has_notes() const;
  void store_notes();
  void forget_note();
  void wait_for_forget();
  void check_forgotten();

  // Projects that get another name (renames.cpp).
  bool has_renames() const;
  void rename_projects();
  void merge_projects();
  void check_renamed();

  // What goes wrong (trouble.cpp).
  void crash();
  void plan_crash();
  void die(bool with_power);
  void power_is_back();
  void restart();
  void set_clock();
  void break_disk();
  void repair_disk();
  void interleave();
  test::Plan plan(const agent::Request& request);

  Options options_;
  Dice dice_;
  test::Machine m_;
  test::ScriptedProvider provider_{m_.clock};
  Model model_;
  Hosts hosts_;
  Invariants invariants_;
  std::optional<Call> last_delivered_;
  bool disk_fails_ = false;
  bool outcome_unknown_ = false;  // what was asked for failed, or the daemon ended at it
  bool unsynced_ = false;         // the disk did not take what was committed
  bool last_failed_ = false;      // the last call of the engine
  bool capture_ = true;
  bool ending_ = false;  // nothing goes wrong any more
  int forgets_ = 0;      // that were acknowledged
  int renames_ = 0;      // that were tried
  bool kept_is_stored_ = false;
  std::int64_t boots_ = 0;
  std::int64_t step_ = 0;
  // The newest turn of each project that has both its request and its end acknowledged: the word of its
  // request.
  std::map<std::string, std::string> newest_finished_;
  Outcome outcome_;
  Checksum hash_;
  std::deque<std::string> tail_;
};

}  // namespace cairn::sim
