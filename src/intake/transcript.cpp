#include "intake/transcript.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/text.h"

namespace cairn::intake {

using Item = TranscriptItem;

static constexpr std::size_t kFirstBlock = 16u << 10;  // mostly there are a few new lines
static constexpr std::size_t kLargestBlock = 256u << 10;

static std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int number = 0;
  const char* const end = text.data() + at + count;
  const auto [next, error] = std::from_chars(text.data() + at, end, number);
  if (error != std::errc() || next != end || number < 0) return std::nullopt;
  return number;
}

std::optional<WallTime> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  if (text.size() < 20 || text.size() > 30 || !text.ends_with('Z')) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto y = digits(text, 0, 4), mo = digits(text, 5, 2), d = digits(text, 8, 2);
  const auto h = digits(text, 11, 2), mi = digits(text, 14, 2), s = digits(text, 17, 2);
  if (!y || !mo || !d || !h || !mi || !s || *h > 23 || *mi > 59 || *s > 60) return std::nullopt;
  const year_month_day date(year(*y), month(static_cast<unsigned>(*mo)), day(static_cast<unsigned>(*d)));
  if (!date.ok()) return std::nullopt;
  int ms = 0;
  if (text[19] == '.') {
    const std::size_t count = std::min<std::size_t>(3, text.size() - 21);
    const auto fraction = count > 0 ? digits(text, 20, count) : std::nullopt;
    if (!fraction) return std::nullopt;
    ms = count == 1 ? *fraction * 100 : count == 2 ? *fraction * 10 : *fraction;
  } else if (text.size() != 20) {
    return std::nullopt;
  }
  return WallTime(sys_days(date)) + hours(*h) + minutes(*mi) + seconds(*s) + milliseconds(ms);
}

// The text of a message's content: a string, or its text blocks.
static std::string content_text(const Json& content) {
  if (content.is_string()) return std::string(content.as_string());
  std::string text;
  for (const Json& block : content.items())
    if (block["type"].as_string() == "text")
      text.append(text.empty() ? "" : "\n").append(block["text"].as_string());
  return text;
}

// What the host writes in the user's name: a command of its own, its output, a notification. Other texts in
// angle brackets are the user's, <private> first of all.
static bool is_the_hosts(std::string_view text) {
  static constexpr std::array kOwn = {"<command-",           "<local-command-",   "<bash-",
                                      "<task-notification>", "<system-reminder>", "[Request interrupted"};
  return std::any_of(kOwn.begin(), kOwn.end(), [&](std::string_view own) { return text.starts_with(own); });
}

void TranscriptLines::take(std::string_view text, std::uint64_t begin, std::uint64_t end) {
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
  if (type != "user" && type != "assistant") return;
  Item head;
  head.begin = begin;
  head.end = end;
  const auto at = parse_timestamp(line["timestamp"].as_string());
  if (!at) {
    ++piece.malformed;
    return;
  }
  head.at = *at;
  head.cwd = line["cwd"].as_string();
  if (auto agent = line.text("agentId"); agent && !agent->empty()) head.agent_id = std::move(agent);
  if (const auto id = line.text("promptId"); id && !id->empty()) prompt_id_ = *id;
  head.prompt_id = prompt_id_;
  type == "user" ? take_user(line, head) : take_assistant(line, head);
}

void TranscriptLines::take_user(const Json& line, const Item& head) {
  const Json& content = line["message"]["content"];
  bool has_result = false;
  for (const Json& block : content.items()) {
    if (block["type"].as_string() != "tool_result") continue;
    take_result(block, line, head);
    has_result = true;
  }
  if (has_result || head.agent_id || line["isSidechain"].as_bool() || line["isMeta"].as_bool() ||
      line["isCompactSummary"].as_bool() || !line.has("promptId"))
    return;
  Item prompt = head;
  prompt.kind = Item::Kind::prompt;
  prompt.text = content_text(content);
  if (!trim(prompt.text).empty() && !is_the_hosts(trim(prompt.text)))
    piece.items.push_back(std::move(prompt));
}

void TranscriptLines::take_result(const Json& block, const Json& line, const Item& head) {
  const std::string_view id = block["tool_use_id"].as_string();
  const auto call = std::find_if(piece.items.rbegin(), piece.items.rend(), [&](const Item& item) {
    return item.kind == Item::Kind::call && item.tool_use_id == id;
  });
  if (id.empty() || call == piece.items.rend() || call->result) return;
  const Json& told = line["toolUseResult"];
  const std::string text = content_text(block["content"]);
  ToolResult result;
  result.at = head.at;
  result.failed = block["is_error"].as_bool() || told.as_string().starts_with("Error:");
  result.rejected = result.failed && (told.as_string().starts_with("User rejected") ||
                                      text.starts_with("The user doesn't want to proceed"));
  if (result.failed) {
    std::string_view error = told.is_string() ? told.as_string() : std::string_view(text);
    if (error.starts_with("Error: ")) error.remove_prefix(7);
    result.error = error;
  } else {
    result.response = told.is_object() ? told : Json(text);
  }
  if (line.has("promptId")) call->prompt_id = head.prompt_id;
  call->result = std::move(result);
}

void TranscriptLines::take_assistant(const Json& line, const Item& head) {
  const Json& message = line["message"];
  for (const Json& block : message["content"].items()) {
    if (block["type"].as_string() != "tool_use" || block["id"].as_string().empty()) continue;
    Item call = head;
    call.tool_use_id = block["id"].as_string();
    call.tool_name = block["name"].as_string();
    call.input = block["input"];
    piece.items.push_back(std::move(call));
  }
  if (message["stop_reason"].as_string() != "end_turn" || head.agent_id || line["isSidechain"].as_bool())
    return;
  Item stop = head;
  stop.kind = Item::Kind::stop;
  stop.text = content_text(message["content"]);
  if (!stop.text.empty() && !stop.prompt_id.empty()) piece.items.push_back(std::move(stop));
}

// The first line feed from `from` on, within kTranscriptLook bytes.
struct LineFeed {
  std::optional<std::uint64_t> at;
  std::uint64_t looked = 0;
  bool at_end = false;
};
static Result<LineFeed> find_line_feed(os::File& file, std::uint64_t from) {
  LineFeed found;
  std::string block(kFirstBlock, '\0');
  for (found.looked = from; found.looked - from < kTranscriptLook;) {
    const std::size_t got = TRY(file.read_at(found.looked, block.data(), block.size()));
    found.at_end = got == 0;
    if (found.at_end) break;
    const std::size_t feed = std::string_view(block).substr(0, got).find('\n');
    if (feed != std::string_view::npos) {
      found.at = found.looked + feed;
      break;
    }
    found.looked += got;
    block.resize(kLargestBlock);
  }
  return found;
}

Result<TranscriptPiece> read_transcript(os::File& file, std::uint64_t offset, const ContentId& session,
                                        const std::string& prompt_id, std::size_t max_line,
                                        std::uint64_t looked_before) {
  TranscriptLines lines(session, prompt_id);
  lines.piece.end = offset;
  const LineFeed first = TRY(find_line_feed(file, std::max(offset, looked_before)));
  if (!first.at) {
    lines.piece.looked = first.looked;
    lines.piece.at_end = first.at_end;
    return std::move(lines.piece);
  }
  const std::uint64_t first_end = *first.at + 1;
  const bool too_long = *first.at - offset > max_line;
  if (too_long) {
    lines.piece.lines = lines.piece.too_long = 1;
    lines.piece.end = first_end;
  }
  std::size_t block = kFirstBlock;
  std::string buffer;  // from `at` on, beginning with the line that is being read
  std::uint64_t at = too_long ? first_end : offset;  // where the buffer stands in the file
  std::size_t looked = 0;                            // so much of the buffer has no line feed
  std::uint64_t skipped = 0;                         // bytes of a line that is too long, before the buffer
  while (lines.piece.end < first_end + kTranscriptPiece &&
         at + buffer.size() < first_end + kTranscriptPiece + kTranscriptLook) {
    const std::size_t had = buffer.size();
    buffer.resize(had + block);
    const std::size_t got = TRY(file.read_at(at + had, buffer.data() + had, block));
    buffer.resize(had + got);
    block = std::min(block * 2, kLargestBlock);
    if (got == 0) {
      lines.piece.at_end = true;
      break;
    }
    std::size_t begin = 0;
    for (std::size_t feed; (feed = buffer.find('\n', std::max(begin, looked))) != std::string::npos;
         begin = feed + 1) {
      const std::uint64_t end = at + feed + 1;
      if (skipped > 0) {
        ++lines.piece.lines;
        ++lines.piece.too_long;
        lines.piece.end = end;
        skipped = 0;
      } else {
        lines.take(std::string_view(buffer).substr(begin, feed - begin), at + begin, end);
      }
    }
    buffer.erase(0, begin);
    at += begin;
    if (buffer.size() > max_line || skipped > 0) {
      skipped += buffer.size();
      at += buffer.size();
      buffer.clear();
    }
    looked = buffer.size();
  }
  lines.piece.looked = at + buffer.size();
  return std::move(lines.piece);
}

}  // namespace cairn::intake
