#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

// "line 12, column 5: "; empty when the problem is not about a line.
std::string place_of(const Json& problem) {
  std::string place;
  if (problem["line"].is_int()) place = fmt::format("line {}", problem["line"].as_int());
  if (problem["column"].is_int()) place += fmt::format(", column {}", problem["column"].as_int());
  return place.empty() ? "" : place + ": ";
}

}  // namespace

std::string backups_text(const Json& archive) {
  std::string text = fmt::format("{} of {}", count_text(archive["backups"].as_int(), "backup", "backups"),
                                 count_text(archive["sessions"].as_int(), "session", "sessions"));
  if (const auto failed = archive["failed"].as_int(); failed > 0) text += fmt::format(", {} failed", failed);
  return text;
}

Page backup_list_page(Shell& shell, const Json&, const Json& result) {
  if (result["backups"].items().empty())
    return {"no backups: a transcript is copied when its session ends or is compacted\n"};
  Table table({{"id"},
               {"made"},
               {"session"},
               {"version", true},
               {"lines", true},
               {"size", true},
               {"cause"},
               {"state"}});
  for (const Json& one : result["backups"].items()) {
    std::string session = text_of(one["session"]);
    if (one["agent"].is_string()) session += " / " + text_of(one["agent"]);
    std::string state = one["pending"].as_bool() ? "pending" : "";
    if (one["damaged"].is_object())
      state += fmt::format("{}damaged: {}", state.empty() ? "" : ", ",
                           fmt::format("line {}", one["damaged"]["line"].as_int()));
    const std::string reason(one["reason"].as_string());
    table.add({{text_of(one["id"]), Style::accent},
               {shell.age(one["created_at"]), Style::dim},
               shown_line(session),
               std::to_string(one["version"].as_int()),
               number_text(one["lines"].as_int()),
               size_text(one["bytes"].as_int()),
               shown_line(text_of(one["cause"]) + (reason.empty() ? "" : " (" + reason + ")")),
               {state, one["damaged"].is_object() ? Style::warn : Style::plain}});
  }
  return {table.text(shell.screen())};
}

// A relative path is below the caller's directory, not the daemon's. A name without a slash is a session or a
// backup ("B12"), unless it ends as transcripts do.
Status prepare_backup_verify(Shell& shell, Json& args) {
  const std::string target(args["target"].as_string());
  if (target.empty() || target.starts_with('/')) return {};
  if (target.find('/') != std::string::npos || target.ends_with(".jsonl"))
    args.set("target", shell.directory() + "/" + target);
  return {};
}

Page backup_verify_page(Shell& shell, const Json&, const Json& result) {
  std::string out;
  for (const Json& one : result["backups"].items()) {
    const std::string name =
        one["id"].is_string() ? fmt::format("{}  session {} version {}", text_of(one["id"]),
                                            shown_line(one["session"].as_string()), one["version"].as_int())
                              : shown_line(one["path"].as_string());
    const bool ok = one["ok"].as_bool();
    out += fmt::format("{}  {}: {}, {}\n",
                       shell.screen().paint(ok ? Style::good : Style::bad, ok ? "ok" : "bad"), name,
                       count_text(one["lines"].as_int(), "line", "lines"), size_text(one["bytes"].as_int()));
    if (ok) out += "    sha256 " + text_of(one["sha256"]) + "\n";
    for (const Json& problem : one["problems"].items())
      out += "    " + place_of(problem) + shown_line(problem["what"].as_string()) + "\n";
  }
  if (out.empty()) out = "there are no backups\n";
  return {out, result["ok"].as_bool() ? 0 : 1};
}

Page backup_restore_page(Shell&, const Json&, const Json& result) {
  std::string out;
  for (const Json& file : result["files"].items()) {
    const bool there = file["was_there"].as_bool();
    out += fmt::format("{}  version {} {} {}: {}\n", text_of(file["id"]), file["version"].as_int(),
                       there ? "is already at" : "restored to", shown_line(file["path"].as_string()),
                       count_text(file["lines"].as_int(), "line", "lines"));
    if (const auto lost = file["lost"].as_int(); lost > 0)
      out += "    " + count_text(lost, "damaged line was left out", "damaged lines were left out") + "\n";
  }
  return {out};
}

Page backup_clean_page(Shell& shell, const Json&, const Json& result) {
  Table table({{"session"}, {"versions", true}, {"size", true}, {"newest"}});
  for (const Json& one : result["removed"].items())
    table.add({shown_line(one["session"].as_string()),
               std::to_string(one["versions"].as_int()),
               size_text(one["bytes"].as_int()),
               {shell.age(one["created_at"]), Style::dim}});
  std::string out = table.empty() ? "" : table.text(shell.screen()) + "\n";
  out += fmt::format(
      "{} {}, {}\n",
      count_text(std::ssize(result["removed"].items()), "session's backups", "sessions' backups"),
      result["dry_run"].as_bool() ? "would be removed" : "removed", size_text(result["bytes"].as_int()));
  if (const auto kept = result["pending_kept"].as_int(); kept > 0)
    out += count_text(kept, "session was kept because its lines are",
                      "sessions were kept because their lines are") +
           " pending: `cairn backup discard ID`\n";
  return {out};
}

Page backup_discard_page(Shell&, const Json&, const Json& result) {
  return {fmt::format("{}  session {} up to version {} is no longer pending{}\n", text_of(result["id"]),
                      shown_line(result["session"].as_string()), result["version"].as_int(),
                      result["pending"].as_bool() ? "; later lines are" : "")};
}

Page backup_repair_page(Shell& shell, const Json&, const Json& result) {
  if (result["defects"].items().empty()) return {"every backup has its files\n"};
  Table table({{"what"}, {"file"}, {"why"}, {result["applied"].as_bool() ? "done" : ""}});
  for (const Json& one : result["defects"].items())
    table.add({{text_of(one["kind"]), Style::warn},
               shown_line(one["file"].as_string()),
               shown_line(one["what"].as_string()),
               shown_line(one["done"].as_string())});
  return {table.text(shell.screen()), result["applied"].as_bool() ? 0 : 1,
          result["applied"].as_bool() ? "" : "`cairn backup repair --apply` fixes this"};
}

Page delta_page(Shell& shell, const Json&, const Json& result) {
  std::string out = fmt::format("anchor: {} ({})\n", text_of(result["anchor"]), text_of(result["anchor_at"]));
  const auto count = result["count"].as_int();
  out += count == 0 ? "nothing happened after it\n" : count_text(count, "record", "records") + " after it\n";
  if (const auto bad = result["malformed"].as_int(); bad > 0)
    out += count_text(bad, "malformed line was skipped", "malformed lines were skipped") + "\n";
  Table table({{"line", true}, {"at"}, {"type"}, {"text"}});
  for (const Json& one : result["records"].items()) {
    const auto at = parse_iso8601(one["at"].as_string());
    table.add({std::to_string(one["line"].as_int()),
               {at ? local_time(*at) : std::string(), Style::dim},
               shown_line(one["type"].as_string()),
               shown_line(one["text"].as_string())});
  }
  return {table.empty() ? out : out + "\n" + table.text(shell.screen())};
}

}  // namespace cairn::cli
