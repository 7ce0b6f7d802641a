// The paths that an event speaks of, for the rules that keep paths out.
//
// Wider than the files it touches: each word of what a tool was asked and of what it answered may be a path,
// however a shell or a person spells it: `~/a`, `$HOME/a`, `file:///a`, `--file=a`, `'a b'`, `cd .. && cat
// a`. The text of a file that the event names itself (what is written into it, what was read from it) is not
// looked at: a README may say `.env`. Lexical and linear: no disk is asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace cairn::gate {

// A tool's start, its result or its failure.
bool is_tool(event::Kind kind);

// `path` as an absolute path without "." and "..", read against `cwd`.
std::string absolute_path(std::string_view path, std::string_view cwd);

// The pieces of a command line between blanks, quotes and operators.
std::vector<std::string_view> command_words(std::string_view command);

// One glob of paths to keep out. It covers what it matches and what is below that; with '/' inside but not in
// front it may match anywhere. `~/` and `$HOME/` in front are the home directory.
class PathRule {
 public:
  // `reason`: how a refusal names the rule.
  PathRule(std::string_view glob, std::string_view home, std::string reason);

  const std::string& reason() const { return reason_; }
  // Whether it covers the absolute `path`.
  bool covers(std::string_view path) const;
  // False when no path that ends in `word` is covered, unless the directory it is read against is.
  bool may_end_in(std::string_view word) const { return word.find(ending_) != std::string_view::npos; }
  // False when nothing below the absolute `directory` is covered.
  bool may_be_below(std::string_view directory) const {
    return fixed_.starts_with(directory) || directory.starts_with(fixed_);
  }
  // Whether an absolute path with wildcards of the shell in it may mean what is covered. A wildcard that
  // stands for a whole name is not followed.
  bool may_be_meant_by(std::string_view wildcards) const;

 private:
  std::string glob_, reason_;
  std::string fixed_;   // what every path that it covers begins with
  std::string ending_;  // what stands in the last component of what it matches
};

// The reason of a rule that covers a path of the event; nothing when none does. `home`: the user's home
// directory, empty when it is unknown.
std::optional<std::string> excluded_by(const std::vector<PathRule>& rules, const event::Event& event,
                                       std::string_view home);

}  // namespace cairn::gate
