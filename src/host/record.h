// One line of a transcript as the archive sees it: its ids, its time, what was said, the tool calls and the
// results in it.
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

struct RecordResult {
  std::string call;  // the call's id
  std::string text;
};

struct TranscriptRecord {
  std::string type;  // the host's own name
  std::string uuid;
  std::string session;
  std::string prompt_id;
  std::string cwd;
  std::optional<WallTime> at;
  std::vector<RecordCall> calls;
  std::vector<RecordResult> results;
  std::string said;  // prompts, answers and notes
  // All of it, for people.
  std::string text() const;
};

// What a line of a transcript says about the model's context.
struct Usage {
  std::int64_t tokens = 0;
  std::string model;
};

// Which transcript a file is.
struct TranscriptFile {
  std::string session;  // empty: the file's name does not contain it
  std::string agent;    // a subagent's id; empty: the session's own
};

}  // namespace cairn::host
