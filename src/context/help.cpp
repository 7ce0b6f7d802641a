#include "context/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "context/inert.h"
#include "context/open_section.h"
#include "context/page.h"
#include "distil/distil.h"
#include "hook/control.h"
#include "host/host.h"
#include "recall/fix.h"
#include "recall/hint.h"
#include "store/events.h"
#include "store/evidence.h"
#include "store/lists.h"
#include "store/receipts.h"
#include "store/sessions.h"
#include "store/turns.h"

namespace cairn::context {

namespace {

constexpr std::size_t kCallsRead = 200;  // the session's last tool calls, where its commands are looked for
constexpr std::size_t kMostCommands = 6, kMostOpen = 8, kMostRules = 8;
constexpr std::size_t kLine = 200;

// What is given, before the receipt.
struct Given {
  std::string text;
  std::vector<std::string> items;
};

// A stored text on one line of ours.
std::string data_line(std::string_view text) {
  return one_line(without_tags(as_data(text)), kLine);
}

distil::Step step_of(const store::KeptEvent& event) {
  const auto json = [](const std::optional<std::string>& text) {
    return text ? Json::parse_partial(*text).value : Json();
  };
  distil::Step step;
  step.event = event.seq;
  step.tool = event.tool_name;
  step.input = json(event.texts.input);
  step.response = json(event.texts.response);
  if (event.kind == event::Kind::tool_failure) {
    step.outcome = distil::Step::Outcome::failed;
    // The response of a failed call is an object with its error.
    step.error = step.response["error"].as_string();
    step.response = {};
  } else if (host::was_interrupted(step.response)) {
    step.outcome = distil::Step::Outcome::interrupted;
  }
  return step;
}

// The tests, builds and linters that this session ran and that passed in the end, the last ones first.
Result<std::vector<std::string>> working_commands(store::Db& db, const store::Session& session) {
  distil::TurnReader reader(session.platform, session.worktree.value_or(""));
  for (const store::KeptEvent& call : TRY(store::last_calls(db, session.id, kCallsRead)))
    reader.add(step_of(call));
  std::vector<std::string> commands;
  const auto& all = reader.digest().commands;
  for (auto command = all.rbegin(); command != all.rend() && commands.size() < kMostCommands; ++command)
    if (command->check && !command->runs.empty() &&
        command->runs.back().how == distil::CommandRun::How::passed)
      commands.push_back(data_line(command->shown));
  return commands;
}

// Lines up to a number of characters. A line that does not fit is left out.
class Lines {
 public:
  explicit Lines(std::size_t most) : most_(most) {}
  // `heading` comes before the first line that is added under it.
  bool add(std::string_view heading, const std::string& line) {
    const std::string text = (heading == heading_ ? "" : std::string(heading)) + "- " + line + "\n";
    if (utf16_length(text_) + utf16_length(text) > most_) return false;
    text_ += text;
    heading_ = heading;
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  std::size_t most_;
  std::string text_;
  std::string heading_;
};

Result<Given> keep(store::Db& db, const store::Session& session) {
  constexpr std::string_view kFirst = "The summary must keep these, which cairn remembers of this project:\n";
  Given out;
  // Plain text without a fence: that is what the host takes from the hook of a compaction.
  Lines lines(kMostKept - utf16_length(kFirst) - 1);
  const OpenWork work = TRY(read_open_work(db, session.project, std::nullopt, session.content_id.value,
                                           session.worktree.value_or("")));
  const auto add = [&](std::string_view heading, const std::string& id, const std::string& line) {
    if (lines.add(heading, line) && !id.empty()) out.items.push_back(id);
  };
  std::size_t rules = 0;
  for (const store::Note& note : work.notes)
    if (rules++ < kMostRules)
      add("Rules of the user:\n", fmt::format("O{}", note.observation),
          data_line(note.text.empty() ? note.title : note.text));
  for (const store::StandingOrder& order : work.orders)
    if (rules++ < kMostRules)
      add("Rules of the user:\n", fmt::format("P{}", order.prompt), data_line(order.text));
  for (const std::string& command : TRY(working_commands(db, session)))
    add("Commands that worked:\n", "", "`" + command + "`");
  std::size_t open = 0;
  for (const store::OpenItem& item : work.open)
    if (open++ < kMostOpen)
      add("Open:\n", fmt::format("W{}", item.id), fmt::format("W{} {}", item.id, data_line(item_text(item))));
  if (!lines.text().empty()) out.text = std::string(kFirst) + lines.text();
  return out;
}

Result<Given> brief(store::Db& db, const store::Session& session, const std::string& key) {
  Given out;
  Page page(kMostBrief, kMostBrief);
  const auto add = [&](const std::string& id, const std::string& line) {
    if (page.add("- " + line + "\n")) out.items.push_back(id);
  };
  for (const store::Note& note : TRY(store::notes_for(db, session.project, 5)))
    add(fmt::format("O{}", note.observation), data_line(note.text.empty() ? note.title : note.text));
  for (const std::string& command : TRY(working_commands(db, session)))
    // A command has no record. The word only marks that the page is not empty; it is removed below.
    if (page.add(fmt::format("- `{}` passed in this session\n", command))) out.items.emplace_back("command");
  if (!out.items.empty()) out.text = page.fenced(key);
  std::erase(out.items, "command");
  return out;
}

// Stored text with its lines, as data, on a page that has room for so many characters.
Given page_of(std::string_view first, std::string_view text, std::size_t most, const std::string& key) {
  // The limit is in characters. A text never has more tokens than characters.
  Page page(most, most);
  if (!page.add(first)) return {};
  bool any = false;
  for (const std::string_view line : lines(text)) any = page.add(as_data(line) + "\n") || any;
  return {any ? page.fenced(key) : std::string(), {}};
}

// The error of a failed call; empty when the user interrupted it, or when it asked cairn itself.
std::string error_of(const store::KeptEvent& event, const store::Session& session) {
  const distil::Step step = step_of(event);
  const Json response = Json::parse_partial(event.texts.response.value_or("")).value;
  const bool own = host::find_host(session.platform).is_own_call(step.tool, step.input);
  return own || response["is_interrupt"].as_bool() ? std::string() : step.error;
}

Result<Given> fix(store::Db& db, const store::Session& session, std::int64_t seq, const std::string& key) {
  const auto event = TRY(store::kept_event(db, seq));
  const std::string error = event ? error_of(*event, session) : std::string();
  if (error.empty()) return Given{};
  const auto found = TRY(recall::sure_fix(db, session.project, error));
  if (!found) return Given{};
  const std::string id = recall::text_of(found->record);
  Given out = page_of(
      fmt::format("The same error was fixed here before ({}, {}):\n", id, iso8601(found->at).substr(0, 10)),
      // 500 characters for the fence and the first line.
      found->text(kMostFix - 500), kMostFix, key);
  out.items = {id};
  return out;
}

Result<Given> hint(store::Db& db, const store::Session& session, std::int64_t seq, const std::string& key) {
  const auto event = TRY(store::kept_event(db, seq));
  if (!event) return Given{};
  const std::string prompt = TRY(store::prompt_text(db, event->session, event->prompt_number));
  const auto found = TRY(recall::hint_for(db, session.project, prompt, session.content_id.value));
  if (!found) return Given{};
  Given out = page_of("About this prompt:\n", found->text, kMostHint, key);
  for (const recall::RecordId& id : found->records) out.items.push_back(recall::text_of(id));
  return out;
}

}  // namespace

Result<std::optional<Answer>> help(store::Db& db, const EventId& event, const HelpOptions& options,
                                   WallTime now) {
  const auto asking = TRY(store::find_event(db, event));
  if (!asking || !asking->stored() || !asking->session) return std::optional<Answer>();
  const auto session = TRY(store::find_session(db, *asking->session));
  if (!session) return std::optional<Answer>();
  Given given;
  const bool compacts = asking->kind == event::Kind::compact_start;
  if (compacts && options.on_compact)
    given = TRY(keep(db, *session));
  else if (asking->kind == event::Kind::subagent_start && options.on_subagent)
    given = TRY(brief(db, *session, options.key));
  else if (asking->kind == event::Kind::tool_failure && options.on_failure)
    given = TRY(fix(db, *session, asking->seq, options.key));
  else if (asking->kind == event::Kind::prompt && options.on_prompt)
    given = TRY(hint(db, *session, asking->seq, options.key));
  if (given.text.empty()) return std::optional<Answer>();

  store::Receipt receipt;
  // Help is not the context of a start: a resumed session still gets what is new since that context.
  receipt.kind = "help";
  receipt.event = event;
  receipt.session = session->id;
  receipt.project = session->project;
  receipt.event_name = asking->name;
  receipt.tokens = static_cast<std::int64_t>(estimate_tokens(given.text));
  receipt.characters = static_cast<std::int64_t>(utf16_length(given.text));
  receipt.text_hash = content_hash(given.text);
  receipt.items = store::list_text(given.items);
  receipt.up_to = receipt.created_at = now;
  const std::int64_t id = TRY(store::add_receipt(db, receipt));
  if (compacts) return std::optional(Answer{hook::encode_text_reply(given.text), id});
  const host::Host& host = host::find_host(session->platform);
  return std::optional(Answer{host.write_answer(asking->name, given.text, "").dump(), id});
}

}  // namespace cairn::context
