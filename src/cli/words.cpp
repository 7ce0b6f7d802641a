#include "cli/words.h"

#include <algorithm>
#include <array>

#include "store/states.h"

namespace cairn::cli {

namespace {

struct Word {
  std::string_view value;
  std::string_view shown;
};
constexpr std::array kWords = {
    // How a turn or a session ended. "session_start": a new process of the host continued the session while a
    // turn was open, so the old one had died.
    Word{"dead_host", "the coding agent died"}, Word{"session_start", "the coding agent died"},
    Word{"stop", "answered"}, Word{"stop_failure", "interrupted"}, Word{"next_prompt", "next prompt"},
    Word{"session_end", "session ended"}, Word{"process", "cairn process"},
    Word{"cleanup", "sessions cleanup"},
    // What became of an event.
    Word{name_of(store::EventOutcome::bad), "quarantined"},
    Word{name_of(store::EventOutcome::own_agent), "by cairn's own agent"}};

}  // namespace

std::string_view word_for(std::string_view value) {
  const auto word =
      std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.value == value; });
  return word == kWords.end() ? value : word->shown;
}

std::string_view session_word(const Json& session) {
  const std::string_view status = session["status"].as_string();
  const bool died = session["end_reason"].as_string() == "dead_host";
  return status == "failed" || died ? "interrupted" : status;
}

}  // namespace cairn::cli
