// HTTP calls of providers. A call is a POST whose response comes in pieces. No call here blocks.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"

namespace cairn::agent {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "name: value"; one may hold a key, so they are never logged
  std::string body;
  Millis connect_within = std::chrono::seconds(15);
  Millis silent_at_most = std::chrono::seconds(120);  // between two pieces; also before the first
  Millis done_within = std::chrono::minutes(5);
  std::size_t most_bytes = 16u << 20;  // of the response
};

// The first part of a response.
struct HttpHead {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  // The value of a header; empty when there is none.
  std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
};

// The last part.
struct HttpEnd {
  enum class Why {
    done,
    unreachable,  // no connection, or none to the proxy
    untrusted,    // TLS failed: a certificate, usually
    timeout,
    too_long,  // more than most_bytes
    cut,       // the connection broke off
    unusable,  // the URL is wrong, or there is no HTTP library
  };
  Why why = Why::done;
  std::string reason;
};

using HttpNews = std::variant<HttpHead, std::string, HttpEnd>;  // the string is a piece of the body

// Belongs to the writer's thread. Destroying it cancels the call.
class HttpCall {
 public:
  virtual ~HttpCall() = default;
  // The next part; nothing when there is none yet. An HttpEnd is the last.
  virtual std::optional<HttpNews> receive() = 0;
};

// Redirects are not followed: a key goes only where the user sent it. Certificates are verified, and proxies
// are taken from the environment.
class Http {
 public:
  virtual ~Http() = default;
  // Sends a POST. When that fails, the first part is an HttpEnd.
  virtual std::unique_ptr<HttpCall> post(const HttpRequest& request) = 0;
};

}  // namespace cairn::agent
