// The sources and states of open items.
#pragma once

namespace cairn::event {

// In the order in which they are shown.
enum class OpenSource { person, task, next_step, question, plan, interruption };

enum class OpenState {
  none,
  pending,      // a task
  in_progress,  // a task
  proposed,     // a plan without an answer yet
  rejected,     // a plan
  accepted,     // a plan
  offered,      // a next step that a turn without work proposes
  at_plan,      // an interruption while a plan waited for an answer
};

}  // namespace cairn::event
