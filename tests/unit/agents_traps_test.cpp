// What is easy to get wrong with other coding agents: answers, consent, what must not be registered.
#include <gtest/gtest.h>

#include "hook/control.h"
#include "host/codex/trust.h"
#include "host/files.h"
#include "host/host.h"
#include "support/sim_disk.h"

namespace cairn::host {
namespace {

using hook::rule_of;
using Asks = hook::EventRule::Asks;
const HookProgram kProgram{"/home/dev/.local/bin/cairn-hook", false};

std::vector<const Host*> registered() {
  std::vector<const Host*> all;
  for (const Host* host : hosts())
    if (!host->files().empty()) all.push_back(host);
  return all;
}

TEST(AgentAnswers, NoFixedAnswerEverBlocksAnything) {
  for (const Host* host : registered())
    for (const std::string& event : host->hooks().events()) {
      const hook::EventRule rule = rule_of(host->name(), event);
      if (rule.answer.empty()) continue;
      const Json answer = *Json::parse(rule.answer);
      EXPECT_TRUE(answer.is_object());
      EXPECT_TRUE(answer["continue"].as_bool(true)) << host->name() << " " << event;
      for (const char* key : {"decision", "permission", "permissionDecision", "stopReason", "reason"})
        EXPECT_FALSE(answer.has(key)) << host->name() << " " << event;
    }
}

TEST(AgentAnswers, OthersGetAnObjectWithoutMembers) {
  for (const Host* host : registered()) {
    if (host == &default_host()) continue;
    for (const std::string& event : host->hooks().events())
      EXPECT_EQ(rule_of(host->name(), event).answer, "{}") << host->name() << " " << event;
    EXPECT_EQ(rule_of(host->name(), "SomethingNew").answer, "{}");
  }
}

TEST(AgentAnswers, EveryHostsStartAndPromptAsk) {
  for (const Host* host : registered()) {
    if (host == &default_host()) continue;
    for (const std::string& event : host->hooks().events()) {
      const event::Kind kind = host->kind_of(event);
      const Asks expected = kind == event::Kind::session_start ? Asks::context
                            : kind == event::Kind::prompt      ? Asks::due
                                                               : Asks::nothing;
      EXPECT_EQ(rule_of(host->name(), event).asks, expected) << host->name() << " " << event;
    }
  }
}

TEST(AgentAnswers, HaveEachHostsExactShape) {
  const auto line = [](std::string_view host, std::string_view event) {
    return find_host(host).write_answer(event, "T", "M").dump();
  };
  EXPECT_EQ(
      line("codex", "SessionStart"),
      R"({"systemMessage":"M","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"T"}})");
  EXPECT_EQ(
      line("gemini", "BeforeAgent"),
      R"({"systemMessage":"M","hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"T"}})");
  EXPECT_EQ(
      line("qwen", "UserPromptSubmit"),
      R"({"systemMessage":"M","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"T"}})");
  EXPECT_EQ(line("copilot", "SessionStart"), R"({"additionalContext":"T"})");
  EXPECT_EQ(line("cursor", "sessionStart"), R"({"additional_context":"T"})");
  EXPECT_EQ(line("opencode", "chat.message"), R"({"additionalContext":"T","systemMessage":"M"})");
  for (const Host* host : hosts())
    EXPECT_EQ(host->context_in(host->write_answer("SessionStart", "T", "")), "T") << host->name();
}

TEST(AgentAnswers, WhatIsBrokenIsSaidWhereTheHostShowsIt) {
  EXPECT_EQ(hook::broken_answer(rule_of("codex", "SessionStart"), "no disk"),
            R"({"systemMessage": "cairn: no disk; run `cairn doctor`"})");
  EXPECT_EQ(hook::broken_answer(rule_of("copilot", "SessionStart"), "no disk"), "{}");
  EXPECT_EQ(
      hook::broken_answer(rule_of("claude-code", "SessionStart"), "no disk"),
      R"({"continue": true, "suppressOutput": true, "systemMessage": "cairn: no disk; run `cairn doctor`"})");
}

TEST(AgentRegistration, NeverTheEventsThatCanHurtTheHost) {
  const auto events = [](std::string_view host) { return find_host(host).hooks().events(); };
  for (const std::string& event : events("copilot")) EXPECT_NE(event, "PreToolUse");
  for (const std::string& event : events("gemini"))
    for (const char* costly : {"BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress"})
      EXPECT_NE(event, costly);
  const std::string copilots = *find_host("copilot").hooks().with_ours("", kProgram);
  EXPECT_EQ(copilots.find("PreToolUse"), std::string::npos);
}

TEST(AgentRegistration, EveryRegisteredEventIsKnown) {
  for (const Host* host : registered()) {
    if (host == &default_host()) continue;
    for (const std::string& event : host->hooks().events())
      EXPECT_NE(host->kind_of(event), event::Kind::other) << host->name() << " " << event;
  }
}

TEST(AgentRegistration, OpenCodesPluginKillsASlowHookAndNeverThrows) {
  const std::string text = *find_host("opencode").hooks().with_ours("", kProgram);
  EXPECT_NE(text.find(R"(const HOOK = "/home/dev/.local/bin/cairn-hook")"), std::string::npos);
  EXPECT_NE(text.find("SIGKILL"), std::string::npos);
  EXPECT_EQ(text.find("throw "), std::string::npos);
}

// Codex's own command line is what the user approved: it must not change with the version.
TEST(CodexConsent, TheCommandLineHasNoVersion) {
  const std::string text = *find_host("codex").hooks().with_ours("", kProgram);
  EXPECT_EQ(text.find(CAIRN_VERSION), std::string::npos);
  EXPECT_NE(text.find("/home/dev/.local/bin/cairn-hook SessionStart --host codex"), std::string::npos);
}

class Consent : public testing::Test {
 protected:
  Consent() { file_ = "/home/dev/.codex/hooks.json"; }

  std::string missing(const std::string& toml) {
    disk_.make_dir("/home").ok(), disk_.make_dir("/home/dev").ok(), disk_.make_dir("/home/dev/.codex").ok();
    EXPECT_TRUE(os::replace_file(disk_, "/home/dev/.codex/config.toml", toml).ok());
    return codex_cli::missing_consent(disk_, file_, settings());
  }
  Json settings() const { return *Json::parse(*find_host("codex").hooks().with_ours("", kProgram)); }
  std::string approvals() const {
    std::string toml = "model = \"gpt-5.5\"\n";
    const Json all = settings();
    for (const auto& [event, groups] : all["hooks"].members()) {
      std::string snake;
      for (const char c : event)
        snake += c >= 'A' && c <= 'Z' ? (snake.empty() ? "" : "_") + std::string(1, static_cast<char>(c + 32))
                                      : std::string(1, c);
      const Json& group = groups.items()[0];
      toml += "[hooks.state.\"" + file_ + ":" + snake + ":0:0\"]\ntrusted_hash = \"" +
              codex_cli::trust_hash(event, group, group["hooks"].items()[0]) + "\"\n";
    }
    return toml;
  }

  test::SimDisk disk_{{}};
  std::string file_;
};

TEST_F(Consent, IsMissingUntilTheUserApproved) {
  const std::string text = missing("model = \"gpt-5.5\"\n");
  EXPECT_NE(text.find("Hooks need review"), std::string::npos);
  EXPECT_NE(text.find("Trust all and continue"), std::string::npos);
  EXPECT_NE(text.find("not approved yet"), std::string::npos);
}

TEST_F(Consent, IsThereWithTheHashesThatCodexWrites) {
  EXPECT_EQ(missing(approvals()), "");
}

TEST_F(Consent, IsAskedAgainWhenAHookChanged) {
  std::string toml = approvals();
  const std::size_t at = toml.find("sha256:") + 10;
  toml[at] = toml[at] == 'a' ? 'b' : 'a';
  EXPECT_NE(missing(toml).find("changed since you approved them"), std::string::npos);
}

// The value is what Codex 0.166.0 computes for this hook.
TEST_F(Consent, ComputesTheHashAsCodexDoes) {
  const Json hook = Json::object({{"type", "command"},
                                  {"command", "/usr/local/bin/cairn-hook session-start --host codex"},
                                  {"timeout", 5}});
  EXPECT_EQ(
      codex_cli::trust_hash("SessionStart", Json::object({{"matcher", "startup|clear|compact|fork"}}), hook),
      "sha256:5cfafab5f5d10d10336ecdbe449cf2d71e4552134afe432829a1f18d3999a022");
}

}  // namespace
}  // namespace cairn::host
