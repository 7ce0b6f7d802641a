// A scripted HTTP server on loopback: a model's API, or a proxy. A test says what each request is answered,
// down to the bytes and where the connection breaks.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cairn::test {

struct HttpAsked {
  std::string line;     // "POST /v1/messages HTTP/1.1"
  std::string headers;  // as they came, names in any case
  std::string body;
};

// The connection of one request. Belongs to the server's thread.
class HttpPeer {
 public:
  HttpPeer(int fd, const std::atomic<bool>& stopping) : fd_(fd), stopping_(stopping) {}
  void send(std::string_view bytes);
  // A whole response.
  void reply(int status, std::string_view body, std::string_view type = "application/json",
             std::string_view more_headers = {});
  // The head of a stream, which ends when the connection does.
  void begin_stream();
  // An event of the stream.
  void event(std::string_view data);
  void pause(std::chrono::milliseconds time);
  // Until the client hangs up or the server is stopped.
  void hang();

 private:
  int fd_;
  const std::atomic<bool>& stopping_;
};

// Answers requests one after the other, each with `answer`. Stopped by its destructor.
class HttpServer {
 public:
  using Answer = std::function<void(const HttpAsked& asked, HttpPeer& peer)>;
  explicit HttpServer(Answer answer);
  ~HttpServer();

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // What was asked so far.
  std::vector<HttpAsked> asked() const;

 private:
  void serve();
  bool read_request(int fd, HttpAsked& asked) const;

  Answer answer_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::vector<HttpAsked> asked_;
  std::thread thread_;
};

}  // namespace cairn::test
