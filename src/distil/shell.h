// What a shell command line does to files, read from its words: redirections, cat, cp, mv, rm, tee, touch,
// sed -i, git.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::distil {

struct ShellFiles {
  std::vector<std::string> read;
  std::vector<std::string> written;  // created, changed, moved to, removed
  std::vector<std::string> commits;  // messages of `git commit -m`
  bool only_looks = false;           // every command in it only shows something (ls, cat, grep, git status)
  bool only_commits = false;         // nothing but git, and a commit in it
};

// Never fails: what it does not understand it leaves out. Quotes, escapes, pipes, &&, ;, here-documents and
// sub-shells are told apart; variables are not expanded, and a word with one is not taken for a file. A `cd`
// moves the relative paths after it.
ShellFiles shell_files(std::string_view command);

}  // namespace cairn::distil
