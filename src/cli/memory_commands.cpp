#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

struct Section {
  std::string_view key;
  std::string_view title;
};

constexpr std::array kSections = {Section{"subtitle", "Subtitle"},
                                  Section{"text", "Prompt"},
                                  Section{"request", "Request"},
                                  Section{"investigated", "Investigated"},
                                  Section{"learned", "Learned"},
                                  Section{"completed", "Completed"},
                                  Section{"next_steps", "Next steps"},
                                  Section{"narrative", "Narrative"},
                                  Section{"facts", "Facts"},
                                  Section{"concepts", "Concepts"},
                                  Section{"notes", "Notes"},
                                  Section{"files_read", "Files read"},
                                  Section{"files_edited", "Files edited"},
                                  Section{"files_modified", "Files modified"}};

std::string section_text(const Screen& screen, const Section& section, const Json& value) {
  std::string body;
  for (const Json& item : value.items()) body += "- " + shown_line(item.as_string()) + "\n";
  if (value.is_string()) body = shown(value.as_string());
  if (trim(body).empty()) return {};
  return "\n" + screen.paint(Style::accent, section.title) + "\n" + wrap(trim(body), screen.text_width(), 2);
}

std::string head_text(Shell& shell, const Json& record) {
  const Screen& screen = shell.screen();
  const std::string id(record["id"].as_string());
  std::string title = shown_line(record["title"].as_string());
  if (title.empty())
    title = fmt::format("{} of prompt {}", record["kind"].as_string(), record["prompt_number"].as_int());
  if (record["kind"].as_string() == "prompt")
    title = fmt::format("prompt {}", record["prompt_number"].as_int());
  std::string out = fmt::format("{}  {}\n", screen.paint(Style::bold, id), screen.paint(Style::bold, title));
  Facts facts;
  facts.add("project", std::string(record["project"].as_string()));
  if (const auto branch = record.text("branch")) facts.add("branch", *branch);
  facts.add("session", std::string(record["session"].as_string()));
  if (const auto time = parse_time(record["time"].as_string()))
    facts.add("time", fmt::format("{} ({})", local_time(*time), ago(*time, shell.clock().now())));
  if (const auto type = record.text("type")) facts.add("type", *type);
  if (const std::string label = label_of(record); !label.empty()) facts.add("from", label.substr(1));
  if (const auto provider = record.text("provider"))
    facts.add("by", *provider + (record["interim"].as_bool() ? ", while the turn is still open" : ""));
  if (const auto end = record.text("turn_end")) facts.add("turn", "ended: " + *end);
  return out + facts.text(screen);
}

std::string record_text(Shell& shell, const Json& record) {
  std::string out = head_text(shell, record);
  for (const Section& section : kSections) out += section_text(shell.screen(), section, record[section.key]);
  return out;
}

}  // namespace

Result<int> context_command(Shell& shell) {
  Json args = shell.scope();
  if (args["all"].as_bool()) return Error{Code::invalid, "context: is of one project: leave out --all"};
  if (const auto budget = TRY(shell.line().number("--budget", 0, 100'000))) args.set("budget", *budget);
  const Json result = TRY(shell.ask("context", args));
  const std::string_view text = result["text"].as_string();
  if (shell.json()) shell.print_json(result);
  if (text.empty())
    return Error{Code::not_found,
                 fmt::format("context: nothing to give for {}: a session with a prompt has to end first",
                             result["project"].as_string())};
  if (!shell.json()) shell.print(std::string(text) + "\n");
  return 0;
}

Result<int> context_log(Shell& shell) {
  Json args = shell.scope();
  if (const auto limit = TRY(shell.line().number("--limit", 1, 1'000'000))) args.set("limit", *limit);
  const Json result = TRY(shell.ask("context.log", args));
  if (shell.json()) {
    shell.print_json(result);
    return 0;
  }
  if (result["given"].items().empty()) {
    shell.note("no session of this project was given anything yet");
    return 0;
  }
  Table table({{"when"}, {"session", true}, {"source"}, {"given"}, {"tokens", true}, {"records"}});
  for (const Json& given : result["given"].items()) {
    const auto at = parse_time(given["time"].as_string());
    std::string items;
    for (const Json& item : given["items"].items())
      items += (items.empty() ? "" : " ") + std::string(item.as_string());
    const bool arrived = given["given"].as_bool();
    table.add({{at ? ago(*at, shell.clock().now()) : std::string(), Style::dim},
               {std::to_string(given["session_number"].as_int()), Style::accent},
               std::string(given["source"].as_string()),
               {arrived ? "yes" : "no", arrived ? Style::good : Style::warn},
               number_text(given["tokens"].as_int()),
               items});
  }
  shell.print(table.text(shell.screen()));
  return 0;
}

Result<int> show_command(Shell& shell) {
  Json ids = Json::array();
  for (const std::string& id : shell.line().words) ids.push(id);
  const Json result = TRY(shell.ask("show", Json::object({{"ids", ids}})));
  if (shell.json()) {
    shell.print_json(result);
    return 0;
  }
  bool first = true;
  for (const Json& record : result["records"].items()) {
    shell.print((first ? "" : "\n") + record_text(shell, record));
    first = false;
  }
  return 0;
}

}  // namespace cairn::cli
