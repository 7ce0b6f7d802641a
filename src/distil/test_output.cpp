#include "distil/test_output.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxFailed = 8;
constexpr std::size_t kMaxName = 120;
constexpr std::size_t kMaxReportLine = 160;
// Of a long output both ends are read: the first error is at the beginning, the result at the end.
constexpr std::size_t kMaxHead = 20'000, kMaxTail = 40'000;

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

std::string_view up_to(std::string_view text, std::string_view end) {
  return trim(text.substr(0, text.find(end)));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The name in "12 - name (Failed)", as ctest lists failed tests; empty for any other line.
std::string_view ctest_name(std::string_view line) {
  const std::size_t dash = line.find(" - "), end = line.rfind(" (");
  if (dash == std::string_view::npos || end == std::string_view::npos || end < dash + 3) return {};
  if (!is_number(trim(line.substr(0, dash)))) return {};
  const std::string_view state = line.substr(end);
  if (!state.starts_with(" (Failed") && !state.starts_with(" (Timeout") && !state.starts_with(" (SEGFAULT"))
    return {};
  return line.substr(dash + 3, end - dash - 3);
}

// The test that this line reports as failed; empty when it reports none.
std::string_view failed_test(std::string_view line) {
  const std::string_view whole = line;
  if (take(line, "[  FAILED  ] "))
    return line.find(" tests, listed below") == std::string_view::npos &&
                   line.find(" test, listed below") == std::string_view::npos
               ? up_to(up_to(line, " ("), ",")
               : std::string_view();
  if (take(line, "FAILED ") && line.find("::") != std::string_view::npos) return up_to(line, " - ");
  if (take(line, "--- FAIL: ")) return up_to(line, " (");
  if (take(line, "test ") && line.ends_with(" ... FAILED")) return up_to(line, " ... FAILED");
  line = whole;
  if (take(line, "not ok ")) {
    const std::size_t dash = line.find(" - ");
    return dash == std::string_view::npos ? std::string_view() : trim(line.substr(dash + 3));
  }
  if (take(line, "\xe2\x9c\x95 ") || take(line, "\xc3\x97 ") || take(line, "\xe2\x9c\x97 ") ||
      take(line, "\xe2\x9c\x98 "))
    return up_to(line, " (");
  if (take(line, "\xe2\x97\x8f ") && line.find(" \xe2\x80\xba ") != std::string_view::npos) return line;
  if (take(line, "FAIL: ") || take(line, "ERROR: test_")) return whole.substr(whole.find(' ') + 1);
  if (take(line, "rspec ")) return up_to(line, " #");
  return ctest_name(whole);
}

// Whether lower-case text has "3 failed", "1 failure" or "errors: 2", with a number that is not 0.
bool counts_failures(std::string_view lower) {
  for (const std::string_view word : {" failed", " failure", " error", " failing"})
    for (std::size_t at = lower.find(word); at != std::string_view::npos; at = lower.find(word, at + 1)) {
      std::size_t from = at;
      while (from > 0 && lower[from - 1] >= '0' && lower[from - 1] <= '9') --from;
      if (lower.substr(from, at - from).find_first_not_of('0') != std::string_view::npos) return true;
    }
  for (const std::string_view label : {"failures: ", "errors: ", "failed: "})
    if (const std::size_t at = lower.find(label); at != std::string_view::npos) {
      const std::string_view count = lower.substr(at + label.size());
      if (!count.empty() && count[0] >= '1' && count[0] <= '9') return true;
    }
  return false;
}

bool counts_passed(std::string_view lower) {
  if (lower.find_first_of("0123456789") == std::string_view::npos) return false;
  for (const std::string_view word : {"passed", " passing", "0 failures", "0 failed", "0 errors"})
    if (lower.find(word) != std::string_view::npos) return true;
  return false;
}

// The line without decoration.
std::string plain(std::string_view line, std::size_t max) {
  while (!line.empty() && std::string_view("=-# \t").find(line.front()) != std::string_view::npos)
    line.remove_prefix(1);
  while (!line.empty() && std::string_view("=-# \t").find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  return one_line(line, max);
}

bool is_telling(std::string_view lower) {
  for (const std::string_view cue :
       {"error", "fail", "exception", "panic", "cannot", "not found", "undefined", "no such", "expected",
        "assert", "denied", "unable", "fatal", "invalid", "missing"})
    if (lower.find(cue) != std::string_view::npos) return true;
  return false;
}

// The next line at or after `at` that has a word which any of the functions above looks for; most lines of a
// long output have none. Nothing: there is no such line. Moves `at` behind it.
std::optional<std::string_view> next_line(std::string_view text, std::size_t& at) {
  static const RE2 kCue(
      "(?i)fail|error|pass|exception|panic|cannot|not found|undefined|no such|expected|assert|denied|unable|"
      "fatal|invalid|missing|not ok|timeout|segfault|rspec|\xe2\x9c\x95|\xc3\x97|\xe2\x9c\x97|\xe2\x9c\x98|"
      "\xe2\x97\x8f");
  re2::StringPiece cue;
  if (!kCue.Match({text.data(), text.size()}, at, text.size(), RE2::UNANCHORED, &cue, 1)) return std::nullopt;
  const auto found = static_cast<std::size_t>(cue.data() - text.data());
  const std::size_t before = found == 0 ? std::string_view::npos : text.rfind('\n', found - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', found), text.size());
  at = std::min(end + 1, text.size());
  return trim(text.substr(begin, end - begin));
}

// Of several lines: the last one that counts what passed (the total comes last), and the first one with an
// error (later ones are often its consequences).
void read_lines(std::string_view text, TestReport& report) {
  std::string count;
  for (std::size_t at = 0; const auto found = next_line(text, at);) {
    const std::string_view line = *found;
    if (const std::string_view name = failed_test(line); !name.empty() && report.failed.size() < kMaxFailed) {
      std::string shown = one_line(name, kMaxName);
      if (std::find(report.failed.begin(), report.failed.end(), shown) == report.failed.end())
        report.failed.push_back(std::move(shown));
      report.says_failed = true;
    }
    const std::string lower = ascii_lower(prefix(line, 400));
    const bool counts = counts_failures(lower);
    if (counts) report.says_failed = true;
    if (!counts && counts_passed(lower))
      report.passed = plain(line, kMaxReportLine);
    else if (counts && count.empty())
      count = plain(line, kMaxReportLine);
    else if (!counts && report.error.empty() && is_telling(lower) &&
             // A single word such as "ERRORS" is a heading.
             plain(line, kMaxReportLine).find(' ') != std::string::npos)
      report.error = plain(line, kMaxReportLine);
  }
  if (report.error.empty())
    report.error = std::move(count);  // the number of failures is less informative than an error
}

}  // namespace

TestReport read_test_output(std::string_view output) {
  TestReport report;
  if (output.size() <= kMaxHead + kMaxTail) {
    read_lines(visible(output), report);
    return report;
  }
  read_lines(visible(prefix(output, kMaxHead)), report);
  read_lines(visible(suffix(output, kMaxTail)), report);
  return report;
}

}  // namespace cairn::distil
