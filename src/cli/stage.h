// Plays sessions in a home: sends events through the real cairn-hook to the real daemon, as a host would. For
// `doctor --trace` and `demo`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/client.h"
#include "event/event.h"
#include "hook/home.h"
#include "os/clock.h"

namespace cairn::cli {

// The cairn-hook that belongs to this program.
std::string hook_beside_me();

// A new directory, removed with its content on destruction.
class ScratchDir {
 public:
  static Result<ScratchDir> make();
  ScratchDir(ScratchDir&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ~ScratchDir();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// An event of the default host with only its kind, name and session set.
event::Event event_of(event::Kind kind, std::string_view session);

// Belongs to one thread.
class Stage {
 public:
  // Sessions run in `project`, a path that need not exist.
  Stage(hook::Home home, std::string hook_program, std::string project, os::Clock& clock)
      : home_(std::move(home)), hook_(std::move(hook_program)), project_(std::move(project)), clock_(clock) {}

  // Sends an event of this project, with `more` members of its payload. Gives the hook's answer; fails with
  // `internal` when the hook printed no valid answer.
  Result<Json> send(event::Event event, const Json& more = Json());

  // The daemon that the hook started; waits up to 10 s until it answers.
  Result<Client> daemon();

  const hook::Home& home() const { return home_; }
  const std::string& project() const { return project_; }

 private:
  std::vector<std::string> environment() const;

  hook::Home home_;
  std::string hook_;
  std::string project_;
  os::Clock& clock_;
};

}  // namespace cairn::cli
