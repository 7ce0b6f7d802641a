// Registering cairn's hooks with a host, and taking them out again, without disturbing a byte that is not
// ours.
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
  std::string before;         // its bytes; empty with existed = false when there is none
  bool existed = false;
  std::string after;
  bool removes = false;    // after is: no file, because there was none before the install
  bool uninstall = false;  // our entries go
  bool changes() const { return before != after || removes; }
};

// The settings file of Claude Code for this environment.
Result<std::string> claude_settings_file();

// What `install` would write: every event of the contract exactly once, exec form (command + args) or, for a
// host too old for it, a plain command line; entries of an earlier install are replaced where they stand,
// those under other events are taken out, all else keeps its bytes, key order and indentation. An empty file
// counts as `{}`. Settings that are not JSON (or whose `hooks` is not an object of arrays): `invalid`, saying
// where.
Result<InstallPlan> plan_install(os::Disk& disk, const std::string& settings_file,
                                 const std::string& hook_program, bool exec_form);

// What `uninstall` would write: the bytes from before the install when nothing else has changed since, else
// the file without exactly our entries (and without containers that only we filled).
Result<InstallPlan> plan_uninstall(os::Disk& disk, const std::string& settings_file);

// Writes the plan: atomically, keeping mode and owner, following a symbolic link to its target. The file must
// still hold plan.before, else `busy`. The first install leaves a copy of what was there beside the file,
// `settings.json.cairn-backup`, or an empty `settings.json.cairn-created` when there was none; uninstall
// removes them.
Status apply_install(os::Disk& disk, const InstallPlan& plan);

// How many hooks of ours the settings hold; 0 when they cannot be read.
std::size_t count_our_hooks(std::string_view settings);

// The events that install registers.
const std::vector<std::string>& registered_events();

// Whether an entry of a `hooks` array runs our hook, in either form, by its program's name.
bool is_our_hook(const Json& hook);
// The program that an entry of a `hooks` array runs, in either form.
std::string program_of_hook(const Json& hook);

}  // namespace cairn::cli
