// Reads a command's output: how the run ended, which program failed, which commits and pull requests were
// made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "distil/digest.h"
#include "distil/shell.h"

namespace cairn::distil {

// `text` for a reader: what is visible of it, on one line, at most `max` bytes.
std::string shown_text(std::string_view text, std::size_t max);

// The program that caused the error: the one that the shell did not find, or whose name precedes the message;
// else the line's own program.
std::string blamed_program(const ShellFiles& files, std::string_view error);

// Exit code, most informative line and failed tests of an error text. A line whose last command only shows
// something (`make | grep warning`) did not fail because that command found nothing.
CommandRun failed_run(std::string_view error, const ShellFiles& files);
// The result of a check whose exit status is hidden by another command (`make test | tail`): judged by its
// output.
CommandRun judged_run(std::string_view output);

// The commits in git's own lines "[main 1a2b3c4] subject", else the messages in the command. A subject that
// is in the command was written by the agent.
std::vector<Commit> commits_of(std::string_view command, const ShellFiles& files, std::string_view output);

// "#12 merged" for the pull request that the command merged; empty: none, or its number is not known.
inline constexpr std::string_view kMerged = "merged";
std::string merged_pull(const ShellFiles& files, std::string_view output);
// The pull request that the command made: number, title, address, text; empty: none.
std::string pull_of(const ShellFiles& files, std::string_view output);

}  // namespace cairn::distil
