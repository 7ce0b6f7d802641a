#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

// `-` reads the error from stdin.
Status prepare_fix(Shell&, Json& args) {
  if (args["error"].as_string() == "-") args.set("error", TRY(all_of_stdin("fix")));
  return {};
}

std::string fixes_text(Shell& shell, const Json& fixes) {
  const Screen& screen = shell.screen();
  std::string out;
  for (const Json& fix : fixes.items()) {
    out += fmt::format("{}  {}\n", screen.paint(Style::accent, text_of(fix["id"])),
                       screen.paint(Style::dim, shell.age(fix["time"])));
    const std::string text(fix["text"].as_string());
    for (const std::string_view line : lines(text)) out += "  " + shown_line(std::string(line)) + "\n";
  }
  return out;
}

std::string commands_text(Shell& shell, const Json& commands) {
  Table table({{"id"}, {"last worked"}, {"passed", true}, {"failed", true}, {"command"}});
  for (const Json& known : commands.items()) {
    table.add({{text_of(known["id"]), Style::accent},
               {shell.age(known["time"]), Style::dim},
               std::to_string(known["passed"].as_int()),
               std::to_string(known["failed"].as_int()),
               {shown_line(known["command"].as_string()), Style::bold}});
    if (const std::string purpose = text_of(known["purpose"]); !purpose.empty())
      table.add_below({purpose, Style::dim});
  }
  return commands.items().empty() ? std::string() : table.text(shell.screen());
}

Page fix_page(Shell& shell, const Json&, const Json& result) {
  if (result["fixes"].items().empty())
    return {"", 3, "fix: no fix of such an error is remembered: `cairn search` looks for its words"};
  return {fixes_text(shell, result["fixes"])};
}

Page how_page(Shell& shell, const Json&, const Json& result) {
  if (result["commands"].items().empty())
    return {"", 3, "how: no such command that worked is remembered: `cairn search` looks for its words"};
  return {commands_text(shell, result["commands"])};
}

}  // namespace cairn::cli
