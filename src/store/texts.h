// The full texts of a session: answers, remarks between tool calls, objections of the person, summaries of
// compactions, titles, messages of commits. The composer chooses from them, search covers all of them, `show`
// prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "event/text_kind.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

using event::TextKind;  // stored by name

struct Text {
  std::int64_t id = 0;
  SessionId session;
  std::optional<std::int64_t> prompt_number;
  TextKind kind = TextKind::remark;
  TextSource source = TextSource::hook;
  std::string text;  // must have passed the gate
  WallTime at;
};

// Stores a text once per session. A stored remark becomes an answer when the same text comes as an answer.
// False: nothing changed.
Result<bool> add_text(Db& db, const Text& text);

// Replaces the texts that the distiller stored for that turn.
Status put_distilled_texts(Db& db, SessionId session, std::int64_t number, const std::vector<Text>& texts);

// The newest texts of a session, as many as `max_bytes` hold, oldest first. `main`: without short remarks and
// summaries of compactions.
Result<std::vector<Text>> texts_of_session(Db& db, SessionId session, std::size_t max_bytes,
                                           bool main = false);
// All texts of a turn, oldest first.
Result<std::vector<Text>> texts_of_turn(Db& db, SessionId session, std::int64_t number);
// All that the person said in a turn: the prompt, then what they said when they refused calls.
Result<std::vector<std::string>> words_of_person(Db& db, SessionId session, std::int64_t number);

}  // namespace cairn::store
