#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

constexpr std::size_t kMostInput = 1u << 20;

std::string event_text(const Shell& shell, const Json& event, bool full) {
  const Screen& screen = shell.screen();
  const auto at = parse_time(event["time"].as_string());
  std::string head =
      fmt::format("{}  {}", screen.paint(Style::accent, fmt::format("#{}", event["seq"].as_int())),
                  screen.paint(Style::bold, shown_line(event["event"].as_string())));
  if (const auto tool = event.text("tool_name")) head += " " + shown_line(*tool + label_of(event));
  if (at)
    head += "  " +
            screen.paint(Style::dim, fmt::format("{} {}", local_time(*at).substr(0, 10), local_clock(*at)));
  if (event["source"].as_string() == "transcript") head += screen.paint(Style::dim, "  from the transcript");
  Facts facts;
  constexpr std::size_t kShort = 400;
  for (const char* part : {"input", "response", "extra"})
    if (const auto text = event.text(part); text && !text->empty())
      facts.add(part, full ? *text : one_line(*text, kShort));
  facts.add("event id", text_of(event["event_id"]), Style::dim);
  return head + "\n" + facts.text(screen);
}

Result<std::string> text_to_remember(const Line& line) {
  if (line.words != std::vector<std::string>{"-"}) {
    std::string text;
    for (const std::string& word : line.words) text += (text.empty() ? "" : " ") + word;
    return text;
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMostInput) return Error{Code::invalid, "remember: stdin: more than 1 MB: shorten it"};
  }
  return text;
}

}  // namespace

Result<int> why_command(Shell& shell) {
  const bool full = shell.line().has("--full");
  Json args = Json::object({{"id", shell.line().words[0]}});
  if (full) args.set("full", true);
  const Json result = TRY(shell.ask("why", args));
  if (shell.json()) {
    shell.print_json(result);
    return 0;
  }
  const Screen& screen = shell.screen();
  shell.print(
      fmt::format("{}  {}\n", screen.paint(Style::bold, text_of(result["id"])),
                  screen.paint(Style::bold, shown_line(text_of(result["title"]) + label_of(result)))));
  const auto& events = result["events"].items();
  if (events.empty()) {
    shell.print("  no events: it was stored by hand, or what it came from is no longer kept\n");
    return 0;
  }
  shell.print(fmt::format("  came from {} of session {}\n",
                          count_text(static_cast<std::int64_t>(events.size()), "event", "events"),
                          shown_line(result["session"].as_string())));
  for (const Json& event : events) shell.print("\n" + event_text(shell, event, full));
  return 0;
}

Result<int> remember_command(Shell& shell) {
  const Line& line = shell.line();
  Json args = shell.scope();
  if (args["all"].as_bool()) return Error{Code::invalid, "remember: is of one project: leave out --all"};
  args.set("text", TRY(text_to_remember(line)));
  for (const char* name : {"title", "type"})
    if (const auto value = line.value(std::string("--") + name)) args.set(name, *value);
  Json files = Json::array();
  for (const std::string& file : line.values("--file")) files.push(file);
  if (!files.items().empty()) args.set("files", files);
  const Json result = TRY(shell.ask("remember", args));
  if (shell.json())
    shell.print_json(result);
  else
    shell.print(
        fmt::format("{}  remembered for {}: {}\n", shell.screen().paint(Style::accent, text_of(result["id"])),
                    shown_line(result["project"].as_string()), shown_line(result["title"].as_string())));
  return 0;
}

}  // namespace cairn::cli
