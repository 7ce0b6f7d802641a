#include "exchange/export_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "exchange/export.h"

namespace cairn::exchange {

// An export is one JSON object, with its header on the first line, one record on each of the next lines,
// and the counts on the last one. So it can be parsed line by line, whatever its size. A file without these
// line feeds was formatted by another program and is parsed as a whole.

namespace {

// The file may come from anywhere: these limits bound the memory and the time that it can take.
constexpr std::uint64_t kMostBytes = 2ull << 30;
constexpr std::size_t kBlock = 1u << 20, kMostLine = 32u << 20, kMostAtOnce = 64u << 20;
constexpr std::string_view kOpens = "\"records\":[", kCloses = "],\"counts\":";
constexpr Json::Limits kRecordLimits{.depth = 16, .nodes = 500'000, .string_bytes = kMostLine};
constexpr Json::Limits kWholeLimits{.depth = 16, .nodes = 4'000'000, .string_bytes = kMostLine};

Error not_an_export(const std::string& why) {
  return {Code::invalid, why + ": nothing was changed. `cairn export` writes such a file"};
}

// The lines of a file.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<os::File> file) : file_(std::move(file)) {}

  // Nothing at the end.
  Result<std::optional<std::string>> next() {
    // `searched` skips what has no line feed, so that a long line is searched once.
    for (std::size_t searched = begin_;;) {
      const std::size_t end = buffer_.find('\n', searched);
      if (end != std::string::npos || (is_end_ && begin_ < buffer_.size())) {
        const std::size_t to = std::min(end, buffer_.size());
        std::string line = buffer_.substr(begin_, to - begin_);
        begin_ = std::min(to + 1, buffer_.size());
        return std::optional(std::move(line));
      }
      if (is_end_) return std::optional<std::string>();
      buffer_.erase(0, std::exchange(begin_, 0));
      if (buffer_.size() > kMostLine) return not_an_export("it has a line of over 32 MB");
      searched = buffer_.size();
      buffer_.resize(searched + kBlock);
      const std::size_t got = TRY(file_->read_at(at_, buffer_.data() + searched, kBlock));
      buffer_.resize(searched + got);
      at_ += got;
      // A short read is the end of a file.
      is_end_ = got < kBlock;
    }
  }

 private:
  std::unique_ptr<os::File> file_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::uint64_t at_ = 0;
  bool is_end_ = false;
};

Result<Json> parse_all(std::string_view text, const Json::Limits& limits, const std::string& what) {
  Json::Parsed parsed = Json::parse_partial(text, limits);
  if (!parsed.complete) return not_an_export(what + " is not JSON");
  if (parsed.limited) return not_an_export(what + " is too large");
  return std::move(parsed.value);
}

Result<ExportHead> head_of(const Json& head) {
  if (!head[kVersionKey].is_int()) return not_an_export("it is not an export of cairn");
  if (head[kVersionKey].as_int() > kFormatVersion)
    return Error{Code::unsupported, "a newer version of cairn wrote it: update cairn, then import it"};
  return ExportHead{std::string(head["home"].as_string()), std::string(head["made_at"].as_string())};
}

// Counts what was read and compares it with what the file says.
class Tally {
 public:
  void add(const Json& record) { ++counts_[std::string(record["record"].as_string())]; }
  Status check(const Json& counts) const {
    std::map<std::string, std::int64_t> said;
    for (const auto& [kind, count] : counts.members()) said[kind] = count.as_int();
    return said == counts_ ? Status() : not_an_export("records are missing");
  }

 private:
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace

using Take = std::function<Status(const ExportHead& head, const Json& record)>;

static Status read_lines(LineReader& lines, const ExportHead& head, const Take& take) {
  Tally tally;
  for (std::int64_t number = 1;; ++number) {
    const auto line = TRY(lines.next());
    if (!line) return not_an_export("its end is missing");
    if (line->starts_with(kCloses)) {
      // The line closes a list and an object that were opened before: open them again, to parse it alone.
      TRY(tally.check(TRY(parse_all("{\"records\":[" + *line, kRecordLimits, "its last line"))["counts"]));
      const auto more = TRY(lines.next());
      return more && !trim(*more).empty() ? not_an_export("something follows its end") : Status();
    }
    std::string_view text = trim(*line);
    if (text.ends_with(',')) text.remove_suffix(1);
    if (text.empty()) continue;
    const std::string what = fmt::format("record {}", number);
    const Json record = TRY(parse_all(text, kRecordLimits, what));
    tally.add(record);
    TRY(take(head, record).in(what));
  }
}

// A file that was formatted anew, for example by jq.
static Status read_at_once(os::Disk& disk, const std::string& path, const Take& take) {
  auto bytes = os::read_file(disk, path, kMostAtOnce);
  if (!bytes && bytes.error().code == Code::invalid)
    return not_an_export("it is not as `cairn export` wrote it, and over 64 MB");
  const Json all = TRY(parse_all(TRY(std::move(bytes)), kWholeLimits, "it"));
  const ExportHead head = TRY(head_of(all));
  if (!all["records"].is_array() || !all["counts"].is_object()) return not_an_export("it has no records");
  Tally tally;
  std::int64_t number = 0;
  for (const Json& record : all["records"].items()) {
    tally.add(record);
    TRY(take(head, record).in(fmt::format("record {}", ++number)));
  }
  return tally.check(all["counts"]);
}

Status read_export(os::Disk& disk, const std::string& path, const Take& take) {
  const os::Stat stat = TRY(disk.stat(path));
  if (stat.is_dir) return not_an_export("it is a directory");
  if (stat.size > kMostBytes) return not_an_export("it is over 2 GB");
  LineReader lines(TRY(disk.open(path, os::Open::read)));
  const auto first = TRY(lines.next());
  if (!first || !first->ends_with(kOpens)) return read_at_once(disk, path, take);
  // Close the open list and object, to parse the line alone.
  const ExportHead head = TRY(head_of(TRY(parse_all(*first + "]}", kRecordLimits, "its first line"))));
  return read_lines(lines, head, take);
}

}  // namespace cairn::exchange
