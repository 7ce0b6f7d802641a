// Lines of Claude Code's transcripts for the archive. Two shapes are read: that of the real files (blocks in
// message.content) and the older one, with tool_use and tool_result as records of their own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "host/record.h"

namespace cairn::host::claude {

TranscriptRecord read_record(const Json& line);
bool is_structure(std::span<const std::string_view> keys);
std::optional<TranscriptFile> transcript_file(std::string_view path);

// How full the context is after a line: all that the last request sent and got. Subagents have a context of
// their own.
std::optional<Usage> read_usage(const Json& line);

}  // namespace cairn::host::claude
