#include <fmt/format.h>

#include <map>

#include "figures.h"
#include "os/disk.h"
#include "recall/hint.h"
#include "recall/search.h"
#include "store/fts.h"
#include "store/records.h"
#include "support/engine_fixture.h"

namespace cairn::bench {

namespace {

using test::Chat;
using test::Machine;

// Plays one session through the hook's inbox and the engine, as it would happen.
void play(Machine& m, const Json& session) {
  Chat chat;
  chat.session = session["id"].as_string();
  chat.cwd = "/home/dev/code/" + std::string(session["project"].as_string());
  m.deliver(chat.start());
  int use = 0;
  for (const Json& turn : session["turns"].items()) {
    m.deliver(chat.prompt(turn["prompt"].as_string()));
    for (const Json& call : turn["calls"].items()) {
      const std::string id = fmt::format("{}-{}", chat.session, ++use);
      if (call.has("error"))
        m.deliver(chat.tool_failure(call["tool"].as_string(), id, call["input"], call["error"].as_string()));
      else
        m.deliver(chat.tool(call["tool"].as_string(), id, call["input"], call["response"]));
    }
    m.deliver(chat.stop(turn["answer"].as_string()));
    m.clock.advance(std::chrono::minutes(17));
  }
  m.deliver(chat.end());
  test::must(m.drain());
  m.clock.advance(std::chrono::hours(20));
}

std::string turn_of(const recall::Record& record) {
  return fmt::format("{}#{}", record.session, record.prompt_number.value_or(0));
}

std::string any_of_terms(std::string_view question) {
  std::string any;
  store::TermReader reader(question, store::TermsOf::query);
  store::Term term;
  while (reader.next(term)) any += (any.empty() ? "\"" : " OR \"") + term.text + "\"";
  return "{title body files concepts} : (" + any + ")";
}

// How often a prompt is given a hint: never for small talk, and the right one for a question.
Result<Json> hints(Machine& m, const Json& corpus) {
  int talk = 0, false_ones = 0, asked = 0, given = 0, right = 0;
  Json wrong = Json::array();
  for (const Json& prompt : corpus["small_talk"].items()) {
    ++talk;
    const auto hint = TRY(recall::hint_for(m.db(), "ledger", prompt.as_string()));
    if (hint) ++false_ones, wrong.push(prompt);
  }
  for (const Json& question : corpus["prompts"].items()) {
    ++asked;
    const std::string project(question["project"].as_string());
    const auto hint = TRY(recall::hint_for(m.db(), project, question["prompt"].as_string()));
    if (!hint) continue;
    ++given;
    std::set<std::string> turns;
    for (const recall::RecordId& id : hint->records)
      if (const auto record = TRY(store::load_record(m.db(), id))) turns.insert(turn_of(*record));
    const auto& evidence = question["evidence"].items();
    const bool has = std::any_of(evidence.begin(), evidence.end(), [&](const Json& turn) {
      return turns.contains(std::string(turn.as_string()));
    });
    if (has)
      ++right;
    else
      wrong.push(question["prompt"]);
  }
  return Json::object({{"small_talk", talk},
                       {"false", false_ones},
                       {"questions", asked},
                       {"given", given},
                       {"right", right},
                       {"precision", given == 0 ? 0.0 : static_cast<double>(right) / given},
                       {"wrong", wrong}});
}

}  // namespace

Result<Json> run_own(const std::string& file) {
  os::RealDisk disk;
  const Json corpus = TRY(Json::parse(TRY(os::read_file(disk, file, 64u << 20))));
  Machine m;
  TRY(m.open());
  for (const Json& session : corpus["sessions"].items()) play(m, session);
  std::map<std::string, Figures> ours, plain;
  Json missed = Json::array();
  for (const Json& question : corpus["questions"].items()) {
    const std::string split(question["split"].as_string());
    std::set<std::string> right;
    for (const Json& turn : question["evidence"].items()) right.emplace(turn.as_string());
    const std::string text(question["question"].as_string());
    const Json result = TRY(m.run("search", Json::object({{"query", text}, {"all", true}, {"limit", 10}})));
    std::vector<std::string> found, base;
    for (const Json& hit : result["results"].items())
      found.push_back(fmt::format("{}#{}", hit["session"].as_string(), hit["prompt_number"].as_int()));
    for (const store::Entry& entry : TRY(store::best_entries(m.db(), any_of_terms(text), {}, 60)))
      if (const auto record = TRY(store::load_record(m.db(), entry.id))) base.push_back(turn_of(*record));
    ours[split].add(found, right);
    plain[split].add(base, right);
    const bool is_found =
        std::any_of(found.begin(), found.end(), [&](const auto& id) { return right.contains(id); });
    if (!is_found && split == "train") missed.push(text);
  }
  Json out = ours["test"].json();
  out.set("fts5_or", plain["test"].json());
  out.set("train", ours["train"].json());
  out.set("train_fts5_or", plain["train"].json());
  out.set("sessions", std::ssize(corpus["sessions"].items()));
  out.set("events", m.number("SELECT count(*) FROM events"));
  out.set("hints", TRY(hints(m, corpus)));
  out.set("missed_in_train", missed);
  return out;
}

}  // namespace cairn::bench
