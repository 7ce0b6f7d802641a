// Reads a model's reply: tagged text that is not XML.
//
// A reply has prose around its tags, unescaped '<' and '&', code, wrong order, missing end tags, or ends in
// the middle. The scanner knows the tags: a block runs from its first tag to the matching end tag, or to the
// next tag of its level when the end tag is missing. It never fails, takes linear time, and lists what it
// left out. Everything in the result is a claim of the model: nothing here has passed the gate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/provider.h"

namespace cairn::agent {

// One thing learned, and the events it came from. When it names none, it came from the whole batch.
struct Finding {
  std::string type, title, subtitle, narrative;
  std::vector<std::string> facts, concepts, files_read, files_modified;
  std::vector<std::int64_t> events;
  bool operator==(const Finding&) const = default;
};

// The summary of a turn.
struct TurnText {
  std::optional<std::int64_t> turn;  // its prompt number; nothing: the last turn of the batch
  std::string request, investigated, learned, completed, next_steps, notes;
  std::vector<std::string> rules;  // of the user, as the model understood them
  bool operator==(const TurnText&) const = default;
};

struct Scanned {
  std::vector<Finding> findings;
  std::vector<TurnText> summaries;
  std::optional<std::string> skip;    // why there is nothing to learn
  std::vector<std::string> left_out;  // what was in the reply and is not in the result, for the log

  // A reply with nothing usable is not success.
  bool usable() const { return !findings.empty() || !summaries.empty() || skip.has_value(); }
};

// `cut`: the reply ended at the token limit, so its last field may be incomplete.
Scanned scan_reply(std::string_view text, bool cut = false);

// What a reply without tags means: it may say that a quota is used up or that a login is missing. Otherwise
// `rejected`, with the beginning of the text in the reason.
Trouble trouble_of_prose(std::string_view text);

}  // namespace cairn::agent
