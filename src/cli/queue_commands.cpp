#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

Result<std::int64_t> message_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    return Error{Code::invalid,
                 fmt::format("queue: \"{}\" is not a message's number: `cairn queue list` shows them",
                             fit(shown_line(text), 40))};
  return number;
}

Style style_of_message(std::string_view status) {
  if (status == "failed") return Style::bad;
  return status == "processing" ? Style::good : Style::plain;
}

std::string age_of(Shell& shell, const Json& epoch) {
  return epoch.is_int() ? ago(from_epoch_ms(epoch.as_int()), shell.clock().now()) : "";
}

std::string messages_table(Shell& shell, const Json& messages) {
  Table table({{"#", true},
               {"status"},
               {"age"},
               {"session", true},
               {"turn", true},
               {"type"},
               {"tool"},
               {"tries", true},
               {"remark"}});
  for (const Json& message : messages.items()) {
    const std::string_view status = message["status"].as_string();
    const std::string error(message["last_error"].as_string());
    table.add({{std::to_string(message["id"].as_int()), Style::accent},
               {std::string(status), style_of_message(status)},
               {age_of(shell, message["created_at_epoch"]), Style::dim},
               std::to_string(message["session_db_id"].as_int()),
               message["prompt_number"].is_int() ? std::to_string(message["prompt_number"].as_int())
                                                 : std::string(),
               std::string(message["message_type"].as_string()),
               std::string(message["tool_name"].as_string()),
               std::to_string(message["retry_count"].as_int()),
               error.empty() ? std::string(message["project"].as_string()) : error});
  }
  return table.text(shell.screen());
}

std::string body_of(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : value.dump(2);
}

std::string message_text(Shell& shell, const Json& message) {
  const Screen& screen = shell.screen();
  const std::string_view status = message["status"].as_string();
  std::string out = screen.paint(Style::bold, fmt::format("message {}", message["id"].as_int())) + "\n";
  Facts facts;
  facts.add("status", std::string(status), style_of_message(status));
  facts.add("type", std::string(message["message_type"].as_string()));
  if (const auto tool = message.text("tool_name")) facts.add("tool", *tool + label_of(message));
  facts.add("session", fmt::format("{} ({})", message["session_db_id"].as_int(),
                                   message["content_session_id"].as_string()));
  if (const auto project = message.text("project")) facts.add("project", *project);
  if (message["prompt_number"].is_int()) facts.add("turn", std::to_string(message["prompt_number"].as_int()));
  if (const auto cwd = message.text("cwd")) facts.add("directory", *cwd);
  const auto time = [&](const char* label, const char* key) {
    if (message[key].is_int()) facts.add(label, local_time(from_epoch_ms(message[key].as_int())));
  };
  time("created", "created_at_epoch");
  time("started", "started_processing_at_epoch");
  time("completed", "completed_at_epoch");
  facts.add("tries", std::to_string(message["retry_count"].as_int()));
  if (const auto error = message.text("last_error")) facts.add("last error", *error, Style::bad);
  facts.add("event", std::to_string(message["event_seq"].as_int()));
  if (const auto batch = message.text("batch_id")) facts.add("batch", *batch);
  for (const Json& problem : message["problems"].items())
    facts.add("problem", std::string(problem.as_string()), Style::bad);
  out += facts.text(screen);
  for (const auto& [key, title] :
       {std::pair("tool_input", "Tool input"), std::pair("tool_response", "Tool response"),
        std::pair("last_user_message", "Last user message"),
        std::pair("last_assistant_message", "Last assistant message")})
    if (const Json& value = message[key]; !value.is_null())
      out += "\n" + screen.paint(Style::accent, title) + "\n" +
             wrap(shown(body_of(value)), screen.text_width(), 2);
  return out;
}

// A table, or, where a terminal is too narrow for it, one block a row: an id that is cut is of no use.
std::string rows_text(const Screen& screen, const Json::Array& titles, const Json::Array& rows) {
  const auto text = [](const Json& cell) {
    return cell.is_string() ? std::string(cell.as_string()) : cell.dump();
  };
  std::vector<Table::Column> columns;
  for (const Json& title : titles) columns.push_back({text(title)});
  Table table(columns);
  std::string blocks;
  for (const Json& row : rows) {
    std::vector<Table::Cell> cells;
    Facts facts;
    for (const Json& cell : row.items()) {
      const Style style = cell.is_null() ? Style::dim : Style::plain;
      facts.add(columns[std::min(cells.size(), columns.size() - 1)].title, text(cell), style);
      cells.emplace_back(text(cell), style);
    }
    table.add(std::move(cells));
    blocks += (blocks.empty() ? "" : "\n") + facts.text(screen);
  }
  if (table.empty()) return "no rows\n";
  return table.fits(screen) ? table.text(screen) : blocks;
}

}  // namespace

Result<int> queue_list(Shell& shell) {
  Json args = Json::object();
  if (const auto session = shell.line().value("--session")) args.set("session", *session);
  if (const auto status = shell.line().value("--status")) args.set("status", *status);
  if (const auto minutes = TRY(shell.line().number("--recent", 1, 1'000'000))) args.set("recent", *minutes);
  if (const auto limit = TRY(shell.line().number("--limit", 1, 1'000'000))) args.set("limit", *limit);
  const Json result = TRY(shell.ask("queue.list", args));
  if (shell.json())
    shell.print_json(result);
  else if (result["messages"].items().empty())
    shell.print(args.members().empty() ? "nothing waits\n" : "no such messages\n");
  else
    shell.print(messages_table(shell, result["messages"]));
  return 0;
}

Result<int> queue_show(Shell& shell) {
  const Json args = Json::object({{"id", TRY(message_number(shell.line().words[0]))}});
  const Json message = TRY(shell.ask("queue.show", args));
  if (shell.json())
    shell.print_json(message);
  else
    shell.print(message_text(shell, message));
  return 0;
}

Result<int> queue_retry(Shell& shell) {
  const Line& line = shell.line();
  const auto session = line.value("--session");
  const auto age = TRY(line.number("--older-than", 0, 1'000'000'000));
  if (line.words.size() + session.has_value() + line.has("--stuck") != 1)
    return Error{Code::invalid,
                 "queue retry: name one message, or --session ID, or --stuck: `cairn help queue retry`"};
  if (age && !line.has("--stuck")) return Error{Code::invalid, "queue retry: --older-than goes with --stuck"};
  Json args = Json::object();
  if (!line.words.empty()) args.set("id", TRY(message_number(line.words[0])));
  if (session) args.set("session", *session);
  if (line.has("--stuck")) args.set("stuck", true);
  if (age) args.set("older_than_s", *age);
  const Json result = TRY(shell.ask("queue.retry", args));
  const std::int64_t retried = result["retried"].as_int(), failed = result["failed"].as_int();
  const bool refused = !line.words.empty() && retried == 0;
  if (shell.json())
    shell.print_json(result);
  else if (refused)
    shell.note(fmt::format("message {} is processed: there is nothing to try again", line.words[0]));
  else
    shell.print(count_text(retried, "message waits", "messages wait") + " again" +
                (failed > 0 ? fmt::format(", {} had no tries left and failed", number_text(failed)) : "") +
                "\n");
  return refused ? 1 : 0;
}

Result<int> queue_abort(Shell& shell) {
  const std::int64_t id = TRY(message_number(shell.line().words[0]));
  if (!TRY(shell.confirm(fmt::format("Delete message {} from the queue?", id)))) return 1;
  const Json result = TRY(shell.ask("queue.abort", Json::object({{"id", id}})));
  if (shell.json())
    shell.print_json(result);
  else
    shell.print(fmt::format("message {} is deleted; what its event said is kept\n", id));
  return 0;
}

Result<int> queue_clean(Shell& shell) {
  Json args = Json::object();
  if (const auto keep = TRY(shell.line().number("--keep", 0, 1'000'000'000))) args.set("keep", *keep);
  const Json result = TRY(shell.ask("queue.clean", args));
  if (shell.json())
    shell.print_json(result);
  else
    shell.print(fmt::format("{} deleted, {} kept\n",
                            count_text(result["deleted"].as_int(), "processed message", "processed messages"),
                            number_text(result["kept"].as_int())));
  return 0;
}

Result<int> queue_stats(Shell& shell) {
  const Json stats = TRY(shell.ask("queue.stats", Json::object()));
  if (shell.json()) {
    shell.print_json(stats);
    return 0;
  }
  Facts facts;
  for (const char* status : {"pending", "processing", "processed", "failed"})
    facts.add(status, number_text(stats[status].as_int()),
              stats[status].as_int() > 0 ? style_of_message(status) : Style::plain);
  const Json& oldest = stats["oldest_pending_s"];
  facts.add("oldest", oldest.is_int() ? "pending for " + duration_text(oldest.as_int()) : "none pending");
  if (const std::int64_t stuck = stats["stuck"].as_int(); stuck > 0)
    facts.add("stuck", fmt::format("{}: `cairn queue retry --stuck`", number_text(stuck)), Style::bad);
  facts.add("sessions", fmt::format("{} with work", number_text(stats["sessions"].as_int())));
  for (const Json& session : stats["by_session"].items())
    facts.add(
        "", fmt::format("session {}: {} pending, {} processing, {} failed", session["session_db_id"].as_int(),
                        number_text(session["pending"].as_int()), number_text(session["processing"].as_int()),
                        number_text(session["failed"].as_int())));
  shell.print(facts.text(shell.screen()));
  return 0;
}

Result<int> debug_sql(Shell& shell) {
  const auto& words = shell.line().words;
  Json args = Json::object();
  if (!words.empty()) args.set("name", words[0]);
  if (words.size() > 1) args.set("id", words[1]);
  const Json result = TRY(shell.ask("debug.sql", args));
  if (shell.json()) {
    shell.print_json(result);
    return 0;
  }
  if (words.empty()) {
    Table table({{"name"}, {"meaning"}});
    for (const Json& query : result["queries"].items())
      table.add({{std::string(query["name"].as_string()), Style::accent},
                 std::string(query["meaning"].as_string())});
    shell.print(table.text(shell.screen()));
    return 0;
  }
  shell.print(shell.screen().paint(
                  Style::dim, wrap(shown_line(result["sql"].as_string()), shell.screen().text_width(), 0)) +
              "\n");
  shell.print(rows_text(shell.screen(), result["columns"].items(), result["rows"].items()));
  return 0;
}

}  // namespace cairn::cli
