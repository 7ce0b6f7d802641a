#include "hook/failures.h"

#include <algorithm>
#include <charconv>

namespace cairn::hook {

// Short lines: the file has only some 4 KB of reserved space.
static constexpr std::size_t kMaxWhy = 512;
static constexpr std::size_t kMaxWord = 64;

// A text as one word of a line: not empty, and without blanks and line feeds, which separate words and lines.
static std::string word(std::string_view text) {
  std::string clean(text.substr(0, kMaxWord));
  std::replace_if(
      clean.begin(), clean.end(), [](unsigned char c) { return c <= ' '; }, '?');
  return clean.empty() ? "-" : clean;
}

static std::string line_of(const Failure& failure) {
  std::string why = failure.why.substr(0, kMaxWhy);
  std::replace_if(
      why.begin(), why.end(), [](unsigned char c) { return c < ' '; }, '?');
  return std::to_string(failure.at_ms) + " " + word(failure.event) + " " + word(failure.session) + " " + why +
         "\n";
}

// Overwrites the first blanks after the last line. False: it could not be written. There is no lock: of two
// hooks at the same moment one may overwrite the other's line.
static bool append(os::Disk& disk, const std::string& path, const std::string& line) {
  // Opened for writing first: this creates a missing file, so that it can be read below.
  auto file = disk.open(path, os::Open::read_write);
  if (!file.ok()) return false;
  // Other users may write in the directory outside the home: use only our own file.
  const auto text = os::read_file(disk, path, kMaxFailures, os::Open::read_own);
  if (!text.ok()) return false;
  // A file that is full counts as written: the line is dropped, and does not go outside the home.
  const std::size_t end = text->find_last_not_of(' ') + 1;
  return end + line.size() > kMaxFailures || (*file)->write_at(end, line).ok();
}

void note_failure(os::Disk& disk, const Home& home, bool home_is_ours, const Failure& failure) {
  const std::string line = line_of(failure);
  if (!home_is_ours || !append(disk, home.failed(), line)) append(disk, home.failed_outside(), line);
}

static std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view first = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return first;
}

std::vector<Failure> parse_failures(std::string_view note) {
  std::vector<Failure> failures;
  for (std::size_t end; (end = note.find('\n')) != std::string_view::npos; note.remove_prefix(end + 1)) {
    std::string_view line = note.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    Failure failure;
    const std::string_view at = next_word(line);
    std::from_chars(at.data(), at.data() + at.size(), failure.at_ms);
    failure.event = next_word(line);
    failure.session = next_word(line);
    if (failure.session == "-") failure.session.clear();
    failure.why = line;
    failures.push_back(std::move(failure));
  }
  return failures;
}

std::vector<Failure> read_failures(os::Disk& disk, const Home& home) {
  std::vector<Failure> all;
  for (const std::string& path : {home.failed(), home.failed_outside()}) {
    const auto note = os::read_file(disk, path, 2 * kMaxFailures, os::Open::read_own);
    if (!note.ok()) continue;
    for (Failure& failure : parse_failures(*note)) all.push_back(std::move(failure));
  }
  return all;
}

}  // namespace cairn::hook
