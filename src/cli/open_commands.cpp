#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

std::string source_text(const Json& item) {
  const std::string_view source = item["source"].as_string(), state = item["state"].as_string();
  if (source == "person") return "you";
  if (source == "next_step") return "next step";
  if (source == "task" && state == "in_progress") return "task, begun";
  if (source == "plan") return state == "accepted" ? "plan, accepted" : "plan";
  return std::string(source);
}

std::string items_text(Shell& shell, const Json& items, bool closed) {
  Table table({{"id"}, {closed ? "closed" : "last seen"}, {"from"}, {closed ? "by" : "branch"}, {"text"}});
  for (const Json& item : items.items()) {
    const bool old = item["earlier"].as_bool();  // not seen for long, compared with the project's last work
    table.add({{text_of(item["id"]), Style::accent},
               {shell.age(item[closed ? "closed_at" : "last_seen_at"]), Style::dim},
               source_text(item),
               shown_line(item[closed ? "closed_by" : "branch"].as_string()),
               {shown_line(item["text"].as_string()), old ? Style::dim : Style::plain}});
  }
  return table.text(shell.screen());
}

}  // namespace

Page open_page(Shell& shell, const Json& args, const Json& result) {
  if (args.has("text"))
    return {fmt::format("{}  open in {}: {}\n", shell.screen().paint(Style::accent, text_of(result["id"])),
                        shown_line(result["project"].as_string()), shown_line(result["text"].as_string()))};
  const bool closed = args["closed"].as_bool();
  if (result["items"].items().empty()) return {closed ? "nothing was closed yet\n" : "nothing is open\n"};
  return {items_text(shell, result["items"], closed)};
}

Page done_page(Shell& shell, const Json&, const Json& result) {
  std::string out;
  for (const Json& one : result["done"].items()) {
    const std::string_view kind = one["kind"].as_string();
    const std::string_view what = kind == "open" ? "closed" : kind == "note" ? "no longer given" : "dropped";
    out += fmt::format("{}  {}{}\n", shell.screen().paint(Style::accent, text_of(one["id"])), what,
                       one["text"].is_string() ? ": " + shown_line(one["text"].as_string()) : "");
  }
  return {out};
}

}  // namespace cairn::cli
