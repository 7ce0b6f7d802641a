#include "store/model_calls.h"

#include <fmt/format.h>

#include <array>

#include "base/json.h"
#include "store/meta.h"
#include "store/rows.h"

namespace cairn::store {

static constexpr std::string_view kAgentTrouble = "agent_trouble";

static std::int64_t day_of(WallTime time) {
  return epoch_ms(time) / 86'400'000;
}

#define SUMS                                                                                                \
  "SELECT count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), "                      \
  "coalesce(sum(cached_tokens), 0), coalesce(sum(cost_usd), 0.0), coalesce(sum(cost_usd IS NULL), 0) FROM " \
  "model_calls "

static Result<Spent> read_spent(Result<Stmt> query) {
  Stmt row = TRY(std::move(query));
  Spent spent;
  if (!TRY(row.step())) return spent;
  spent.calls = row.integer(0);
  spent.input_tokens = row.integer(1);
  spent.output_tokens = row.integer(2);
  spent.cached_tokens = row.integer(3);
  spent.usd = row.real(4);
  spent.unpriced = row.integer(5);
  return spent;
}

Result<Spent> spent_today(Db& db, WallTime now) {
  return read_spent(db.query(SUMS "WHERE day = ?", day_of(now)));
}

static Result<Spent> spent_on_backlog(Db& db, WallTime now) {
  return read_spent(db.query(SUMS "WHERE day = ? AND purpose = 'backlog'", day_of(now)));
}

// The condition on the day is for the index model_calls_by_day.
Result<Spent> spent_since(Db& db, const std::optional<WallTime>& since) {
  if (!since) return read_spent(db.query(SUMS));
  return read_spent(
      db.query(SUMS "WHERE day >= ? AND started_at_epoch >= ?", day_of(*since), epoch_ms(*since)));
}

Result<Spent> spent_on(Db& db, const std::optional<std::string>& project) {
  if (!project) return read_spent(db.query(SUMS));
  return read_spent(
      db.query(SUMS
               "WHERE session_db_id IN (SELECT id FROM sdk_sessions WHERE project IN (SELECT member FROM "
               "project_scope WHERE project = ?))",
               *project));
}

// Why the call must not be made; empty when it may.
static Result<std::string> refusal(Db& db, const NewCall& call, const DailyBudget& budget, WallTime now) {
  const std::int64_t tokens = call.input_tokens + call.output_tokens;
  if (budget.usd > 0 && !call.cost_usd)
    return fmt::format(
        "no price is known for the model \"{}\", so budget.daily_usd allows no call: set its "
        "price in agent.prices, or unset budget.daily_usd",
        call.model);
  const Spent spent = TRY(spent_today(db, now));
  const double cost = call.cost_usd.value_or(0);
  if (budget.tokens > 0 && spent.tokens() + tokens > budget.tokens)
    return fmt::format("the day's budget of {} tokens is used up ({} used, the next call may need {})",
                       budget.tokens, spent.tokens(), tokens);
  if (budget.usd > 0 && spent.usd + cost > budget.usd)
    return fmt::format(
        "the day's budget of ${:.2f} is used up (${:.2f} used, the next call may need ${:.2f})", budget.usd,
        spent.usd, cost);
  // Backlog may use only a share of the day, so that current turns are not left without a model.
  if (call.purpose != CallPurpose::backlog) return std::string();
  const Spent backlog = TRY(spent_on_backlog(db, now));
  const auto share = static_cast<double>(budget.backlog_percent) / 100;
  const bool tokens_out = budget.tokens > 0 && static_cast<double>(backlog.tokens() + tokens) >
                                                   static_cast<double>(budget.tokens) * share;
  const bool usd_out = budget.usd > 0 && backlog.usd + cost > budget.usd * share;
  if (tokens_out || usd_out)
    return fmt::format("{} % of the day's budget is used for backlog", budget.backlog_percent);
  return std::string();
}

Result<Reserved> reserve_call(Db& db, const NewCall& call, const DailyBudget& budget, WallTime now) {
  Reserved out;
  out.refused = TRY(refusal(db, call, budget, now));
  if (!out.refused.empty()) return out;
  TRY(
      db.run("INSERT INTO model_calls(provider, model, purpose, session_db_id, batch_id, events, started_at, "
             "started_at_epoch, day, reserved_tokens, input_tokens, output_tokens, cost_usd) "
             "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
             call.provider, call.model, name_of(call.purpose),
             call.session ? std::optional(call.session->value) : std::nullopt, call.batch, call.events,
             iso8601(now), epoch_ms(now), day_of(now), call.input_tokens + call.output_tokens,
             call.input_tokens, call.output_tokens, call.cost_usd));
  out.id = db.last_insert_rowid();
  return out;
}

// Only an open call: one that was ended as lost stays lost.
Status end_call(Db& db, std::int64_t id, const CallEnd& end) {
  // What the call used is not known: the row keeps the most that it can have used.
  if (end.estimated)
    return db.run("UPDATE model_calls SET outcome = ?, duration_ms = ? WHERE id = ? AND outcome = 'open'",
                  name_of(end.outcome), end.duration.count(), id);
  return db.run(
      "UPDATE model_calls SET outcome = ?1, duration_ms = ?2, model = CASE WHEN ?3 = '' THEN model ELSE ?3 "
      "END, input_tokens = ?4, output_tokens = ?5, cached_tokens = ?6, cost_usd = ?7, estimated = 0 WHERE id "
      "= ?8 AND outcome = 'open'",
      name_of(end.outcome), end.duration.count(), end.model, end.input_tokens, end.output_tokens,
      end.cached_tokens, end.cost_usd, id);
}

// They keep what was reserved: the provider may have used all of it.
Result<std::int64_t> end_lost_calls(Db& db) {
  TRY(db.run("UPDATE model_calls SET outcome = 'lost' WHERE outcome = 'open'"));
  return db.changes();
}

Result<std::optional<std::string>> budget_sentence(Db& db, const DailyBudget& budget, WallTime now) {
  if (budget.tokens <= 0 && budget.usd <= 0) return std::optional<std::string>();
  const Spent spent = TRY(spent_today(db, now));
  const auto share = [](double used, double limit) { return limit > 0 ? 100 * used / limit : 0; };
  const double tokens = share(static_cast<double>(spent.tokens()), static_cast<double>(budget.tokens));
  const double usd = share(spent.usd, budget.usd);
  const auto warn = static_cast<double>(budget.warn_percent);
  if (tokens < warn && usd < warn) return std::optional<std::string>();
  const std::string used = tokens >= usd ? fmt::format("{} of {} tokens", spent.tokens(), budget.tokens)
                                         : fmt::format("${:.2f} of ${:.2f}", spent.usd, budget.usd);
  return std::optional(
      fmt::format("the model has used {} of today's budget; when it is used up, the built-in distiller goes "
                  "on until midnight UTC: `cairn config set {}` changes it",
                  used, tokens >= usd ? "budget.daily_tokens" : "budget.daily_usd"));
}

Result<std::int64_t> most_excess(Db& db, const std::string& provider) {
  return TRY(db.integer("SELECT max(input_tokens + output_tokens - reserved_tokens) FROM (SELECT * FROM "
                        "model_calls WHERE provider = ? AND estimated = 0 ORDER BY id DESC LIMIT 50)",
                        provider))
      .value_or(0);
}

Status put_agent_trouble(Db& db, const AgentTrouble& trouble) {
  Json value = Json::object({{"provider", trouble.provider},
                             {"kind", name_of(trouble.kind)},
                             {"reason", trouble.reason},
                             {"since", epoch_ms(trouble.since)}});
  if (trouble.until) value.set("until", epoch_ms(*trouble.until));
  return put_meta(db, kAgentTrouble, value.dump());
}

Status clear_agent_trouble(Db& db) {
  return delete_meta(db, kAgentTrouble);
}

Result<std::optional<AgentTrouble>> agent_trouble(Db& db) {
  const auto text = TRY(meta_text(db, kAgentTrouble));
  if (!text) return std::optional<AgentTrouble>();
  const Json value = Json::parse(*text).value_or(Json());
  AgentTrouble trouble;
  trouble.provider = value["provider"].as_string();
  trouble.kind = named<ModelCallOutcome>(value["kind"].as_string()).value_or(trouble.kind);
  trouble.reason = value["reason"].as_string();
  trouble.since = from_epoch_ms(value["since"].as_int());
  if (value["until"].is_int()) trouble.until = from_epoch_ms(value["until"].as_int());
  return std::optional(std::move(trouble));
}

std::string trouble_sentence(const AgentTrouble& trouble) {
  const auto advice = [&]() -> std::string_view {
    switch (trouble.kind) {
      case ModelCallOutcome::auth: return "log in again or set its key";
      case ModelCallOutcome::quota: return "its quota must be renewed";
      case ModelCallOutcome::setup: return "check agent.provider, agent.model and agent.endpoint";
      default: return "it is tried again by itself";
    }
  };
  return fmt::format(
      "the model ({}) does not work: {}; the built-in distiller does its work, and nothing is lost: {}; "
      "`cairn agent test` tries it now",
      trouble.provider, trouble.reason, advice());
}

}  // namespace cairn::store
