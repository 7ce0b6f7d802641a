// The commands `forget`, `export`, `import --store` and `audit`, and the question of `scan --forget`.
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

std::string names_text(const Json& names) {
  std::string text;
  for (const Json& name : names.items()) text += (text.empty() ? "" : ", ") + text_of(name);
  return text;
}

Page pending_page(Shell& shell, const Json& result) {
  const auto& pending = result["pending"].items();
  if (pending.empty()) return {"no agent asked to forget anything\n"};
  Table table({{"id"}, {"asked"}, {"project"}, {"reason"}, {"title"}});
  for (const Json& one : pending)
    table.add({{text_of(one["id"]), Style::accent},
               {shell.age(one["time"]), Style::dim},
               shown_line(one["project"].as_string()),
               shown_line(one["reason"].as_string()),
               shown_line(one["title"].as_string())});
  return {table.text(shell.screen()), 0,
          "they are hidden: `cairn forget ID` removes one for good, `cairn forget --keep ID` shows it again"};
}

// What would be forgotten, for the question: counts, then records by name.
std::string selection_text(Shell& shell, const Json& result) {
  std::string text =
      fmt::format("{} and {}", count_text(result["record_count"].as_int(), "record", "records"),
                  count_text(result["session_count"].as_int(), "session", "sessions"));
  if (const auto events = result["events"].as_int(); events > 0)
    text += ", with " + count_text(events, "event", "events");
  if (result["everywhere"].as_bool()) text += "; the text itself wherever it is";
  if (result["own_word"].as_bool()) text += "; cairn itself uses this word, so it stays elsewhere";
  text += "\n";
  for (const Json& record : result["records"].items())
    text += fmt::format("  {}  {}\n", shell.screen().paint(Style::accent, text_of(record["id"])),
                        shown_line(record["title"].as_string()));
  if (const auto common = result["common"].as_int(); common > 0)
    text += fmt::format("  {} also said by other records: it stays there\n",
                        count_text(common, "text is", "texts are"));
  return text;
}

Page report_page(const Json& result) {
  const Json& report = result["report"];
  const auto number = [&](const char* key) { return report[key].as_int(); };
  std::string out = fmt::format("forgotten: {}, {}, {}\n", count_text(number("records"), "record", "records"),
                                count_text(number("sessions"), "session", "sessions"),
                                count_text(number("events"), "event", "events"));
  out += fmt::format("  removed from {} and {} of the archive\n",
                     count_text(number("texts_changed"), "other text", "other texts"),
                     count_text(number("archive_lines"), "line", "lines"));
  out += fmt::format("  proof: {} texts, {} frames and {} bytes of {} files read, {} places left\n",
                     number("texts_proved"), number("frames_proved"), number("bytes_proved"),
                     number("files_proved"), number("left"));
  if (report.has("wal")) out += "  the WAL could not be emptied: " + text_of(report["wal"]) + "\n";
  if (number("damaged_backups") > 0)
    out += fmt::format("  {} could not be read: `cairn backup repair`, then forget again\n",
                       count_text(number("damaged_backups"), "backup", "backups"));
  out += "  exports that you made are not changed\n";
  return {out, number("left") > 0 ? 1 : 0};
}

}  // namespace

Page forget_page(Shell& shell, const Json&, const Json& result) {
  if (result.has("kept")) return {"shown again: " + names_text(result["kept"]) + "\n"};
  if (result.has("pending")) return pending_page(shell, result);
  if (result["dry_run"].as_bool()) return {"would forget " + selection_text(shell, result)};
  return report_page(result);
}

// Shows what a dry run selects, asks, begins the forget, and waits until the daemon has done and proved it.
// When this command is killed meanwhile, the daemon goes on.
Result<int> forget_command(Shell& shell) {
  const Json& args = shell.args();
  const bool asks = !args["pending"].as_bool() && !args.has("keep") && !args["dry_run"].as_bool();
  Json look = args;
  if (asks) look.set("dry_run", true);
  Json result = TRY(shell.ask("forget", look));
  if (!asks) return shell.show(forget_page(shell, args, result), result);
  shell.note("forget " + selection_text(shell, result));
  if (!TRY(shell.confirm("Remove this for good? There is no undo.")))
    return Error{Code::canceled, "forget: nothing was changed"};
  const Json begun = TRY(shell.ask("forget", args));
  const Json number = Json::object({{"forget", begun["forget"].as_int()}});
  std::string phase, error;
  for (result = TRY(shell.ask("forget.status", number)); !result["done"].as_bool();
       result = TRY(shell.ask("forget.status", number))) {
    if (shell.screen().terminal && phase != result["phase"].as_string()) {
      phase = result["phase"].as_string();
      shell.note("forgetting: " + phase);
    }
    if (const auto now = result["report"].text("error"); now && *now != error) {
      error = *now;
      shell.note("forget: " + shown_line(error) +
                 ": the daemon tries again every minute; you can interrupt this command, it goes on");
    }
    usleep(50'000);
  }
  return shell.show(report_page(result), result);
}

Status prepare_scan(Shell& shell, Json& args) {
  if (!args["forget"].as_bool()) return {};
  if (!TRY(shell.confirm("Remove every secret that is found, for good? There is no undo.")))
    return Error{Code::canceled, "scan: nothing was changed"};
  return {};
}

Page export_page(Shell&, const Json&, const Json& result) {
  if (result.has("text")) return {std::string(result["text"].as_string())};
  if (result.has("format")) {
    std::int64_t records = 0;
    for (const auto& [kind, count] : result["records"].members()) records += count.as_int();
    return {fmt::format("{}: {}, {}\n", shown_line(result["to"].as_string()),
                        count_text(records, "record", "records"), size_text(result["bytes"].as_int())),
            0, "it has your memories: keep it private"};
  }
  return {
      fmt::format("{}: {}, {}, verified\n", shown_line(result["store"].as_string()),
                  count_text(result["files"].as_int(), "file", "files"), size_text(result["bytes"].as_int())),
      0, "`cairn import --store` brings it back; it has all your memories: keep it private"};
}

// A dry run verifies the copy before the question is asked.
Result<int> import_store_command(Shell& shell) {
  const Json& args = shell.args();
  Json look = args;
  look.set("dry_run", true);
  const Json found = TRY(shell.ask("import", look));
  if (args["dry_run"].as_bool()) {
    return shell.show({fmt::format("{} is whole: {}\n", shown_line(found["store"].as_string()),
                                   count_text(found["files"].as_int(), "file", "files"))},
                      found);
  }
  if (!TRY(shell.confirm("Replace everything that is remembered here by the copy?")))
    return Error{Code::canceled, "import: nothing was changed"};
  const Json result = TRY(shell.ask("import", args));
  TRY(stop_or_kill(shell));  // its memory still holds what it read from the store that was replaced
  return shell.show({"restored; the daemon starts again with the next command\n"}, result);
}

Page audit_page(Shell& shell, const Json&, const Json& result) {
  std::string out;
  if (result["ok"].as_bool())
    out = fmt::format("{}  {}, each follows the one before it\n", shell.screen().paint(Style::good, "ok"),
                      count_text(result["entries"].as_int(), "entry", "entries"));
  else
    out = fmt::format("{}  entry {}: {}\n", shell.screen().paint(Style::bad, "bad"),
                      result["broken"].as_int(), shown_line(result["why"].as_string()));
  for (const Json& entry : result["newest"].items())
    out += fmt::format("  {}  {}  {}  {}\n", entry["id"].as_int(), text_of(entry["time"]).substr(0, 19),
                       text_of(entry["what"]), text_of(entry["actor"]));
  return {out, result["ok"].as_bool() ? 0 : 1};
}

}  // namespace cairn::cli
