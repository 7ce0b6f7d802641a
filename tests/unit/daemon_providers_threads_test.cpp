// The providers that speak HTTP, over the real transport, against a scripted server on loopback: every way in
// which a model's API can answer, fail or say nothing.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <thread>

#include "agent/providers/factory.h"
#include "base/json.h"
#include "daemon/children.h"
#include "daemon/http.h"
#include "os/clock.h"
#include "os/disk.h"
#include "support/http_server.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;
using agent::Reply;
using agent::Trouble;
using Kind = agent::Trouble::Kind;

class QuietLog final : public Log {
  void line(std::string_view) override {}
};

// Variables as a test needs them; as they were afterwards.
class Variables {
 public:
  ~Variables() {
    for (const auto& [name, before] : before_)
      before ? ::setenv(name.c_str(), before->c_str(), 1) : ::unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    const char* now = ::getenv(name.c_str());
    before_.emplace_back(name, now ? std::optional<std::string>(now) : std::nullopt);
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

const std::string kKey = "sk-test-0123456789abcdef";

// The Messages API's stream of a reply.
void say_message(HttpPeer& peer, std::string_view text, std::string_view stop = "end_turn") {
  peer.begin_stream();
  peer.event(
      R"({"type":"message_start","message":{"model":"small-1","usage":{"input_tokens":20,"cache_read_input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":1}}})");
  peer.event(R"({"type":"ping"})");
  const std::size_t half = text.size() / 2;
  for (const std::string_view piece : {text.substr(0, half), text.substr(half)})
    peer.event(Json::object({{"type", "content_block_delta"},
                             {"delta", Json::object({{"type", "text_delta"}, {"text", piece}})}})
                   .dump());
  peer.event(Json::object({{"type", "message_delta"},
                           {"delta", Json::object({{"stop_reason", stop}})},
                           {"usage", Json::object({{"output_tokens", 7}})}})
                 .dump());
  peer.event(R"({"type":"message_stop"})");
}

void say_chunks(HttpPeer& peer, std::string_view text, std::string_view finish = "stop") {
  peer.begin_stream();
  peer.send(": a comment that keeps the connection open\n\n");
  peer.event(
      Json::object({{"model", "local-7b"},
                    {"choices", Json::array({Json::object({{"delta", Json::object({{"content", text}})}})})}})
          .dump());
  peer.event(
      Json::object(
          {{"choices", Json::array({Json::object({{"delta", Json::object()}, {"finish_reason", finish}})})}})
          .dump());
  peer.event(
      R"({"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":12},"cost":0.00042}})");
  peer.event("[DONE]");
}

class Providers : public testing::Test {
 protected:
  Providers() {
    for (const char* name :
         {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
          "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
          "ALL_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "CURL_CA_BUNDLE"})
      variables_.set(name, "");
    variables_.set("CAIRN_AGENT_KEY", kKey);
    loop_ = *daemon::Loop::create();
    children_ = std::make_unique<daemon::LoopChildren>(*loop_, log_, [] {});
    http_ = std::make_unique<daemon::LoopHttp>(*loop_, [] {});
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Providers() override {
    conversation_.reset();
    loop_->post([this] { loop_->stop(); });
    thread_.join();
    http_.reset();
    children_.reset();
  }

  void use(std::string provider, std::string endpoint, std::string model = "small",
           std::string key_file = {}) {
    conversation_.reset();
    provider_ = agent::make_provider({std::move(provider), std::move(model), std::move(endpoint), key_file},
                                     {*children_, *http_, disk_, clock_, dir_ / "agent"});
    ASSERT_TRUE(provider_);
    conversation_ = provider_->start({});
  }

  agent::ProviderMessage ask(std::string text = "What was learned?", std::int64_t most = 4000) {
    conversation_->send({"batch", "You remember.", std::move(text), most});
    std::optional<agent::ProviderMessage> message;
    EXPECT_TRUE(wait_until([&] { return (message = conversation_->receive()).has_value(); }, 20s));
    return message.value_or(agent::ProviderMessage{});
  }
  Reply reply(std::string text = "What was learned?") {
    const agent::ProviderMessage message = ask(std::move(text));
    if (const auto* trouble = std::get_if<Trouble>(&message.what)) ADD_FAILURE() << trouble->reason;
    const auto* said = std::get_if<Reply>(&message.what);
    return said ? *said : Reply{};
  }
  Trouble trouble() {
    const agent::ProviderMessage message = ask();
    const auto* failed = std::get_if<Trouble>(&message.what);
    if (!failed) ADD_FAILURE() << "a reply: " << std::get<Reply>(message.what).text;
    if (failed && failed->reason.find(kKey) != std::string::npos) ADD_FAILURE() << failed->reason;
    return failed ? *failed : Trouble{};
  }
  // The trouble of a Messages API that answers like that.
  Trouble trouble_of(HttpServer::Answer answer) {
    const HttpServer server(std::move(answer));
    use("anthropic", server.url());
    return trouble();
  }
  Trouble trouble_of(int status, std::string_view error, std::string_view headers = {}) {
    return trouble_of(
        [=, text = std::string(error), more = std::string(headers)](const HttpAsked&, HttpPeer& peer) {
          peer.reply(status, text, "application/json", more);
        });
  }

  Variables variables_;
  TempDir dir_{"providers"};
  QuietLog log_;
  os::RealDisk disk_;
  os::RealClock clock_;
  std::unique_ptr<daemon::Loop> loop_;
  std::unique_ptr<daemon::LoopChildren> children_;
  std::unique_ptr<daemon::LoopHttp> http_;
  std::unique_ptr<agent::Provider> provider_;
  std::unique_ptr<agent::Conversation> conversation_;
  std::thread thread_;
};

TEST_F(Providers, TheMessagesApiRepliesInAStreamAndTheHistoryIsSentAgainWithCacheMarks) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { say_message(peer, "<skip/>é"); });
  use("anthropic", server.url());
  const Reply first = reply("first prompt");
  EXPECT_EQ(first.text, "<skip/>é");
  EXPECT_EQ(first.model, "small-1");
  EXPECT_EQ(first.usage.input_tokens, 125);
  EXPECT_EQ(first.usage.cached_tokens, 100);
  EXPECT_EQ(first.usage.output_tokens, 7);
  EXPECT_FALSE(first.cut);
  EXPECT_EQ(reply("second prompt").text, "<skip/>é");

  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].line, "POST /v1/messages HTTP/1.1");
  EXPECT_NE(asked[0].headers.find("x-api-key: " + kKey), std::string::npos);
  const Json body = *Json::parse(asked[1].body);
  EXPECT_EQ(body["max_tokens"].as_int(), 4000);
  EXPECT_EQ(body["system"].items()[0]["cache_control"]["type"].as_string(), "ephemeral");
  const auto& messages = body["messages"].items();
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0]["content"].as_string(), "first prompt");
  EXPECT_EQ(messages[1]["content"].as_string(), "<skip/>é");
  EXPECT_EQ(messages[2]["content"].items()[0]["text"].as_string(), "second prompt");
  EXPECT_TRUE(messages[2]["content"].items()[0].has("cache_control"));
  EXPECT_FALSE(body.has("tools"));
}

TEST_F(Providers, ChatCompletionsReplyInChunksWithUsageAndTheEndpointsOwnPrice) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { say_chunks(peer, "learned", "length"); });
  use("openai", server.url() + "/v1/");
  const Reply said = reply();
  EXPECT_EQ(said.text, "learned");
  EXPECT_EQ(said.model, "local-7b");
  EXPECT_TRUE(said.cut);
  EXPECT_EQ(said.usage.input_tokens, 30);
  EXPECT_EQ(said.usage.cached_tokens, 12);
  EXPECT_EQ(said.usage.cost_usd, 0.00042);
  const auto asked = server.asked();
  EXPECT_EQ(asked[0].line, "POST /v1/chat/completions HTTP/1.1");
  EXPECT_NE(asked[0].headers.find("authorization: Bearer " + kKey), std::string::npos);
  EXPECT_EQ((*Json::parse(asked[0].body))["messages"].items()[0]["role"].as_string(), "system");
}

TEST_F(Providers, AResponseThatIsNotStreamedIsReadToo) {
  const HttpServer messages([](const HttpAsked&, HttpPeer& peer) {
    peer.reply(
        200,
        R"({"type":"message","model":"m","content":[{"type":"text","text":"whole"}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":4}})");
  });
  use("anthropic", messages.url());
  EXPECT_EQ(reply().text, "whole");
  const HttpServer completions([](const HttpAsked&, HttpPeer& peer) {
    peer.reply(
        200,
        R"({"model":"m","choices":[{"message":{"content":"all of it"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}})");
  });
  use("openai", completions.url());
  EXPECT_EQ(reply().text, "all of it");
}

TEST_F(Providers, ASlowReplyIsWaitedForAndProseAndNothingAreReplies) {
  const HttpServer slow([](const HttpAsked&, HttpPeer& peer) {
    peer.pause(400ms);
    say_message(peer, "I could not find anything worth keeping.");
  });
  use("anthropic", slow.url());
  EXPECT_EQ(reply().text, "I could not find anything worth keeping.");
  const HttpServer empty([](const HttpAsked&, HttpPeer& peer) { say_message(peer, ""); });
  use("anthropic", empty.url());
  EXPECT_EQ(reply().text, "");
}

TEST_F(Providers, ALimitOfRequestsNamesTheTimeOfTheNextTry) {
  const WallTime before = clock_.now();
  Trouble limited =
      trouble_of(429, R"({"type":"error","error":{"type":"rate_limit_error","message":"slow down"}})",
                 "retry-after: 30\r\n");
  EXPECT_EQ(limited.kind, Kind::rate_limited);
  ASSERT_TRUE(limited.until);
  EXPECT_GE(*limited.until, before + 30s);
  EXPECT_LE(*limited.until, clock_.now() + 30s);
  limited = trouble_of(429, "{}", "Retry-After: Sun, 06 Nov 2044 08:49:37 GMT\r\n");
  ASSERT_TRUE(limited.until);
  EXPECT_LE(*limited.until, clock_.now() + 24h) << "a wait of years is not believed";
  limited = trouble_of(429, "{}", "Retry-After: soon\r\n");
  EXPECT_EQ(limited.kind, Kind::rate_limited);
  EXPECT_FALSE(limited.until);
}

TEST_F(Providers, EachErrorOfTheApiHasItsClassAndSaysWhatToDo) {
  EXPECT_EQ(trouble_of(500, "oops").kind, Kind::transient);
  EXPECT_EQ(trouble_of(529, R"({"error":{"type":"overloaded_error","message":"Overloaded"}})").kind,
            Kind::transient);
  Trouble wrong =
      trouble_of(401, R"({"error":{"type":"authentication_error","message":"invalid x-api-key"}})");
  EXPECT_EQ(wrong.kind, Kind::auth);
  EXPECT_NE(wrong.reason.find("check the key"), std::string::npos) << wrong.reason;
  EXPECT_EQ(
      trouble_of(400,
                 R"({"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}})")
          .kind,
      Kind::quota);
  EXPECT_EQ(trouble_of(402, R"({"error":{"message":"Insufficient credits","code":402}})").kind, Kind::quota);
  EXPECT_EQ(
      trouble_of(
          429,
          R"({"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota"}})")
          .kind,
      Kind::quota);
  EXPECT_EQ(
      trouble_of(400, R"({"error":{"type":"invalid_request_error","message":"prompt is too long"}})").kind,
      Kind::rejected);
  wrong = trouble_of(404, R"({"error":{"type":"not_found_error","message":"model: small"}})");
  EXPECT_EQ(wrong.kind, Kind::setup);
  EXPECT_NE(wrong.reason.find("agent.model"), std::string::npos) << wrong.reason;
  EXPECT_EQ(trouble_of(301, "", "location: http://127.0.0.1:1/\r\n").kind, Kind::setup);
  EXPECT_EQ(trouble_of(
                400, R"([{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}])")
                .kind,
            Kind::auth);
}

TEST_F(Providers, AnErrorThatNamesTheKeyDoesNotPassItOn) {
  const Trouble wrong = trouble_of(401, R"({"error":{"message":"bad key )" + kKey + R"("}})");
  EXPECT_NE(wrong.reason.find("bad key [key]"), std::string::npos) << wrong.reason;
}

TEST_F(Providers, AStreamThatBreaksOffIsNoReplyButItsTokensAreCounted) {
  const Trouble cut = trouble_of([](const HttpAsked&, HttpPeer& peer) {
    peer.begin_stream();
    peer.event(R"({"type":"message_start","message":{"model":"m","usage":{"input_tokens":20}}})");
    peer.event(R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"half"}})");
  });
  EXPECT_EQ(cut.kind, Kind::transient);
  EXPECT_EQ(cut.usage.input_tokens, 20);
  const Trouble reset = trouble_of([](const HttpAsked&, HttpPeer& peer) {
    peer.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\ndata: {");
  });
  EXPECT_EQ(reset.kind, Kind::transient);
  EXPECT_EQ(trouble_of([](const HttpAsked&, HttpPeer&) {}).kind, Kind::transient) << "no response at all";
}

TEST_F(Providers, AnErrorInsideTheStreamHasTheClassThatItNames) {
  const auto in_stream = [&](std::string type) {
    return trouble_of([type](const HttpAsked&, HttpPeer& peer) {
             peer.begin_stream();
             peer.event(R"({"type":"error","error":{"type":")" + type + R"(","message":"x"}})");
           })
        .kind;
  };
  EXPECT_EQ(in_stream("overloaded_error"), Kind::transient);
  EXPECT_EQ(in_stream("rate_limit_error"), Kind::rate_limited);
  EXPECT_EQ(in_stream("authentication_error"), Kind::auth);
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) {
    peer.begin_stream();
    peer.event(R"({"error":{"code":429,"message":"too fast"}})");
    peer.event("[DONE]");
  });
  use("openai", server.url());
  EXPECT_EQ(trouble().kind, Kind::rate_limited);
}

TEST_F(Providers, MalformedAndOversizeResponsesAreNoReplies) {
  EXPECT_EQ(trouble_of([](const HttpAsked&, HttpPeer& peer) {
              peer.reply(200, "<html>log in</html>", "text/html");
            }).kind,
            Kind::transient);
  EXPECT_EQ(trouble_of([](const HttpAsked&, HttpPeer& peer) {
              peer.begin_stream();
              peer.event("{not json");
            }).kind,
            Kind::transient);
  EXPECT_EQ(trouble_of([](const HttpAsked&, HttpPeer& peer) {
              peer.begin_stream();
              const std::string much(1u << 20, 'x');
              for (int i = 0; i < 20; ++i) peer.send("data: " + much + "\n");
            }).kind,
            Kind::rejected);
}

TEST_F(Providers, AServerThatHangsEndsWithTheConversation) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) {
    peer.begin_stream();
    peer.hang();
  });
  use("anthropic", server.url());
  conversation_->send({"batch", "", "hello", 100});
  ASSERT_TRUE(wait_until([&] { return server.asked().size() == 1; }, 10s));
  EXPECT_FALSE(conversation_->receive());
  conversation_.reset();  // the server's destructor waits for the hang-up
}

TEST_F(Providers, ACallHasItsLimitsOfTime) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { peer.hang(); });
  agent::HttpRequest request;
  request.url = server.url();
  request.done_within = 200ms;
  const auto call = http_->post(request);
  std::optional<agent::HttpNews> news;
  ASSERT_TRUE(wait_until([&] { return (news = call->receive()).has_value(); }, 10s));
  ASSERT_TRUE(std::holds_alternative<agent::HttpEnd>(*news));
  EXPECT_EQ(std::get<agent::HttpEnd>(*news).why, agent::HttpEnd::Why::timeout);
  request.done_within = 60s;
  request.silent_at_most = 1s;
  const auto silent = http_->post(request);
  ASSERT_TRUE(wait_until([&] { return (news = silent->receive()).has_value(); }, 10s));
  EXPECT_EQ(std::get<agent::HttpEnd>(*news).why, agent::HttpEnd::Why::timeout);
}

TEST_F(Providers, AnAddressWhereNothingListensCanBeTriedAgain) {
  int port = 0;
  {
    port = HttpServer([](const HttpAsked&, HttpPeer&) {}).port();
  }
  use("openai", "http://127.0.0.1:" + std::to_string(port));
  const Trouble gone = trouble();
  EXPECT_EQ(gone.kind, Kind::transient);
  EXPECT_NE(gone.reason.find("is it running"), std::string::npos) << gone.reason;
}

TEST_F(Providers, AProxyOfTheEnvironmentIsUsedAndNoProxyIsHeeded) {
  const HttpServer proxy([](const HttpAsked&, HttpPeer& peer) { say_message(peer, "through the proxy"); });
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { say_message(peer, "straight"); });
  variables_.set("http_proxy", proxy.url());
  use("anthropic", server.url());
  EXPECT_EQ(reply().text, "through the proxy");
  EXPECT_EQ(proxy.asked()[0].line, "POST " + server.url() + "/v1/messages HTTP/1.1");
  variables_.set("no_proxy", "127.0.0.1");
  use("anthropic", server.url());
  EXPECT_EQ(reply().text, "straight");
}

TEST_F(Providers, AnUnknownCertificateIsRefusedUnlessTheUserNamesItsAuthority) {
  const std::string key = dir_ / "key.pem", certificate = dir_ / "certificate.pem";
  const Outcome made =
      run({{"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"}});
  ASSERT_TRUE(made.ok()) << made.describe();
  int port = 0;
  {
    port = HttpServer([](const HttpAsked&, HttpPeer&) {}).port();
  }  // free now
  const std::string body =
      R"({"type":"message","model":"m","content":[{"type":"text","text":"over TLS"}],"usage":{}})";
  Program program{{"openssl", "s_server", "-quiet", "-naccept", "2", "-accept",
                   "127.0.0.1:" + std::to_string(port), "-cert", certificate, "-key", key}};
  const std::string response =
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  Background server(program);
  const std::string url = "https://127.0.0.1:" + std::to_string(port);
  Trouble untrusted;
  ASSERT_TRUE(wait_until(
      [&] {
        use("anthropic", url);
        untrusted = trouble();
        return untrusted.kind != Kind::transient;  // the server may not listen yet
      },
      10s));
  EXPECT_EQ(untrusted.kind, Kind::setup);
  EXPECT_NE(untrusted.reason.find("SSL_CERT_FILE"), std::string::npos) << untrusted.reason;
  variables_.set("SSL_CERT_FILE", certificate);
  ASSERT_TRUE(server.write_input(response));  // sent at the next connection
  use("anthropic", url);
  EXPECT_EQ(reply().text, "over TLS");
}

TEST_F(Providers, AWrongSetupIsTheFirstMessageAndSaysWhatToDo) {
  const auto setup = [&](std::string provider, std::string endpoint, std::string model = "m") {
    use(std::move(provider), std::move(endpoint), std::move(model));
    const auto message = conversation_->receive();
    const auto* failed = message ? std::get_if<Trouble>(&message->what) : nullptr;
    EXPECT_TRUE(failed && failed->kind == Kind::setup);
    return failed ? failed->reason : std::string();
  };
  EXPECT_NE(setup("openai", "ollama", "").find("agent.model"), std::string::npos);
  EXPECT_NE(setup("openai", "olama").find("one of openai, openrouter, gemini, ollama, lmstudio, vllm"),
            std::string::npos);
  EXPECT_NE(setup("openai", "ftp://example.org").find("agent.endpoint"), std::string::npos);
  EXPECT_NE(setup("openai", "https://user:word@example.org").find("must not contain a key"),
            std::string::npos);
  for (const char* elsewhere : {"http://192.0.2.1", "http://127.example.com", "http://127.0.0.1.example.com",
                                "http://[::1].example.com", "http://localhost.example.com:80"})
    EXPECT_NE(setup("anthropic", elsewhere).find("not encrypted"), std::string::npos) << elsewhere;
  variables_.set("CAIRN_AGENT_KEY", "");
  EXPECT_NE(setup("anthropic", "").find("ANTHROPIC_API_KEY"), std::string::npos);
  EXPECT_NE(setup("openai", "openrouter").find("OPENROUTER_API_KEY"), std::string::npos);
  EXPECT_NE(setup("openai", "gemini").find("GEMINI_API_KEY"), std::string::npos);
}

TEST_F(Providers, AStreamThatBreaksOffIsNotBlamedForAnEarlierOne) {
  const HttpServer server([&, count = 0](const HttpAsked&, HttpPeer& peer) mutable {
    if (++count == 2) return peer.begin_stream();  // and no more
    peer.begin_stream();
    peer.event("{no JSON");
    peer.event(R"({"type":"message_stop"})");
  });
  use("anthropic", server.url());
  reply();
  EXPECT_NE(trouble().reason.find("ended early"), std::string::npos);
}

TEST_F(Providers, AVendorsKeyIsSentToThatVendorOnly) {
  variables_.set("CAIRN_AGENT_KEY", "");
  variables_.set("ANTHROPIC_API_KEY", kKey);
  variables_.set("OPENAI_API_KEY", kKey);
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { say_message(peer, "x"); });
  use("anthropic", server.url());
  EXPECT_EQ(reply().text, "x");
  EXPECT_EQ(server.asked()[0].headers.find(kKey), std::string::npos);
  variables_.set("ANTHROPIC_BASE_URL", server.url());  // set by the user beside the key: both belong together
  use("anthropic", "");
  EXPECT_EQ(reply().text, "x");
  EXPECT_NE(server.asked()[1].headers.find(kKey), std::string::npos);
}

TEST_F(Providers, AKeyFileMustBePrivate) {
  variables_.set("CAIRN_AGENT_KEY", "");
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { say_message(peer, "x"); });
  const std::string file = dir_ / "secret";
  write_file(file, "  " + kKey + "\n");
  ::chmod(file.c_str(), 0640);
  use("anthropic", server.url(), "m", file);
  const auto refused = conversation_->receive();
  ASSERT_TRUE(refused && std::holds_alternative<Trouble>(refused->what));
  EXPECT_NE(std::get<Trouble>(refused->what).reason.find("chmod 600"), std::string::npos);
  ::chmod(file.c_str(), 0600);
  use("anthropic", server.url(), "m", file);
  EXPECT_EQ(reply().text, "x");
  EXPECT_NE(server.asked()[0].headers.find("x-api-key: " + kKey), std::string::npos);
  write_file(file, "two\nlines");
  use("anthropic", server.url(), "m", file);
  const auto odd = conversation_->receive();
  ASSERT_TRUE(odd && std::holds_alternative<Trouble>(odd->what));
  EXPECT_EQ(std::get<Trouble>(odd->what).reason.find("lines"), std::string::npos);
}

TEST_F(Providers, BuiltinNeedsNoProvider) {
  EXPECT_FALSE(agent::make_provider({}, {*children_, *http_, disk_, clock_, dir_ / "agent"}));
}

}  // namespace
}  // namespace cairn::test
