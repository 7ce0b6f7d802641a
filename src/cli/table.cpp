// The table of commands: those of operations with their pages, and those that the command line runs itself.
#include <algorithm>
#include <array>

#include "cli/commands.h"
#include "host/host.h"

namespace cairn::cli {

namespace {

constexpr ops::Group kSetUp = ops::Group::setup;
constexpr ops::Group kDiagnostics = ops::Group::diagnostics;

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
    {"import.transcripts", import_page, prepare_import_transcripts},
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

// A command that the command line runs itself; it is declared like an operation.
struct Own {
  ops::Operation operation;
  Result<int> (*run)(Shell& shell);
  bool any_home = false;
};

std::vector<Own> setup_commands() {
  using ops::flag;
  static const std::string kHosts = host::host_names(true);
  const ops::Argument host = ops::choice("host", kHosts, host::kOneHostOption).as("HOST"),
                      dry_run = flag("dry_run", "show the change as a diff, make none"),
                      verbose = flag("verbose", "show the change as a diff").or_short("-v"),
                      key = ops::text("key", "the setting").as("KEY").word().needed();
  return {
      {{.name = "install",
        .group = kSetUp,
        .summary = "register the hooks and the agent's tools with the coding agents that are here",
        .help = "Registers with every coding agent that is found; --host names one. Every other byte of "
                "their files stays as it is; running it twice changes nothing. Tools that only read need no "
                "permission. Says what you must still approve in an agent. Also restores completions and the "
                "manual page.",
        .arguments = {host, dry_run, verbose}},
       install_command,
       true},
      {{.name = "uninstall",
        .group = kSetUp,
        .summary = "remove the hooks and the agent's tools",
        .help = "Restores the files of all coding agents byte for byte (--host: of one), stops the daemon, "
                "and keeps what is remembered unless --purge is given. --purge asks first. Says what stays "
                "on the disk and how to remove it.",
        .arguments = {host, flag("purge", "also delete everything that is remembered"), dry_run, verbose}},
       uninstall_command,
       true},
      {{.name = "doctor",
        .group = kSetUp,
        .summary = "check each part; name what is wrong and what fixes it",
        .help = "One line a check: PASS, WARN, FAIL or SKIP. Changes nothing and starts no daemon unless "
                "--fix or --trace is given. The exit code is 1 when a check failed.\n\n"
                "--fix creates missing directories, makes files private, registers missing hooks, starts or "
                "replaces the daemon and reads the inbox.",
        .arguments = {flag("fix", "fix what can be fixed first, and say what was done"),
                      flag("trace", "also play a session through the real pipeline in a temporary home")}},
       doctor_command,
       true},
      {{.name = "demo",
        .group = kSetUp,
        .summary = "a story of two sessions, played through the real programs",
        .help = "Shows what the first session did and what the second one was given, then three commands to "
                "try on it. It has a home of its own, which stays until the next demo replaces it.",
        .arguments = {ops::path("home", "play it there (default ~/.local/state/cairn-demo)").as("DIR")}},
       demo_command,
       true},
      {{.name = "completions",
        .group = kSetUp,
        .summary = "what your shell needs to complete commands",
        .help = "Prints the script for one shell: bash, zsh or fish. `source <(cairn completions bash)` "
                "tries it; --install keeps it, and `cairn uninstall` removes it.",
        .arguments =
            {ops::choice("shell", "bash|zsh|fish", "the script for that shell").as("SHELL").word(),
             flag("install",
                  "write those of the shells you use, and the manual page, where they are looked for")}},
       completions_command,
       true},
      {{.name = "config.get",
        .group = kSetUp,
        .summary = "a setting and where it comes from",
        .arguments = {key}},
       config_get},
      {{.name = "config.set",
        .group = kSetUp,
        .summary = "change a setting in config.toml",
        .help = "Keeps comments and every other line of the file. A running daemon applies it at once. A bad "
                "value is refused with exit code 2.",
        .arguments = {key, ops::text("value", "its new value").as("VALUE").word().needed()}},
       config_set},
      {{.name = "config.list", .group = kSetUp, .summary = "every setting with its default and its meaning"},
       config_list},
      {{.name = "config.validate",
        .group = kSetUp,
        .summary = "check config.toml and the environment",
        .help = "Exit code 2 when a value is bad."},
       config_validate},
  };
}

std::vector<Own> diagnostics_commands() {
  using ops::flag;
  return {
      // It checks the home itself and records for hooks why it cannot serve.
      {{.name = "daemon.run", .group = kDiagnostics, .summary = "run the daemon in the foreground"},
       daemon_run,
       true},
      {{.name = "daemon.start",
        .group = kDiagnostics,
        .summary = "start the daemon; returns when it answers",
        .help = "Hooks and commands start it when needed: this is for debugging."},
       daemon_start},
      {{.name = "daemon.stop", .group = kDiagnostics, .summary = "end the daemon; returns when it is gone"},
       daemon_stop},
      {{.name = "daemon.restart", .group = kDiagnostics, .summary = "end the daemon and start it again"},
       daemon_restart},
      {{.name = "daemon.status",
        .group = kDiagnostics,
        .summary = "whether the daemon runs; exit code 3 when not"},
       daemon_status},
      {{.name = "logs",
        .group = kDiagnostics,
        .summary = "the daemon's log",
        .arguments = {flag("follow", "keep printing new lines").or_short("-f"),
                      ops::integer("lines", 0, 1'000'000, "the last N lines").or_short("-n").otherwise(50)}},
       logs_command},
      // As cairn-hook it takes any host: no argument of a host may be refused.
      {{.name = "hook",
        .group = kDiagnostics,
        .summary = "read one event from stdin, as cairn-hook does",
        .help = "Without --dry-run this is cairn-hook itself: one JSON object on stdout and always exit code "
                "0. With it the event passes the gate and is shown as it would be stored; nothing is "
                "written.",
        .arguments = {ops::text("event", "the host's name of the event").as("EVENT").word(),
                      ops::text("host", host::kHostOption).as("HOST"),
                      flag("dry_run", "show what would be stored and answered; store nothing")}},
       hook_command,
       true},
      {{.name = "mcp",
        .group = kDiagnostics,
        .summary = "the tools for coding agents: an MCP server on stdin and stdout",
        .help = "Your coding agent starts it; `cairn install` registers it. It shows the project of the "
                "directory that it is started in, and of no other, unless the setting recall.agent_scope is "
                "all. It ends when its input ends."},
       mcp_command,
       true},
      {{.name = "man",
        .group = kDiagnostics,
        .summary = "the manual page, in roff",
        .help = "`cairn man | man -l -` shows it."},
       man_command,
       true},
      {{.name = "help",
        .group = kDiagnostics,
        .summary = "explain a command",
        .arguments = {ops::texts("command", "the command").as("COMMAND").words(),
                      flag("all", "one line for every command")}},
       help_command,
       true},
  };
}

Command command_of(const ops::Operation& operation) {
  Command command{operation.title(), &operation, run_operation};
  for (const Shown& shown : kShown) {
    if (shown.operation != operation.name) continue;
    command.render = shown.render;
    command.prepare = shown.prepare;
    if (shown.run) command.run = shown.run;
  }
  return command;
}

}  // namespace

const std::vector<Command>& all_commands() {
  // Static, because commands point to these declarations.
  static const std::vector<Own> kSetUpCommands = setup_commands(),
                                kDiagnosticsCommands = diagnostics_commands();
  static const std::vector<Command> kCommands = [] {
    std::vector<Command> all;
    for (const ops::Operation& operation : ops::operations())
      if (operation.group != ops::Group::none) all.push_back(command_of(operation));
    for (const auto* part : {&kSetUpCommands, &kDiagnosticsCommands})
      for (const Own& own : *part)
        all.push_back({own.operation.title(), &own.operation, own.run, own.any_home});
    // Help shows one group after the other, each in the order of its declarations.
    std::stable_sort(all.begin(), all.end(), [](const Command& a, const Command& b) {
      return a.operation->group < b.operation->group;
    });
    return all;
  }();
  return kCommands;
}

Result<int> help_command(Shell& shell) {
  const std::vector<std::string> path = shell.checked().texts("command");
  shell.print(shell.flag("all") && path.empty() ? full_overview(shell.screen())
                                                : TRY(help_page(path, shell.screen())));
  return 0;
}

}  // namespace cairn::cli
