// The interface of every memory agent (a model that distils events).
//
// A provider has one conversation about each session: it is sent a batch of events and replies with what was
// learned from them. No call blocks: start() and send() return at once, messages are fetched with receive(),
// and an error is a message too. The built-in distiller does not use this: it runs when a turn ends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "store/observations.h"

namespace cairn::agent {

// One event as it is sent to a provider; its texts have passed the gate.
struct Item {
  std::int64_t event_seq = 0;  // a reply refers to the event by this number
  std::string type;            // observation or summarize
  std::optional<std::string> tool_name, tool_input, tool_response;
  std::optional<std::string> last_user_message, last_assistant_message;
  std::optional<std::int64_t> prompt_number;
  WallTime at;
};

struct Request {
  std::string batch_id;
  std::vector<Item> events;  // oldest first
};

struct Usage {
  std::int64_t input_tokens = 0, output_tokens = 0;
};

// One thing learned, and the events it came from. When it names none, it came from the whole batch.
struct Finding {
  store::Observation observation;
  std::vector<std::int64_t> events;
};

// Any message that is neither a reply nor an error, such as a note that work has begun.
struct Note {};

struct Reply {
  std::vector<Finding> findings;
  std::string
      skipped;  // why there is nothing to learn; a reply without this and without findings is unusable
  Usage usage;
};

struct Trouble {
  enum class Kind { transient, rate_limited, quota, auth, setup, rejected, canceled };
  Kind kind = Kind::transient;
  std::string reason;
  std::optional<WallTime> until;  // when to try again, if the provider said so
};
std::string_view kind_name(Trouble::Kind kind);

struct Message {
  MemoryId memory_id;  // the provider's id of the conversation; empty when this message has none
  std::variant<Note, Reply, Trouble> what;
};

// Belongs to the writer's thread. Destroying it ends the conversation: its child process is gone within 2 s,
// and messages not yet received are lost.
class Conversation {
 public:
  virtual ~Conversation() = default;
  // Sends a batch. Wait for its Reply or Trouble before you send the next one.
  virtual void send(const Request& request) = 0;
  // The next message; nothing when there is none. A Trouble is the last message.
  virtual std::optional<Message> receive() = 0;
};

struct Start {
  SessionId session;
  std::string project;
  std::optional<MemoryId> resume;  // the conversation to continue; nothing: start a new one
};

// Belongs to the writer's thread; outlives its conversations.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  // Whether the provider gives each conversation an id. If not, a session's memory id is synthesised.
  virtual bool has_ids() const = 0;
  // Begins a conversation. When that fails, its first message is a Trouble.
  virtual std::unique_ptr<Conversation> start(const Start& start) = 0;
};

}  // namespace cairn::agent
