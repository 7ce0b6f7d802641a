#include "distil/words.h"

#include <algorithm>
#include <map>

#include "base/quoted.h"
#include "base/text.h"
#include "distil/sentences.h"
#include "event/origin.h"

namespace cairn::distil {

std::string number(std::int64_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

std::string join(const std::vector<std::string>& items, std::size_t max, std::string_view one,
                 std::string_view many) {
  std::string out;
  // "and 1 more file" is hardly shorter than the name of that file.
  const std::size_t shown = items.size() <= max + 1 ? items.size() : max;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == items.size();
    out.append(i == 0 ? "" : last ? " and " : ", ").append(items[i]);
  }
  if (shown < items.size()) {
    const std::size_t left = items.size() - shown;
    out.append(" and " + std::to_string(left) + " more ").append(left == 1 ? one : many);
  }
  return out;
}

std::string times(std::size_t n) {
  return n == 1 ? "" : n == 2 ? " twice" : " " + std::to_string(n) + " times";
}

std::string described(const FileChange& file) {
  const std::string lines = number(file.lines, "line", "lines");
  const std::string delta = "+" + std::to_string(file.added) + " -" + std::to_string(file.removed);
  const bool counted = file.added + file.removed > 0;
  if (file.created && file.edited)
    return "Created " + file.path + " (" + lines + "), then edited it" +
           (counted ? " (" + delta + ")." : ".");
  if (file.created) return "Created " + file.path + " (" + lines + ").";
  if (counted) return "Edited " + file.path + " (" + delta + ").";
  return "Rewrote " + file.path + (file.lines > 0 ? " (" + lines + ")." : ".");
}

std::string detail(const CommandRun& run) {
  std::string out = run.code;
  if (!run.why.empty()) out.append(out.empty() ? "" : ": ").append(quote(Origin::output, run.why));
  return out;
}

// "failed twice (exit code 1: expected 3), then passed".
static std::string described(const std::vector<CommandRun>& runs) {
  std::string out;
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t end = i + 1;
    // Equal runs in a row are described once, with the details of the last one.
    while (end < runs.size() && runs[end].how == runs[i].how && runs[end].code == runs[i].code) ++end;
    const CommandRun& last = runs[end - 1];
    out.append(i == 0 ? "" : ", then ");
    switch (last.how) {
      case CommandRun::How::passed: out.append("passed"); break;
      case CommandRun::How::failed: out.append("failed"); break;
      case CommandRun::How::interrupted: out.append("was interrupted"); break;
      case CommandRun::How::background: out.append("started in the background"); break;
      case CommandRun::How::unknown: out.append("ended"); break;
    }
    out.append(times(end - i));
    if (const std::string more = detail(last); !more.empty()) out.append(" (" + more + ")");
    i = end;
  }
  return out;
}

bool all_passed(const Command& command) {
  return std::all_of(command.runs.begin(), command.runs.end(), [](const CommandRun& r) {
    return r.how == CommandRun::How::passed || r.how == CommandRun::How::unknown;
  });
}

bool ends_failing(const Command& command) {
  return command.runs.back().how == CommandRun::How::failed;
}

// A check is named by its command line, which will be run again; any other command by its purpose.
static std::string name_of(const Command& command) {
  return command.check || command.purpose.empty() ? quoted(command.shown) : quoted(command.purpose, '"');
}

std::string described(const Command& command) {
  const std::string name = name_of(command);
  if (!all_passed(command)) {
    if (command.runs.size() == 1 && command.runs[0].how == CommandRun::How::background)
      return "Started " + name + " in the background.";
    return "Ran " + name + ": " + described(command.runs) + ".";
  }
  const bool passed = command.check && command.runs.back().how == CommandRun::How::passed;
  return "Ran " + name + times(command.runs.size()) + (passed ? ": passed." : ".");
}

std::string looks_text(const Digest& digest) {
  std::vector<std::string> out;
  std::vector<std::string> files;
  for (const std::string& file : digest.read)
    // A file that was edited too is named with its change.
    if (!digest.edited.contains(file)) files.push_back(file);
  if (!files.empty()) out.push_back("Read " + join(files, 8, "file", "files") + ".");
  if (!digest.searches.empty())
    out.push_back("Searched for " + join(digest.searches, 6, "pattern", "patterns") + ".");
  std::vector<std::string> looks;
  for (const Command& command : digest.commands)
    if (command.looks && all_passed(command)) looks.push_back(name_of(command));
  if (!looks.empty()) out.push_back("Looked with " + join(looks, 5, "command", "commands") + ".");
  if (!digest.fetches.empty()) out.push_back("Consulted " + join(digest.fetches, 5, "page", "pages") + ".");
  for (std::size_t i = 0; i < std::min<std::size_t>(digest.not_found.size(), 3); ++i)
    out.push_back(digest.not_found[i]);
  std::string text;
  for (const std::string& sentence : out) text.append(text.empty() ? "" : " ").append(sentence);
  return text;
}

std::vector<const Command*> still_failing(const Digest& digest) {
  std::map<std::string, std::size_t> solved;  // program -> position of its last check that did not fail
  for (std::size_t i = 0; i < digest.commands.size(); ++i)
    if (const Command& command = digest.commands[i]; command.check && !ends_failing(command))
      solved[command.program] = i;
  std::vector<const Command*> out;
  for (std::size_t i = 0; i < digest.commands.size(); ++i) {
    const Command& command = digest.commands[i];
    if (!ends_failing(command) || command.looks) continue;
    const auto later = solved.find(command.program);
    if (later == solved.end() || later->second < i) out.push_back(&command);
  }
  if (out.size() > 3) out.erase(out.begin(), out.end() - 3);
  return out;
}

// These are the first words of the sentences that summary.cpp and digest.cpp make. Keep them in step.
bool begins_with_facts(std::string_view completed) {
  for (const std::string_view start :
       {"In progress: ", "Created ", "Edited ", "Rewrote ", "Writing ", "Editing ", "Ran ", "Started ",
        "Committed ", "Subagent", "Used ", "Finished: ", "Running ", "And "})
    if (completed.starts_with(start)) return true;
  constexpr std::string_view kFailed = " failed: ";  // a failed tool call
  const std::size_t name = completed.find(kFailed);
  return (name != std::string_view::npos && is_tool_name(completed.substr(0, name))) ||
         begins_quoted(completed, kFailed);
}

std::string request_of(std::string_view prompt) {
  constexpr std::size_t kMaxRequest = 500;
  std::string out;
  int count = 0;
  const std::string text = visible(prefix(prompt, 8 * kMaxRequest));
  for (const std::string_view line : lines(text)) {
    if (trim(line).empty()) continue;
    if (++count > 6) {
      out.append(" \xe2\x80\xa6");
      break;
    }
    out.append(out.empty() ? "" : "\n").append(trim(line));
  }
  return shorten(out, kMaxRequest);
}

}  // namespace cairn::distil
