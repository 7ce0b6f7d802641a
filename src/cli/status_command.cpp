#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/words.h"

namespace cairn::cli {

namespace {

std::string head_line(const Shell& shell, const Json& daemon) {
  const Screen& screen = shell.screen();
  const std::string version = shown_line(daemon["version"].as_string());
  return fmt::format("{}  {} for {}  {}\n", screen.paint(Style::bold, "cairn " + version),
                     screen.paint(Style::good, "running"), duration_text(daemon["uptime_s"].as_int()),
                     screen.paint(Style::dim, fmt::format("pid {}", daemon["pid"].as_int())));
}

std::string sessions_text(const Json& status) {
  std::string text = count_text(status["sessions"].as_int(), "session", "sessions");
  if (const auto active = status["sessions_active"].as_int())
    text += fmt::format(" ({} active)", number_text(active));
  return text + " in " + count_text(status["projects"].as_int(), "project", "projects");
}

std::string queue_text(const Json& queue) {
  std::string text;
  for (const char* state : {"pending", "processing", "processed", "failed"})
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", number_text(queue[state].as_int()), state);
  return text;
}

// "120 delivered = 120 read, gap 0". An event counts as read when its outcome is recorded, stored or not. The
// gap also has the tool calls of transcripts that are still to be recovered.
std::string ledger_text(const Json& ledger) {
  const auto delivered = ledger["delivered"].as_int(), taken = ledger["taken_in"].as_int(),
             gap = ledger["gap"].as_int();
  std::string text = fmt::format("{} delivered {} {} read · gap {}", number_text(delivered),
                                 delivered == taken ? "=" : "≠", number_text(taken), number_text(gap));
  if (const auto recovered = ledger["recovered"].as_int())
    text += fmt::format(" · {} recovered", number_text(recovered));
  return text;
}

// Events that came in but were not stored, and why.
std::string counted_text(const Json& counted) {
  std::string text;
  for (const auto& [reason, count] : counted.members())
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", number_text(count.as_int()), word_for(reason));
  return text;
}

std::string sizes_text(const Json& sizes) {
  return fmt::format("{} (database {}, backups {}, inbox {}, logs {})", size_text(sizes["total"].as_int()),
                     size_text(sizes["database"].as_int() + sizes["wal"].as_int()),
                     size_text(sizes["archive"].as_int()), size_text(sizes["inbox"].as_int()),
                     size_text(sizes["logs"].as_int()));
}

std::string activity_text(Shell& shell, const Json& at) {
  const auto time = parse_iso8601(at.as_string());
  if (!time) return "none yet";
  return fmt::format("{} ({})", ago(*time, shell.clock().now()), local_time(*time));
}

std::string problems_text(const Screen& screen, const Json& problems) {
  std::string out;
  for (const Json& problem : problems.items()) {
    const std::string text = wrap(shown_line(problem.as_string()), screen.text_width(), 4);
    out += "  " + screen.paint(Style::bad, "!") + " " + text.substr(4);
  }
  return out;
}

}  // namespace

Page status_page(Shell& shell, const Json&, const Json& status) {
  const Json& queue = status["queue"];
  const Json& ledger = status["ledger"];
  Facts facts;
  facts.add("memory", sessions_text(status));
  facts.add("", count_text(status["summaries"].as_int(), "summary", "summaries") + " · " +
                    count_text(status["observations"].as_int(), "observation", "observations") + " · " +
                    number_text(status["open_items"].as_int()) + " open");
  facts.add("queue", queue_text(queue), queue["failed"].as_int() > 0 ? Style::warn : Style::plain);
  const auto waiting = status["inbox"].as_int();
  facts.add("inbox", waiting == 0 ? "empty" : count_text(waiting, "event pending", "events pending"));
  facts.add("ledger", ledger_text(ledger), ledger["gap"].as_int() > 0 ? Style::warn : Style::plain);
  if (const std::string counted = counted_text(ledger["counted"]); !counted.empty())
    facts.add("not stored", counted);
  facts.add("backups", backups_text(status["archive"]),
            status["archive"]["failed"].as_int() > 0 ? Style::warn : Style::plain);
  if (const Json& import = status["import"]; import["pending"].as_int() > 0)
    facts.add("import", import_text(import));
  facts.add("on disk", sizes_text(status["sizes"]));
  facts.add("last event", activity_text(shell, status["last_activity_at"]));
  facts.add("provider", std::string(status["provider"].as_string()));
  facts.add("home", std::string(status["home"].as_string()));
  Page page{head_line(shell, status["daemon"]) + "\n" + facts.text(shell.screen())};
  if (const std::string problems = problems_text(shell.screen(), status["problems"]); !problems.empty())
    page.text += "\n" + problems;
  return page;
}

}  // namespace cairn::cli
