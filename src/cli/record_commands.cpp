#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "cli/commands.h"
#include "host/environment.h"
#include "store/states.h"

namespace cairn::cli {

namespace {

std::string event_text(const Shell& shell, const Json& event, bool full) {
  const Screen& screen = shell.screen();
  const auto at = parse_iso8601(event["time"].as_string());
  std::string head =
      fmt::format("{}  {}", screen.paint(Style::accent, fmt::format("#{}", event["seq"].as_int())),
                  screen.paint(Style::bold, shown_line(event["event"].as_string())));
  if (const auto tool = event.text("tool_name")) head += " " + shown_line(*tool + label_of(event));
  if (at)
    head += "  " +
            screen.paint(Style::dim, fmt::format("{} {}", local_time(*at).substr(0, 10), local_clock(*at)));
  if (event["source"].as_string() == store::name_of(event::Source::transcript))
    head += screen.paint(Style::dim, "  from the transcript");
  Facts facts;
  constexpr std::size_t kShort = 400;
  for (const char* part : {"input", "response", "extra"})
    if (const auto text = event.text(part); text && !text->empty())
      facts.add(part, full ? *text : one_line(*text, kShort));
  if (const auto expired = event.text("expired_at"))
    facts.add("text", "expired on " + expired->substr(0, 10), Style::dim);
  facts.add("event id", text_of(event["event_id"]), Style::dim);
  return head + "\n" + facts.text(screen);
}

}  // namespace

Result<std::string> all_of_stdin(std::string_view command, std::size_t most) {
  std::string text;
  char part[64 << 10];
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(fmt::format("{}: stdin", command), errno);
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > most)
      return Error{Code::invalid, fmt::format("{}: stdin: more than {}: shorten it", command,
                                              size_text(static_cast<std::int64_t>(most)))};
  }
}

// Where a record without events came from, in one sentence.
static std::string source_text(const Json& result) {
  const auto at = parse_iso8601(result["time"].as_string());
  const std::string day = at ? local_time(*at).substr(0, 16) : "", from = text_of(result["imported_from"]);
  const std::string session = shown_line(result["session"].as_string());
  if (from.starts_with("cairn:")) return "imported from an export of another home: its events are there";
  if (!from.empty()) return "imported: it was " + shown_line(from) + " there";
  if (result["actor"].as_string() == "person")
    return "written by a person on " + day + ": that is its source";
  if (result["kind"].as_string() == "document")
    return session.empty() ? "written on " + day + ": that is its source"
                           : "drafted from session " + session + ": `cairn sessions show` lists its events";
  if (result["kind"].as_string() == "turn" && result.has("archive")) return "it is the transcript itself";
  return "no events: what it came from is no longer kept";
}

Page why_page(Shell& shell, const Json& args, const Json& result) {
  const Screen& screen = shell.screen();
  std::string out =
      fmt::format("{}  {}\n", screen.paint(Style::bold, text_of(result["id"])),
                  screen.paint(Style::bold, shown_line(text_of(result["title"]) + label_of(result))));
  const auto& events = result["events"].items();
  if (const auto actor = result.text("actor"))
    out += fmt::format("  from {}, {}{}{}\n", *actor, text_of(result["trust"]),
                       result["pinned"].as_bool() ? ", pinned" : "",
                       result["edited"].as_bool() ? ", edited by you" : "");
  for (const Json& path : result["changed_files"].items())
    out += fmt::format("  {} changed since\n", shown_line(path.as_string()));
  if (events.empty()) return {out + "  " + source_text(result) + "\n"};
  out += fmt::format("  came from {} of session {}\n",
                     count_text(static_cast<std::int64_t>(events.size()), "event", "events"),
                     shown_line(result["session"].as_string()));
  for (const Json& event : events) out += "\n" + event_text(shell, event, args["full"].as_bool());
  return {out};
}

// `-` reads the text from stdin. A command that an agent runs stores for the agent.
Status prepare_remember(Shell&, Json& args) {
  if (host::agent_in_environment()) args.set("by", "agent");
  if (args["text"].as_string() == "-") args.set("text", TRY(all_of_stdin("remember")));
  return {};
}

Page remember_page(Shell& shell, const Json&, const Json& result) {
  return {fmt::format("{}  remembered for {}: {}\n",
                      shell.screen().paint(Style::accent, text_of(result["id"])),
                      shown_line(result["project"].as_string()), shown_line(result["title"].as_string()))};
}

}  // namespace cairn::cli
