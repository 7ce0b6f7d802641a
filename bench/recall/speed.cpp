#include <fmt/format.h>

#include <chrono>
#include <random>

#include "base/time.h"
#include "figures.h"
#include "recall/search.h"
#include "store/identity.h"
#include "store/schema.h"
#include "store/sql.h"
#include "support/temp_dir.h"

namespace cairn::bench {

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Words as frequent as in a language: the n-th is about 1/n as frequent as the first.
class Words {
 public:
  explicit Words(unsigned seed) : random_(seed) {}
  std::string next() {
    const double u = std::uniform_real_distribution<double>(0, 1)(random_);
    return word(static_cast<int>(std::exp(u * std::log(60'000.0))) - 1);
  }
  std::string some(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += next() + " ";
    return text;
  }

 private:
  static std::string word(int n) {
    static constexpr std::string_view kParts[] = {"ka", "lo", "mi", "ne", "ru", "sa", "to", "vi", "po", "da"};
    std::string text;
    do text += kParts[n % 10];
    while ((n /= 10) > 0);
    return text + "x";
  }
  std::mt19937 random_;
};

double at_percent(std::vector<double> times, double part) {
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
}

Json times_json(const std::vector<double>& times) {
  const auto rounded = [](double ms) { return std::round(ms * 100) / 100; };
  return Json::object(
      {{"p50_ms", rounded(at_percent(times, 0.5))}, {"p95_ms", rounded(at_percent(times, 0.95))}});
}

Status fill(store::Db& db, std::int64_t rows, double& product_ms, double& bare_ms) {
  TRY(db.exec("CREATE VIRTUAL TABLE bare USING fts5(text, content = '', tokenize = 'porter')"));
  TRY(
      db.run("INSERT INTO projects(uuid, key, name, root, created_at, created_at_epoch) VALUES('p', '/p', "
             "'proj', '/p', '', 0)"));
  Words words(1);
  MemoryId memory;
  for (std::int64_t done = 0; done < rows;) {
    std::vector<std::string> texts;
    for (int i = 0; i < 2000 && done < rows; ++i, ++done) texts.push_back(words.some(30));
    auto start = Clock::now();
    TRY(store::in_transaction(db, [&]() -> Status {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i % 50 == 0) {
          const std::string name = fmt::format("s{}-{}", done, i);
          TRY(
              db.run("INSERT INTO sdk_sessions(uuid, platform, content_session_id, project, started_at, "
                     "started_at_epoch, last_event_at_epoch) VALUES(?1, 'test', ?1, 'proj', '', 0, 0)",
                     name));
          memory = TRY(store::ensure_memory_id(db, SessionId{db.last_insert_rowid()}, from_epoch_ms(1)));
        }
        const auto number = done - static_cast<std::int64_t>(texts.size() - i);
        TRY(
            db.run("INSERT INTO observations(uuid, memory_session_id, project, type, title, narrative, "
                   "content_hash, "
                   "created_at, created_at_epoch) VALUES('u' || ?1, ?2, 'proj', 'change', substr(?3, 1, 40), "
                   "substr(?3, 41), ?1, '', 1000 * ?1)",
                   number, memory.value, texts[i]));
      }
      return {};
    }));
    product_ms += ms_since(start);
    start = Clock::now();
    TRY(store::in_transaction(db, [&]() -> Status {
      for (const std::string& text : texts) TRY(db.run("INSERT INTO bare(text) VALUES(?)", text));
      return {};
    }));
    bare_ms += ms_since(start);
  }
  return {};
}

}  // namespace

Result<Json> run_speed(std::int64_t rows) {
  test::TempDir directory;
  store::Db db = TRY(store::Db::open({.path = directory.path() + "/cairn.db"}));
  TRY(store::migrate(db, store::schema(), from_epoch_ms(0)));
  double product = 0, bare = 0;
  TRY(fill(db, rows, product, bare));
  Words words(7);
  std::vector<double> ours, plain;
  for (int i = 0; i < 60; ++i) {
    const std::string query = words.some(5 + i % 3);
    recall::Search search;
    search.query = recall::read_query(query, from_epoch_ms(1000 * rows));
    search.project = "proj";
    search.limit = 10;
    auto start = Clock::now();
    TRY(recall::search(db, search));
    ours.push_back(ms_since(start));
    std::string any;
    store::TermReader reader(query, store::TermsOf::query);
    store::Term term;
    while (reader.next(term)) any += (any.empty() ? "\"" : " OR \"") + term.text + "\"";
    start = Clock::now();
    store::Stmt row =
        TRY(db.query("SELECT rowid FROM bare WHERE bare MATCH ? ORDER BY bm25(bare) LIMIT 10", any));
    while (TRY(row.step())) {
    }
    plain.push_back(ms_since(start));
  }
  const double ratio = at_percent(ours, 0.95) / std::max(at_percent(plain, 0.95), 1e-9);
  return Json::object({{"rows", rows},
                       {"search", times_json(ours)},
                       {"fts5_or", times_json(plain)},
                       {"p95_ratio", std::round(1000 * ratio) / 1000},
                       {"index_rate_ratio", std::round(1000 * bare / std::max(product, 1e-9)) / 1000},
                       {"rows_per_second", std::round(static_cast<double>(rows) / product * 1000)}});
}

}  // namespace cairn::bench
