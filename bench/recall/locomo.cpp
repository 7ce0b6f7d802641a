#include <fmt/format.h>

#include <map>

#include "base/time.h"
#include "figures.h"
#include "os/disk.h"
#include "recall/search.h"
#include "store/fts.h"
#include "store/identity.h"
#include "store/observations.h"
#include "store/schema.h"
#include "support/temp_dir.h"

namespace cairn::bench {

namespace {

// "1:56 pm on 8 May, 2023"
WallTime time_of(std::string_view text) {
  static const std::string kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int hour = 0, minute = 0, day = 1, year = 2023;
  char half[8] = "", month[16] = "";
  if (std::sscanf(std::string(text).c_str(), "%d:%d %7s on %d %15[A-Za-z], %d", &hour, &minute, half, &day,
                  month, &year) != 6)
    return from_epoch_ms(0);
  const auto at = kMonths.find(std::string(month).substr(0, 3));
  if (half[0] == 'p' && hour < 12) hour += 12;
  return parse_iso8601(
             fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:00.000Z", year, at / 3 + 1, day, hour, minute))
      .value_or(from_epoch_ms(0));
}

Result<store::Db> open_store(const std::string& directory) {
  store::Db db = TRY(store::Db::open({.path = directory + "/cairn.db"}));
  TRY(store::migrate(db, store::schema(), from_epoch_ms(0)));
  return db;
}

// One conversation is a project, its sessions are sessions, a turn is a record with its speaker as a concept.
Status load(store::Db& db, const Json& sample, const std::string& project,
            std::map<std::int64_t, std::string>& turns) {
  TRY(
      db.run("INSERT INTO projects(uuid, key, name, root, created_at, created_at_epoch) VALUES(?1, ?1, ?1, "
             "?1, '', 0)",
             project));
  const Json& conversation = sample["conversation"];
  for (int number = 1; conversation.has(fmt::format("session_{}", number)); ++number) {
    const WallTime at = time_of(conversation[fmt::format("session_{}_date_time", number)].as_string());
    const std::string session = fmt::format("{}-{}", project, number);
    TRY(db.run(
        "INSERT INTO sdk_sessions(uuid, platform, content_session_id, project, started_at, started_at_epoch, "
        "last_event_at_epoch) VALUES(?1, 'test', ?1, ?2, '', ?3, ?3)",
        session, project, epoch_ms(at)));
    const MemoryId memory = TRY(store::ensure_memory_id(db, SessionId{db.last_insert_rowid()}, at));
    std::int64_t line = 0;
    for (const Json& turn : conversation[fmt::format("session_{}", number)].items()) {
      store::Observation o;
      o.project = project;
      o.type = "discovery";
      o.narrative =
          std::string(turn["text"].as_string()) + " " + std::string(turn["blip_caption"].as_string());
      o.concepts = {std::string(turn["speaker"].as_string())};
      o.created_at = at + Millis(1000 * ++line);
      turns[TRY(store::add_observation(db, memory, o)).value] = turn["dia_id"].as_string();
    }
  }
  return {};
}

// The turns that a piece of evidence names: "D8:6", but also "D8:6; D9:17", "D9:1 D4:4" and "D:11:26".
std::vector<std::string> turns_in(std::string_view evidence) {
  std::vector<std::string> found;
  const auto number = [&](std::size_t& at) {
    int value = 0;
    while (at < evidence.size() && evidence[at] >= '0' && evidence[at] <= '9')
      value = value * 10 + (evidence[at++] - '0');
    return value;
  };
  for (std::size_t at = evidence.find('D'); at != std::string_view::npos; at = evidence.find('D', at)) {
    if (++at < evidence.size() && evidence[at] == ':') ++at;
    const int session = number(at);
    if (at < evidence.size() && evidence[at] == ':')
      found.push_back(fmt::format("D{}:{}", session, number(++at)));
  }
  return found;
}

std::string any_of_terms(std::string_view project, std::string_view question) {
  std::string any;
  store::TermReader reader(question, store::TermsOf::query);
  store::Term term;
  while (reader.next(term)) any += (any.empty() ? "\"" : " OR \"") + term.text + "\"";
  return "scope : \"p" + std::string(project) + "\" AND {title body} : (" + any + ")";
}

}  // namespace

Result<Json> run_locomo(const std::string& file) {
  os::RealDisk disk;
  const Json samples = TRY(Json::parse(TRY(os::read_file(disk, file, 64u << 20))));
  const test::TempDir directory;
  store::Db db = TRY(open_store(directory.path()));
  Figures ours, plain;
  std::map<std::int64_t, Figures> by_category;
  for (const Json& sample : samples.items()) {
    const std::string project(sample["sample_id"].as_string());
    std::map<std::int64_t, std::string> turns;
    TRY(load(db, sample, project, turns));
    std::set<std::string> known;
    for (const auto& [row, turn] : turns) known.insert(turn);
    std::string hex;
    for (const char c : project) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    for (const Json& question : sample["qa"].items()) {
      const std::int64_t category = question["category"].as_int();
      std::set<std::string> right;
      for (const Json& evidence : question["evidence"].items())
        for (std::string& turn : turns_in(evidence.as_string()))
          if (known.contains(turn)) right.insert(std::move(turn));
      if (category < 1 || category > 4 || right.empty()) continue;
      recall::Search search;
      search.query = recall::read_query(question["question"].as_string(), from_epoch_ms(1'700'000'000'000));
      search.project = project;
      search.limit = 10;
      std::vector<std::string> found, base;
      for (const recall::Hit& hit : TRY(recall::search(db, search)).hits)
        found.push_back(turns[hit.record.id.row]);
      for (const store::Entry& entry :
           TRY(store::best_entries(db, any_of_terms(hex, question["question"].as_string()), {}, 10)))
        base.push_back(turns[entry.id.row]);
      ours.add(found, right);
      by_category[category].add(found, right);
      plain.add(base, right);
    }
  }
  Json out = ours.json();
  out.set("fts5_or", plain.json());
  Json categories = Json::object();
  for (const auto& [category, figures] : by_category)
    categories.set(std::to_string(category), figures.json());
  return out.set("categories", categories);
}

}  // namespace cairn::bench
