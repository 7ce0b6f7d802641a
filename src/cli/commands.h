// The functions behind the table of commands. Each asks for an operation and renders its result; with --json
// it prints the result itself. They give the exit code.
#pragma once

#include "base/result.h"
#include "cli/shell.h"

namespace cairn::cli {

Result<int> status_command(Shell& shell);

Result<int> daemon_run(Shell& shell);
Result<int> daemon_start(Shell& shell);
Result<int> daemon_stop(Shell& shell);
Result<int> daemon_restart(Shell& shell);
Result<int> daemon_status(Shell& shell);
Result<int> process_command(Shell& shell);
Result<int> logs_command(Shell& shell);

Result<int> search_command(Shell& shell);
Result<int> timeline_command(Shell& shell);
Result<int> show_command(Shell& shell);
Result<int> why_command(Shell& shell);
Result<int> remember_command(Shell& shell);
Result<int> context_command(Shell& shell);
Result<int> context_log(Shell& shell);
Result<int> projects_list(Shell& shell);
Result<int> projects_show(Shell& shell);
Result<int> stats_command(Shell& shell);
Result<int> sessions_list(Shell& shell);
Result<int> sessions_show(Shell& shell);
Result<int> sessions_end(Shell& shell);
Result<int> sessions_summarize(Shell& shell);
Result<int> sessions_cleanup(Shell& shell);
Result<int> sessions_repair(Shell& shell);

Result<int> queue_list(Shell& shell);
Result<int> queue_show(Shell& shell);
Result<int> queue_retry(Shell& shell);
Result<int> queue_abort(Shell& shell);
Result<int> queue_clean(Shell& shell);
Result<int> queue_stats(Shell& shell);
Result<int> debug_sql(Shell& shell);

Result<int> config_get(Shell& shell);
Result<int> config_set(Shell& shell);
Result<int> config_list(Shell& shell);
Result<int> config_validate(Shell& shell);

Result<int> capture_on(Shell& shell);
Result<int> capture_off(Shell& shell);
Result<int> capture_status(Shell& shell);
Result<int> policy_explain(Shell& shell);
Result<int> scan_command(Shell& shell);

Result<int> hook_command(Shell& shell);
Result<int> install_command(Shell& shell);
Result<int> uninstall_command(Shell& shell);
Result<int> doctor_command(Shell& shell);
Result<int> demo_command(Shell& shell);
Result<int> completions_command(Shell& shell);
Result<int> man_command(Shell& shell);
Result<int> help_command(Shell& shell);

}  // namespace cairn::cli
