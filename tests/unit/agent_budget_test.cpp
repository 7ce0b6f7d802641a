// The ledger and the daily budget: whatever the model uses and whenever the daemon dies, the ceiling holds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "agent/estimate.h"
#include "agent/prices.h"
#include "ops/settings.h"
#include "store/model_calls.h"
#include "store/redistil.h"
#include "support/engine_fixture.h"
#include "support/scripted_provider.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;
using agent::Request;
using agent::Trouble;
using Lines = std::vector<std::string>;

void set(Machine& m, const std::string& key, const std::string& value) {
  must(ops::set_setting(m.disk, m.home, key, value));
  m.engine->reload();
}

// A turn of `count` commands.
void turn(Machine& m, Chat& chat, int count, int& uses) {
  m.deliver(chat.prompt("work"));
  for (int i = 0; i < count; ++i) m.deliver(chat.ran("make", chat.session + std::to_string(++uses)));
  m.deliver(chat.stop("Done."));
  must(m.drain());
}

TEST(ModelCalls, EveryCallHasARowWithWhatItUsed) {
  Machine m;
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  must(m.open());
  set(m, "agent.prices", R"(["model-1=3/15/0.3"])");
  provider.script = [](SessionId, const Request& request) {
    Plan plan = Plan::learns_each(request);
    std::get<agent::Reply>(plan.what).usage = {1000, 200, 400, {}};
    plan.reply_after = 2s;
    return plan;
  };
  Chat chat;
  int uses = 0;
  turn(m, chat, 2, uses);
  // Reserved before the reply: more than it can use.
  EXPECT_EQ(m.rows("SELECT outcome, purpose, estimated FROM model_calls"), (Lines{"open|turn|1"}));
  EXPECT_GT(m.number("SELECT reserved_tokens FROM model_calls"), 5000);
  m.clock.advance(2s);
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT provider, model, events, input_tokens, output_tokens, cached_tokens, duration_ms, "
                   "outcome, estimated FROM model_calls"),
            (Lines{"scripted|model-1|3|1000|200|400|2000|ok|0"}));
  EXPECT_EQ(m.text("SELECT printf('%.5f', cost_usd) FROM model_calls"), "0.00492");
  const Json model = must(m.run("status"))["model"];
  EXPECT_EQ(model["tokens_today"].as_int(), 1200);
  EXPECT_EQ(must(m.run("stats", Json::object({{"all", true}})))["model"]["calls"].as_int(), 1);
  EXPECT_GT(m.number("SELECT min(discovery_tokens) FROM session_summaries"), 0);
  m.close();
}

TEST(ModelCalls, AnOpenCallOfADeadDaemonCountsAsTheMostItCouldUse) {
  Machine m;
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  must(m.open());
  provider.script = [](SessionId, const Request&) {
    Plan plan = Plan::learns("slow");
    plan.reply_after = 10min;
    return plan;
  };
  Chat chat;
  int uses = 0;
  turn(m, chat, 1, uses);
  const std::int64_t reserved = m.number("SELECT reserved_tokens FROM model_calls");
  must(m.open());
  EXPECT_EQ(m.rows("SELECT outcome, input_tokens + output_tokens FROM model_calls WHERE id = 1"),
            (Lines{fmt::format("lost|{}", reserved)}));
  m.close();
}

TEST(Budget, UsedUpMakesNoMoreCallsAndTheBuiltInDistillerGoesOn) {
  Machine m;
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  must(m.open());
  set(m, "budget.daily_tokens", "30000");
  provider.script = [](SessionId, const Request& request) {
    Plan plan = Plan::learns_each(request);
    std::get<agent::Reply>(plan.what).usage = {9000, 1000, 0, {}};
    return plan;
  };
  int uses = 0;
  for (int i = 0; i < 6; ++i) {
    Chat chat;
    chat.session = "session " + std::to_string(i);
    turn(m, chat, 1, uses);
  }
  EXPECT_LE(m.number("SELECT sum(input_tokens + output_tokens) FROM model_calls"), 30000);
  EXPECT_GE(provider.requests.size(), 1u);
  EXPECT_LT(provider.requests.size(), 4u);
  EXPECT_EQ(m.rows("SELECT DISTINCT status FROM pending_messages"), (Lines{"processed"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 6);
  EXPECT_GT(m.number("SELECT count(*) FROM redistil_turns"), 0);
  EXPECT_TRUE(m.log.has("the day's budget of 30000 tokens is used up"));
  m.close();
}

TEST(Budget, InDollarsAllowsNoCallWithoutAPrice) {
  Machine m;
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  must(m.open());
  set(m, "budget.daily_usd", "5");
  Chat chat;
  int uses = 0;
  turn(m, chat, 1, uses);
  EXPECT_EQ(provider.requests.size(), 0u);
  EXPECT_TRUE(m.log.has("no price is known for the model \"model-1\""));
  set(m, "agent.prices", R"(["model-=1/5"])");
  m.clock.advance(11min);
  must(m.drain());
  EXPECT_EQ(provider.requests.size(), 1u);  // the turn was backlog
  EXPECT_GT(m.number("SELECT count(*) FROM observations WHERE title GLOB 'learned*'"), 0);
  m.close();
}

TEST(Budget, OfBacklogIsAShareOfTheDay) {
  Machine m;
  must(m.open());
  store::DailyBudget budget{100'000, 0, 20, 80};
  const auto reserve = [&](store::CallPurpose purpose, std::int64_t tokens) {
    store::NewCall call{"p", "m", purpose, {}, "", 1, tokens, 0, {}};
    return must(store::reserve_call(m.db(), call, budget, m.clock.now())).refused;
  };
  EXPECT_EQ(reserve(store::CallPurpose::backlog, 15'000), "");
  EXPECT_EQ(reserve(store::CallPurpose::backlog, 6'000), "20 % of the day's budget is used for backlog");
  EXPECT_EQ(reserve(store::CallPurpose::turn, 80'000), "");
  EXPECT_NE(reserve(store::CallPurpose::turn, 6'000), "");
  const auto sentence = must(store::budget_sentence(m.db(), budget, m.clock.now()));
  ASSERT_TRUE(sentence);
  EXPECT_NE(sentence->find("95000 of 100000 tokens"), std::string::npos);
  m.clock.advance(24h);
  EXPECT_EQ(reserve(store::CallPurpose::turn, 6'000), "");  // another day
  m.close();
}

// One random day of calls at the ledger, with crashes.
void random_ledger(Machine& m, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const store::DailyBudget budget{50'000 + below(200'000),
                                  below(2) == 0 ? 0 : 1.0 + static_cast<double>(below(5)), 20, 80};
  struct Open {
    std::int64_t id, input, output;
    double cost;
  };
  std::vector<Open> open;
  must(m.db().exec("DELETE FROM model_calls"));
  for (int i = 0; i < 60; ++i) {
    if (below(3) > 0) {
      store::NewCall call{"p",
                          "m",
                          below(3) == 0 ? store::CallPurpose::backlog : store::CallPurpose::turn,
                          {},
                          "",
                          1,
                          below(30'000),
                          4000,
                          {}};
      call.cost_usd = static_cast<double>(call.input_tokens) * 3e-6 + 4000 * 15e-6;
      const auto reserved = must(store::reserve_call(m.db(), call, budget, m.clock.now()));
      if (reserved.refused.empty()) open.push_back({reserved.id, call.input_tokens, 4000, *call.cost_usd});
    } else if (!open.empty()) {
      const Open call = open.back();
      open.pop_back();
      store::CallEnd end{store::ModelCallOutcome::ok,
                         "",
                         below(call.input + 1),
                         below(call.output + 1),
                         0,
                         {},
                         below(4) == 0,
                         1s};
      end.cost_usd =
          static_cast<double>(end.input_tokens) * 3e-6 + static_cast<double>(end.output_tokens) * 15e-6;
      must(store::end_call(m.db(), call.id, end));
    } else if (below(2) == 0) {
      must(store::end_lost_calls(m.db()));
      open.clear();
    }
    const store::Spent spent = must(store::spent_today(m.db(), m.clock.now()));
    ASSERT_LE(spent.tokens(), budget.tokens) << "seed " << seed;
    ASSERT_TRUE(budget.usd == 0 || spent.usd <= budget.usd + 1e-9) << "seed " << seed;
  }
}

TEST(BudgetProperty, NoScriptOfUsageCrossesTheCeiling) {
  Machine m;
  must(m.open());
  const int scripts = std::getenv("CAIRN_FULL") ? 1000 : 60;
  for (int seed = 1; seed <= scripts && !HasFatalFailure(); ++seed)
    random_ledger(m, static_cast<std::uint64_t>(seed));
  m.close();
}

// A random day of the whole engine: usage up to what a request can hold, failures, crashes.
TEST(BudgetProperty, TheWorkerNeverCrossesTheDailyBudget) {
  const int scripts = std::getenv("CAIRN_FULL") ? 100 : 4;
  for (int seed = 1; seed <= scripts; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const auto below = [&](std::size_t n) { return random() % n; };
    Machine m;
    ScriptedProvider provider{m.clock};
    m.provider = &provider;
    must(m.open());
    const std::int64_t limit = 40'000 + static_cast<std::int64_t>(below(100'000));
    set(m, "budget.daily_tokens", std::to_string(limit));
    std::map<std::int64_t, std::int64_t> history;
    std::size_t begun = 0;
    provider.script = [&](SessionId session, const Request& request) {
      if (below(5) == 0) return Plan::fails(static_cast<Trouble::Kind>(below(7)));
      Plan plan = Plan::learns_each(request);
      const auto bytes = static_cast<std::int64_t>(request.text.size() + request.system.size());
      const bool begins = std::exchange(begun, provider.starts.size()) != provider.starts.size();
      if (begins && !provider.starts.back().resume) history[session.value] = 0;
      const std::int64_t most = bytes + history[session.value];
      auto& reply = std::get<agent::Reply>(plan.what);
      reply.usage = {static_cast<std::int64_t>(below(static_cast<std::size_t>(most))) + 1,
                     static_cast<std::int64_t>(below(4000)),
                     0,
                     {}};
      history[session.value] = reply.usage.input_tokens + reply.usage.output_tokens;
      if (below(3) == 0) plan.reply_after = Millis(below(400'000));
      return plan;
    };
    int uses = 0;
    for (int i = 0; i < 14; ++i) {
      Chat chat;
      chat.session = "session " + std::to_string(below(4));
      turn(m, chat, static_cast<int>(below(4)), uses);
      m.clock.advance(Millis(below(200'000)));
      if (below(4) == 0) must(m.open());
      must(m.drain());
      for (const std::string& day :
           m.rows("SELECT sum(input_tokens + output_tokens) FROM model_calls GROUP BY day"))
        ASSERT_LE(std::stoll(day), limit) << "seed " << seed;
    }
    m.close();
  }
}

TEST(Prices, TheLongestNameWinsAndOwnPricesComeFirst) {
  EXPECT_FALSE(agent::price_of("some-local-model", {}));
  const auto mini = agent::price_of("gpt-4.1-mini-2025-04-14", {}), big = agent::price_of("gpt-4.1", {});
  ASSERT_TRUE(mini && big);
  EXPECT_LT(mini->input, big->input);
  EXPECT_EQ(agent::price_of("vendor/gpt-4.1", {})->input, big->input);
  EXPECT_EQ(agent::price_of("gpt-4.1", {"gpt-4=9/9"})->input, 9);
  EXPECT_EQ(agent::price_of("llama3", {"llama=0/0"})->output, 0);
  EXPECT_EQ(agent::wrong_price("llama=0/0"), "");
  EXPECT_NE(agent::wrong_price("llama"), "");
  EXPECT_NE(agent::wrong_price("llama=-1/2"), "");
  EXPECT_EQ(agent::prices_date().size(), 10u);
}

TEST(Estimate, GrowsWithTheWorkAndCountsTheConversation) {
  const auto one = agent::estimate({{1, 1, 10, 20'000}}, 40);
  EXPECT_EQ(one.calls, 1);
  EXPECT_EQ(one.cached_tokens, 0);
  const auto long_one = agent::estimate({{1, 1, 300, 600'000}}, 40);
  EXPECT_EQ(long_one.calls, 8);
  EXPECT_LT(long_one.input_tokens, 8 * 20'000);
  const auto two = agent::estimate({{1, 1, 10, 10'000}, {1, 2, 10, 10'000}}, 40);
  EXPECT_EQ(two.calls, 2);
  EXPECT_GT(two.cached_tokens, 0);
  // Beyond 12,000 tokens a conversation is replaced: the second turn pays for no history.
  const auto apart = agent::estimate({{1, 1, 10, 30'000}, {1, 2, 10, 30'000}}, 40);
  EXPECT_EQ(apart.calls, 2);
  EXPECT_EQ(apart.cached_tokens, 0);
  EXPECT_EQ(agent::estimate({}, 40).calls, 0);
}

}  // namespace
}  // namespace cairn::test
