#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

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

// A table, or where it does not fit on the terminal one block per row: an id that is cut is useless.
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

Page queue_list_page(Shell& shell, const Json& args, const Json& result) {
  if (result["messages"].items().empty())
    // Without a filter the list has what is not processed yet.
    return {args.members().empty() ? "nothing is pending\n" : "no such messages\n"};
  return {messages_table(shell, result["messages"])};
}

Page queue_show_page(Shell& shell, const Json&, const Json& message) {
  return {message_text(shell, message)};
}

Page queue_retry_page(Shell&, const Json& args, const Json& result) {
  const std::int64_t retried = result["retried"].as_int(), failed = result["failed"].as_int();
  if (args.has("id") && retried == 0)
    return {"", 1,
            fmt::format("message {} is processed: there is nothing to try again", args["id"].as_int())};
  return {count_text(retried, "message is", "messages are") + " pending again" +
          (failed > 0 ? fmt::format(", {} had no tries left and failed", number_text(failed)) : "") + "\n"};
}

Status prepare_queue_abort(Shell& shell, Json& args) {
  if (TRY(shell.confirm(fmt::format("Delete message {} from the queue?", args["id"].as_int())))) return {};
  return Error{Code::canceled, "queue abort: nothing was deleted"};
}

Page queue_abort_page(Shell&, const Json& args, const Json&) {
  return {fmt::format("message {} is deleted; what its event said is kept\n", args["id"].as_int())};
}

Page queue_clean_page(Shell&, const Json&, const Json& result) {
  return {fmt::format("{} deleted, {} kept\n",
                      count_text(result["deleted"].as_int(), "processed message", "processed messages"),
                      number_text(result["kept"].as_int()))};
}

Page queue_stats_page(Shell& shell, const Json&, const Json& stats) {
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
  return {facts.text(shell.screen())};
}

Page debug_sql_page(Shell& shell, const Json& args, const Json& result) {
  const Screen& screen = shell.screen();
  if (args.has("name"))
    return {screen.paint(Style::dim, wrap(shown_line(result["sql"].as_string()), screen.text_width(), 0)) +
            "\n" + rows_text(screen, result["columns"].items(), result["rows"].items())};
  Table table({{"name"}, {"meaning"}});
  for (const Json& query : result["queries"].items())
    table.add(
        {{std::string(query["name"].as_string()), Style::accent}, std::string(query["meaning"].as_string())});
  return {table.text(screen)};
}

}  // namespace cairn::cli
