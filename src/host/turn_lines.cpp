#include "host/turn_lines.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace cairn::host {

using Item = TranscriptItem;

void TurnLines::take(std::string_view text, std::uint64_t begin, std::uint64_t end) {
  piece.end = end;
  ++piece.lines;
  if (trim(text).empty()) return;
  const Json::Parsed parsed = Json::parse_partial(text);
  if (!parsed.complete || !parsed.value.is_object()) {
    ++piece.malformed;
    return;
  }
  Item head;
  head.begin = begin;
  head.end = end;
  if (const auto at = parse_iso8601(parsed.value["timestamp"].as_string())) head.at = *at;
  head.cwd = cwd_;
  head.branch = branch_;
  head.prompt_id = prompt_id_;
  take_line(parsed.value, std::move(head));
}

// Whether the answer ends its turn depends on the line after it. At the end of the file nothing follows: it
// does. In the middle the piece is cut before the answer, and the next piece begins with it. A piece that
// began with it must not be cut there again: it would never get further.
void TurnLines::end_piece(std::uint64_t begin) {
  if (!answer_) return;
  if (piece.at_end || answer_->begin <= begin) {
    piece.items.push_back(*std::exchange(answer_, std::nullopt));
    return;
  }
  piece.end = answer_->begin;
  std::erase_if(piece.items, [&](const Item& item) { return item.begin >= piece.end; });
}

void TurnLines::add_prompt(Item head, std::string text) {
  // A prompt follows: the answer before it was the last one of its turn.
  if (answer_) piece.items.push_back(*std::exchange(answer_, std::nullopt));
  prompt_id_ = head.prompt_id;
  head.kind = Item::Kind::prompt;
  head.text = std::move(text);
  piece.items.push_back(std::move(head));
}

void TurnLines::add_call(Item head, std::string id, std::string tool, Json input) {
  if (id.empty()) return;
  goes_on();  // a call follows the answer, so it was a remark
  head.kind = Item::Kind::call;
  head.tool_use_id = std::move(id);
  head.tool_name = std::move(tool);
  head.input = std::move(input);
  piece.items.push_back(std::move(head));
}

Item* TurnLines::call_with_id(std::string_view id) {
  const auto call = std::find_if(piece.items.rbegin(), piece.items.rend(), [&](const Item& item) {
    return item.kind == Item::Kind::call && item.tool_use_id == id;
  });
  return id.empty() || call == piece.items.rend() ? nullptr : &*call;
}

void TurnLines::add_text(event::TextKind kind, std::string_view text, Item head) {
  text = trim(text);
  if (text.empty() || (kind == event::TextKind::remark && text.size() < kLeastRemark)) return;
  head.kind = Item::Kind::text;
  head.said = kind;
  head.text = text;
  piece.items.push_back(std::move(head));
}

void TurnLines::may_end(const Item& head, std::string_view text) {
  if (!alone_ || head.prompt_id.empty() || trim(text).empty()) return;
  answer_ = head;
  answer_->kind = Item::Kind::stop;
  answer_->text = text;
}

void TurnLines::add_stop(Item head, std::string_view text) {
  answer_.reset();
  if (head.prompt_id.empty() || trim(text).empty()) return;
  head.kind = Item::Kind::stop;
  head.text = text;
  piece.items.push_back(std::move(head));
}

// "Tool foo not found", "Tool foo does not exist", with more text after it.
bool is_unknown_tool(std::string_view error) {
  const std::string_view start = error.substr(0, 200);
  return start.starts_with("Tool ") && (start.find("not found") != std::string_view::npos ||
                                        start.find("does not exist") != std::string_view::npos);
}

std::string call_error(std::string_view tool, std::string_view error) {
  if (is_unknown_tool(error)) return "No such tool available: " + std::string(tool);
  return std::string(error);
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.rfind(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + words.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

bool is_uuid(std::string_view text) {
  return text.size() == 36 && text.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos &&
         std::count(text.begin(), text.end(), '-') == 4;
}

}  // namespace cairn::host
