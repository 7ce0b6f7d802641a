// docs/hosts/README.md says what is registered with each agent: compared with what the adapters declare.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "host/host.h"

namespace cairn::host {
namespace {

using event::Kind;

std::string names_of(const Host& host, std::initializer_list<Kind> kinds) {
  std::string names;
  for (const std::string& event : host.hooks().events())
    for (const Kind kind : kinds)
      if (host.kind_of(event) == kind) names += (names.empty() ? "`" : ", `") + event + "`";
  return names.empty() ? "–" : names;
}

std::string expected_table() {
  std::string table = "| |";
  std::vector<const Host*> all;
  for (const Host* host : hosts())
    if (!host->files().empty()) all.push_back(host);
  for (const Host* host : all) table += " " + std::string(host->title()) + " |";
  table += "\n|---|";
  for (std::size_t i = 0; i < all.size(); ++i) table += "---|";
  const auto row = [&](std::string_view name, const auto& cell) {
    table += "\n| " + std::string(name) + " |";
    for (const Host* host : all) table += " " + std::string(cell(*host)) + " |";
  };
  const auto events = [&](std::string_view name, std::initializer_list<Kind> kinds) {
    row(name, [&](const Host& host) { return names_of(host, kinds); });
  };
  events("session start", {Kind::session_start});
  events("prompt", {Kind::prompt});
  events("tool starts", {Kind::tool_start});
  events("tool ended", {Kind::tool});
  events("tool failed", {Kind::tool_failure});
  events("turn end", {Kind::stop});
  events("turn failed", {Kind::stop_failure});
  events("compaction", {Kind::compact_start, Kind::compact_end});
  events("subagent", {Kind::subagent_start, Kind::subagent_stop});
  events("session end", {Kind::session_end});
  row("context", [](const Host& host) {
    const Traits traits = host.traits();
    if (traits.context_limit == 0) return std::string("no limit");
    return std::to_string(traits.context_limit) + (traits.counts_bytes ? " bytes" : " characters");
  });
  row("transcript", [](const Host& host) {
    switch (host.traits().transcript) {
      case Traits::Transcript::none: return "none";
      case Traits::Transcript::texts: return "texts";
      case Traits::Transcript::ledger: return "ledger";
    }
    return "";
  });
  row("approval", [](const Host& host) { return host.traits().needs_consent ? "yes" : "no"; });
  return table + "\n";
}

TEST(AgentDocs, TheTableIsWhatTheAdaptersDeclare) {
  std::ifstream in(std::string(CAIRN_TESTS_DIR) + "/../docs/hosts/README.md");
  std::stringstream text;
  text << in.rdbuf();
  const std::string page = text.str(), begin = "<!-- agents -->\n", end = "<!-- end -->";
  const std::size_t from = page.find(begin) + begin.size();
  EXPECT_EQ(page.substr(from, page.find(end) - from), expected_table());
}

TEST(AgentDocs, EveryAgentHasAPage) {
  for (const Host* host : hosts())
    EXPECT_TRUE(
        std::ifstream(std::string(CAIRN_TESTS_DIR) + "/../docs/hosts/" + std::string(host->name()) + ".md")
            .good())
        << host->name();
}

}  // namespace
}  // namespace cairn::host
