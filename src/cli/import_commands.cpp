#include <fmt/format.h>

#include <array>

#include "cli/commands.h"
#include "host/host.h"

namespace cairn::cli {

static std::string left_out_lines(const Json& left_out) {
  std::string out;
  for (const auto& [reason, count] : left_out.members())
    out += fmt::format("left out: {}, {}\n", count_text(count.as_int(), "session", "sessions"),
                       shown_line(reason));
  return out;
}

// "3 sessions, 12 observations"; empty when there are none.
static std::string kinds_text(const Json& counts) {
  using Name = std::pair<std::string_view, std::string_view>;
  constexpr std::array kNames = {
      Name{"session", "sessions"},     Name{"prompt", "prompts"},     Name{"observation", "observations"},
      Name{"summary", "summaries"},    Name{"document", "documents"}, Name{"note", "notes"},
      Name{"open item", "open items"}, Name{"backup", "backups"},     Name{"answer", "texts"},
      Name{"order", "orders"}};
  std::string text;
  for (const auto& [one, many] : kNames)
    if (const std::int64_t count = counts[many].as_int(); count > 0)
      text += (text.empty() ? "" : ", ") + count_text(count, one, many == "texts" ? "answers" : many);
  return text;
}

static std::string day_of(const Json& time) {
  return std::string(time.as_string().substr(0, 10));
}

std::string import_text(const Json& import) {
  const std::int64_t done = import["imported"].as_int(), pending = import["pending"].as_int();
  std::string text =
      fmt::format("{} of {} imported", number_text(done), count_text(done + pending, "session", "sessions"));
  if (pending > 0) text += ", " + size_text(import["bytes_left"].as_int()) + " left, newest first";
  return text;
}

// What an import of that many bytes costs, as measured on two cores with sessions of several projects.
static std::string cost_text(std::int64_t bytes) {
  constexpr std::int64_t kBytesAMinute = 60'000'000, kBytesForOne = 4;
  const std::int64_t minutes = (bytes + kBytesAMinute - 1) / kBytesAMinute;
  return fmt::format("It takes about {} and {} of disk.\n",
                     minutes <= 1 ? "a minute" : number_text(minutes) + " minutes",
                     size_text(bytes / kBytesForOne));
}

// The directory of the host's settings may come from a variable, and the daemon does not have the caller's
// environment.
Status prepare_import_transcripts(Shell&, Json& args) {
  const auto settings = host::default_host().hooks().settings_file();
  if (settings && !args.has("directory"))
    args.set("configuration", settings->substr(0, settings->rfind('/')));
  return {};
}

Page import_page(Shell&, const Json&, const Json& result) {
  std::string out;
  const std::int64_t found = result["found"].as_int(), bytes = result["bytes"].as_int();
  if (result["folders"].items().empty()) return {"no transcripts found: name the directory that has them\n"};
  if (found == 0) {
    const bool others = !kinds_text(result["prompts_only"]["found"]).empty() ||
                        result["host_notes"]["added"].as_int() + result["host_notes"]["changed"].as_int() > 0;
    out = others ? "no new transcripts\n" : "nothing new to import\n";
  } else {
    out = fmt::format("{} of {} to {}, {} of transcripts. {}", count_text(found, "session", "sessions"),
                      day_of(result["oldest_at"]), day_of(result["newest_at"]), size_text(bytes),
                      cost_text(bytes));
  }
  const std::int64_t pending = result["pending"].as_int();
  if (pending > 0)
    out += fmt::format("{} pending: an import is under way, `cairn import status` shows how far it is\n",
                       number_text(pending));
  if (const auto known = result["known"].as_int())
    out += fmt::format("{} remembered already\n", count_text(known, "session is", "sessions are"));
  out += left_out_lines(result["left_out"]);
  const std::string prompts = kinds_text(result["prompts_only"]["found"]);
  if (!prompts.empty()) out += prompts + " from the list of prompts: their transcripts are gone\n";
  const Json& notes = result["host_notes"];
  if (const std::int64_t more = notes["added"].as_int() + notes["changed"].as_int())
    out += fmt::format("{} of the coding agent's own, new or changed\n",
                       count_text(more, "file with notes", "files with notes"));
  if (found == 0 && prompts.empty()) return {out};
  if (result["dry_run"].as_bool()) {
    out += "nothing was imported: this was a dry run\n";
  } else {
    out += "They are imported in the background, newest first: `cairn import status` shows how far it is.\n";
  }
  return {out};
}

static std::string reasons_text(const Json& left_out) {
  std::string out;
  for (const auto& [reason, count] : left_out.members())
    out += fmt::format("left out: {}, {}\n", number_text(count.as_int()), shown_line(reason));
  return out;
}

// `imported`: the member with the counts of what is new: "imported" or, before it is done, "found".
static std::string counts_text(const Json& result, std::string_view imported) {
  const std::string fresh = kinds_text(result[imported]), known = kinds_text(result["known"]);
  const std::string changed = kinds_text(result["changed"]);
  return (fresh.empty() ? std::string("nothing new to import") : fresh) + "\n" +
         (changed.empty() ? "" : "changed since the last import: " + changed + "\n") +
         (known.empty() ? "" : "remembered already: " + known + "\n") + reasons_text(result["left_out"]);
}

Page import_export_page(Shell&, const Json&, const Json& result) {
  std::string out = counts_text(result, "imported");
  for (const Json& project : result["projects"].items()) {
    const std::string there = shown_line(project["there"].as_string()),
                      here = shown_line(project["here"].as_string());
    out += project["new"].as_bool() ? fmt::format("project {} is new here\n", here)
           : there == here          ? fmt::format("project {}\n", here)
                                    : fmt::format("project {} is {} here\n", there, here);
  }
  if (const auto tombstones = result["tombstones"].as_int(); tombstones > 0)
    out += fmt::format("what was forgotten there is {} here as well\n",
                       result["dry_run"].as_bool() ? "to be forgotten" : "forgotten");
  if (result["dry_run"].as_bool()) out += "nothing was imported: this was a dry run\n";
  return {out};
}

Page import_memory_page(Shell&, const Json&, const Json& result) {
  if (result["pending"].as_bool())
    return {"This import is under way: `cairn import status` shows how far it is.\n"};
  std::string out = counts_text(result, "found");
  std::string unread;
  for (const Json& table : result["unread_tables"].items())
    unread += (unread.empty() ? "" : ", ") + shown_line(table.as_string());
  if (!unread.empty()) out += "not read, because cairn does not know it: " + unread + "\n";
  if (result["dry_run"].as_bool())
    out += "nothing was imported: this was a dry run\n";
  else if (result["found"]["backups"].as_int() > 0)
    out += "Transcripts are read in the background: `cairn import status` shows how far it is.\n";
  else if (result.has("pending") && !kinds_text(result["found"]).empty())
    out += "They are imported in the background, newest first: `cairn import status` shows how far it is.\n";
  return {out};
}

static std::string memory_text(const Json& job) {
  const std::string state(job["state"].as_string());
  std::string out =
      fmt::format("\n{} {}: {}\n", shown_line(job["source"].as_string()), shown_line(job["path"].as_string()),
                  state == "pending"  ? "under way"
                  : state == "failed" ? "failed: " + shown_line(job["reason"].as_string())
                                      : "imported");
  return out + counts_text(job, "imported");
}

Page import_status_page(Shell&, const Json&, const Json& result) {
  const bool none = result["pending"].as_int() + result["imported"].as_int() == 0;
  const auto& memories = result["memories"].items();
  std::string out;
  if (!none)
    out = import_text(result) + "\n";
  else if (memories.empty())
    out = "nothing was imported: `cairn import transcripts` does it\n";
  out += left_out_lines(result["left_out"]);
  for (const Json& job : memories) out += memory_text(job);
  return {out.starts_with('\n') ? out.substr(1) : out};
}

}  // namespace cairn::cli
