#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

// From [[from, to], ...], in bytes of the text that the result has beside it.
Marks marks_of(const Json& list) {
  Marks marks;
  for (const Json& mark : list.items()) {
    if (mark.items().size() != 2) continue;
    const std::int64_t from = mark.items()[0].as_int(), to = mark.items()[1].as_int();
    if (from >= 0 && to > from) marks.emplace_back(from, to);
  }
  return marks;
}

Style style_of_type(std::string_view type) {
  if (type == "bugfix") return Style::bad;
  if (type == "feature") return Style::good;
  if (type == "decision" || type == "security") return Style::warn;
  if (type == "summary" || type == "prompt") return Style::dim;
  return Style::plain;
}

// "4.20 = lexer 3.10 + rounding 1.10": for --explain.
std::string shares_text(const Json& result) {
  std::string text = fmt::format("{:.2f} =", result["score"].as_double());
  bool first = true;
  for (const Json& share : result["explain"].items()) {
    text +=
        fmt::format("{} {} {:.2f}", first ? "" : " +", share["term"].as_string(), share["score"].as_double());
    first = false;
  }
  return first ? "nothing to rank by: the newest first" : text;
}

std::string results_table(Shell& shell, const Json& results) {
  const bool all = shell.flag("all"), explain = shell.flag("explain");
  // On a narrow screen the title needs the space, and the order is enough.
  const bool score = !shell.screen().terminal || shell.screen().width >= 100 || explain;
  std::vector<Table::Column> columns = {{"id"}, {"when"}, {"type"}};
  if (all) columns.push_back({"project"});
  if (score) columns.push_back({"score", true});
  columns.push_back({"title"});
  Table table(columns);
  for (const Json& result : results.items()) {
    const std::string type = text_of(result["type"]);
    std::vector<Table::Cell> row = {{text_of(result["id"]), Style::accent},
                                    {shell.age(result["time"]), Style::dim},
                                    {type + label_of(result), style_of_type(type)}};
    if (all) row.push_back(text_of(result["project"]));
    if (score) row.push_back({fmt::format("{:.1f}", result["score"].as_double()), Style::dim});
    row.push_back({text_of(result["title"]), Style::plain, marks_of(result["title_marks"])});
    table.add(std::move(row));
    if (const std::string excerpt = text_of(result["excerpt"]); !excerpt.empty())
      table.add_below({excerpt, Style::dim, marks_of(result["excerpt_marks"])});
    if (const Json& place = result["archive"]; place.is_object())
      table.add_below({fmt::format("session {}, line {}: {}", text_of(result["session"]),
                                   place["first_line"].as_int(), text_of(place["restore"])),
                       Style::dim});
    if (result["stale"].as_bool()) table.add_below({"a file that it is about changed since", Style::warn});
    if (const std::string next = text_of(result["successor"]); !next.empty())
      table.add_below({"replaced by " + next, Style::warn});
    if (explain) table.add_below({shares_text(result), Style::dim});
  }
  return table.text(shell.screen());
}

// "parse_header occurs nowhere as such: ...", or empty.
std::string absent_text(Shell& shell, const Json& absent) {
  std::string names;
  for (const Json& name : absent.items())
    names += (names.empty() ? "" : ", ") + fit(shown_line(name.as_string()), 60);
  if (names.empty()) return {};
  return shell.screen().paint(
      Style::warn, fmt::format("{} {} nowhere as such: the results contain other words or parts of it\n",
                               names, absent.items().size() == 1 ? "occurs" : "occur"));
}

// For a search without hits: since when anything was remembered.
std::string nothing_found(const Json& result) {
  const bool one = result["project"].is_string();
  const std::string where = one ? "in " + shown_line(result["project"].as_string()) : "anywhere";
  const auto since = parse_iso8601(result["remembered_since"].as_string());
  if (!since) return fmt::format("search: nothing found {}: nothing is remembered yet", where);
  return fmt::format("search: nothing found {}, remembered since {}: {}", where, local_time(*since),
                     one ? "--all looks in every project" : "try other words");
}

// How far back a search looks.
std::string remembered_text(const Json& result) {
  const auto since = parse_iso8601(result["remembered_since"].as_string());
  if (!since) return {};
  const std::string what = result["project"].is_string() ? shown_line(result["project"].as_string()) + " is"
                                                         : std::string("all projects are");
  return fmt::format("{} remembered since {}\n", what, local_time(*since).substr(0, 10));
}

std::string timeline_table(Shell& shell, const Json& result) {
  Table table({{""}, {"id"}, {"time"}, {"type"}, {"title"}});
  for (const Json& record : result["records"].items()) {
    const bool anchor = record["id"] == result["anchor"];
    const auto at = parse_iso8601(record["time"].as_string());
    const std::string type = text_of(record["type"]);
    table.add({{anchor ? "→" : "", Style::match},
               {text_of(record["id"]), Style::accent},
               {at ? local_time(*at) : std::string(), Style::dim},
               {type + label_of(record), style_of_type(type)},
               {text_of(record["title"]), anchor ? Style::bold : Style::plain}});
  }
  return table.text(shell.screen());
}

}  // namespace

Page search_page(Shell& shell, const Json& args, const Json& result) {
  const Json& results = result["results"];
  const std::int64_t offset = args["offset"].as_int();
  if (results.items().empty())
    return {"", 3, offset > 0 ? "search: nothing more is found" : nothing_found(result)};
  Page page{fixes_text(shell, result["fixes"]) + commands_text(shell, result["commands"]) +
            absent_text(shell, result["absent"]) + results_table(shell, results)};
  if (shell.screen().terminal && result["more"].as_bool())
    page.text += shell.screen().paint(
        Style::dim, fmt::format("more: --offset {}\n", offset + std::ssize(results.items())));
  page.text += shell.screen().paint(Style::dim, remembered_text(result));
  return page;
}

// One word that looks like an id is an id.
Status prepare_timeline(Shell& shell, Json& args) {
  const Json query = args["query"];
  if (!ops::fits(*shell.line().command->operation->find("id"), query)) return {};
  args.set("id", query);
  args.set("query", Json());
  return {};
}

Page timeline_page(Shell& shell, const Json&, const Json& result) {
  return {timeline_table(shell, result)};
}

}  // namespace cairn::cli
