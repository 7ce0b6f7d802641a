// What a hook learns from its surroundings: flags, home, the event's name; and what it says to the daemon.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "base/json.h"
#include "hook/control.h"
#include "hook/flags.h"
#include "hook/home.h"
#include "hook/scan.h"

namespace cairn::hook {
namespace {

TEST(Flags, AreWrittenAsDocumented) {
  EXPECT_EQ(Flags{}.encode(), "cairn1 sync=process capture=on  start=003000 prompt=000200     \n");
  const Flags other{
      .sync = Flags::Sync::disk, .capture = false, .session_start_ms = 12, .user_prompt_submit_ms = 999'999};
  EXPECT_EQ(other.encode(), "cairn1 sync=disk    capture=off start=000012 prompt=999999     \n");
  EXPECT_EQ(other.encode().size(), Flags::kBytes);
}

// Blanks by default: a hook of a version without them understands the file.
TEST(Flags, ForHelpAreLettersAtTheEnd) {
  const Flags other{.help_compaction = false, .help_failure = true, .help_subagent = true};
  EXPECT_EQ(other.encode(), "cairn1 sync=process capture=on  start=003000 prompt=000200 -fs \n");
  for (const bool compaction : {true, false})
    for (const bool failure : {true, false})
      for (const bool subagent : {true, false}) {
        const Flags flags{.help_compaction = compaction, .help_failure = failure, .help_subagent = subagent};
        EXPECT_EQ(Flags::decode(flags.encode()), flags);
      }
}

TEST(Control, ATextReplyIsOneLineAndComesBackWhole) {
  const std::string text = "Keep:\n- a\n- b\n";
  EXPECT_EQ(encode_text_reply(text).find('\n'), std::string::npos);
  EXPECT_EQ(decode_text_reply(encode_text_reply(text)), text);
  EXPECT_EQ(decode_text_reply("{\"continue\": true}"), "") << "no text";
  EXPECT_EQ(decode_text_reply(""), "");
}

TEST(Flags, ComeBackAsTheyWereWritten) {
  for (const auto sync : {Flags::Sync::process, Flags::Sync::disk})
    for (const bool capture : {true, false}) {
      const Flags flags{.sync = sync, .capture = capture, .session_start_ms = 1, .user_prompt_submit_ms = 0};
      EXPECT_EQ(Flags::decode(flags.encode()), flags);
    }
}

TEST(Flags, KeepTheirLengthWhateverTheNumbers) {
  const Flags flags{.session_start_ms = -5, .user_prompt_submit_ms = 10'000'000};
  EXPECT_EQ(flags.encode().size(), Flags::kBytes);
  EXPECT_EQ(Flags::decode(flags.encode()).session_start_ms, 0);
  EXPECT_EQ(Flags::decode(flags.encode()).user_prompt_submit_ms, 999'999);
}

TEST(Flags, AreTheDefaultsWhenTheyCannotBeUnderstood) {
  const std::string good = Flags{.sync = Flags::Sync::disk, .capture = false, .session_start_ms = 7}.encode();
  EXPECT_EQ(Flags::decode(""), Flags{});
  EXPECT_EQ(Flags::decode(good + " "), Flags{});
  EXPECT_EQ(Flags::decode(good.substr(1)), Flags{});
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] = '?';
    EXPECT_EQ(Flags::decode(damaged), Flags{}) << at;
  }
}

// Sets variables for one test; an empty optional unsets.
class HomeTest : public testing::Test {
 protected:
  HomeTest() {
    for (const char* name : {"CAIRN_HOME", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"}) {
      const char* value = std::getenv(name);
      old_[name] = value ? std::optional<std::string>(value) : std::nullopt;
      unsetenv(name);
    }
  }
  ~HomeTest() override {
    for (const auto& [name, value] : old_)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }

 private:
  std::map<std::string, std::optional<std::string>> old_;
};

TEST_F(HomeTest, IsWhereTheEnvironmentSays) {
  set("HOME", "/home/dev");
  EXPECT_EQ(Home::from_environment()->data, "/home/dev/.local/share/cairn");
  EXPECT_EQ(Home::from_environment()->config_file, "/home/dev/.config/cairn/config.toml");
  set("XDG_DATA_HOME", "/data/");
  set("XDG_CONFIG_HOME", "/config");
  EXPECT_EQ(Home::from_environment()->data, "/data/cairn");
  EXPECT_EQ(Home::from_environment()->config_file, "/config/cairn/config.toml");
  set("CAIRN_HOME", "/one/place//");
  EXPECT_EQ(Home::from_environment()->data, "/one/place");
  EXPECT_EQ(Home::from_environment()->config_file, "/one/place/config.toml");
}

TEST_F(HomeTest, KeepsEverythingBesideTheDatabase) {
  const Home home = Home::at("/one/place");
  for (const std::string& path :
       {home.database(), home.inbox(), home.lock(), home.socket(), home.start(), home.flags()})
    EXPECT_TRUE(path.starts_with("/one/place/")) << path;
}

TEST_F(HomeTest, IgnoresRelativeAndEmptyXdgDirectories) {
  set("HOME", "/home/dev");
  set("XDG_DATA_HOME", "data");
  set("XDG_CONFIG_HOME", "");
  EXPECT_EQ(Home::from_environment()->data, "/home/dev/.local/share/cairn");
  EXPECT_EQ(Home::from_environment()->config_file, "/home/dev/.config/cairn/config.toml");
}

TEST_F(HomeTest, IsNowhereWithoutAnAbsolutePath) {
  EXPECT_EQ(Home::from_environment().error().code, Code::invalid);
  set("HOME", "home/dev");
  EXPECT_EQ(Home::from_environment().error().code, Code::invalid);
}

TEST_F(HomeTest, DoesNotFallBackToTheUsersOwnWhenTheOneAskedForIsRelative) {
  set("HOME", "/home/dev");
  set("CAIRN_HOME", "relative");
  EXPECT_EQ(Home::from_environment().error().code, Code::invalid);
  set("CAIRN_HOME", "");
  EXPECT_TRUE(Home::from_environment().ok());
}

std::string scan(std::string_view payload, std::size_t piece = 7) {
  PayloadScan scan;
  for (; !payload.empty(); payload.remove_prefix(std::min(piece, payload.size())))
    scan.add(payload.substr(0, piece));
  return scan.event();
}

TEST(PayloadScan, FindsTheName) {
  EXPECT_EQ(scan(R"({"session_id":"s","hook_event_name":"SessionStart","source":"startup"})"),
            "SessionStart");
  EXPECT_EQ(scan("{\"hook_event_name\" :\n\t \"Stop\"}"), "Stop");
  EXPECT_EQ(scan(R"({"prompt":"say \"hook_event_name\":\"Stop\"","hook_event_name":"UserPromptSubmit"})"),
            "UserPromptSubmit");
}

TEST(PayloadScan, FindsNothingWhereThereIsNoName) {
  for (const char* payload :
       {"", "{}", "hook_event_name", "\"hook_event_name\"", "\"hook_event_name\":", "\"hook_event_name\":3",
        "\"hook_event_name\":\"Sto", "\"hook_event_name\":\"a b\"", "\"hook_event_name\":\"\\u0041\""})
    EXPECT_EQ(scan(payload), "") << payload;
  EXPECT_EQ(scan("\"hook_event_name\":\"" + std::string(65, 'A') + "\""), "");
}

TEST(PayloadScan, LooksAtTheStartOnly) {
  EXPECT_EQ(scan(std::string(60'000, ' ') + R"("hook_event_name":"Stop")", 4096), "Stop");
  EXPECT_EQ(scan(std::string(66'000, ' ') + R"("hook_event_name":"Stop")", 4096), "");
}

TEST(Control, AsksInOneLineOfJson) {
  const std::string line = answer_request(EventId{"0123456789abcdef0123456789abcdef"}, 180);
  EXPECT_EQ(
      line,
      "{\"v\":1,\"op\":\"answer\",\"args\":{\"event\":\"0123456789abcdef0123456789abcdef\",\"ms\":180}}\n");
  EXPECT_TRUE(Json::parse(line).ok());
  EXPECT_TRUE(Json::parse(kGiven).ok());
  EXPECT_TRUE(Json::parse(kFixedAnswer).ok());
}

}  // namespace
}  // namespace cairn::hook
