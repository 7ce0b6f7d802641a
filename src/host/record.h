// One line of a transcript as the archive sees it: its ids, its time, the tool calls and results in it, and
// what a person would read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace cairn::host {

struct RecordCall {
  std::string id;
  std::string tool;
  Json input;
};

struct Record {
  std::string type;  // as the host says it
  std::string uuid;
  std::string session;
  std::string prompt_id;
  std::string cwd;
  std::optional<WallTime> at;
  std::vector<RecordCall> calls;
  std::vector<std::string> results;  // ids of the calls whose results stand here
  std::string text;                  // prompts, answers, results and notes, for people
};

// Which transcript a file is.
struct TranscriptFile {
  std::string session;
  std::string agent;  // a subagent's id; empty: the session's own
};

}  // namespace cairn::host
