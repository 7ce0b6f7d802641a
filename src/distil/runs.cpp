#include "distil/runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quoted.h"
#include "base/text.h"
#include "distil/test_output.h"
#include "event/origin.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxReason = 160, kMaxCommitSubject = 160;
constexpr std::size_t kReadOutput = 8000;  // bytes of an output that are read

// The most informative line about a failure: the one that names it, else the first.
std::string reason(const TestReport& report, std::string_view text) {
  if (!report.error.empty()) return report.error;
  for (const std::string_view line : lines(prefix(text, 4000)))
    if (!trim(line).empty()) return one_line(visible(line), kMaxReason);
  return "";
}

// "Co-authored-by: ..." is not part of the description.
std::string without_trailers(std::string_view message) {
  std::string out;
  const std::string text = visible(prefix(message, kReadOutput));
  for (const std::string_view line : lines(text)) {
    const std::string lower = ascii_lower(trim(line));
    if (lower.starts_with("co-authored-by:") || lower.starts_with("signed-off-by:") ||
        lower.find("generated with") != std::string::npos)
      continue;
    out.append(out.empty() ? "" : "\n").append(line);
  }
  return std::string(trim(out));
}

// The message in the command whose subject git printed, without its trailers; empty: there is none.
std::string message_with(const std::vector<std::string>& messages, std::string_view subject) {
  for (const std::string& message : messages)
    if (trim(lines(message).front()) == subject) return without_trailers(message);
  return {};
}

// "sh: 1: foo: not found": the name before these words; empty when the line has another form.
std::string_view not_found(std::string_view line) {
  for (const std::string_view words : {": command not found", ": not found"})
    if (const std::size_t end = line.find(words); end != std::string_view::npos) {
      const std::string_view before = line.substr(0, end);
      const std::size_t colon = before.rfind(": ");
      return trim(colon == std::string_view::npos ? before : before.substr(colon + 2));
    }
  return {};
}

}  // namespace

std::string shown_text(std::string_view text, std::size_t max) {
  return one_line(visible(prefix(text, 8 * max)), max);
}

std::string blamed_program(const ShellFiles& files, std::string_view error) {
  constexpr std::size_t kLines = 20;
  std::size_t read = 0;
  for (const std::string_view line : lines(prefix(error, kReadOutput))) {
    if (++read > kLines) break;
    const std::string_view missing = not_found(line);
    for (const std::string& program : files.programs)
      if (program == missing || line.starts_with(program + ": ") ||
          line.find(": " + program + ": ") != std::string_view::npos)
        return program;
  }
  return files.program;
}

CommandRun failed_run(std::string_view error, const ShellFiles& files) {
  CommandRun run;
  run.how = CommandRun::How::failed;
  std::string_view text = trim(error);
  if (starts_with_nocase(text, "exit code ")) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    run.code = "exit code " + one_line(visible(text.substr(10, std::min<std::size_t>(end - 10, 40))), 20);
    text = text.substr(end);
  }
  // grep and its like exit with 1 when they find nothing: `make 2>&1 | grep warning` without a warning.
  if (files.shows_last && run.code == "exit code 1" && trim(text).empty()) return judged_run(text);
  TestReport report = read_test_output(text);
  run.why = reason(report, text);
  run.failed = std::move(report.failed);
  return run;
}

CommandRun judged_run(std::string_view output) {
  CommandRun run;
  TestReport report = read_test_output(output);
  if (report.says_failed) {
    run.how = CommandRun::How::failed;
    run.why = std::move(report.error);
    run.failed = std::move(report.failed);
  } else if (!report.passed.empty()) {
    run.passed = std::move(report.passed);
  } else {
    run.how = CommandRun::How::unknown;
  }
  return run;
}

std::vector<Commit> commits_of(std::string_view command, const ShellFiles& files, std::string_view output) {
  std::vector<Commit> out;
  for (const std::string_view line : lines(prefix(output, kReadOutput))) {
    const std::size_t close = line.find("] ");
    if (!line.starts_with('[') || close == std::string_view::npos) continue;
    const std::string_view place = line.substr(1, close - 1);
    const std::string_view hash = place.substr(place.rfind(' ') + 1);
    if (hash.size() < 7 || hash.find_first_not_of("0123456789abcdef") != std::string_view::npos) continue;
    std::string subject = shown_text(line.substr(close + 2), kMaxCommitSubject);
    std::string whole = message_with(files.commits, trim(line.substr(close + 2)));
    // A subject that only git printed may come from somebody else (a merge, a cherry-pick): it is shown as
    // output.
    const bool named = command.find(subject) != std::string_view::npos;
    if (whole.empty() && named) whole = subject;
    if (!named) subject = quote(Origin::output, subject);
    if (!whole.empty()) whole = std::string(hash) + " " + whole;
    out.push_back({std::string(hash) + " " + quoted(subject, '"'), subject, std::move(whole), {}});
  }
  if (!out.empty()) return out;
  for (const std::string& message : files.commits) {
    const std::string subject = shown_text(lines(message).front(), kMaxCommitSubject);
    out.push_back({quoted(subject, '"'), subject, without_trailers(message), {}});
  }
  return out;
}

// The digits that `text` ends with.
static std::string_view last_digits(std::string_view text) {
  const std::size_t before = text.find_last_not_of("0123456789");
  return before == std::string_view::npos ? text : text.substr(before + 1);
}

std::string merged_pull(const ShellFiles& files, std::string_view output) {
  if (!files.merged) return {};
  // `gh pr merge 12`, or the address .../pull/12. Without either, gh prints "Merged pull request #12".
  std::string_view number = last_digits(*files.merged);
  for (const std::string_view line : lines(prefix(output, kReadOutput)))
    if (const std::size_t at = line.find("erged pull request ");
        number.empty() && at != std::string_view::npos) {
      const std::size_t sign = line.find('#', at);
      const std::size_t end = std::min(line.find_first_not_of("0123456789", sign + 1), line.size());
      if (sign != std::string_view::npos) number = line.substr(sign + 1, end - sign - 1);
    }
  return number.empty() ? "" : fmt::format("#{} {}", number, kMerged);
}

std::string pull_of(const ShellFiles& files, std::string_view output) {
  if (files.pulls.empty()) return {};
  std::string address, number;
  for (const std::string_view line : lines(prefix(output, kReadOutput))) {
    // gh prints the address of the new request: https://github.com/OWNER/NAME/pull/12.
    const std::size_t at = line.find("/pull/");
    const std::size_t begin = line.find("https://");
    if (at == std::string_view::npos || begin > at) continue;
    const std::size_t end = std::min(line.find_first_not_of("0123456789", at + 6), line.size());
    address = shown_text(line.substr(begin, end - begin), 200);
    number = line.substr(at + 6, end - at - 6);
  }
  std::string text = number.empty() ? "" : "#" + number + " ";
  text += shown_text(files.pulls.back().title, kMaxCommitSubject);
  if (!address.empty()) text += " " + address;
  if (trim(text).empty()) return {};
  const std::string body = without_trailers(files.pulls.back().body);
  return std::string(trim(text)) + (body.empty() ? "" : "\n\n" + body);
}

}  // namespace cairn::distil
