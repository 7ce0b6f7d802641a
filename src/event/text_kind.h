// The kinds of texts in a session.
#pragma once

namespace cairn::event {

enum class TextKind {
  answer,      // the last message of a turn
  remark,      // between tool calls
  compaction,  // the host's summary of a conversation that became too long
  title,       // the host's name of the session; the newest counts
  away,        // the host's summary for a user who comes back
  commit,      // the message of a commit: hash and subject in the first line
  pull,        // a pull request: number, title or address in the first line
  objection,   // what the person said when they refused a tool call
};

}  // namespace cairn::event
