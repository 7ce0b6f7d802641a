// Finds the paths that an event mentions, for the rules that exclude paths.
//
// Finds more than the files that a tool touches. Each word of its input and output may be a path, in any
// spelling of a shell or a person: `~/a`, `$HOME/a`, `file:///a`, `--file=a`, `'a b'`, `cd .. && cat a`. The
// content of a file that the tool reads or writes is not searched: a README may mention `.env`. Works on text
// only, in linear time, without access to the disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace cairn::gate {

// A tool's start, its result or its failure.
bool is_tool(event::Kind kind);

// `path` as an absolute path without "." and "..". A relative path is below `cwd`.
std::string absolute_path(std::string_view path, std::string_view cwd);

// The pieces of a command line between blanks, quotes and operators.
std::vector<std::string_view> command_words(std::string_view command);

// One glob of excluded paths. It covers the paths that it matches and everything below them. A glob
// without '/' matches any component of a path; one that contains '/' but does not begin with it may match
// anywhere. `~/` and `$HOME/` at its beginning are the home directory.
class PathRule {
 public:
  // `reason`: the rule as a refusal shows it.
  PathRule(std::string_view glob, std::string_view home, std::string reason);

  const std::string& reason() const { return reason_; }
  // Whether it covers the absolute `path`.
  bool covers(std::string_view path) const;
  // A quick check. False: no path in `text` is covered, unless its directory is.
  bool may_be_in(std::string_view text) const { return text.find(needed_text_) != std::string_view::npos; }
  // A quick check. False: nothing below the absolute `directory` is covered.
  bool may_be_below(std::string_view directory) const {
    return fixed_.starts_with(directory) || directory.starts_with(fixed_);
  }
  // Whether `pattern`, an absolute path with shell wildcards, may match a covered path. Not if its last
  // component is only a wildcard, nor if the glob does not begin with a fixed directory.
  bool may_be_meant_by(std::string_view pattern) const;

 private:
  std::string glob_, reason_;
  std::string fixed_;        // the beginning of every covered path
  std::string needed_text_;  // a text that the last component of every match contains
};

// The reason() of a rule that covers a path of the event; nothing when none does. `home`: the user's home
// directory; empty when unknown.
std::optional<std::string> excluded_by(const std::vector<PathRule>& rules, const event::Event& event,
                                       std::string_view home);

}  // namespace cairn::gate
