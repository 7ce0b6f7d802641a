#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/commands.h"

namespace cairn::cli {

namespace {

std::string counts_text(const Json& counts) {
  std::string text;
  for (const auto& [name, count] : counts.members())
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", number_text(count.as_int()), shown_line(name));
  return text;
}

std::string list_text(const Json& list) {
  std::string text;
  for (const Json& item : list.items()) text += (text.empty() ? "" : ", ") + shown_line(item.as_string());
  return text;
}

// One bar per day, oldest first (`by_day` has the newest first); days without prompts are left out.
std::string bars(const Json& by_day) {
  constexpr std::array kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::int64_t most = 1;
  for (const auto& [day, count] : by_day.members()) most = std::max(most, count.as_int());
  std::string text;
  for (auto it = by_day.members().rbegin(); it != by_day.members().rend(); ++it)
    text += kBars[static_cast<std::size_t>((it->second.as_int() * 7 + most - 1) / most)];
  return text;
}

// Which of these projects are linked or similar, one line each.
std::string links_text(Shell& shell, const Json& projects) {
  std::string text;
  for (const Json& project : projects.items()) {
    const std::string name = shown_line(project["name"].as_string());
    if (const std::string linked = list_text(project["linked"]); !linked.empty())
      text += fmt::format("{} is linked with {}\n", name, linked);
    for (const Json& other : project["suggested"].items())
      text += fmt::format(
          "{} looks like {} ({}): `cairn projects link` reads both as one, `unlink` drops this hint\n", name,
          shown_line(other["name"].as_string()), shown_line(other["reason"].as_string()));
  }
  return text.empty() ? text : "\n" + shell.screen().paint(Style::dim, text);
}

}  // namespace

Page projects_list_page(Shell& shell, const Json&, const Json& result) {
  if (result["projects"].items().empty())
    return {"", 0, "no projects yet: start your coding agent in one, or `cairn install` if you have not"};
  Table table({{"project"},
               {"last event"},
               {"sessions", true},
               {"prompts", true},
               {"observations", true},
               {"directory"}});
  for (const Json& project : result["projects"].items())
    table.add({{text_of(project["name"]), Style::accent},
               {shell.age(project["last_event_at"]), Style::dim},
               number_text(project["sessions"].as_int()),
               number_text(project["prompts"].as_int()),
               number_text(project["observations"].as_int()),
               {text_of(project["root"]), Style::dim}});
  return {table.text(shell.screen()) + links_text(shell, result["projects"])};
}

Page projects_show_page(Shell& shell, const Json&, const Json& project) {
  const Screen& screen = shell.screen();
  Facts facts;
  facts.add("directory", text_of(project["root"]));
  facts.add("identity", text_of(project["key"]), Style::dim);
  facts.add("memory",
            fmt::format("{} · {} · {} · {}", count_text(project["sessions"].as_int(), "session", "sessions"),
                        count_text(project["prompts"].as_int(), "prompt", "prompts"),
                        count_text(project["summaries"].as_int(), "summary", "summaries"),
                        count_text(project["observations"].as_int(), "observation", "observations")));
  if (const auto at = parse_iso8601(project["remembered_since"].as_string()))
    facts.add("since", local_time(*at));
  facts.add("last event", shell.age(project["last_event_at"]));
  if (const std::string text = list_text(project["branches"]); !text.empty()) facts.add("branches", text);
  if (const std::string text = list_text(project["worktrees"]); !text.empty()) facts.add("worktrees", text);
  if (project["remote"].is_string()) facts.add("remote", text_of(project["remote"]), Style::dim);
  if (project["root_commit"].is_string())
    facts.add("first commit", text_of(project["root_commit"]), Style::dim);
  if (const std::string text = list_text(project["linked"]); !text.empty()) facts.add("linked with", text);
  for (const Json& other : project["suggested"].items())
    facts.add("looks like", fmt::format("{} ({})", shown_line(other["name"].as_string()),
                                        shown_line(other["reason"].as_string())));
  for (const Json& change : project["history"].items())
    if (change["old_root"].is_string()) facts.add("was in", text_of(change["old_root"]), Style::dim);
  Page page{screen.paint(Style::bold, shown_line(project["name"].as_string())) + "\n" + facts.text(screen)};
  Table table({{"#", true}, {"last event"}, {"status"}, {"first prompt"}});
  for (const Json& session : project["recent_sessions"].items())
    table.add({{std::to_string(session["id"].as_int()), Style::accent},
               {shell.age(session["last_event_at"]), Style::dim},
               text_of(session["status"]),
               text_of(session["first_prompt"])});
  if (!table.empty()) page.text += "\n" + table.text(screen);
  return page;
}

// The links after one was made or removed.
Page projects_link_page(Shell&, const Json&, const Json& result) {
  const std::string linked = list_text(result["linked"]), name = text_of(result["name"]);
  return {linked.empty() ? fmt::format("{} has no links\n", name)
                         : fmt::format("{} is linked with {}\n", name, linked)};
}

Page projects_rename_page(Shell&, const Json&, const Json& result) {
  return {fmt::format("{} is named {} now\n", text_of(result["old_name"]), text_of(result["name"]))};
}

Page stats_page(Shell& shell, const Json&, const Json& stats) {
  Facts facts;
  const auto add = [&](std::string label, std::string text) {
    if (!text.empty()) facts.add(std::move(label), std::move(text));
  };
  add("sessions", fmt::format("{} ({})", number_text(stats["sessions"].as_int()),
                              counts_text(stats["sessions_by_status"])));
  add("", counts_text(stats["sessions_by_host"]));
  add("prompts", number_text(stats["prompts"].as_int()));
  if (!stats["prompts_by_day"].members().empty())
    add("", fmt::format("{} a day, since {}", bars(stats["prompts_by_day"]),
                        stats["prompts_by_day"].members().back().first));
  add("summaries", number_text(stats["summaries"].as_int()));
  add("observations", number_text(stats["observations"].as_int()));
  if (!stats["observations_by_type"].members().empty()) add("", counts_text(stats["observations_by_type"]));
  add("tools", counts_text(stats["tools"]));
  add("given",
      fmt::format("{}, {} tokens", count_text(stats["contexts_given"].as_int(), "context", "contexts"),
                  number_text(stats["tokens_given"].as_int())));
  add("work",
      fmt::format("{} tokens to read at first; context saved at least {}",
                  number_text(stats["work_tokens"].as_int()), number_text(stats["saved_tokens"].as_int())));
  const Json& model = stats["model"];
  if (model["calls"].as_int() > 0)
    add("model",
        fmt::format("{}, {} tokens in, {} out, ${:.2f}", count_text(model["calls"].as_int(), "call", "calls"),
                    number_text(model["input_tokens"].as_int()), number_text(model["output_tokens"].as_int()),
                    model["usd"].as_double()));
  const std::string title = stats["project"].is_string()
                                ? shown_line(stats["project"].as_string())
                                : count_text(stats["projects"].as_int(), "project", "projects");
  return {shell.screen().paint(Style::bold, title) + "\n" + facts.text(shell.screen())};
}

}  // namespace cairn::cli
