// The simple commands of a shell command line, with their words and redirections.
//
// Enough of the shell's grammar to know which words stand where; nothing is expanded. Linear; never fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::distil {

struct ShellWord {
  std::string text;      // quotes and escapes undone
  bool plain = true;     // false: a variable, a pattern or a substitution stands in it
  std::string document;  // the here-document that a substitution in it prints: "$(cat <<EOF ...)"
};

struct ShellRedirect {
  enum class Kind { read, write };
  Kind kind = Kind::read;
  ShellWord target;
};

struct ShellCommand {
  enum class Kind { simple, enter, leave };  // enter and leave: a sub-shell's borders
  enum class Then {
    end,
    on_success,
    other
  };  // what joins the next command to it: nothing, &&, anything else
  Kind kind = Kind::simple;
  std::vector<ShellWord> words;
  std::vector<ShellRedirect> redirects;
  std::string document;  // its here-document
  Then then = Then::end;
  std::string_view source;  // as it was written; borrowed from the parsed text
};

std::vector<ShellCommand> parse_shell(std::string_view text);

}  // namespace cairn::distil
