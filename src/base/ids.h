// Ids that cannot be mixed up: each kind is its own type.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace cairn {

// The id of a row. Each table has its own type.
template <class Tag>
struct RowId {
  std::int64_t value = 0;
  auto operator<=>(const RowId&) const = default;
};

// An id that is a text.
template <class Tag>
struct TextId {
  std::string value;
  auto operator<=>(const TextId&) const = default;
  bool empty() const { return value.empty(); }
};

using SessionId = RowId<struct SessionTag>;          // sdk_sessions.id
using MessageId = RowId<struct MessageTag>;          // pending_messages.id
using ObservationId = RowId<struct ObservationTag>;  // observations.id

using EventId = TextId<struct EventTag>;      // the name of the inbox file: 32 lower-case hex digits
using ContentId = TextId<struct ContentTag>;  // the host's id of a session
using MemoryId = TextId<struct MemoryTag>;    // the memory agent's own conversation; never a ContentId

// A fresh UUIDv7 in its usual text form: rows that may leave the machine carry one.
std::string new_uuid(std::int64_t wall_ms);

// `count` random bytes as lower-case hex.
std::string random_hex(std::size_t count);

// Whether `text` can be an event id.
bool is_event_id(std::string_view text);

}  // namespace cairn
