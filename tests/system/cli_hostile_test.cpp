// Whatever is stored, no command lets it act on a terminal. Every command of the table is run: a new one
// does not pass before it has said here how.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <map>
#include <optional>

#include "cli/command.h"
#include "cli_home.h"
#include "store/sql.h"

namespace cairn::test {
namespace {

const std::string kHostile =
    "HOSTILE\x1b[2J\x1b]0;t\x07\x7f\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x80\x8b\xe2\x81\xa6\xef\xbb\xbf\xf3\xa0\x81\xa1.";

struct Use {
  std::vector<std::string> arguments;
  bool prints_stored = false;  // prints what is stored
  std::string input = {};
};

class Hostile : public CliHome {
 protected:
  std::map<std::string_view, Use> uses() const {
    const std::string event =
        Json::object({{"session_id", "s"}, {"cwd", project()}, {"prompt", kHostile}}).dump();
    return {
        {"search", {{"HOSTILE"}, true}},
        {"timeline", {{"S1"}, true}},
        {"show", {{"S1", "O1", "P1"}, true}},
        {"why", {{"O1"}, true}},
        {"fix", {{kHostile}}},
        {"how", {{kHostile}}},
        {"edit", {{"O999999", "--set", "title=x"}}},
        {"reject", {{"O999999", kHostile}}},
        {"retract", {{"O999999", kHostile}}},
        {"pin", {{"O999999"}}},
        {"forget", {{"--query", "HOSTILE", "--dry-run"}}},
        {"audit verify", {{"--limit", "5"}}},
        {"handoff", {{}, true}},
        {"redistil", {{"--dry-run"}}},
        {"reindex", {}},
        {"agent test", {}},
        {"agent estimate", {}},
        {"export", {{"--store", dir_ / "copy"}}},
        {"import", {{"--store", dir_ / "no-copy"}}},
        {"remember", {{kHostile}}},
        {"open", {{kHostile}}},
        {"done", {{"W1"}}},
        {"context", {{}, true}},
        {"context log", {}},
        {"save", {{"--title", kHostile, kHostile}, true}},
        {"docs list", {{}, true}},
        {"docs show", {{}, true}},
        {"docs lint", {}},
        {"docs diff", {}},
        {"docs template", {}},
        {"resume", {{}, true}},
        {"coalesce", {}},
        {"chain", {{}, true}},
        {"fresh-start", {{"--dry-run"}}},
        {"undo", {{"--dry-run"}}},
        {"projects list", {{}, true}},
        {"projects show", {{}, true}},
        {"projects link", {{"a", kHostile}}},
        {"projects unlink", {{"a", kHostile}}},
        {"projects rename", {{"a", kHostile}}},
        {"projects merge", {{"a", kHostile}}},
        {"projects split", {{"a", dir_ / "elsewhere"}}},
        {"projects alias", {{dir_ / "elsewhere"}}},
        {"stats", {}},
        {"sessions list", {{}, true}},
        {"sessions show", {{"1", "--events"}, true}},
        {"sessions end", {{"1"}}},
        {"sessions summarize", {{"1"}}},
        {"sessions cleanup", {}},
        {"sessions repair", {{"--missing-memory-id"}}},
        {"backup list", {}},
        {"backup verify", {{"--all"}}},
        {"backup restore", {{"B1", "--to", dir_ / "restored.jsonl"}}},
        {"backup clean", {{"--dry-run"}}},
        {"backup discard", {{"B1"}}},
        {"backup repair", {}},
        {"delta", {{"B1"}}},
        {"import transcripts", {{dir_.path(), "--dry-run"}}},
        {"import claude-mem", {{dir_ / "event.json", "--dry-run"}}},
        {"import claude-memory", {{dir_.path(), "--dry-run"}}},
        {"import cairn", {{dir_ / "event.json"}}},
        {"import status", {}},
        {"status", {}},
        {"process", {}},
        {"queue list", {{"--recent", "600"}}},
        {"queue show", {{"1"}}},
        {"queue retry", {{"1"}}},
        {"queue abort", {{"1"}}},
        {"queue clean", {}},
        {"queue stats", {}},
        {"install", {{"--dry-run"}}},
        {"uninstall", {}},
        {"doctor", {}},
        {"demo", {{"--home", dir_ / "demo"}}},
        {"completions", {{"bash"}}},
        {"config get", {{"agent.model"}}},
        {"config set", {{"agent.model", kHostile}}},
        {"config list", {}},
        {"config validate", {}},
        {"capture on", {}},
        {"capture off", {{"--project", kHostile}}},
        {"capture status", {}},
        {"policy explain", {{dir_ / "event.json"}}},
        {"scan", {}},
        {"daemon run", {}},
        {"daemon start", {}},
        {"daemon stop", {}},
        {"daemon restart", {}},
        {"daemon status", {}},
        {"logs", {}},
        {"hook", {{"UserPromptSubmit", "--dry-run"}, true, event}},
        {"debug sql", {{"recent-sessions"}}},
        {"mcp", {}},
        {"man", {}},
        {"help", {{"search"}}},
    };
  }

  static std::vector<std::string> line_of(const cli::Command& command, const Use& use) {
    std::vector<std::string> line;
    for (const std::string_view word : split(command.name, ' ')) line.emplace_back(word);
    line.insert(line.end(), use.arguments.begin(), use.arguments.end());
    return line;
  }

  // What `cairn ARGUMENTS` writes to a terminal of 120 columns that it has as stdout and stderr. Nothing:
  // there are no terminals here.
  std::optional<std::string> on_terminal(const std::vector<std::string>& arguments,
                                         const std::string& input) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return std::nullopt;
    const std::string name = ptsname(terminal);
    const int kept = open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // so that it has no end yet
    termios raw{};
    cfmakeraw(&raw);
    tcsetattr(kept, TCSANOW, &raw);
    const winsize size{40, 120, 0, 0};
    ioctl(kept, TIOCSWINSZ, &size);
    Program program{.argv = {"/bin/sh", "-c", "exec \"$@\" >\"$0\" 2>&1", name, kCairn},
                    .env = environment(),
                    .clean_env = true,
                    .cwd = project(),
                    .input = input};
    program.argv.insert(program.argv.end(), arguments.begin(), arguments.end());
    program.env.emplace_back("TERM=xterm-256color");
    Background running(program);
    running.close_input();
    std::string text;
    char buffer[4096];
    for (bool ended = false;;) {
      pollfd waits{terminal, POLLIN, 0};
      if (poll(&waits, 1, ended ? 0 : 20) > 0) {
        const ssize_t got = read(terminal, buffer, sizeof buffer);
        text.append(buffer, got > 0 ? static_cast<std::size_t>(got) : 0);
      } else if (ended) {
        break;
      }
      ended = ended || !running.running();
    }
    close(kept);
    close(terminal);
    return text;
  }

  // One session, and then hostile text in every text of every table that takes it.
  void store_hostile_text() {
    write_file(dir_ / "event.json", "{\"hook_event_name\":\"" + kHostile + "\"}");
    play("s1", "the prompt");
    ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
    ASSERT_EQ(cairn({"save"}).exit_code, 0);
    ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
    store::Db db = must_open();
    std::size_t changed = 0;
    for (const char* table : {"projects", "sdk_sessions", "events", "user_prompts", "turns",
                              "pending_messages", "observations", "session_summaries", "injections"})
      for (const std::string& column : texts_of(db, table))
        changed += db.run("UPDATE " + std::string(table) + " SET " + column + " = CASE WHEN " + column +
                              " LIKE '[%' THEN json_array(?1) ELSE " + column + " || ?1 END WHERE " + column +
                              " IS NOT NULL",
                          kHostile)
                       .ok();
    EXPECT_GT(changed, 30u);
    // Their project follows that of the projects by itself.
    ASSERT_TRUE(
        db.run("UPDATE session_documents SET title = title || ?1, body = body || ?1, name = ?1, branch = ?1, "
               "previous_name = ?1, tags = json_array(?1)",
               kHostile)
            .ok());
  }

  store::Db must_open() {
    store::Db::Options options;
    options.path = home() + "/cairn.db";
    return std::move(store::Db::open(options)).value();
  }

  // Not the columns that only the store itself reads.
  static std::vector<std::string> texts_of(store::Db& db, const std::string& table) {
    std::vector<std::string> names;
    auto row = db.query("SELECT name FROM pragma_table_info('" + table + "') WHERE type = 'TEXT'").value();
    while (row.step().value()) {
      std::string name = row.text(0);
      if (!name.ends_with("_at") && !name.ends_with("id") && !name.ends_with("hash") && name != "key" &&
          name != "root" && name != "origin" && name != "kind" && name != "project")
        names.push_back(std::move(name));
    }
    return names;
  }

  void play(const std::string& session, const std::string& prompt) {
    const auto tell = [&](const char* event, Json more) {
      more.set("session_id", session);
      more.set("cwd", project());
      EXPECT_EQ(call(kHook, {event}, more.dump()).exit_code, 0);
    };
    tell("UserPromptSubmit", Json::object({{"prompt", prompt}}));
    tell("PostToolUse",
         Json::object({{"tool_name", "Write"},
                       {"tool_use_id", "t"},
                       {"tool_input", Json::object({{"file_path", project() + "/a"}, {"content", "x\n"}})},
                       {"tool_response", Json::object({{"type", "create"}})}}));
    tell("Stop", Json::object({{"last_assistant_message", "Wrote it."}}));
  }
};

TEST_F(Hostile, StoredTextControlsNoTerminalWhicheverCommandPrintsIt) {
  store_hostile_text();
  const std::map<std::string_view, Use> uses = this->uses();
  for (const cli::Command& command : cli::all_commands()) {
    const auto use = uses.find(command.name);
    ASSERT_NE(use, uses.end()) << command.name << ": say in this test how it is called";
    if (command.name == "daemon run") cairn({"daemon", "start"});  // beside one that serves it ends at once
    for (const bool as_json : {false, true}) {
      std::vector<std::string> line = line_of(command, use->second);
      if (as_json) line.emplace_back("--json");
      const Outcome outcome = cairn(line, use->second.input);
      EXPECT_EQ(visible(outcome.out), outcome.out) << outcome.describe();
      EXPECT_EQ(visible(outcome.err), outcome.err) << outcome.describe();
      const bool printed = outcome.out.find("HOSTILE") != std::string::npos;
      EXPECT_TRUE(printed || !use->second.prints_stored) << command.name << ": " << outcome.describe();
    }
  }
}

// What is left of `text` without the colours that cairn itself writes.
std::string without_colours(std::string text, std::size_t& colours) {
  for (const char* code : {"0", "1", "2", "31", "32", "33", "36", "1;33"}) {
    const std::string sequence = "\x1b[" + std::string(code) + "m";
    for (std::size_t at = text.find(sequence); at != std::string::npos;
         at = text.find(sequence, at), ++colours)
      text.erase(at, sequence.size());
  }
  return text;
}

TEST_F(Hostile, ARealTerminalGetsOnlyOurOwnColours) {
  store_hostile_text();
  std::size_t colours = 0;
  for (const auto& [name, use] : uses()) {
    if (name == "daemon run") cairn({"daemon", "start"});
    const cli::Command* command = nullptr;
    for (const cli::Command& known : cli::all_commands())
      if (known.name == name) command = &known;
    ASSERT_NE(command, nullptr) << name;
    const auto shown = on_terminal(line_of(*command, use), use.input);
    if (!shown) GTEST_SKIP() << "SKIP: no terminals here";
    const std::string rest = without_colours(*shown, colours);
    EXPECT_EQ(visible(rest), rest) << name << ": " << *shown;
    EXPECT_TRUE(!use.prints_stored || rest.find("HOSTILE") != std::string::npos) << name << ": " << *shown;
  }
  EXPECT_GT(colours, 50u) << "the control: colours were on";
}

}  // namespace
}  // namespace cairn::test
