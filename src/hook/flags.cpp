#include "hook/flags.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cairn::hook {

static constexpr int kMostMs = 999'999;          // six digits
static constexpr std::size_t kHelpLetters = 59;  // where the letters begin

static std::string six_digits(int number) {
  const std::string digits = std::to_string(std::clamp(number, 0, kMostMs));
  return std::string(6 - digits.size(), '0') + digits;
}

static std::optional<int> number_of(std::string_view digits) {
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::string Flags::encode() const {
  std::string text = "cairn1 sync=";
  text += sync == Sync::disk ? "disk   " : "process";
  text += capture ? " capture=on " : " capture=off";
  text += " start=" + six_digits(session_start_ms);
  text += " prompt=" + six_digits(user_prompt_submit_ms);
  text.resize(kBytes - 1, ' ');
  if (!help_compaction) text[kHelpLetters] = '-';
  if (help_failure) text[kHelpLetters + 1] = 'f';
  if (help_subagent) text[kHelpLetters + 2] = 's';
  text += '\n';
  return text;
}

Flags Flags::decode(std::string_view bytes) {
  if (bytes.size() != kBytes) return {};
  Flags flags;
  flags.sync = bytes.substr(12, 4) == "disk" ? Sync::disk : Sync::process;
  flags.capture = bytes.substr(28, 3) != "off";
  const std::optional<int> start = number_of(bytes.substr(38, 6)), prompt = number_of(bytes.substr(52, 6));
  if (!start || !prompt) return {};
  flags.session_start_ms = *start;
  flags.user_prompt_submit_ms = *prompt;
  flags.help_compaction = bytes[kHelpLetters] != '-';
  flags.help_failure = bytes[kHelpLetters + 1] == 'f';
  flags.help_subagent = bytes[kHelpLetters + 2] == 's';
  // The lines above only look at fixed places. Whatever does not encode to the same bytes is damaged or of
  // another version, and gives the defaults.
  return flags.encode() == bytes ? flags : Flags{};
}

}  // namespace cairn::hook
