#include "host/own.h"

#include <algorithm>

#include "base/shell.h"
#include "base/text.h"

namespace cairn::host {

namespace {

// One command of a line, and whether it reads what the one before it prints.
struct Simple {
  std::string_view text;
  bool piped = false;
};

// The next command of `line`: up to a pipe, `;`, `&&`, `||`, a line feed or a parenthesis outside of quotes.
// `piped`: in, whether it reads from the command before; out, the same of the command after it. A
// here-document (<<) belongs to it, and so does all that follows, because its end is not searched for.
Simple take_simple(std::string_view& line, bool& piped) {
  char quote = 0;
  bool document = false;
  std::size_t i = 0;
  for (; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '<' && line.substr(i).starts_with("<<")) {
      document = true;
    } else if (c == '\n' && document) {
      i = line.size() - 1;
    } else if (std::string_view("|;\n()").find(c) != std::string_view::npos ||
               // not the & of 2>&1 and of &>file
               (c == '&' && (i == 0 || line[i - 1] != '>') && !line.substr(i).starts_with("&>"))) {
      break;
    }
  }
  i = std::min(i, line.size());
  Simple found{trim(line.substr(0, i)), piped};
  const std::string_view rest = line.substr(i);
  piped = rest.starts_with('|') && !rest.starts_with("||");
  const bool two = rest.starts_with("||") || rest.starts_with("|&");  // |& also pipes stderr
  line.remove_prefix(std::min(line.size(), i + (two ? 2 : 1)));
  return found;
}

// The name of the program without its directory: "cairn" of `CAIRN_HOME=/x /usr/bin/cairn search a`.
std::string program_of(std::string_view command) {
  std::string word;
  do {
    word = take_shell_word(command);
    // VARIABLE=value before the program
  } while (!word.empty() && word.find('=') != std::string::npos && word.find('/') > word.find('='));
  return word.substr(word.rfind('/') + 1);
}

}  // namespace

bool is_own_command(std::string_view command) {
  bool own = false, piped = false;
  while (!command.empty()) {
    const Simple simple = take_simple(command, piped);
    if (simple.text.empty()) continue;
    const std::string program = program_of(simple.text);
    // Beside cairn there may be commands that say nothing about the work, and filters of what is printed.
    if (program == "cairn") {
      own = true;
    } else if (any_of(program, {"cd", "echo", "printf", "true", "export"})) {
      continue;
    } else if (!simple.piped ||
               !any_of(program, {"head", "tail", "grep", "egrep", "rg", "jq", "sed", "cut", "sort", "uniq",
                                 "wc", "cat", "less", "awk", "tr", "column", "fold", "python3", "tee"})) {
      return false;
    }
  }
  return own;
}

bool remove_own_text(std::string& text) {
  const std::string begin = "<" + std::string(kMemoryTag) + " ", end = "</" + std::string(kMemoryTag);
  bool removed = false;
  for (std::size_t at; (at = text.find(begin)) != std::string::npos; removed = true) {
    // Without a closing tag the text was cut off: all that follows is ours.
    const std::size_t last = text.find(end, at);
    const std::size_t until = last == std::string::npos ? last : text.find('>', last);
    text.erase(at, until == std::string::npos ? until : until + 1 - at);
  }
  return removed;
}

}  // namespace cairn::host
