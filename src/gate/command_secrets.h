// Passwords on command lines: in an option of a command that takes one, among its arguments, piped into it,
// and beside the name of a login (name/password@host).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/named_secrets.h"

namespace cairn::gate {

struct CommandSign;

// What such a line holds, for the search by literals, in either case.
const std::vector<std::string_view>& command_literals();

// Reads command lines. Belongs to one search, whose questions go forward through the text: what was read of a
// line is remembered.
class CommandLines {
 public:
  // Borrows both; `runs` are those of the text.
  CommandLines(std::string_view text, Runs& runs) : text_(text), runs_(runs) {}

  // Reads around text[begin, end), where command_literals()[index] stands. Appends the passwords. Gives what
  // it cost, in characters: it reads no more than a few hundred.
  std::size_t find(std::size_t index, std::size_t begin, std::size_t end, std::vector<Place>& found);

 private:
  void read_to(std::size_t at);
  std::size_t find_for_any(std::string_view option, std::size_t end, std::vector<Place>& found);
  std::size_t find_option(std::size_t begin, std::size_t end, std::vector<Place>& found);
  void find_arguments(const CommandSign& sign, std::size_t at, std::vector<Place>& found);
  void find_piped(std::size_t begin, std::size_t end, std::vector<Place>& found);
  std::pair<std::size_t, std::size_t> argument(std::size_t at);

  std::string_view text_;
  Runs& runs_;
  std::size_t read_ = 0;     // up to here
  std::uint64_t known_ = 0;  // commands of the line so far: a bit for each
};

}  // namespace cairn::gate
