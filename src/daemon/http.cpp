#include "daemon/http.h"

#include <event2/event.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "base/text.h"
#include "daemon/curl.h"

// How a call goes:
//   1. post(), on the writer's thread, posts start() to the loop and returns a Handle with a Mailbox.
//   2. start() gives libcurl the request. libcurl does not block: it says which sockets and which timer to
//      watch (Sockets::on_socket, on_timer), and the loop calls act() when one of them is ready.
//   3. libcurl passes the response to read_header() and read_body(), which put the parts into the Mailbox and
//      wake the writer.
//   4. act() finds the transfers that are done; finished() puts the last part, an HttpEnd, into the Mailbox.

namespace cairn::daemon {

using agent::HttpEnd;
using agent::HttpHead;
using agent::HttpNews;

// The part of a call that both threads use.
struct LoopHttp::Mailbox {
  std::mutex mutex;
  std::deque<HttpNews> news;
};

struct LoopHttp::Transfer {
  LoopHttp* owner = nullptr;
  const Curl* curl = nullptr;
  CURLM* multi = nullptr;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  std::shared_ptr<Mailbox> mailbox;
  std::string body;
  char error[CURL_ERROR_SIZE] = "";
  HttpHead head;
  std::size_t room = 0;  // bytes of the response that may still come
  bool too_long = false;

  ~Transfer() {
    if (multi && easy) curl->multi_remove_handle(multi, easy);
    if (easy) curl->easy_cleanup(easy);
    if (headers) curl->slist_free_all(headers);
  }
  void give(HttpNews news) {
    {
      const std::lock_guard lock(mailbox->mutex);
      mailbox->news.push_back(std::move(news));
    }
    owner->on_news_();
  }
  std::size_t read_header(std::string_view line);
  std::size_t read_body(std::string_view piece);
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->read_header({data, size});
  }
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->read_body({data, size});
  }
};

// libcurl's sockets and its timer, watched by the loop.
class LoopHttp::Sockets {
 public:
  Sockets(const Curl& curl, LoopHttp& owner) : curl_(curl), owner_(owner), multi_(curl.multi_init()) {
    CAIRN_ASSERT(multi_);
    timer_ = event_new(
        owner.loop_.base(), -1, 0,
        [](evutil_socket_t, short, void* self) { static_cast<Sockets*>(self)->act(CURL_SOCKET_TIMEOUT, 0); },
        this);
    CAIRN_ASSERT(timer_);
    curl_.multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Sockets::on_socket);
    curl_.multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_.multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Sockets::on_timer);
    curl_.multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  }
  ~Sockets() {
    curl_.multi_cleanup(multi_);  // may still report its sockets
    for (const auto& [fd, watch] : watches_) event_free(watch);
    event_free(timer_);
  }

  const Curl& curl() const { return curl_; }
  CURLM* multi() { return multi_; }

 private:
  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
    static_cast<Sockets*>(self)->watch(fd, what);
    return 0;
  }
  static int on_timer(CURLM*, long ms, void* self) {
    ::event* timer = static_cast<Sockets*>(self)->timer_;
    const timeval time{ms / 1000, (ms % 1000) * 1000};
    if (ms < 0)
      event_del(timer);
    else
      event_add(timer, &time);
    return 0;
  }

  void watch(curl_socket_t fd, int what) {
    // libcurl wants other events of this socket, or none: the old watch goes in both cases.
    if (const auto known = watches_.find(fd); known != watches_.end()) {
      event_free(known->second);
      watches_.erase(known);
    }
    if (what == CURL_POLL_REMOVE) return;
    const int events = EV_PERSIST | ((what & CURL_POLL_IN) != 0 ? EV_READ : 0) |
                       ((what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0);
    ::event* watch = event_new(
        owner_.loop_.base(), fd, static_cast<short>(events),
        [](evutil_socket_t ready, short which, void* self) {
          static_cast<Sockets*>(self)->act(ready, ((which & EV_READ) != 0 ? CURL_CSELECT_IN : 0) |
                                                      ((which & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0));
        },
        this);
    CAIRN_ASSERT(watch);
    event_add(watch, nullptr);
    watches_.emplace(fd, watch);
  }

  void act(curl_socket_t fd, int events) {
    int running = 0;
    curl_.multi_socket_action(multi_, fd, events, &running);
    // Collected first: a message is valid only until its handle is removed, which erase() below does.
    int left = 0;
    std::vector<std::pair<CURL*, CURLcode>> done;
    while (const CURLMsg* message = curl_.multi_info_read(multi_, &left))
      if (message->msg == CURLMSG_DONE) done.emplace_back(message->easy_handle, message->data.result);
    for (const auto& [easy, result] : done)
      for (auto& [id, transfer] : owner_.transfers_)
        if (transfer->easy == easy) {
          owner_.finished(*transfer, result);
          owner_.transfers_.erase(id);
          break;
        }
  }

  const Curl& curl_;
  LoopHttp& owner_;
  CURLM* multi_;
  ::event* timer_ = nullptr;
  std::map<curl_socket_t, ::event*> watches_;
};

class LoopHttp::Handle final : public agent::HttpCall {
 public:
  Handle(LoopHttp& owner, int id, std::shared_ptr<Mailbox> mailbox)
      : owner_(owner), id_(id), mailbox_(std::move(mailbox)) {}
  ~Handle() override {
    owner_.loop_.post([&owner = owner_, id = id_] { owner.cancel(id); });
  }
  std::optional<HttpNews> receive() override {
    const std::lock_guard lock(mailbox_->mutex);
    if (mailbox_->news.empty()) return std::nullopt;
    HttpNews news = std::move(mailbox_->news.front());
    mailbox_->news.pop_front();
    return news;
  }

 private:
  LoopHttp& owner_;
  int id_;
  std::shared_ptr<Mailbox> mailbox_;
};

LoopHttp::LoopHttp(Loop& loop, std::function<void()> on_news) : loop_(loop), on_news_(std::move(on_news)) {}

LoopHttp::~LoopHttp() {
  transfers_.clear();  // before the multi handle that they are part of
}

std::unique_ptr<agent::HttpCall> LoopHttp::post(const agent::HttpRequest& request) {
  auto mailbox = std::make_shared<Mailbox>();
  const int id = ++next_;
  loop_.post([this, id, request, mailbox] { start(id, request, mailbox); });
  return std::make_unique<Handle>(*this, id, std::move(mailbox));
}

void LoopHttp::cancel(int id) {
  transfers_.erase(id);
}

Status LoopHttp::open() {
  if (sockets_) return {};
  const Curl* curl = TRY(Curl::load());
  sockets_ = std::make_unique<Sockets>(*curl, *this);
  return {};
}

// One header line, or the empty line at the end of the head. Several heads may come: of informational
// responses, and of the response itself.
std::size_t LoopHttp::Transfer::read_header(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.starts_with("HTTP/")) {  // "HTTP/1.1 200 OK": another head begins
    head = {};
    const std::size_t blank = text.find(' ');
    if (blank != std::string_view::npos) head.status = std::atoi(std::string(text.substr(blank + 1)).c_str());
  } else if (text.empty()) {
    if (head.status >= 200) give(head);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    head.headers.emplace_back(ascii_lower(text.substr(0, colon)), std::string(trim(text.substr(colon + 1))));
  }
  return line.size();
}

std::size_t LoopHttp::Transfer::read_body(std::string_view piece) {
  if (piece.size() > room) {
    too_long = true;
    return 0;  // libcurl ends the transfer
  }
  room -= piece.size();
  give(std::string(piece));
  return piece.size();
}

// The class decides what the provider does: try again, or say what the user must correct.
static HttpEnd::Why why_of(CURLcode result) {
  switch (result) {
    case CURLE_OK: return HttpEnd::Why::done;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
    case CURLE_COULDNT_CONNECT: return HttpEnd::Why::unreachable;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CONNECT_ERROR: return HttpEnd::Why::untrusted;
    case CURLE_OPERATION_TIMEDOUT: return HttpEnd::Why::timeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return HttpEnd::Why::unusable;
    default: return HttpEnd::Why::cut;
  }
}

void LoopHttp::finished(Transfer& transfer, int result) {
  const auto code = static_cast<CURLcode>(result);
  HttpEnd end{transfer.too_long ? HttpEnd::Why::too_long : why_of(code), ""};
  if (code != CURLE_OK) end.reason = *transfer.error ? transfer.error : sockets_->curl().easy_strerror(code);
  transfer.give(std::move(end));
}

// libcurl itself reads the proxies from the environment, but not the certificates: its command does that.
static void trust_own_certificates(const Curl& curl, CURL* easy) {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const char* file = std::getenv(name); file && *file) {
      curl.easy_setopt(easy, CURLOPT_CAINFO, file);
      break;
    }
  if (const char* directory = std::getenv("SSL_CERT_DIR"); directory && *directory)
    curl.easy_setopt(easy, CURLOPT_CAPATH, directory);
}

void LoopHttp::start(int id, const agent::HttpRequest& request, const std::shared_ptr<Mailbox>& mailbox) {
  auto transfer = std::make_unique<Transfer>();
  transfer->owner = this;
  transfer->mailbox = mailbox;
  if (auto opened = open(); !opened)
    return transfer->give(HttpEnd{HttpEnd::Why::unusable, opened.error().message});
  const Curl& curl = sockets_->curl();
  transfer->curl = &curl;
  transfer->easy = curl.easy_init();
  CAIRN_ASSERT(transfer->easy);
  transfer->body = request.body;
  transfer->room = request.most_bytes;
  for (const std::string& header : request.headers)
    transfer->headers = curl.slist_append(transfer->headers, header.c_str());
  transfer->headers = curl.slist_append(transfer->headers, "Expect:");  // no round trip before the body
  CURL* easy = transfer->easy;
  const auto set = [&](CURLoption option, auto value) { curl.easy_setopt(easy, option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);  // a key goes only where the user sent it
  set(CURLOPT_NOSIGNAL, 1L);        // the process has several threads
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_POSTFIELDS, transfer->body.c_str());  // not copied: the transfer keeps it
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer->body.size()));
  set(CURLOPT_HTTPHEADER, transfer->headers);
  set(CURLOPT_USERAGENT, "cairn/" CAIRN_VERSION);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // those of a proxy
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_within.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.done_within.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);  // less than a byte a second for LOW_SPEED_TIME: silent for too long
  set(CURLOPT_LOW_SPEED_TIME,
      static_cast<long>(std::max<std::int64_t>(request.silent_at_most.count() / 1000, 1)));
  set(CURLOPT_ERRORBUFFER, transfer->error);
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, transfer.get());
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set(CURLOPT_WRITEDATA, transfer.get());
  trust_own_certificates(curl, easy);
  transfer->multi = sockets_->multi();
  transfers_.emplace(id, std::move(transfer));
  curl.multi_add_handle(sockets_->multi(), easy);
}

}  // namespace cairn::daemon
