#include "support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace cairn::test {

static bool readable(int fd, int timeout_ms) {
  pollfd ready{fd, POLLIN, 0};
  return ::poll(&ready, 1, timeout_ms) > 0;
}

void HttpPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void HttpPeer::reply(int status, std::string_view body, std::string_view type,
                     std::string_view more_headers) {
  send("HTTP/1.1 " + std::to_string(status) + " Scripted\r\ncontent-type: " + std::string(type) +
       "\r\ncontent-length: " + std::to_string(body.size()) + "\r\nconnection: close\r\n" +
       std::string(more_headers) + "\r\n" + std::string(body));
}

void HttpPeer::begin_stream() {
  send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
}

void HttpPeer::event(std::string_view data) {
  send("data: " + std::string(data) + "\n\n");
}

void HttpPeer::pause(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!stopping_ && std::chrono::steady_clock::now() < end) readable(-1, 5);
}

void HttpPeer::hang() {
  while (!stopping_)
    if (readable(fd_, 10)) {
      char byte = 0;
      if (::recv(fd_, &byte, 1, 0) <= 0) return;
    }
}

HttpServer::HttpServer(Answer answer) : answer_(std::move(answer)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    std::perror("http server");
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  stopping_ = true;
  thread_.join();
  ::close(listener_);
}

std::vector<HttpAsked> HttpServer::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

bool HttpServer::read_request(int fd, HttpAsked& asked) const {
  std::string text;
  std::size_t need = std::string::npos, head = 0;
  while (text.size() < need) {
    if (!readable(fd, 10)) {
      if (stopping_) return false;
      continue;
    }
    char bytes[65536];
    const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    text.append(bytes, static_cast<std::size_t>(got));
    head = text.find("\r\n\r\n");
    if (need != std::string::npos || head == std::string::npos) continue;
    const std::string lower = ascii_lower(text.substr(0, head + 2));
    const std::size_t length = lower.find("\r\ncontent-length:");
    need =
        head + 4 + (length == std::string::npos ? 0 : std::strtoul(lower.c_str() + length + 17, nullptr, 10));
  }
  asked.line = text.substr(0, text.find("\r\n"));
  asked.headers = text.substr(0, head + 2);
  asked.body = text.substr(head + 4);
  return true;
}

void HttpServer::serve() {
  while (!stopping_) {
    if (!readable(listener_, 10)) continue;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    HttpAsked asked;
    if (read_request(fd, asked)) {
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(asked);
      }
      HttpPeer peer(fd, stopping_);
      answer_(asked, peer);
    }
    ::close(fd);
  }
}

}  // namespace cairn::test
