#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/words.h"

namespace cairn::cli {

namespace {

struct Section {
  std::string_view key;
  std::string_view title;
};

constexpr std::array kSections = {Section{"subtitle", "Subtitle"},
                                  Section{"text", "Text"},
                                  Section{"request", "Request"},
                                  Section{"objections", "Said when a call was refused"},
                                  Section{"answer", "Answer"},
                                  Section{"investigated", "Investigated"},
                                  Section{"learned", "Learned"},
                                  Section{"completed", "Completed"},
                                  Section{"next_steps", "Next steps"},
                                  Section{"commits", "Commits"},
                                  Section{"remarks", "Said in between"},
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
  if (record["kind"].as_string() == "prompt")  // its text is shown below, as a section
    title = fmt::format("prompt {}", record["prompt_number"].as_int());
  std::string out = fmt::format("{}  {}\n", screen.paint(Style::bold, id), screen.paint(Style::bold, title));
  Facts facts;
  facts.add("project", std::string(record["project"].as_string()));
  if (const auto branch = record.text("branch")) facts.add("branch", *branch);
  facts.add("session", std::string(record["session"].as_string()));
  if (const auto time = parse_iso8601(record["time"].as_string()))
    facts.add("time", fmt::format("{} ({})", local_time(*time), ago(*time, shell.clock().now())));
  if (const auto type = record.text("type")) facts.add("type", *type);
  if (const auto source = record.text("source")) facts.add("source", *source);
  if (const auto state = record.text("state")) facts.add("state", *state);
  if (const auto by = record.text("closed_by")) facts.add("closed by", *by);
  if (const Json& place = record["archive"]; place.is_object()) {
    facts.add("lines", fmt::format("{}-{}", place["first_line"].as_int(), place["last_line"].as_int()));
    facts.add("restore", text_of(place["restore"]));
  }
  if (const std::string label = label_of(record); !label.empty()) facts.add("from", label.substr(1));
  if (const auto by = record.text("by")) facts.add("by", *by == "agent" ? "an agent" : "you");
  if (const auto provider = record.text("provider"))
    facts.add("by", *provider + (record["interim"].as_bool() ? ", while the turn is still open" : ""));
  if (const auto end = record.text("turn_end")) facts.add("turn", "ended: " + std::string(word_for(*end)));
  return out + facts.text(screen);
}

std::string record_text(Shell& shell, const Json& record) {
  std::string out = head_text(shell, record);
  for (const Section& section : kSections) out += section_text(shell.screen(), section, record[section.key]);
  return out;
}

}  // namespace

Page context_page(Shell&, const Json&, const Json& result) {
  const std::string_view text = result["text"].as_string();
  if (!text.empty()) return {std::string(text) + "\n"};
  return {"", 3,
          fmt::format("context: nothing to give for {}: a session with a prompt has to end first",
                      result["project"].as_string())};
}

Page context_log_page(Shell& shell, const Json&, const Json& result) {
  if (result["given"].items().empty()) return {"", 0, "no session of this project was given anything yet"};
  Table table({{"when"}, {"session", true}, {"source"}, {"given"}, {"tokens", true}, {"records"}});
  for (const Json& given : result["given"].items()) {
    std::string items;
    for (const Json& item : given["items"].items())
      items += (items.empty() ? "" : " ") + std::string(item.as_string());
    const bool arrived = given["given"].as_bool();
    table.add({{shell.age(given["time"]), Style::dim},
               {std::to_string(given["session_number"].as_int()), Style::accent},
               // Help is given at an event in the middle of the work, context at a start with a reason.
               shown_line(given[given["kind"].as_string() == "help" ? "event" : "source"].as_string()),
               {arrived ? "yes" : "no", arrived ? Style::good : Style::warn},
               number_text(given["tokens"].as_int()),
               items});
  }
  return {table.text(shell.screen())};
}

Page show_page(Shell& shell, const Json&, const Json& result) {
  Page page;
  for (const Json& record : result["records"].items())
    page.text += (page.text.empty() ? "" : "\n") + record_text(shell, record);
  std::string missing;
  for (const Json& id : result["missing"].items()) missing += (missing.empty() ? "" : ", ") + text_of(id);
  if (!missing.empty()) {
    page.code = 1;
    page.note = fmt::format("show: there is no {}", missing);
  }
  return page;
}

}  // namespace cairn::cli
