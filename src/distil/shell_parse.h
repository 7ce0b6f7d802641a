// Splits a shell command line into simple commands with words and redirections.
//
// Covers as much of the shell's grammar as that needs; expands nothing. Linear; never fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::distil {

struct ShellWord {
  std::string text;      // quotes and escapes undone
  bool plain = true;     // false: it contains a variable, a pattern or a substitution
  std::string document;  // the here-document of a substitution in it: "$(cat <<EOF ...)"
};

struct ShellRedirect {
  enum class Kind { read, write };
  Kind kind = Kind::read;
  ShellWord target;
};

struct ShellCommand {
  enum class Kind { simple, enter, leave };  // enter and leave: begin and end of a sub-shell
  enum class Then {
    end,
    on_success,
    other
  };  // how the next command follows: not at all, after &&, otherwise
  Kind kind = Kind::simple;
  std::vector<ShellWord> words;
  std::vector<ShellRedirect> redirects;
  std::string document;  // its here-document
  Then then = Then::end;
  std::string_view source;  // the original text, borrowed
};

std::vector<ShellCommand> parse_shell(std::string_view text);

}  // namespace cairn::distil
