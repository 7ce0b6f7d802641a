// The table of commands: those of operations with their pages, and those that the command line runs itself.
#include <algorithm>
#include <array>

#include "cli/commands.h"
#include "host/host.h"

namespace cairn::cli {

namespace {

constexpr ops::Group kSetUp = ops::Group::setup;
constexpr ops::Group kInside = ops::Group::inside;

constexpr Option kHost = {"--host", "HOST", host::kHostOption, ""};
constexpr Option kOneHost = {"--host", "HOST", host::kOneHostOption, ""};

// How the result of an operation is shown. Operations that are not here print a plain list.
struct Shown {
  std::string_view operation;
  Render render;
  Status (*prepare)(Shell& shell, Json& args) = nullptr;
  Result<int> (*run)(Shell& shell) = nullptr;  // instead of request and page
};

constexpr std::array kShown = std::to_array<Shown>({
    {"search", search_page},
    {"fix", fix_page, prepare_fix},
    {"how", how_page},
    {"timeline", timeline_page, prepare_timeline},
    {"show", show_page},
    {"why", why_page},
    {"remember", remember_page, prepare_remember},
    {"open", open_page},
    {"done", done_page},
    {"context", context_page},
    {"context.log", context_log_page},
    {"save", nullptr, nullptr, save_command},
    {"docs.list", docs_list_page},
    {"docs.show", docs_show_page},
    {"docs.lint", docs_lint_page, prepare_docs_lint},
    {"docs.diff", docs_diff_page},
    {"docs.template", docs_template_page},
    {"resume", nullptr, nullptr, resume_command},
    {"handoff", handoff_page, prepare_handoff},
    {"coalesce", coalesce_page},
    {"chain", chain_page},
    {"fresh-start", fresh_start_page, prepare_fresh_start},
    {"undo", undo_page, prepare_undo},
    {"projects.list", projects_list_page},
    {"projects.show", projects_show_page},
    {"projects.link", projects_link_page},
    {"projects.unlink", projects_link_page},
    {"projects.rename", projects_rename_page},
    {"stats", stats_page},
    {"agent.estimate", agent_estimate_page},
    {"redistil", redistil_page, prepare_redistil},
    {"sessions.list", sessions_list_page},
    {"sessions.show", sessions_show_page},
    {"sessions.end", sessions_end_page},
    {"sessions.summarize", sessions_summarize_page},
    {"sessions.cleanup", sessions_cleanup_page},
    {"sessions.repair", sessions_repair_page},
    {"backup.list", backup_list_page},
    {"backup.verify", backup_verify_page, prepare_backup_verify},
    {"backup.restore", backup_restore_page},
    {"backup.clean", backup_clean_page},
    {"backup.discard", backup_discard_page},
    {"backup.repair", backup_repair_page},
    {"delta", delta_page},
    {"import.transcripts", import_page},
    {"import.claude-mem", import_memory_page},
    {"import.claude-memory", import_memory_page},
    {"import.cairn", import_export_page},
    {"import.status", import_status_page},
    {"status", status_page},
    {"process", nullptr, nullptr, process_command},
    {"agent.test", nullptr, nullptr, agent_test_command},
    {"queue.list", queue_list_page},
    {"queue.show", queue_show_page},
    {"queue.retry", queue_retry_page},
    {"queue.abort", queue_abort_page, prepare_queue_abort},
    {"queue.clean", queue_clean_page},
    {"queue.stats", queue_stats_page},
    {"capture.on", capture_page},
    {"capture.off", capture_page},
    {"capture.status", capture_page},
    {"policy.explain", policy_page},
    {"edit", correct_page, nullptr, edit_command},
    {"reject", correct_page},
    {"retract", correct_page},
    {"pin", correct_page},
    {"export", export_page},
    {"import", nullptr, nullptr, import_store_command},
    {"audit.verify", audit_page},
    {"scan", scan_page, prepare_scan},
    {"forget", forget_page, nullptr, forget_command},
    {"debug.sql", debug_sql_page},
});

std::vector<Command> operation_commands() {
  std::vector<Command> commands;
  for (const ops::Operation& operation : ops::operations()) {
    if (operation.group == ops::Group::none) continue;
    Command command = command_of(operation);
    for (const Shown& shown : kShown) {
      if (shown.operation != operation.name) continue;
      command.render = shown.render;
      command.prepare = shown.prepare;
      if (shown.run) command.run = shown.run;
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

std::vector<Command> setup_commands() {
  return {
      {"install",
       kSetUp,
       "",
       {kOneHost,
        {"--dry-run", "", "show the change as a diff, make none", ""},
        {"--verbose", "", "show the change as a diff", "-v"}},
       "register the hooks and the agent's tools with the coding agents that are here",
       "Registers with every coding agent that is found; --host names one. Every other byte of their files "
       "stays "
       "as it is; running it twice changes nothing. Tools that only read need no permission. Says what you "
       "must "
       "still approve in an agent. Also restores completions and the manual page.",
       install_command,
       true},
      {"uninstall",
       kSetUp,
       "",
       {kOneHost,
        {"--purge", "", "also delete everything that is remembered", ""},
        {"--dry-run", "", "show the change as a diff, make none", ""},
        {"--verbose", "", "show the change as a diff", "-v"}},
       "remove the hooks and the agent's tools",
       "Restores the files of all coding agents byte for byte (--host: of one), stops the daemon, and keeps "
       "what "
       "is remembered unless --purge is given. "
       "--purge asks first. Says what stays on the disk and how to remove it.",
       uninstall_command,
       true},
      {"doctor",
       kSetUp,
       "",
       {{"--fix", "", "fix what can be fixed first, and say what was done", ""},
        {"--trace", "", "also play a session through the real pipeline in a temporary home", ""}},
       "check each part; name what is wrong and what fixes it",
       "One line a check: PASS, WARN, FAIL or SKIP. Changes nothing and starts no daemon unless --fix or "
       "--trace is given. The exit code is 1 when a check failed.\n\n"
       "--fix creates missing directories, makes files private, registers missing hooks, starts or "
       "replaces the daemon and reads the inbox.",
       doctor_command,
       true},
      {"demo",
       kSetUp,
       "",
       {{"--home", "DIR", "play it there (default ~/.local/state/cairn-demo)", ""}},
       "a story of two sessions, played through the real programs",
       "Shows what the first session did and what the second one was given, then three commands to try on "
       "it. "
       "It has a home of its own, which stays until the next demo replaces it.",
       demo_command,
       true},
      {"completions",
       kSetUp,
       "[SHELL]",
       {{"--install", "", "write those of the shells you use, and the manual page, where they are looked for",
         ""}},
       "what your shell needs to complete commands",
       "Prints the script for one shell: bash, zsh or fish. `source <(cairn completions bash)` tries it; "
       "--install keeps it, "
       "and `cairn "
       "uninstall` removes it.",
       completions_command,
       true},
      {"config get", kSetUp, "KEY", {}, "a setting and where it comes from", "", config_get},
      {"config set",
       kSetUp,
       "KEY VALUE",
       {},
       "change a setting in config.toml",
       "Keeps comments and every other line of the file. A running daemon applies it at once. A bad value "
       "is refused with exit "
       "code 2.",
       config_set},
      {"config list", kSetUp, "", {}, "every setting with its default and its meaning", "", config_list},
      {"config validate",
       kSetUp,
       "",
       {},
       "check config.toml and the environment",
       "Exit code 2 when a value is bad.",
       config_validate},
  };
}

std::vector<Command> inside_commands() {
  return {
      // It checks the home itself and records for hooks why it cannot serve.
      {"daemon run", kInside, "", {}, "serve in the foreground", "", daemon_run, true},
      {"daemon start",
       kInside,
       "",
       {},
       "start the daemon; returns when it answers",
       "Hooks and commands start it when needed: this is for debugging.",
       daemon_start},
      {"daemon stop", kInside, "", {}, "end the daemon; returns when it is gone", "", daemon_stop},
      {"daemon restart", kInside, "", {}, "end it and start it again", "", daemon_restart},
      {"daemon status", kInside, "", {}, "whether it runs; exit code 3 when not", "", daemon_status},
      {"logs",
       kInside,
       "",
       {{"--follow", "", "keep printing new lines", "-f"},
        {"--lines", "N", "the last N lines (default 50)", "-n"}},
       "the daemon's log",
       "",
       logs_command},
      {"hook",
       kInside,
       "[EVENT]",
       {kHost, {"--dry-run", "", "show what would be stored and answered; store nothing", ""}},
       "read one event from stdin, as cairn-hook does",
       "Without --dry-run this is cairn-hook itself: one JSON object on stdout and always exit code 0. With "
       "it the event passes the "
       "gate and is shown as it would be stored; nothing is written.",
       hook_command,
       true},
      {"mcp",
       kInside,
       "",
       {},
       "the tools for coding agents: an MCP server on stdin and stdout",
       "Your coding agent starts it; `cairn install` registers it. It shows the project of the directory "
       "that it "
       "is started in, and of no other, unless the setting recall.agent_scope is all. It ends when its input "
       "ends.",
       mcp_command,
       true},
      {"man",
       kInside,
       "",
       {},
       "the manual page, in roff",
       "`cairn man | man -l -` shows it.",
       man_command,
       true},
      {"help", kInside, "[COMMAND...]", {}, "explain a command", "", help_command, true},
  };
}

}  // namespace

const std::vector<Command>& all_commands() {
  static const std::vector<Command> kCommands = [] {
    std::vector<Command> all;
    for (const auto& part : {operation_commands(), setup_commands(), inside_commands()})
      all.insert(all.end(), part.begin(), part.end());
    std::stable_sort(all.begin(), all.end(),
                     [](const Command& a, const Command& b) { return a.group < b.group; });
    return all;
  }();
  return kCommands;
}

Result<int> help_command(Shell& shell) {
  const bool all = shell.line().has("--all") && shell.line().words.empty();
  shell.print(all ? full_overview(shell.screen()) : TRY(help_page(shell.line().words, shell.screen())));
  return 0;
}

}  // namespace cairn::cli
