// The functions behind the table of commands.
//
// A page formats the result of an operation for people; with --json the result itself is printed. A `prepare`
// completes the arguments before the request. The other functions do everything themselves and return the
// exit code.
#pragma once

#include "base/result.h"
#include "cli/shell.h"

namespace cairn::cli {

Page status_page(Shell& shell, const Json& args, const Json& result);
Page import_page(Shell& shell, const Json& args, const Json& result);
Page import_memory_page(Shell& shell, const Json& args, const Json& result);
Page import_export_page(Shell& shell, const Json& args, const Json& result);
Page import_status_page(Shell& shell, const Json& args, const Json& result);
// "12 of 340 sessions imported, 80 MB left"
std::string import_text(const Json& import);
Page search_page(Shell& shell, const Json& args, const Json& result);
Page fix_page(Shell& shell, const Json& args, const Json& result);
Page how_page(Shell& shell, const Json& args, const Json& result);
Page timeline_page(Shell& shell, const Json& args, const Json& result);
Page show_page(Shell& shell, const Json& args, const Json& result);
Page why_page(Shell& shell, const Json& args, const Json& result);
Page remember_page(Shell& shell, const Json& args, const Json& result);
Page open_page(Shell& shell, const Json& args, const Json& result);
Page done_page(Shell& shell, const Json& args, const Json& result);
Page context_page(Shell& shell, const Json& args, const Json& result);
Page context_log_page(Shell& shell, const Json& args, const Json& result);
Page projects_list_page(Shell& shell, const Json& args, const Json& result);
Page projects_show_page(Shell& shell, const Json& args, const Json& result);
Page projects_link_page(Shell& shell, const Json& args, const Json& result);
Page projects_rename_page(Shell& shell, const Json& args, const Json& result);
Page stats_page(Shell& shell, const Json& args, const Json& result);
Page sessions_list_page(Shell& shell, const Json& args, const Json& result);
Page sessions_show_page(Shell& shell, const Json& args, const Json& result);
Page sessions_end_page(Shell& shell, const Json& args, const Json& result);
Page sessions_summarize_page(Shell& shell, const Json& args, const Json& result);
Page sessions_cleanup_page(Shell& shell, const Json& args, const Json& result);
Page sessions_repair_page(Shell& shell, const Json& args, const Json& result);
Page backup_list_page(Shell& shell, const Json& args, const Json& result);
Page backup_verify_page(Shell& shell, const Json& args, const Json& result);
Page backup_restore_page(Shell& shell, const Json& args, const Json& result);
Page backup_clean_page(Shell& shell, const Json& args, const Json& result);
Page backup_discard_page(Shell& shell, const Json& args, const Json& result);
Page backup_repair_page(Shell& shell, const Json& args, const Json& result);
Page delta_page(Shell& shell, const Json& args, const Json& result);
Page docs_list_page(Shell& shell, const Json& args, const Json& result);
Page docs_show_page(Shell& shell, const Json& args, const Json& result);
Page docs_lint_page(Shell& shell, const Json& args, const Json& result);
Page docs_diff_page(Shell& shell, const Json& args, const Json& result);
Page docs_template_page(Shell& shell, const Json& args, const Json& result);
Page resume_page(Shell& shell, const Json& args, const Json& result);
Page handoff_page(Shell& shell, const Json& args, const Json& result);
Status prepare_handoff(Shell& shell, Json& args);
Page coalesce_page(Shell& shell, const Json& args, const Json& result);
Page chain_page(Shell& shell, const Json& args, const Json& result);
Page fresh_start_page(Shell& shell, const Json& args, const Json& result);
Page undo_page(Shell& shell, const Json& args, const Json& result);
Page queue_list_page(Shell& shell, const Json& args, const Json& result);
Page queue_show_page(Shell& shell, const Json& args, const Json& result);
Page queue_retry_page(Shell& shell, const Json& args, const Json& result);
Page queue_abort_page(Shell& shell, const Json& args, const Json& result);
Page queue_clean_page(Shell& shell, const Json& args, const Json& result);
Page queue_stats_page(Shell& shell, const Json& args, const Json& result);
Page capture_page(Shell& shell, const Json& args, const Json& result);
Page policy_page(Shell& shell, const Json& args, const Json& result);
Page forget_page(Shell& shell, const Json& args, const Json& result);
Page correct_page(Shell& shell, const Json& args, const Json& result);
Page export_page(Shell& shell, const Json& args, const Json& result);
Page audit_page(Shell& shell, const Json& args, const Json& result);
Page scan_page(Shell& shell, const Json& args, const Json& result);
Page debug_sql_page(Shell& shell, const Json& args, const Json& result);

// "12 backups of 3 sessions": the archive's part of `status`.
std::string backups_text(const Json& archive);

// Fixes and commands as `fix`, `how` and `search` show them; empty when there are none.
std::string fixes_text(Shell& shell, const Json& fixes);
std::string commands_text(Shell& shell, const Json& commands);

// Reads all of stdin for `command`; `invalid` when it is more than `most` bytes.
Result<std::string> all_of_stdin(std::string_view command, std::size_t most = 1u << 20);

Status prepare_docs_lint(Shell& shell, Json& args);
Status prepare_fresh_start(Shell& shell, Json& args);
Status prepare_undo(Shell& shell, Json& args);
Status prepare_redistil(Shell& shell, Json& args);
Page redistil_page(Shell& shell, const Json& args, const Json& result);
Page agent_estimate_page(Shell& shell, const Json& args, const Json& result);
Result<int> save_command(Shell& shell);
Result<int> resume_command(Shell& shell);

Status prepare_fix(Shell& shell, Json& args);
Result<int> edit_command(Shell& shell);
Result<int> forget_command(Shell& shell);
Result<int> import_store_command(Shell& shell);
Status prepare_import_transcripts(Shell& shell, Json& args);
Status prepare_scan(Shell& shell, Json& args);
Status prepare_timeline(Shell& shell, Json& args);
Status prepare_remember(Shell& shell, Json& args);
Status prepare_backup_verify(Shell& shell, Json& args);
Status prepare_queue_abort(Shell& shell, Json& args);

Result<int> daemon_run(Shell& shell);
Result<int> daemon_start(Shell& shell);
Result<int> daemon_stop(Shell& shell);
Result<int> daemon_restart(Shell& shell);
Result<int> daemon_status(Shell& shell);
// Ends the daemon. One that does not answer is killed, after the user has agreed. Returns the daemon that
// ended; nothing when none ran.
Result<std::optional<Client::Daemon>> stop_or_kill(Shell& shell);
Result<int> process_command(Shell& shell);
Result<int> agent_test_command(Shell& shell);
Result<int> logs_command(Shell& shell);

Result<int> config_get(Shell& shell);
Result<int> config_set(Shell& shell);
Result<int> config_list(Shell& shell);
Result<int> config_validate(Shell& shell);

Result<int> hook_command(Shell& shell);
Result<int> install_command(Shell& shell);
Result<int> uninstall_command(Shell& shell);
Result<int> doctor_command(Shell& shell);
Result<int> demo_command(Shell& shell);
// The demo's home unless --home is given.
Result<std::string> demo_home();
Result<int> completions_command(Shell& shell);
Result<int> mcp_command(Shell& shell);
Result<int> man_command(Shell& shell);
Result<int> help_command(Shell& shell);

}  // namespace cairn::cli
