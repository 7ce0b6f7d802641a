#include "host/claude_code/transcript.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "host/claude_code/events.h"
#include "host/claude_code/tools.h"

namespace cairn::host::claude {

using Item = TranscriptItem;
using event::TextKind;

// The text of a message: a string, or its text blocks.
static std::string content_text(const Json& content) {
  if (content.is_string()) return std::string(content.as_string());
  std::string text;
  for (const Json& block : content.items())
    if (block["type"].as_string() == "text")
      text.append(text.empty() ? "" : "\n").append(block["text"].as_string());
  return text;
}

// Text that the host writes in the user's name: its own commands, their output, notifications. Other texts in
// angle brackets are the user's, such as <private>.
static bool is_the_hosts(std::string_view text) {
  static constexpr std::array kOwn = {"<command-",           "<local-command-",   "<bash-",
                                      "<task-notification>", "<system-reminder>", "[Request interrupted"};
  return std::any_of(kOwn.begin(), kOwn.end(), [&](std::string_view own) { return text.starts_with(own); });
}

void Lines::take(std::string_view text, std::uint64_t begin, std::uint64_t end) {
  piece.end = end;
  ++piece.lines;
  if (trim(text).empty()) return;
  const Json::Parsed parsed = Json::parse_partial(text);
  if (!parsed.complete || !parsed.value.is_object()) {
    ++piece.malformed;
    return;
  }
  const Json& line = parsed.value;
  if (line["sessionId"].as_string() != session_.value) return;
  const std::string_view type = line["type"].as_string();
  Item head;
  head.begin = begin;
  head.end = end;
  if (type != "user" && type != "assistant") return take_note(line, head);
  const auto at = parse_iso8601(line["timestamp"].as_string());
  if (!at) {
    ++piece.malformed;
    return;
  }
  head.at = *at;
  head.cwd = line["cwd"].as_string();
  head.branch = line["gitBranch"].as_string();
  if (auto agent = line.text("agentId"); agent && !agent->empty()) head.agent_id = std::move(agent);
  if (const auto id = line.text("promptId"); id && !id->empty() && !continues_prompt(line, *id))
    prompt_id_ = *id;
  head.prompt_id = prompt_id_;
  type == "user" ? take_user(line, head) : take_assistant(line, head);
}

// A notification does not begin a turn; hooks do not count it as a prompt either. The lines after it carry
// its id, and still belong to the prompt before it.
bool Lines::continues_prompt(const Json& line, const std::string& prompt_id) {
  if (!alone_ || prompt_id_.empty()) return false;
  if (notified_.contains(prompt_id)) return true;
  if (line["type"].as_string() != "user" || line["isMeta"].as_bool() ||
      !is_notification(trim(content_text(line["message"]["content"]))))
    return false;
  notified_.insert(prompt_id);
  return true;
}

// A line of type "user" is a prompt only if the user typed it. It may also have results of tool calls, the
// summary of a compaction, a prompt for a subagent (isSidechain, agentId), or a text of the host (isMeta).
void Lines::take_user(const Json& line, const Item& head) {
  const Json& content = line["message"]["content"];
  bool has_result = false;
  for (const Json& block : content.items()) {
    if (block["type"].as_string() != "tool_result") continue;
    take_result(block, line, head);
    has_result = true;
  }
  if (line["isCompactSummary"].as_bool() && !head.agent_id)
    take_text(TextKind::compaction, content_text(content), head);
  if (has_result || head.agent_id || line["isSidechain"].as_bool() || line["isMeta"].as_bool() ||
      line["isCompactSummary"].as_bool() || (!line.has("promptId") && !alone_))
    return;
  Item prompt = head;
  prompt.kind = Item::Kind::prompt;
  prompt.text = content_text(content);
  // The user stopped the model: what it said last does not end the turn.
  if (trim(prompt.text).starts_with("[Request interrupted")) answer_.reset();
  if (trim(prompt.text).empty() || is_the_hosts(trim(prompt.text))) return;
  if (answer_) piece.items.push_back(*std::exchange(answer_, std::nullopt));
  // In a transcript without ids of prompts the line's own id takes their place.
  if (!line.has("promptId")) prompt_id_ = prompt.prompt_id = line["uuid"].as_string();
  piece.items.push_back(std::move(prompt));
}

// As TurnLines::end_piece().
void Lines::end_piece(std::uint64_t begin) {
  if (!answer_) return;
  if (piece.at_end || answer_->begin <= begin) {
    piece.items.push_back(*std::exchange(answer_, std::nullopt));
    return;
  }
  piece.end = answer_->begin;
  std::erase_if(piece.items, [&](const Item& item) { return item.begin >= piece.end; });
}

// What the person said when they refused a call; empty: nothing, or the host wrote it in their name. The text
// of a server's failure is the server's: it could pretend to be the person.
static std::string_view objection_in(std::string_view text, std::string_view tool) {
  static constexpr std::array kRefused = {"The user doesn't want to proceed with this tool use.",
                                          "Permission for this tool use was denied."};
  static constexpr std::array kOwn = {"The user wants to clarify these questions.",
                                      "The user has indicated "};
  // "The user said:" as a sentence of its own, or "the user said:" at the end of one.
  constexpr std::string_view kSaid = "he user said:\n",
                             kNote = "\n\nNote: The user's next message may contain";
  const auto begins = [&](std::string_view start) { return text.starts_with(start); };
  const std::size_t said = text.find(kSaid);
  if (std::none_of(kRefused.begin(), kRefused.end(), begins) || said == std::string_view::npos ||
      origin_of(tool) == Origin::mcp)
    return {};
  text = trim(text.substr(said + kSaid.size()));
  if (std::any_of(kOwn.begin(), kOwn.end(), begins)) return {};
  return trim(text.substr(0, text.rfind(kNote)));
}

void Lines::take_result(const Json& block, const Json& line, const Item& head) {
  const std::string_view id = block["tool_use_id"].as_string();
  const auto call = std::find_if(piece.items.rbegin(), piece.items.rend(), [&](const Item& item) {
    return item.kind == Item::Kind::call && item.tool_use_id == id;
  });
  if (id.empty() || call == piece.items.rend() || call->result) return;
  const Json& tool_result = line["toolUseResult"];
  const std::string text = content_text(block["content"]);
  ToolResult result;
  result.at = head.at;
  result.failed = block["is_error"].as_bool() || tool_result.as_string().starts_with("Error:");
  result.rejected = result.failed && (tool_result.as_string().starts_with("User rejected") ||
                                      text.starts_with("The user doesn't want to proceed"));
  if (result.failed) {
    std::string_view error = tool_result.is_string() ? tool_result.as_string() : std::string_view(text);
    if (error.starts_with("Error: ")) error.remove_prefix(7);
    result.error = error;
  } else {
    result.response = tool_result.is_object() ? tool_result : Json(text);
  }
  // Lines of the assistant name no prompt; the line of the result does.
  if (line.has("promptId")) call->prompt_id = head.prompt_id;
  const bool failed = result.failed;
  call->result = std::move(result);
  if (failed) take_text(TextKind::objection, std::string(objection_in(text, call->tool_name)), head);
}

void Lines::take_assistant(const Json& line, const Item& head) {
  const Json& message = line["message"];
  bool calls = false;
  for (const Json& block : message["content"].items()) {
    if (block["type"].as_string() != "tool_use" || block["id"].as_string().empty()) continue;
    Item call = head;
    call.tool_use_id = block["id"].as_string();
    call.tool_name = block["name"].as_string();
    call.input = block["input"];
    piece.items.push_back(std::move(call));
    calls = true;
  }
  // Only what is said in the main conversation counts, not in a subagent's.
  const bool main = !head.agent_id && !line["isSidechain"].as_bool();
  if (main && !line["isApiErrorMessage"].as_bool())
    take_text(TextKind::remark, content_text(message["content"]), head);
  if (!main) return;
  Item stop = head;
  stop.kind = Item::Kind::stop;
  stop.text = content_text(message["content"]);
  const bool ends = message["stop_reason"].as_string() == "end_turn";
  answer_.reset();
  if (stop.text.empty() || stop.prompt_id.empty()) return;
  // Without "end_turn" a text without calls may be the last one of its turn: the next lines decide.
  if (ends)
    piece.items.push_back(std::move(stop));
  else if (alone_ && !calls && !line["isApiErrorMessage"].as_bool())
    answer_ = std::move(stop);
}

void Lines::take_text(TextKind kind, std::string text, const Item& head) {
  if (kind == TextKind::remark && trim(text).size() < kLeastRemark) return;
  if (trim(text).empty()) return;
  Item said = head;
  said.kind = Item::Kind::text;
  said.said = kind;
  said.text = trim(text);
  piece.items.push_back(std::move(said));
}

void Lines::take_note(const Json& line, Item head) {
  if (const auto at = parse_iso8601(line["timestamp"].as_string())) head.at = *at;
  head.prompt_id = prompt_id_;
  const std::string_view type = line["type"].as_string(), subtype = line["subtype"].as_string();
  // The host writes these when a turn has ended.
  if (answer_ && type == "system" && any_of(subtype, {"stop_hook_summary", "turn_duration"}))
    piece.items.push_back(*std::exchange(answer_, std::nullopt));
  if (type == "ai-title" || type == "custom-title") {
    const auto title = line.text(type == "ai-title" ? "aiTitle" : "customTitle");
    if (title) take_text(TextKind::title, *title, head);
  } else if (type == "system" && subtype == "away_summary") {
    take_text(TextKind::away, std::string(line["content"].as_string()), head);
  } else if (type == "pr-link" && line["prNumber"].is_int()) {
    take_text(TextKind::pull,
              "#" + std::to_string(line["prNumber"].as_int()) + " " + std::string(line["prUrl"].as_string()),
              head);
  }
}

}  // namespace cairn::host::claude
