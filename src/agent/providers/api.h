// A conversation with a model over HTTP: sends the whole history with each prompt and reads the streamed
// reply. What one API does differently is an ApiDialect.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/http.h"
#include "agent/provider.h"
#include "base/json.h"
#include "os/clock.h"

namespace cairn::agent {

// Where an API is, and how it is asked.
struct ApiTarget {
  std::string url;                       // complete
  std::string model;                     // empty is allowed only where the endpoint has a default
  std::string key;                       // empty: none is sent
  bool wants_completion_tokens = false;  // the limit has its newer name
  bool reports_cost = false;             // asks for the price of each call
};

struct ApiExchange {
  std::string prompt, reply;
};

// Collects one reply.
struct ApiReply {
  std::string text, model;
  Usage usage;
  bool cut = false;
  bool complete = false;  // the API said that this is all
  std::optional<Trouble> trouble;
};

// Stateless.
class ApiDialect {
 public:
  virtual ~ApiDialect() = default;
  virtual std::string_view name() const = 0;
  virtual HttpRequest request(const ApiTarget& target, const std::vector<ApiExchange>& history,
                              const Request& prompt) const = 0;
  // Reads the data of one event of the stream, or a whole response that was not streamed.
  virtual void read(const Json& data, ApiReply& reply) const = 0;
  // The end of a stream that is not JSON, as some APIs have it.
  virtual bool is_end(std::string_view data) const = 0;
};

const ApiDialect& messages_dialect();     // Anthropic's Messages API
const ApiDialect& completions_dialect();  // chat completions

// Begins a conversation. When `target` is an error, the first message is a Trouble with it.
std::unique_ptr<Conversation> start_api_conversation(const ApiDialect& dialect, Http& http, os::Clock& clock,
                                                     Result<ApiTarget> target);

// The trouble that a response with an error status means. `body`: what was read of it.
Trouble trouble_of(const HttpHead& head, std::string_view body, const ApiTarget& target, WallTime now);
// The kind that the API's own words name: the type and code of an error, and its message.
std::optional<Trouble::Kind> kind_of_api_error(std::string_view type, std::string_view code,
                                               std::string_view message);
// The message in an error object of either API, on one line.
std::string error_message(const Json& error);
// When a Retry-After header allows the next try.
std::optional<WallTime> retry_after(const HttpHead& head, WallTime now);

}  // namespace cairn::agent
