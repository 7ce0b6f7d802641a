#include "host/json_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace cairn::host {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";
constexpr int kMaxDepth = 200;  // more than people write by hand; limits the recursion

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Unlike Json::parse(), it keeps the position of each value instead of the value, and says in words what is
// wrong. Recursive: settings files are written by people.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), at_(text.starts_with(kMark) ? kMark.size() : 0) {}

  Result<JsonNode> document() {
    JsonNode root = TRY(value(0));
    blanks();
    if (at_ < text_.size()) return error("text after the end of the document");
    return root;
  }

 private:
  Error error(std::string_view what) const {
    return {Code::invalid, fmt::format("{}: {}", place_of(text_, at_), what)};
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Result<JsonNode> value(int depth) {
    if (depth > kMaxDepth) return error("too deep");
    blanks();
    JsonNode node;
    node.begin = node.key_begin = at_;
    if (at_ >= text_.size()) return error("the text ends where a value is expected");
    if (peek() == '{' || peek() == '[') {
      TRY(children(node, depth));
    } else if (peek() == '"') {
      node.kind = JsonNode::Kind::string;
      TRY(string());
    } else if (!literal() && !number()) {
      return error(peek() == '/' ? "comments are not JSON" : "a value is expected");
    }
    node.end = at_;
    return node;
  }

  Status children(JsonNode& node, int depth) {
    const bool object = peek() == '{';
    const char close = object ? '}' : ']';
    node.kind = object ? JsonNode::Kind::object : JsonNode::Kind::array;
    ++at_;
    blanks();
    if (take(close)) return {};
    while (true) {
      blanks();
      const std::size_t key_begin = at_;
      std::string key;
      if (object) {
        if (peek() != '"') return error("a name in quotes is expected");
        TRY(string());
        key = TRY(Json::parse(text_.substr(key_begin, at_ - key_begin))).as_string();
        blanks();
        if (!take(':')) return error("a colon is missing");
      }
      JsonNode child = TRY(value(depth + 1));
      if (object) child.key = std::move(key), child.key_begin = key_begin;
      node.children.push_back(std::move(child));
      blanks();
      if (take(close)) return {};
      if (!take(',')) return error("a comma is missing");
    }
  }

  Status string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return error("a control character in a text");
      if (text_[at_] != '\\') continue;
      ++at_;
      if (peek() == 'u') {
        for (int i = 0; i < 4; ++i)
          if (++at_; !std::isxdigit(static_cast<unsigned char>(peek())))
            return error("a bad escape in a text");
      } else if (std::string_view("\"\\/bfnrt").find(peek()) == std::string_view::npos ||
                 at_ >= text_.size()) {
        return error("a bad escape in a text");
      }
    }
    if (!take('"')) return error("a text without its closing quote");
    return {};
  }

  bool literal() {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return true;
    }
    return false;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    return at_ > begin;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_;
};

// The blanks at the start of the line of `offset`; empty when other text is before it in that line.
std::string indent_at(std::string_view text, std::size_t offset) {
  const std::size_t feed = text.substr(0, offset).rfind('\n');
  const std::size_t line =
      feed == std::string_view::npos ? (text.starts_with(kMark) ? kMark.size() : 0) : feed + 1;
  return std::string(text.substr(line, std::min(text.find_first_not_of(" \t", line), text.size()) - line));
}

// Whether only blanks are before it in its line: then the container has one child a line.
bool starts_its_line(std::string_view text, std::size_t offset) {
  while (offset > 0 && (text[offset - 1] == ' ' || text[offset - 1] == '\t')) --offset;
  return offset > 0 && text[offset - 1] == '\n';
}

// `value` formatted for a line that starts with `indent`; with `lines` false, on one line.
std::string render(const Json& value, const JsonStyle& style, const std::string& indent, bool lines) {
  const bool object = value.is_object();
  const std::size_t size = object ? value.members().size() : value.items().size();
  if (size == 0) return value.dump();
  const std::string below = indent + style.indent;
  const std::string gap = lines ? style.newline + below : std::string();
  std::string text = object ? "{" : "[";
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) text += lines ? "," : style.comma;
    text += gap;
    if (object) text += Json(value.members()[i].first).dump() + style.colon;
    text += render(object ? value.members()[i].second : value.items()[i], style, below, lines);
  }
  if (lines) text += style.newline + indent;
  return text + (object ? '}' : ']');
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (auto child = children.rbegin(); child != children.rend(); ++child)
    if (child->key == name) return &*child;
  return nullptr;
}

Result<JsonNode> scan(std::string_view text) {
  return Scanner(text).document();
}

std::string place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t feed = before.rfind('\n');
  std::string_view line = feed == std::string_view::npos ? before : before.substr(feed + 1);
  if (line.data() == text.data() && line.starts_with(kMark)) line.remove_prefix(kMark.size());
  const auto characters = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     1 + characters);
}

JsonStyle JsonStyle::of(std::string_view text, const JsonNode& root) {
  const std::size_t feed = text.find('\n');
  JsonStyle style{"  ", feed != std::string_view::npos && feed > 0 && text[feed - 1] == '\r' ? "\r\n" : "\n",
                  ": ", ", "};
  // The first child of the root shows what is usual in this file.
  if (root.children.empty()) return style;
  const JsonNode& first = root.children.front();
  if (starts_its_line(text, first.start())) {
    const std::string outer = indent_at(text, root.begin), inner = indent_at(text, first.start());
    if (inner.size() > outer.size()) style.indent = inner.substr(outer.size());
  } else {
    style.indent.clear();
  }
  if (root.is_object() && text[first.begin - 1] == ':') style.colon = ":";
  if (style.indent.empty() && style.colon == ":") style.comma = ",";
  return style;
}

std::string insert_last(std::string_view text, const JsonStyle& style, const JsonNode& container,
                        std::string_view key, const Json& value) {
  const std::string name = container.is_object() ? Json(key).dump() + style.colon : std::string();
  std::string result(text);
  if (container.children.empty()) {
    const bool lines = !style.indent.empty();
    const std::string outer = indent_at(text, container.begin), inner = outer + style.indent;
    std::string inside = name + render(value, style, inner, lines);
    if (lines) inside = style.newline + inner + inside + style.newline + outer;
    return result.replace(container.begin + 1, container.end - container.begin - 2, inside);
  }
  // As the last child is written: on the same line, or on a line of its own with the same indentation.
  const JsonNode& last = container.children.back();
  if (!starts_its_line(text, last.start()))
    return result.insert(last.end, style.comma + name + render(value, style, "", false));
  const std::string inner = indent_at(text, last.start());
  return result.insert(
      last.end, "," + style.newline + inner + name + render(value, style, inner, !style.indent.empty()));
}

std::string replace(std::string_view text, const JsonStyle& style, const JsonNode& node, const Json& value) {
  const bool lines = text.substr(node.begin, node.end - node.begin).find('\n') != std::string_view::npos;
  return std::string(text).replace(
      node.begin, node.end - node.begin,
      render(value, style, indent_at(text, node.begin), lines && !style.indent.empty()));
}

std::string erase(std::string_view text, const JsonNode& container, std::size_t index) {
  const auto& children = container.children;
  // An only child goes with all blanks around it. Any other goes with one comma: the one after it, up to the
  // next child; the last child has only one before it.
  std::size_t begin = container.begin + 1, end = container.end - 1;
  if (index + 1 < children.size()) {
    begin = children[index].start(), end = children[index + 1].start();
  } else if (index > 0) {
    begin = children[index - 1].end, end = children[index].end;
  }
  return std::string(text).erase(begin, end - begin);
}

bool is_blank(std::string_view text) {
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return trim(text).empty();
}

std::string or_empty_object(std::string text) {
  if (!is_blank(text)) return text;
  return std::string(text.starts_with(kMark) ? kMark : "") + "{}\n";
}

}  // namespace cairn::host
