// How the text of an event is stored: its name in the index of payloads, and its body.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

// Names a text within its session: equal texts of a session are stored once. Texts are rarely equal across
// sessions, and with the session first the index grows at few places: a hash alone would change another page
// of the index for every text.
std::string payload_key(SessionId session, std::string_view text);
// The key of `text` in the session of another key.
std::string payload_key_beside(std::string_view other_key, std::string_view text);
// Whether `key` names `text`. Keys of earlier versions have no session.
bool is_payload_key(std::string_view key, std::string_view text);

// Whether `text` is stored as it is: a short one would hardly be smaller when compressed.
bool is_plain(std::string_view text);

// The text in a column `payloads.body`; nothing when it is NULL or damaged. Damage is noted on `db`, and the
// next start rebuilds the store.
std::optional<std::string> payload_text(Db& db, const Stmt& row, int column);

// Registers cairn_payload_key(session, text) and cairn_pack(text), which a migration uses.
Status register_payload_functions(Db& db);

}  // namespace cairn::store
