// What was said in a session, whole: answers, remarks between tool calls, summaries of compactions, titles,
// messages of commits. The composer chooses from them, search looks in all of them, `show` prints them.
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

namespace cairn::store {

using event::TextKind;  // stored by name

struct Text {
  std::int64_t id = 0;
  SessionId session;
  std::optional<std::int64_t> prompt_number;
  TextKind kind = TextKind::remark;
  std::string source = "hook";  // or transcript, distiller
  std::string text;             // must have passed the gate
  WallTime at;
};

// Stores it, once per session however often it comes. A text that is known as a remark becomes an answer when
// it comes as one. False: nothing changed.
Result<bool> add_text(Db& db, const Text& text);

// Puts `texts` in the place of what the distiller stored of that turn before.
Status put_distilled_texts(Db& db, SessionId session, std::int64_t number, const std::vector<Text>& texts);

// The newest texts of a session, as many as `max_bytes` hold, oldest first. `main`: without short remarks and
// summaries of compactions.
Result<std::vector<Text>> texts_of_session(Db& db, SessionId session, std::size_t max_bytes,
                                           bool main = false);
// All texts of a turn, oldest first.
Result<std::vector<Text>> texts_of_turn(Db& db, SessionId session, std::int64_t number);

}  // namespace cairn::store
