// The interface of every memory agent (a model that distils events).
//
// A provider has one conversation about each session: it is sent a prompt about a batch of events and
// replies with text. No call blocks: start() and send() return at once, messages are fetched with receive(),
// and an error is a message too. The reply scanner (agent/reply.h) reads the text. The built-in distiller
// does not use this: it runs when a turn ends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "base/time.h"

namespace cairn::agent {

struct Request {
  std::string batch_id;
  std::string system;                     // the same for all requests of a conversation
  std::string text;                       // the prompt; never begins with '/'
  std::int64_t max_output_tokens = 4000;  // the reply is cut there
};

// The most input tokens that a request can use, without the conversation before it: a token has at least one
// byte, and the provider adds some text of its own.
std::int64_t most_input_tokens(const Request& request);

// A conversation that would be longer (in tokens) is replaced by a fresh one, which opens with a running
// summary. Every request pays for the whole conversation before it: on real sessions no more of it was
// needed.
inline constexpr std::int64_t kMostConversation = 12'000;

// What a call used, as the provider reported it. `cached_tokens` is the part of `input_tokens` that was read
// from a cache, `cost_usd` is set when the provider names a price itself.
struct Usage {
  std::int64_t input_tokens = 0, output_tokens = 0, cached_tokens = 0;
  std::optional<double> cost_usd;
};

// Any message that is neither a reply nor an error, such as a note that work has begun.
struct ProviderNote {};

struct Reply {
  std::string text;
  std::string model;  // that answered, as the provider names it; may be empty
  Usage usage;
  bool cut = false;  // the reply ended at the token limit
};

struct Trouble {
  enum class Kind { transient, rate_limited, quota, auth, setup, rejected, canceled };
  Kind kind = Kind::transient;
  std::string reason;             // for people; never contains a key
  std::optional<WallTime> until;  // when to try again, if the provider said so
  Usage usage;                    // what the failed call used all the same, where it is known
};
std::string_view kind_name(Trouble::Kind kind);

struct ProviderMessage {
  MemoryId memory_id;  // the provider's id of the conversation; empty when this message has none
  std::variant<ProviderNote, Reply, Trouble> what;
};

// Belongs to the writer's thread. Destroying it ends the conversation: its child process is gone within 2 s,
// and messages not yet received are lost.
class Conversation {
 public:
  virtual ~Conversation() = default;
  // Sends a prompt. Wait for its Reply or Trouble before you send the next one.
  virtual void send(const Request& request) = 0;
  // The next message; nothing when there is none. A Trouble is the last message.
  virtual std::optional<ProviderMessage> receive() = 0;
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
  // The model that it will ask, as in the settings; for the price and the ledger.
  virtual std::string_view model() const = 0;
  // Whether the provider gives each conversation an id. If not, a session's memory id is synthesised.
  virtual bool has_ids() const = 0;
  // Begins a conversation. When that fails, its first message is a Trouble.
  virtual std::unique_ptr<Conversation> start(const Start& start) = 0;
};

}  // namespace cairn::agent
