#include "distil/shell_parse.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace cairn::distil {

namespace {

constexpr int kMaxNesting = 24;  // substitutions in substitutions; deeper text is skipped

// A recursive descent over the text, from left to right. list() reads commands up to a closing character,
// word() one word with its quotes and substitutions, redirect() one redirection. Commands inside a
// substitution or a sub-shell are added to the same flat list, between an `enter` and a `leave`. The body of
// a here-document comes after the line that begins it: until then it waits in waiting_.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<ShellCommand> run() {
    while (!at_end()) {
      list('\0', 0);
      if (!at_end()) ++at_;  // an unmatched closing bracket
    }
    return std::move(out_);
  }

 private:
  struct Document {
    std::size_t command;  // index in out_
    std::string end;
    bool strip_tabs;
  };

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  // Reads commands up to `close`, which is not consumed.
  void list(char close, int nesting) {
    if (nesting > kMaxNesting) {
      at_ = text_.size();
      return;
    }
    ShellCommand command;
    std::size_t from = at_;
    while (!at_end() && peek() != close) {
      const char c = peek();
      // The source of a command begins at its first word, without blanks and comments before it.
      if (command.words.empty() && command.redirects.empty()) from = at_;
      if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (take("\\\n")) {
      } else if (c == '\n') {
        finish(command, from, ShellCommand::Then::other);
        ++at_;
        read_documents();
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (take("((")) {  // arithmetic
        skip_past("))");
      } else if (c == ';' || c == '|' || (c == '&' && peek(1) != '>')) {
        const bool both = c == '&' && peek(1) == '&';
        finish(command, from, both ? ShellCommand::Then::on_success : ShellCommand::Then::other);
        at_ += both ? 2 : 1;
      } else if (c == '(') {
        finish(command, from, ShellCommand::Then::other);
        ++at_;
        group(nesting);
      } else if (c == ')' || (c == '`' && in_backticks_)) {
        finish(command, from, ShellCommand::Then::end);
        return;
      } else if (!redirect(command, nesting)) {
        command.words.push_back(word(nesting));
      }
    }
    finish(command, from, ShellCommand::Then::end);
  }

  void border(ShellCommand::Kind kind) {
    out_.emplace_back();
    out_.back().kind = kind;
  }

  void group(int nesting) {
    border(ShellCommand::Kind::enter);
    list(')', nesting + 1);
    take(")");
    border(ShellCommand::Kind::leave);
  }

  void finish(ShellCommand& command, std::size_t from, ShellCommand::Then then) {
    const std::size_t index = out_.size();
    command.then = then;
    command.source = trim(text_.substr(from, at_ - from));
    // Here-documents that this command began belong to it, now that its position is known.
    for (Document& document : waiting_)
      if (document.command == kUnfinished) document.command = index;
    if (!command.words.empty() || !command.redirects.empty() || has_document_)
      out_.push_back(std::move(command));
    command = {};
    has_document_ = false;
  }

  // Reads a redirection, if there is one.
  bool redirect(ShellCommand& command, int nesting) {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    // `&>file` writes both outputs.
    if (peek() == '&' && peek(1) == '>') ++at_;
    if (peek() != '<' && peek() != '>') {
      at_ = start;
      return false;
    }
    // A here-string is text, not a file.
    if (take("<<<")) {
      operand(nesting);
    } else if (take("<<")) {
      const bool strip = take("-");
      const ShellWord end = operand(nesting);
      waiting_.push_back({kUnfinished, end.text, strip});
      has_document_ = true;
    } else if (take(">&") || take("<&")) {
      const ShellWord target = operand(nesting);
      // `2>&1` and `>&-` name no file, `>&file` does.
      const bool descriptor =
          target.text == "-" || target.text.find_first_not_of("0123456789") == std::string::npos;
      if (!descriptor) command.redirects.push_back({ShellRedirect::Kind::write, target});
    } else if (peek(1) == '(') {  // process substitution
      command.words.push_back(word(nesting));
    } else {
      const bool write = peek() == '>';
      ++at_;
      if (write && (peek() == '>' || peek() == '|')) ++at_;
      // `<>file`
      if (!write && peek() == '>') ++at_;
      command.redirects.push_back(
          {write ? ShellRedirect::Kind::write : ShellRedirect::Kind::read, operand(nesting)});
    }
    return true;
  }

  ShellWord operand(int nesting) {
    while (peek() == ' ' || peek() == '\t') ++at_;
    return word(nesting);
  }

  ShellWord word(int nesting) {
    ShellWord out;
    if ((peek() == '<' || peek() == '>') && peek(1) == '(') {  // process substitution
      at_ += 2;
      substitution(out, ')', nesting);
    }
    while (!at_end()) {
      const char c = peek();
      if (std::string_view(" \t\r\n;|&()<>").find(c) != std::string_view::npos) break;
      if (c == '`' && in_backticks_) break;
      if (c == '\\') {
        ++at_;
        if (!at_end() && peek() != '\n') out.text.push_back(peek());
        if (!at_end()) ++at_;
      } else if (c == '\'') {
        single_quotes(out);
      } else if (c == '"') {
        double_quotes(out, nesting);
      } else if (c == '$' || c == '`') {
        dollar(out, nesting);
      } else {
        if (c == '*' || c == '?' || c == '[' || c == '{') out.plain = false;
        out.text.push_back(c);
        ++at_;
      }
    }
    return out;
  }

  void single_quotes(ShellWord& out) {
    const std::size_t end = std::min(text_.find('\'', at_ + 1), text_.size());
    out.text.append(text_.substr(at_ + 1, end - at_ - 1));
    at_ = std::min(end + 1, text_.size());
  }

  void double_quotes(ShellWord& out, int nesting) {
    ++at_;
    while (!at_end() && peek() != '"') {
      if (peek() == '\\' && std::string_view("$`\"\\\n").find(peek(1)) != std::string_view::npos) {
        if (peek(1) != '\n' && at_ + 1 < text_.size()) out.text.push_back(peek(1));
        at_ = std::min(at_ + 2, text_.size());
      } else if (peek() == '$' || (peek() == '`' && !in_backticks_)) {
        dollar(out, nesting);
      } else {
        out.text.push_back(peek());
        ++at_;
      }
    }
    take("\"");
  }

  // Reads what '$' or '`' begins.
  void dollar(ShellWord& out, int nesting) {
    if (take("$'")) {
      --at_;
      single_quotes(out);
    } else if (take("$((")) {
      out.plain = false;
      skip_past("))");
    } else if (take("$(")) {
      substitution(out, ')', nesting);
    } else if (take("${")) {
      out.plain = false;
      skip_past("}");
    } else if (take("`")) {
      in_backticks_ = true;
      substitution(out, '`', nesting);
      in_backticks_ = false;
    } else {
      ++at_;
      const char c = peek();
      // A lone $ is text. The name of a variable is kept in the word, but the word is no file.
      const bool name = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') ||
                        (c != '\0' && std::string_view("?!#@*$-").find(c) != std::string_view::npos);
      if (name) out.plain = false;
      if (!name) out.text.push_back('$');
    }
  }

  // The commands of a substitution are added like all others. The text of a here-document in it belongs to
  // the word.
  void substitution(ShellWord& out, char close, int nesting) {
    out.plain = false;
    const std::size_t first = out_.size();
    border(ShellCommand::Kind::enter);
    // The here-documents of the outer line must wait for the end of that line, not of this one.
    const bool outer = std::exchange(has_document_, false);
    std::vector<Document> outer_waiting = std::exchange(waiting_, {});
    list(close, nesting + 1);
    read_documents();
    waiting_ = std::move(outer_waiting);
    has_document_ = outer;
    if (peek() == close) ++at_;
    for (std::size_t i = first; i < out_.size() && out.document.empty(); ++i) out.document = out_[i].document;
    border(ShellCommand::Kind::leave);
  }

  void skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  // Reads the bodies of the here-documents that the line before began.
  void read_documents() {
    for (const Document& document : waiting_) {
      std::string body;
      while (!at_end()) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, end - at_);
        at_ = std::min(end + 1, text_.size());
        while (document.strip_tabs && line.starts_with('\t')) line.remove_prefix(1);
        if (line == document.end) break;
        body.append(line).append("\n");
      }
      if (document.command < out_.size()) out_[document.command].document += body;
    }
    waiting_.clear();
  }

  static constexpr std::size_t kUnfinished = static_cast<std::size_t>(-1);

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_backticks_ = false;
  bool has_document_ = false;  // of the command being read
  std::vector<Document> waiting_;
  std::vector<ShellCommand> out_;
};

}  // namespace

std::vector<ShellCommand> parse_shell(std::string_view text) {
  return Parser(text).run();
}

}  // namespace cairn::distil
