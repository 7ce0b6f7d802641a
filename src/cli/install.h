// Registers cairn's hooks with a host and removes them, without changing any other byte of its settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/diff.h"
#include "os/disk.h"

namespace cairn::cli {

struct InstallPlan {
  std::string settings_file;  // $CLAUDE_CONFIG_DIR/settings.json, else ~/.claude/settings.json
  std::string before;         // its bytes; empty when it does not exist
  bool existed = false;
  std::string after;
  bool removes = false;    // delete the file: it did not exist before the install
  bool uninstall = false;  // removes our entries
  bool changes() const { return before != after || removes; }
};

// The settings file of Claude Code for this environment.
Result<std::string> claude_settings_file();

// The changes of `install`: every event of the contract exactly once, in exec form (command + args) or, for
// an older host, as a plain command line. Entries of an earlier install are replaced in place, those under
// other events removed. All else keeps its bytes, key order and indentation. An empty file counts as `{}`.
// Fails with `invalid`, saying where, when the file is not JSON or its `hooks` is not an object of arrays.
Result<InstallPlan> plan_install(os::Disk& disk, const std::string& settings_file,
                                 const std::string& hook_program, bool exec_form);

// The changes of `uninstall`: the bytes from before the install when nothing else has changed since, else the
// file without our entries and without containers that only we filled.
Result<InstallPlan> plan_uninstall(os::Disk& disk, const std::string& settings_file);

// Writes the plan atomically, keeps mode and owner, and follows a symbolic link to its target. Fails with
// `busy` when the file is not plan.before any more. The first install keeps a copy beside the file,
// `settings.json.cairn-backup`, or creates an empty `settings.json.cairn-created` when there was no file;
// uninstall removes them.
Status apply_install(os::Disk& disk, const InstallPlan& plan);

// The number of our hooks in the settings; 0 when they cannot be read.
std::size_t count_our_hooks(std::string_view settings);

// The events that install registers.
const std::vector<std::string>& registered_events();

// Whether an entry of a `hooks` array runs our hook, in either form; decided by the program's name.
bool is_our_hook(const Json& hook);
// The program that an entry of a `hooks` array runs, in either form.
std::string program_of_hook(const Json& hook);

}  // namespace cairn::cli
