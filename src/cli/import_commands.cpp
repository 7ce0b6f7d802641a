#include <fmt/format.h>

#include "cli/commands.h"

namespace cairn::cli {

static std::string left_out_lines(const Json& left_out) {
  std::string out;
  for (const auto& [reason, count] : left_out.members())
    out += fmt::format("left out: {}, {}\n", count_text(count.as_int(), "session", "sessions"),
                       shown_line(reason));
  return out;
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

Page import_page(Shell&, const Json&, const Json& result) {
  std::string out;
  const std::int64_t found = result["found"].as_int(), bytes = result["bytes"].as_int();
  if (result["folders"].items().empty()) return {"no transcripts found: name the directory that has them\n"};
  if (found == 0) {
    out = "nothing new to import\n";
  } else {
    out = fmt::format("{} of {} to {}, {} of transcripts\n", count_text(found, "session", "sessions"),
                      day_of(result["oldest_at"]), day_of(result["newest_at"]), size_text(bytes));
  }
  if (const auto known = result["known"].as_int())
    out += fmt::format("{} remembered already\n", count_text(known, "session is", "sessions are"));
  out += left_out_lines(result["left_out"]);
  if (found == 0) return {out};
  if (result["dry_run"].as_bool()) {
    out += "nothing was imported: this was a dry run\n";
  } else {
    out += "They are imported in the background, newest first: `cairn import status` shows how far it is.\n";
  }
  return {out};
}

Page import_status_page(Shell&, const Json&, const Json& result) {
  const bool none = result["pending"].as_int() + result["imported"].as_int() == 0;
  return {
      (none ? std::string("nothing was imported: `cairn import transcripts` does it") : import_text(result)) +
      "\n" + left_out_lines(result["left_out"])};
}

}  // namespace cairn::cli
