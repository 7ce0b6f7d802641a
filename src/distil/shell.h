// What a shell command line does, read from its words: the files of redirections, cat, cp, mv, rm, tee,
// touch, sed -i, git; the test, build or linter in it, and whether its exit status is the whole line's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::distil {

struct ShellFiles {
  std::vector<std::string> read;
  std::vector<std::string> written;  // created, changed, moved to, removed
  std::vector<std::string> commits;  // whole messages of `git commit -m`
  // The title and the text of `gh pr create`.
  struct Pull {
    std::string title, body;
    bool operator==(const Pull&) const = default;
  };
  std::vector<Pull> pulls;
  std::optional<std::string> merged;  // by `gh pr merge`: its number or address; empty: of this branch
  bool makes_commits = false;         // git commit, revert, cherry-pick or merge
  bool only_looks = false;            // every command in it only shows something (ls, cat, grep, git status)
  bool only_commits = false;          // nothing but git, and a commit in it
  std::string program;                // of the check, else the first that does more than show
  std::vector<std::string> programs;  // all that do more than show, in order
  bool shows_last = false;  // the last command only shows something, and its exit status is the whole line's
  std::string check;        // a test, a build or a linter, as written; empty: there is none
  bool status_of_check = true;  // false: another command after it decides the exit status
};

// Never fails: parts that it does not understand are left out. Knows quotes, escapes, pipes, &&, ;,
// here-documents and sub-shells. Variables are not expanded, and a word with one is not a file. A `cd`
// changes the directory of later relative paths.
ShellFiles shell_files(std::string_view command);

}  // namespace cairn::distil
