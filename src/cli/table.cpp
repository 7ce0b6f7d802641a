#include "cli/commands.h"

namespace cairn::cli {

namespace {

constexpr std::string_view kMemory = "Memory";
constexpr std::string_view kWork = "At work";
constexpr std::string_view kSetUp = "Set-up";
constexpr std::string_view kPrivacy = "Privacy";
constexpr std::string_view kInside = "Looking inside";

constexpr Option kLimit = {"--limit", "N", "at most N rows", ""};
constexpr Option kHost = {"--host", "HOST", "the coding agent (default claude-code)", ""};

std::vector<Command> memory_commands() {
  return {
      {"search",
       kMemory,
       "[QUERY...]",
       {{"--type", "TYPE", "only observations of that type: bugfix, feature, decision, ...", ""},
        {"--concept", "NAME", "only observations with that concept", ""},
        {"--file", "PATH", "only what read or changed that file: a path or a part of one", ""},
        {"--since", "DATE", "not older: 2h, 3d, 2w, yesterday, 2026-10-01", ""},
        {"--until", "DATE", "not newer", ""},
        {"--kind", "observation|summary|prompt", "only records of that kind", ""},
        {"--limit", "N", "at most N results (default 20)", ""},
        {"--offset", "N", "leave out the first N", ""},
        {"--explain", "", "show what each word adds to the score", ""}},
       "find what is remembered, the best first",
       "Any of the words may match, in any form (round finds rounded, parseHeader finds parse_header); the "
       "more of them and the rarer, the better. \"Words in quotes\" must stand together, -word must not "
       "occur, and type:bugfix, file:src/x.cpp, since:2w within the query do what the options do. Any text "
       "is a query.\n\n"
       "Without a query the newest records that pass the filters. When nothing is found the exit code is 3.",
       search_command},
      {"timeline",
       kMemory,
       "ID|QUERY...",
       {{"--before", "N", "how many records before it (default 5)", ""},
        {"--after", "N", "how many after it (default 5)", ""}},
       "what happened around a record",
       "Around the record with that id, or around the best one for a query.",
       timeline_command},
      {"show",
       kMemory,
       "ID...",
       {},
       "whole records: summaries S3, observations O12, prompts P7",
       "The ids stand in the context, in `cairn search`, `cairn sessions show` and JSON results.",
       show_command},
      {"why",
       kMemory,
       "ID",
       {{"--full", "", "the whole texts of the events", ""}},
       "what a record came from, back to the raw events",
       "An observation names its events; a summary came from all events of its turn.",
       why_command},
      {"remember",
       kMemory,
       "TEXT...",
       {{"--title", "TITLE", "one line (default: the first sentence)", ""},
        {"--type", "TYPE", "bugfix, feature, refactor, change, discovery, decision (default discovery)", ""},
        {"--file", "PATH", "a file it is about; may be given again", ""}},
       "store a memory by hand",
       "The next session of this project is given it, and search finds it. With - the text is read from "
       "stdin. "
       "Private text is left out, as everywhere.",
       remember_command},
      {"context",
       kMemory,
       "",
       {{"--budget", "TOKENS", "at most this many tokens (default context.budget_tokens)", ""}},
       "what the next session of this project would be given",
       "Prints the text itself, byte for byte. When nothing is remembered the exit code is 3.",
       context_command},
      {"context log",
       kMemory,
       "",
       {{"--limit", "N", "at most N rows (default 20)", ""}},
       "what sessions of this project were given, and when",
       "Newest first. Not given means that the hook did not say that it printed it: the session is made good "
       "with its next prompt.",
       context_log},
      {"projects list", kMemory, "", {kLimit}, "every project, the last one used first", "", projects_list},
      {"projects show",
       kMemory,
       "[NAME]",
       {},
       "one project: where it is and what is remembered of it",
       "Without a name the current directory's.",
       projects_show},
      {"stats",
       kMemory,
       "",
       {},
       "sums over what is remembered of this project",
       "With --all of every project.",
       stats_command},
      {"sessions list",
       kMemory,
       "",
       {kLimit},
       "the sessions of this project, newest first",
       "With --all those of every project; 50 unless --limit says otherwise.",
       sessions_list},
      {"sessions show",
       kMemory,
       "ID",
       {{"--events", "", "list every event too", ""}},
       "one session: its ids, its turns and their summaries",
       "ID is the session's number, the host's id of it, or a beginning of that id of four characters or "
       "more that fits only one.\n\n"
       "State CAPTURED means that the memory id is known, NOT_CAPTURED that nothing was distilled yet.",
       sessions_show},
      {"sessions end",
       kMemory,
       "ID",
       {},
       "end a session whose host is gone",
       "As if the host had said that it ended. A session that goes on after all is opened again by its next "
       "prompt.",
       sessions_end},
      {"sessions summarize",
       kMemory,
       "ID",
       {},
       "make a session's built-in summaries again, now",
       "From the events that are kept. A model's summary stays.",
       sessions_summarize},
      {"sessions cleanup",
       kMemory,
       "",
       {{"--max-age", "HOURS", "without an event for this long (default 24)", ""}},
       "mark old active sessions as failed",
       "What counts is a session's last event, not when it began. One that goes on after all is opened again "
       "by its next prompt.",
       sessions_cleanup},
      {"sessions repair",
       kMemory,
       "",
       {{"--missing-memory-id", "", "give sessions without a memory id one of their own", ""}},
       "mend sessions that never got a memory id",
       "Each gets an id that begins with manual-, never the host's. It is replaced when a provider captures "
       "its own. `cairn debug sql not-captured` shows which sessions it would be.",
       sessions_repair},
  };
}

std::vector<Command> work_commands() {
  return {
      {"status",
       kWork,
       "",
       {},
       "what cairn knows, what waits, what is wrong",
       "The ledger balances when every event that a hook delivered has been taken in: its gap is 0. Problems "
       "stand last, each with "
       "what to do.",
       status_command},
      {"process",
       kWork,
       "",
       {{"--wait", "", "also end open turns; return when nothing is pending", ""},
        {"--again", "", "also take in again what was set aside because it could not be read", ""}},
       "take in the inbox and work the queue now",
       "",
       process_command},
      {"queue list",
       kWork,
       "",
       {{"--session", "ID", "only those of one session, by its number or the beginning of the host's id", ""},
        {"--status", "STATUS", "only pending, processing, processed or failed", ""},
        {"--recent", "MIN", "those processed in the last MIN minutes, newest first", ""},
        kLimit},
       "messages that wait to be distilled, failed ones first",
       "Without --status those that are not processed; 100 unless --limit says otherwise, 10 with --recent.",
       queue_list},
      {"queue show", kWork, "ID", {}, "one message with all its fields", "", queue_show},
      {"queue retry",
       kWork,
       "[ID]",
       {{"--session", "ID", "all of one session that are not processed", ""},
        {"--stuck", "", "those that somebody began and never ended", ""},
        {"--older-than", "S",
         "with --stuck: begun more than S seconds ago (default queue.stuck_seconds; 0: all)", ""}},
       "let messages be tried again",
       "A message or a session's messages get all their tries back, whatever became of them; processed ones "
       "stay as they are. With --stuck each message is tried again alone, and one that was alone before has "
       "used up a try: so the one that hangs every time ends as failed and the others do not.",
       queue_retry},
      {"queue abort",
       kWork,
       "ID",
       {},
       "delete a message, whatever its status",
       "Asks first. What its event said is kept as evidence and stays part of its turn; only the work that "
       "waited is gone.",
       queue_abort},
      {"queue clean",
       kWork,
       "",
       {{"--keep", "N", "keep the newest N (default queue.keep_processed)", ""}},
       "delete processed messages",
       "Messages that are pending, processing or failed are never deleted. What the events said is kept as "
       "evidence.",
       queue_clean},
      {"queue stats", kWork, "", {}, "how many messages, by status", "", queue_stats},
  };
}

std::vector<Command> setup_commands() {
  return {
      {"install",
       kSetUp,
       "",
       {kHost, {"--dry-run", "", "show the change, make none", ""}},
       "register the hooks with your coding agent",
       "Shows the change to the host's settings and makes it. Every other byte of the file stays as it is; "
       "running it twice changes "
       "nothing.",
       install_command,
       true},
      {"uninstall",
       kSetUp,
       "",
       {kHost, {"--purge", "", "also delete everything that is remembered", ""}},
       "take the hooks out again",
       "Gives the host's settings file its bytes back, stops the daemon, and keeps what is remembered unless "
       "--purge is given. "
       "--purge asks first.",
       uninstall_command,
       true},
      {"doctor",
       kSetUp,
       "",
       {{"--fix", "", "mend what can be mended first, and say what was done", ""},
        {"--trace", "", "also play a session through the real pipeline in a scratch home", ""}},
       "prove each part; name what is wrong and what mends it",
       "One line a check: PASS, WARN, FAIL or SKIP. Changes nothing and starts no daemon unless --fix or "
       "--trace is given. The exit code is 1 when a check failed.\n\n"
       "--fix makes missing directories, takes the rights of others away, registers missing hooks, starts or "
       "replaces the daemon and takes in the inbox.",
       doctor_command,
       true},
      {"demo",
       kSetUp,
       "",
       {{"--home", "DIR", "play it there (default ~/.local/state/cairn-demo)", ""}},
       "a story of two sessions, played through the real programs",
       "Shows what the first session did and what the second one was given, then three commands to try on "
       "it. "
       "Its home is its own and stays; a next demo begins it afresh.",
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
       "uninstall` takes it away.",
       completions_command,
       true},
      {"config get", kSetUp, "KEY", {}, "a setting and where it comes from", "", config_get},
      {"config set",
       kSetUp,
       "KEY VALUE",
       {},
       "change a setting in config.toml",
       "Keeps comments and every other line of the file. A daemon that runs takes it up at once. A bad value "
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

std::vector<Command> privacy_commands() {
  constexpr std::string_view kWhich =
      "With --project only for that project, by its name, by a path, or `.` for this directory; without it "
      "for all. "
      "A repository can keep itself out with a file .cairn.toml: `capture = false`, `exclude = "
      "[\"secrets/**\"]`, "
      "`skip_tools = [\"Bash\"]`.";
  return {
      {"capture on", kPrivacy, "", {}, "listen again", kWhich, capture_on},
      {"capture off", kPrivacy, "", {}, "stop listening, everywhere or to one project", kWhich, capture_off},
      {"capture status",
       kPrivacy,
       "",
       {},
       "whether this directory is listened to, and why not",
       "",
       capture_status},
      {"policy explain",
       kPrivacy,
       "FILE",
       {},
       "what the gate would do with an event or a text, and by which rule",
       "FILE holds an event as the host sends it; any other file is taken as one that a tool reads. Secrets "
       "are named by kind, line and "
       "fingerprint, never "
       "shown. This is also how rules in capture.secrets are tried.",
       policy_explain},
      {"scan",
       kPrivacy,
       "",
       {},
       "look for secrets in what is stored",
       "Reads every row, the log and the files that were set aside, with the rules of today. Says where, "
       "never what. "
       "The exit code is 1 when something was found.",
       scan_command},
  };
}

std::vector<Command> inside_commands() {
  return {
      {"daemon run", kInside, "", {}, "serve in the foreground", "", daemon_run},
      {"daemon start",
       kInside,
       "",
       {},
       "start the daemon; returns when it answers",
       "Hooks and commands start it by themselves: this is for looking at it.",
       daemon_start},
      {"daemon stop", kInside, "", {}, "end the daemon; returns when it is gone", "", daemon_stop},
      {"daemon restart", kInside, "", {}, "end it and start it again", "", daemon_restart},
      {"daemon status", kInside, "", {}, "whether it runs; exit code 3 when not", "", daemon_status},
      {"logs",
       kInside,
       "",
       {{"--follow", "", "go on with what is written from now on", "-f"},
        {"--lines", "N", "the last N lines (default 50)", "-n"}},
       "the daemon's log",
       "",
       logs_command},
      {"hook",
       kInside,
       "[EVENT]",
       {kHost, {"--dry-run", "", "show what would be stored and answered; store nothing", ""}},
       "take one event on stdin, as cairn-hook does",
       "Without --dry-run this is cairn-hook itself: one JSON object on stdout and always exit code 0. With "
       "it the event passes the "
       "gate and is shown as it would be stored; nothing is written.",
       hook_command,
       true},
      {"debug sql",
       kInside,
       "[NAME] [ID]",
       {},
       "the documented diagnostic queries",
       "Without a name it lists them. Some ask for the host's id of a session.",
       debug_sql},
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
    for (const auto& part :
         {memory_commands(), work_commands(), setup_commands(), privacy_commands(), inside_commands()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kCommands;
}

Result<int> help_command(Shell& shell) {
  shell.print(TRY(help_page(shell.line().words, shell.screen())));
  return 0;
}

}  // namespace cairn::cli
