#include "hook/envelope.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/hash.h"

namespace cairn::hook {

static constexpr std::string_view kMagic = "cairn1";
static constexpr std::size_t kMaxText = 4096;
static constexpr std::string_view kNoBootId = "00000000000000000000000000000000";

static void put_number(std::string& to, std::uint64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  to += ' ';
  to.append(width - std::min(width, digits.size()), '0');
  to += digits;
}

// Writes ` 3:abc`: the length in front allows any byte in the text.
static void put_text(std::string& to, std::string_view text) {
  text = text.substr(0, kMaxText);
  to += ' ';
  to += std::to_string(text.size());
  to += ':';
  to += text;
}

// A minus sign would break the fixed width.
static std::uint64_t not_negative(std::int64_t number) {
  return number < 0 ? 0 : static_cast<std::uint64_t>(number);
}

void Envelope::read_variables() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  project_dir = variable("CLAUDE_PROJECT_DIR");
  env_file = variable("CLAUDE_ENV_FILE");
  config_dir = variable("CLAUDE_CONFIG_DIR");
  entrypoint = variable("CLAUDE_CODE_ENTRYPOINT");
}

std::string Envelope::encode() const {
  std::string after;  // everything after the header's own length
  put_number(after, payload_bytes, 12);
  after += ' ';
  after += to_hex(payload_checksum);
  put_number(after, head_bytes, 12);
  put_number(after, total_bytes, 12);
  put_number(after, not_negative(wall_ns), 20);
  put_number(after, not_negative(boot_ns), 20);
  after += ' ';
  after += boot_id.size() == kNoBootId.size() ? std::string_view(boot_id) : kNoBootId;
  put_number(after, not_negative(host_process.pid), 10);
  put_number(after, host_process.start, 20);
  for (const std::string* text : {&event, &host, &project_dir, &env_file, &config_dir, &entrypoint})
    put_text(after, *text);
  after += ' ';

  // The header's length is known before it is written: a blank and six digits for the length itself, and
  // sixteen digits and a line feed for the checksum.
  constexpr std::size_t kLength = 7, kChecksumAndEnd = 17;
  std::string header(kMagic);
  put_number(header, kMagic.size() + kLength + after.size() + kChecksumAndEnd, 6);
  header += after;
  header += to_hex(checksum(header));
  header += '\n';
  return header;
}

namespace {

// Parses a header from left to right. After the first invalid field nothing more is read and ok() is false.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}

  std::uint64_t number(std::size_t width, int base = 10) {
    const std::string_view digits = field(width);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size()) ok_ = false;
    return value;
  }

  std::string_view field(std::size_t width) {
    if (text_.size() < width + 1 || text_[width] != ' ') ok_ = false;
    if (!ok_) return {};
    const std::string_view value = text_.substr(0, width);
    text_.remove_prefix(width + 1);
    return value;
  }

  // A text with its length in front: `3:abc`.
  std::string text() {
    const std::size_t colon = text_.substr(0, 5).find(':');  // four digits are enough for kMaxText
    std::size_t length = 0;
    if (colon == std::string_view::npos) ok_ = false;
    if (!ok_) return {};
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + colon, length);
    if (error != std::errc() || end != text_.data() + colon || length > kMaxText) ok_ = false;
    text_.remove_prefix(colon + 1);
    return std::string(field(length));
  }

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && text_.empty(); }

 private:
  std::string_view text_;
  bool ok_ = true;
};

Error damaged(const char* what) {
  return {Code::corrupt, std::string("inbox file: ") + what};
}

// The header line of `file`, with its length and checksum verified. 14 bytes are in front of the fields
// (`cairn1 HHHHHH `), 17 behind them (the checksum and the line feed).
Result<std::string_view> header_of(std::string_view file) {
  if (!file.starts_with("cairn1 ")) return damaged("not a format this version knows");
  Fields start(file.substr(7, 7));
  const std::uint64_t length = start.number(6);
  if (!start.ok() || length < 14 + 17) return damaged("the length in its header is invalid");
  if (length > file.size()) return damaged("it ends within its header");
  const std::string_view header = file.substr(0, static_cast<std::size_t>(length));
  const std::string_view sum = header.substr(header.size() - 17, 16);
  if (header.back() != '\n' || sum != to_hex(checksum(header.substr(0, header.size() - 17))))
    return damaged("its header does not match its checksum");
  return header;
}

}  // namespace

Result<Envelope::Decoded> Envelope::decode(std::string_view file) {
  const std::string_view header = TRY(header_of(file));
  Fields fields(header.substr(14, header.size() - 14 - 17));
  Envelope e;
  e.payload_bytes = fields.number(12);
  e.payload_checksum = fields.number(16, 16);
  e.head_bytes = fields.number(12);
  e.total_bytes = fields.number(12);
  e.wall_ns = static_cast<std::int64_t>(fields.number(20));
  e.boot_ns = static_cast<std::int64_t>(fields.number(20));
  e.boot_id = fields.field(32);
  if (e.boot_id == kNoBootId) e.boot_id.clear();
  e.host_process.pid = static_cast<std::int64_t>(fields.number(10));
  e.host_process.start = fields.number(20);
  for (std::string* text : {&e.event, &e.host, &e.project_dir, &e.env_file, &e.config_dir, &e.entrypoint})
    *text = fields.text();
  if (!fields.at_end()) return damaged("its header has invalid fields");

  const std::string_view payload = file.substr(header.size());
  if (payload.size() != e.payload_bytes)
    return damaged("its payload has another length than its header says");
  if (checksum(payload) != e.payload_checksum) return damaged("its payload does not match its checksum");
  const bool sizes_fit = e.cut() ? e.head_bytes <= e.payload_bytes && e.payload_bytes < e.total_bytes
                                 : e.total_bytes == e.payload_bytes;
  if (!sizes_fit) return damaged("its sizes contradict each other");
  return Decoded{std::move(e), payload};
}

std::optional<std::pair<std::string, std::int64_t>> Envelope::peek_order(std::string_view start) {
  constexpr std::size_t kBootNs = 91, kBootId = 112;  // all fields before have a fixed width
  if (start.size() < kPeekBytes || !start.starts_with("cairn1 ")) return std::nullopt;
  Fields fields(start.substr(kBootNs));
  const auto boot_ns = static_cast<std::int64_t>(fields.number(20));
  std::string boot_id(start.substr(kBootId, kNoBootId.size()));
  if (!fields.ok() || boot_id == kNoBootId) return std::nullopt;
  return std::pair(std::move(boot_id), boot_ns);
}

}  // namespace cairn::hook
