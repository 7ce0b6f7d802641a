// Writes a JSON value as text.
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace cairn {

namespace {

void append_string(std::string& out, std::string_view text) {
  std::string fixed;
  if (!is_utf8(text)) text = fixed = valid_utf8(std::string(text));
  out.push_back('"');
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) continue;
    // Append what came since the last character that needed an escape in one piece.
    out.append(text, from, i - from);
    from = i + 1;
    switch (c) {
      case '"': out.append("\\\""); break;
      case '\\': out.append("\\\\"); break;
      case '\n': out.append("\\n"); break;
      case '\r': out.append("\\r"); break;
      case '\t': out.append("\\t"); break;
      default: {
        static constexpr char kDigits[] = "0123456789abcdef";
        out.append("\\u00").push_back(kDigits[c >> 4]);
        out.push_back(kDigits[c & 15]);
      }
    }
  }
  out.append(text, from).push_back('"');
}

void append_double(std::string& out, double d) {
  if (!std::isfinite(d)) {
    out.append("null");
    return;
  }
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, d).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out.append(text);
  if (text.find_first_of(".e") == std::string_view::npos)
    out.append(".0");  // so that it is read back as a double
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}
  std::string out;

  void value(const Json& json) {
    if (json.is_array())
      list('[', ']', json.items(), [this](const Json& item) { value(item); });
    else if (json.is_object())
      list('{', '}', json.members(), [this](const Json::Member& m) { member(m); });
    else if (json.is_string())
      append_string(out, json.as_string());
    else if (json.is_int())
      out.append(std::to_string(json.as_int()));
    else if (json.is_number())
      append_double(out, json.as_double());
    else if (json.is_bool())
      out.append(json.as_bool() ? "true" : "false");
    else
      out.append("null");
  }

 private:
  void member(const Json::Member& m) {
    append_string(out, m.first);
    out.append(indent_ > 0 ? ": " : ":");
    value(m.second);
  }

  // Recursive: what was parsed is at most Limits::depth deep.
  template <class List, class F>
  void list(char open, char close, const List& items, F&& each) {
    out.push_back(open);
    ++level_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out.push_back(',');
      first = false;
      line();
      each(item);
    }
    --level_;
    if (!first) line();
    out.push_back(close);
  }

  void line() {
    if (indent_ > 0) out.append("\n").append(static_cast<std::size_t>(indent_ * level_), ' ');
  }

  int indent_;
  int level_ = 0;
};

}  // namespace

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.value(*this);
  return std::move(writer.out);
}

}  // namespace cairn
