// Any reply of a model is read without a crash, within the limits, and without inventing text.
#include <cstdint>
#include <string>

#include "agent/reply.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const agent::Scanned read = agent::scan_reply(text, size % 2 == 0);
  fuzz::require(read.findings.size() <= 60 && read.summaries.size() <= 40 && read.left_out.size() <= 20);
  std::size_t bytes = 0;
  for (const agent::Finding& finding : read.findings) {
    fuzz::require(!finding.title.empty() && is_utf8(finding.title));
    bytes += finding.narrative.size() + finding.subtitle.size();
    for (const auto* list : {&finding.facts, &finding.concepts, &finding.files_read, &finding.files_modified})
      for (const std::string& item : *list) bytes += item.size();
  }
  for (const agent::TurnText& summary : read.summaries)
    bytes +=
        summary.request.size() + summary.learned.size() + summary.completed.size() + summary.notes.size();
  fuzz::require(bytes <= 3 * size + 300);  // a bad entity becomes a mark of three bytes
  const agent::Trouble trouble = agent::trouble_of_prose(text);
  fuzz::require(is_utf8(trouble.reason) && trouble.reason.size() < 400);
  return 0;
}
