#include "agent/providers/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <deque>

#include "agent/providers/keys.h"
#include "agent/providers/sse.h"
#include "base/text.h"

namespace cairn::agent {

namespace {

// Depth, values, bytes of a string. A reply that is not streamed is one string, and may be as long as the
// whole response (HttpRequest::most_bytes).
constexpr Json::Limits kReplyLimits{64, 200'000, 16u << 20};
constexpr std::size_t kMostErrorBytes = 64u << 10;  // read of a response that is an error
constexpr std::size_t kLongestReason = 300;
constexpr std::chrono::hours kLongestWait(24);  // that a Retry-After header can ask for

std::string_view host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find('/'));
}

Trouble trouble_of_end(const HttpEnd& end, const ApiTarget& target) {
  const std::string_view host = host_of(target.url);
  switch (end.why) {
    case HttpEnd::Why::unreachable:
      return {Trouble::Kind::transient,
              fmt::format("{} cannot be reached ({}): is it running, is the network up?", host, end.reason)};
    case HttpEnd::Why::untrusted:
      return {Trouble::Kind::setup,
              fmt::format("{} cannot be trusted ({}): if its certificate is of your own, name the file of "
                          "its authority in SSL_CERT_FILE",
                          host, end.reason)};
    case HttpEnd::Why::unusable:
      return {Trouble::Kind::setup, fmt::format("{}: {}: check agent.endpoint", target.url, end.reason)};
    case HttpEnd::Why::too_long:
      return {Trouble::Kind::rejected, fmt::format("the reply of {} is too long", host)};
    case HttpEnd::Why::timeout:
      return {Trouble::Kind::transient, fmt::format("{} took too long ({})", host, end.reason)};
    case HttpEnd::Why::done:
    case HttpEnd::Why::cut: break;
  }
  return {Trouble::Kind::transient, fmt::format("the reply of {} ended early", host)};
}

// The API keeps no state: history_ is the conversation, and each prompt is sent with all of it. A response
// is an HttpHead, pieces of the body, and an HttpEnd. Pieces of a stream are read as they come; a body that
// is not a stream, also an error's, is collected and read at the end.
class ApiConversation final : public Conversation {
 public:
  ApiConversation(const ApiDialect& dialect, Http& http, os::Clock& clock, Result<ApiTarget> target)
      : dialect_(dialect), http_(http), clock_(clock) {
    if (target)
      target_ = *std::move(target);
    else
      fail({Trouble::Kind::setup, target.error().message});
  }

  void send(const Request& request) override {
    if (ended_) return;
    prompt_ = request.text;
    head_.reset();
    body_.clear();
    stream_ = {};
    reply_ = {};
    malformed_ = false;
    call_ = http_.post(dialect_.request(target_, history_, request));
  }

  std::optional<ProviderMessage> receive() override {
    while (messages_.empty() && call_) {
      auto news = call_->receive();
      if (!news) return std::nullopt;
      if (auto* head = std::get_if<HttpHead>(&*news))
        head_ = std::move(*head);
      else if (const auto* piece = std::get_if<std::string>(&*news))
        read(*piece);
      else
        finish(std::get<HttpEnd>(*news));
    }
    if (messages_.empty()) return std::nullopt;
    ProviderMessage message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  // Some endpoints ignore `stream` and send the whole reply as one JSON value.
  bool is_stream() const {
    return head_ && head_->status == 200 &&
           head_->header("content-type").find("text/event-stream") != std::string_view::npos;
  }

  void read(std::string_view piece) {
    if (!is_stream()) {
      if (head_ && head_->status == 200)
        body_ += piece;
      else if (body_.size() < kMostErrorBytes)
        body_ += piece.substr(0, kMostErrorBytes - body_.size());
      return;
    }
    for (const std::string& data : stream_.add(piece)) {
      if (dialect_.is_end(data)) {
        reply_.complete = true;
        continue;
      }
      const auto parsed = Json::parse(data, kReplyLimits);
      if (parsed)
        dialect_.read(*parsed, reply_);
      else
        malformed_ = true;
    }
  }

  void finish(const HttpEnd& end) {
    call_.reset();
    // A connection that broke after the API's own end of the reply lost nothing.
    if (!head_ || (head_->status == 200 && end.why != HttpEnd::Why::done && !reply_.complete))
      return fail(trouble_of_end(end, target_));
    if (head_->status != 200) return fail(trouble_of(*head_, body_, target_, clock_.now()));
    if (!is_stream()) {
      const auto whole = Json::parse(body_, kReplyLimits);
      if (!whole || !whole->is_object()) return fail(not_understood());
      dialect_.read(*whole, reply_);
    }
    if (reply_.trouble) return fail(*std::move(reply_.trouble));
    if (!reply_.complete) return fail(malformed_ ? not_understood() : trouble_of_end(end, target_));
    // Only a prompt with a reply becomes history: after an error the conversation is over.
    history_.push_back({std::move(prompt_), reply_.text});
    messages_.push_back(
        {{},
         Reply{std::move(reply_.text), reply_.model.empty() ? target_.model : std::move(reply_.model),
               reply_.usage, reply_.cut}});
  }

  Trouble not_understood() const {
    return {Trouble::Kind::transient,
            fmt::format("{} sent something else than the API's reply: check agent.endpoint",
                        host_of(target_.url))};
  }

  void fail(Trouble trouble) {
    // An endpoint may repeat the key in its error.
    trouble.reason = without_key(one_line(trouble.reason, 2 * kLongestReason), target_.key);
    // A stream that broke off may have reported tokens: they are paid for.
    trouble.usage = reply_.usage;
    ended_ = true;
    call_.reset();
    messages_.push_back({{}, std::move(trouble)});
  }

  const ApiDialect& dialect_;
  Http& http_;
  os::Clock& clock_;
  ApiTarget target_;
  std::vector<ApiExchange> history_;
  std::string prompt_;
  std::unique_ptr<HttpCall> call_;
  std::optional<HttpHead> head_;
  std::string body_;  // of a response that is not a stream
  EventStream stream_;
  ApiReply reply_;
  bool malformed_ = false;
  bool ended_ = false;
  std::deque<ProviderMessage> messages_;
};

Trouble::Kind kind_of_status(int status) {
  if (status == 401 || status == 403) return Trouble::Kind::auth;
  if (status == 402) return Trouble::Kind::quota;
  if (status == 429) return Trouble::Kind::rate_limited;
  // Redirects are not followed, so a 3xx means a wrong address.
  if (status == 404 || status == 405 || (status >= 300 && status < 400)) return Trouble::Kind::setup;
  if (status == 408 || status == 409 || status == 425) return Trouble::Kind::transient;
  if (status >= 400 && status < 500) return Trouble::Kind::rejected;
  return Trouble::Kind::transient;
}

// What the user can do about it; appended to the reason.
std::string advice(Trouble::Kind kind, int status, const ApiTarget& target) {
  switch (kind) {
    case Trouble::Kind::auth: return ": check the key";
    case Trouble::Kind::quota: return ": add credit there, or choose another agent.provider";
    case Trouble::Kind::setup:
      return status == 404 ? fmt::format(": check agent.model ({}) and agent.endpoint", target.model)
                           : ": check agent.endpoint";
    default: return "";
  }
}

}  // namespace

std::unique_ptr<Conversation> start_api_conversation(const ApiDialect& dialect, Http& http, os::Clock& clock,
                                                     Result<ApiTarget> target) {
  return std::make_unique<ApiConversation>(dialect, http, clock, std::move(target));
}

// {"error": {"message": "..."}}, {"error": "..."} and {"message": "..."} are all in use.
std::string error_message(const Json& error) {
  const Json& inner = error["error"];
  const std::string_view message =
      inner.is_string() ? inner.as_string() : inner["message"].as_string(error["message"].as_string());
  return one_line(visible(message), kLongestReason);
}

std::optional<Trouble::Kind> kind_of_api_error(std::string_view type, std::string_view code,
                                               std::string_view message) {
  const std::string lower = ascii_lower(message);
  const auto says = [&](std::string_view words) { return lower.find(words) != std::string::npos; };
  if (code == "insufficient_quota" || type == "insufficient_quota" || type == "billing_error" ||
      says("credit balance") || says("insufficient credits"))
    return Trouble::Kind::quota;
  if (type == "authentication_error" || type == "permission_error" || code == "invalid_api_key" ||
      says("api key not valid"))
    return Trouble::Kind::auth;
  if (type == "rate_limit_error" || code == "rate_limit_exceeded") return Trouble::Kind::rate_limited;
  if (type == "overloaded_error" || type == "api_error" || type == "timeout_error" || type == "server_error")
    return Trouble::Kind::transient;
  if (type == "not_found_error" || code == "model_not_found") return Trouble::Kind::setup;
  if (type == "invalid_request_error" || type == "request_too_large") return Trouble::Kind::rejected;
  return std::nullopt;
}

std::optional<WallTime> retry_after(const HttpHead& head, WallTime now) {
  const std::string value(trim(head.header("retry-after")));
  if (value.empty()) return std::nullopt;
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc() && end == value.data() + value.size() && seconds >= 0) {
    const double most = std::chrono::duration<double>(kLongestWait).count();
    return now + Millis(static_cast<std::int64_t>(std::min(seconds, most) * 1000));
  }
  // Not a number of seconds: the header's other form, "Fri, 31 Dec 1999 23:59:59 GMT".
  std::tm date{};
  const char* rest = strptime(value.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (!rest || *rest != '\0') return std::nullopt;
  const WallTime at = from_epoch_ms(static_cast<std::int64_t>(timegm(&date)) * 1000);
  return std::clamp(at, now, now + std::chrono::duration_cast<Millis>(kLongestWait));
}

Trouble trouble_of(const HttpHead& head, std::string_view body, const ApiTarget& target, WallTime now) {
  const Json said = Json::parse(body).value_or(Json());
  // Some endpoints put the object into a list.
  const Json& outer = said.is_array() && !said.items().empty() ? said.items().front() : said;
  const Json& error = outer["error"];
  const std::string message = error_message(outer);
  Trouble trouble;
  // The error's own words come first: a status is less exact. 429 may be a rate limit or no credit, 400 a
  // bad request or an empty account.
  trouble.kind = kind_of_api_error(error["type"].as_string(), error["code"].as_string(), message)
                     .value_or(kind_of_status(head.status));
  trouble.until = retry_after(head, now);
  trouble.reason =
      fmt::format("{} replied {}{}{}{}", host_of(target.url), head.status, message.empty() ? "" : ": ",
                  message, advice(trouble.kind, head.status, target));
  return trouble;
}

}  // namespace cairn::agent
