// What a command's output tells: how the run went, which program failed, the commits and pull requests made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "distil/digest.h"
#include "distil/shell.h"

namespace cairn::distil {

// `text` for a reader: what is visible of it, on one line, at most `max` bytes.
std::string shown_text(std::string_view text, std::size_t max);

// The program that the error text blames: the one that the shell did not find, or whose name stands before
// the message; else the line's own.
std::string blamed_program(const ShellFiles& files, std::string_view error);

// Exit code, first telling line and failed tests of an error text. A line whose last command only shows
// something (`make | grep warning`) has not failed because that found nothing.
Run failed_run(std::string_view error, const ShellFiles& files);
// How a check went whose exit status is hidden behind another command's (`make test | tail`): by its words.
Run judged_run(std::string_view output);

// The commits that git's own lines "[main 1a2b3c4] subject" tell of, else the messages of the command. A
// subject that the command itself names is the agent's.
std::vector<Commit> commits_of(std::string_view command, const ShellFiles& files, std::string_view output);

// The pull request that the command made: number, title, address, text; empty: none.
std::string pull_of(const ShellFiles& files, std::string_view output);

}  // namespace cairn::distil
