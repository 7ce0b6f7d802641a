#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/words.h"
#include "store/states.h"

namespace cairn::cli {

namespace {

Style style_of_session(std::string_view status) {
  if (status == "active") return Style::good;
  return status == "interrupted" ? Style::warn : Style::plain;
}

std::string moment(const Json& time) {
  const auto at = parse_iso8601(time.as_string());
  return at ? local_time(*at) : "";
}

std::string sessions_table(Shell& shell, const Json& sessions) {
  const bool all = shell.flag("all");
  // A column for the host only if the sessions are of several.
  bool hosts = false;
  for (const Json& session : sessions.items())
    hosts = hosts || session["platform"].as_string() != sessions.items()[0]["platform"].as_string();
  std::vector<Table::Column> columns = {{"#", true}, {"last event"}, {"status"}};
  if (all) columns.push_back({"project"});
  if (hosts) columns.push_back({"host"});
  columns.push_back({"branch"});
  columns.push_back({"prompts", true});
  columns.push_back({"first prompt"});
  Table table(columns);
  for (const Json& session : sessions.items()) {
    const std::string_view status = session_word(session);
    std::vector<Table::Cell> row = {{std::to_string(session["id"].as_int()), Style::accent},
                                    {shell.age(session["last_event_at"]), Style::dim},
                                    {std::string(status), style_of_session(status)}};
    if (all) row.push_back(text_of(session["project"]));
    if (hosts) row.push_back(text_of(session["platform"]));
    row.push_back({text_of(session["branch"]), Style::dim});
    row.push_back(std::to_string(session["prompts"].as_int()));
    row.push_back(text_of(session["first_prompt"]));
    table.add(std::move(row));
  }
  return table.text(shell.screen());
}

// `12 delivered = 11 stored + 1 counted`, then calls from the transcript, and why some were only counted.
void add_ledger(Facts& facts, const Json& ledger) {
  const auto delivered = ledger["delivered"].as_int(), stored = ledger["stored"].as_int(),
             gap = ledger["gap"].as_int();
  std::string text = fmt::format("{} delivered = {} stored + {} counted", number_text(delivered),
                                 number_text(stored), number_text(delivered - stored));
  text += fmt::format(" · {} distilled", number_text(ledger["distilled"].as_int()));
  facts.add("ledger", text);
  for (const auto& [reason, count] : ledger["counted"].members())
    facts.add("", fmt::format("{} {}", number_text(count.as_int()), shown_line(word_for(reason))));
  facts.add("",
            fmt::format("{} in the transcript · {} recovered · gap {}",
                        count_text(ledger["tool_calls"].as_int(), "tool call", "tool calls"),
                        number_text(ledger["recovered"].as_int()), number_text(gap)),
            gap > 0 ? Style::warn : Style::plain);
  for (const auto& [reason, count] : ledger["tool_calls_counted"].members())
    facts.add("",
              fmt::format("{} not stored: {}", number_text(count.as_int()), shown_line(word_for(reason))));
}

Facts session_facts(Shell& shell, const Json& session) {
  const std::string_view status = session_word(session);
  const auto reason = session.text("end_reason");
  Facts facts;
  facts.add("session id", text_of(session["content_session_id"]));
  facts.add("memory id", session.text("memory_session_id").value_or("none"));
  facts.add("state", text_of(session["state"]),
            session["state"].as_string() == "CAPTURED" ? Style::good : Style::warn);
  facts.add("status",
            std::string(status) + (reason && !reason->empty() ? fmt::format(" ({})", word_for(*reason)) : ""),
            style_of_session(status));
  facts.add("project", text_of(session["project"]));
  if (const auto branch = session.text("branch")) facts.add("branch", *branch);
  if (const auto worktree = session.text("worktree")) facts.add("worktree", *worktree);
  facts.add("host", text_of(session["platform"]));
  facts.add("started", moment(session["started_at"]));
  if (session["captured_at"].is_string()) facts.add("captured", moment(session["captured_at"]));
  facts.add("last event",
            fmt::format("{} ({})", moment(session["last_event_at"]), shell.age(session["last_event_at"])));
  if (session["completed_at"].is_string()) facts.add("ended", moment(session["completed_at"]));
  if (const auto cwd = session.text("cwd"); cwd && !cwd->empty()) facts.add("directory", *cwd);
  if (const auto path = session.text("transcript_path"); path && !path->empty())
    facts.add("transcript", *path);
  std::string outcomes;
  for (const auto& [outcome, count] : session["events_by_outcome"].members())
    outcomes +=
        fmt::format("{}{} {}", outcomes.empty() ? "" : " · ", number_text(count.as_int()), word_for(outcome));
  if (!outcomes.empty()) facts.add("events", outcomes);
  add_ledger(facts, session["ledger"]);
  return facts;
}

std::string turns_table(Shell& shell, const Json& turns) {
  Table table({{"#", true}, {"started"}, {"ended"}, {"prompt id"}, {"summary"}, {"prompt"}});
  for (const Json& turn : turns.items()) {
    const bool open = !turn["ended_at"].is_string();
    const auto failure = turn.text("failure");
    const std::string end = open ? "open"
                            : failure && !failure->empty()
                                ? "interrupted"
                                : std::string(word_for(text_of(turn["end_reason"])));
    const std::string prompt = turn["private"].as_bool() ? "[private]" : text_of(turn["prompt"]);
    table.add({{std::to_string(turn["prompt_number"].as_int()), Style::accent},
               {moment(turn["started_at"]), Style::dim},
               {end, open                   ? Style::good
                     : end == "interrupted" ? Style::warn
                                            : Style::plain},
               text_of(turn["prompt_id"]),
               {turn.text("summary").value_or("-"), Style::accent},
               prompt});
  }
  return table.text(shell.screen());
}

std::string events_table(Shell& shell, const Json& events) {
  Table table({{"seq", true}, {"time"}, {"turn", true}, {"event"}, {"tool"}, {"outcome"}, {"remark"}});
  for (const Json& event : events.items()) {
    const auto at = parse_iso8601(event["time"].as_string());
    std::string remark = text_of(event["reason"]);
    if (const auto agent = event.text("agent_type"); agent && !agent->empty())
      remark += (remark.empty() ? "" : ", ") + *agent;
    if (event["source"].as_string() != store::name_of(event::Source::hook))
      remark += (remark.empty() ? "from the " : ", from the ") + text_of(event["source"]);
    if (event["cut"].as_bool()) remark += remark.empty() ? "cut" : ", cut";
    // A stored event that has a message in the queue shows the state of that message: it says more.
    const std::string_view outcome = event["outcome"].as_string();
    const std::string_view state = event["message"].as_string(outcome);
    table.add(
        {{std::to_string(event["seq"].as_int()), Style::accent},
         {at ? local_clock(*at) : std::string(), Style::dim},
         event["prompt_number"].is_int() ? std::to_string(event["prompt_number"].as_int()) : std::string(),
         text_of(event["event"]),
         text_of(event["tool_name"]),
         {std::string(word_for(state)),
          outcome != name_of(store::EventOutcome::stored) || state == "failed" ? Style::warn : Style::plain},
         remark});
  }
  return table.text(shell.screen());
}

}  // namespace

Page sessions_list_page(Shell& shell, const Json&, const Json& result) {
  if (result["sessions"].items().empty())
    return {"", 0,
            "no sessions yet: start your coding agent in a project, or `cairn install` if you have not"};
  return {sessions_table(shell, result["sessions"])};
}

Page sessions_show_page(Shell& shell, const Json&, const Json& session) {
  const Screen& screen = shell.screen();
  std::string out = screen.paint(Style::bold, fmt::format("session {}", session["id"].as_int())) + "\n" +
                    session_facts(shell, session).text(screen) + "\n" + screen.paint(Style::bold, "Turns") +
                    "\n";
  const bool turns = !session["turns"].items().empty();
  out += turns ? turns_table(shell, session["turns"]) : "none\n";
  if (session.has("events"))
    out += "\n" + screen.paint(Style::bold, "Events") + "\n" + events_table(shell, session["events"]);
  return {out};
}

Page sessions_end_page(Shell&, const Json&, const Json& session) {
  const bool changed = session["changed"].as_bool();
  return {fmt::format("session {} {} {}\n", session["id"].as_int(),
                      changed ? "ended:" : "had ended before:", session_word(session))};
}

Page sessions_summarize_page(Shell& shell, const Json&, const Json& result) {
  Table table({{"id"}, {"prompt", true}, {"by"}, {"request"}});
  for (const Json& summary : result["summaries"].items())
    table.add({{text_of(summary["id"]), Style::accent},
               std::to_string(summary["prompt_number"].as_int()),
               {text_of(summary["provider"]), Style::dim},
               text_of(summary["request"])});
  return {table.empty() ? "nothing to summarise\n" : table.text(shell.screen())};
}

Page sessions_cleanup_page(Shell&, const Json&, const Json& result) {
  return {fmt::format("Marked {} old active sessions as interrupted\n", result["marked"].as_int())};
}

Page sessions_repair_page(Shell& shell, const Json&, const Json& result) {
  Table table({{"#", true}, {"session id"}});
  for (const Json& session : result["sessions"].items())
    table.add(
        {{std::to_string(session["id"].as_int()), Style::accent}, text_of(session["content_session_id"])});
  return {count_text(result["repaired"].as_int(), "session was given a memory id",
                     "sessions were given a memory id") +
          "\n" + (table.empty() ? "" : table.text(shell.screen()))};
}

}  // namespace cairn::cli
