#include "recall/how.h"

#include <algorithm>
#include <map>
#include <set>

#include "archive/call.h"
#include "base/json.h"
#include "base/text.h"
#include "distil/distil.h"
#include "host/host.h"
#include "recall/match.h"
#include "recall/words.h"
#include "store/event_index.h"
#include "store/evidence.h"
#include "store/passages.h"
#include "store/sessions.h"

namespace cairn::recall {

namespace {

constexpr std::size_t kCalls = 300;             // newest ones that are looked at
constexpr std::size_t kPassagesScanned = 2000;  // passages of transcripts
constexpr std::size_t kPassages = 60;           // the best of them
constexpr std::size_t kCallsOfTranscript = 1000;
constexpr std::size_t kTranscripts = 6;       // that are read
constexpr std::size_t kLongestCommand = 400;  // bytes: a longer one is a script, no command to run again

// Words that say what is wanted, not what is run.
bool is_asking(std::string_view stem) {
  return any_of(stem,
                {"run", "do", "how", "command", "execut", "start", "us", "use", "project", "repo", "all"});
}

// Other names in commands for what is wanted: "tests" may be run by jest, and a "build" by make.
std::vector<std::string> also_called(std::string_view stem) {
  if (stem == "test") return {"pytest", "ctest", "jest", "vitest", "rspec", "check"};
  if (stem == "build" || stem == "compil") return {"make", "cmake", "ninja", "build"};
  if (stem == "lint") return {"eslint", "ruff", "clippy", "golangci", "vet", "biom"};
  if (stem == "format") return {"prettier", "gofmt", "black", "fmt"};
  if (stem == "instal" || stem == "depend") return {"install"};
  if (stem == "deploi") return {"deploy"};
  return {};
}

struct Wanted {
  std::vector<QueryWord> words;
  std::string match;  // in FTS5's language
};

Wanted wanted_of(const store::IndexTerms& index, std::string_view text) {
  Wanted wanted;
  std::vector<QueryWord> all = query_words(index, text);
  for (const QueryWord& word : all)
    if (!word.whole && !is_asking(word.stem)) wanted.words.push_back(word);
  if (wanted.words.empty()) wanted.words = std::move(all);
  for (const QueryWord& word : wanted.words) {
    wanted.match += (wanted.match.empty() ? "" : " OR ") + word.match();
    for (const std::string& other : also_called(word.stem)) wanted.match += " OR " + in_quotes(other);
  }
  return wanted;
}

// How many of the wanted words a command has, by itself, by its purpose or by what it is also called.
double fit_of(const store::IndexTerms& index, const Wanted& wanted, const KnownCommand& known) {
  std::vector<std::string> stems;
  for (const store::Term& term : index.of(known.command + "\n" + known.purpose, store::TermsOf::document))
    stems.push_back(term.text);
  const auto has = [&](std::string_view stem) {
    return std::find(stems.begin(), stems.end(), stem) != stems.end();
  };
  // A word itself counts 1, another name for it a little less.
  double sum = 0;
  for (const QueryWord& word : wanted.words) {
    const auto others = also_called(word.stem);
    const auto is_other = [&](const std::string& other) {
      const auto terms = index.of(other, store::TermsOf::query);
      return !terms.empty() && has(terms.front().text);
    };
    if (has(word.stem))
      sum += 1;
    else if (std::any_of(others.begin(), others.end(), is_other))
      sum += 0.8;
  }
  return sum / static_cast<double>(wanted.words.size());
}

struct Seen {
  KnownCommand known;
  bool has_passed = false;
  bool last_failed = false;
  bool any = false;
};

void take(const store::KeptEvent& event, const std::string& project, const host::Host& host,
          std::map<std::string, Seen>& commands) {
  if (!event.texts.input) return;
  const Json input = Json::parse_partial(*event.texts.input).value;
  const Json response = event.texts.response ? Json::parse_partial(*event.texts.response).value : Json();
  const bool failed = event.kind == event::Kind::tool_failure;
  const host::Action action = host.read_action({event.tool_name, input, response, failed ? "failed" : ""});
  if (action.verb != host::Action::Verb::run || action.interrupted || action.refused || action.background)
    return;
  const std::string command = one_line(visible(action.command), kLongestCommand + 8);
  if (command.empty() || command.size() > kLongestCommand || host.is_own_call(event.tool_name, input)) return;
  const distil::ShellFiles files = distil::shell_files(action.command);
  // `ls` and `git commit` are no answer to how something is built or tested.
  if (files.only_looks || files.only_commits) return;
  // `make test | tail` has the exit status of tail: such a command is judged by its output.
  const bool passed = !failed && (files.check.empty() || files.status_of_check ||
                                  distil::judged_run(action.output).how != distil::CommandRun::How::failed);
  Seen& seen = commands[command];
  ++(passed ? seen.known.passed : seen.known.failed);
  if (!seen.any) seen.last_failed = !passed;  // the newest comes first
  seen.any = true;
  if (!passed || seen.has_passed) return;
  seen.has_passed = true;
  seen.known.command = command;
  seen.known.purpose = one_line(visible(action.description), 200);
  seen.known.record = {Kind::event, event.seq};
  seen.known.project = project;
  seen.known.at = event.at;
}

struct PastCall {
  store::KeptEvent event;
  store::Session session;
};

// The calls of the sessions whose archived transcripts match best, the newest first.
Result<std::vector<PastCall>> archived_calls(store::Db& db, const Archive& archive, const std::string& words,
                                             const std::vector<std::string>& projects) {
  std::set<std::int64_t> sessions;
  std::vector<PastCall> calls;
  for (const store::LongMatch& match :
       TRY(store::best_passages(db, words, projects, {}, kPassagesScanned, kPassages))) {
    const auto passage = TRY(store::find_passage(db, match.id.row));
    if (!passage || sessions.size() == kTranscripts) continue;
    const store::TranscriptKey& key = passage->base.key;
    const auto session = TRY(store::find_session(db, key.platform, ContentId{key.session}));
    if (!session || !sessions.insert(session->id.value).second) continue;
    auto events = TRY(store::last_calls(db, session->id, kCallsOfTranscript));
    // Calls whose texts the store has are found by its own index.
    std::erase_if(events, [](const store::KeptEvent& event) { return event.texts.input.has_value(); });
    // A transcript that cannot be read does not keep the others from being read.
    ignore(archive::fill_texts(db, archive.disk, archive.directory, {key.platform, key.session, ""}, events));
    for (store::KeptEvent& event : events) calls.push_back({std::move(event), *session});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const PastCall& a, const PastCall& b) { return a.event.at > b.event.at; });
  return calls;
}

// The commands that passed and fit, best first.
std::vector<KnownCommand> fitting(const store::IndexTerms& index, const Wanted& wanted,
                                  const std::map<std::string, Seen>& commands, WallTime now) {
  std::vector<KnownCommand> found;
  for (const auto& [text, seen] : commands) {
    if (!seen.has_passed) continue;
    KnownCommand known = seen.known;
    const double fit = fit_of(index, wanted, known);
    if (fit < 0.5) continue;
    const double age =
        std::max<double>(0, static_cast<double>(epoch_ms(now) - epoch_ms(known.at))) / 86'400'000;
    // A short command says more clearly what is run than one with pipes and paths.
    known.score =
        fit + 0.3 / (1 + age / 14) + 0.2 * std::min<double>(static_cast<double>(known.passed), 5) / 5 -
        (seen.last_failed ? 0.4 : 0) - 0.3 * static_cast<double>(known.command.size()) / kLongestCommand;
    found.push_back(std::move(known));
  }
  std::stable_sort(found.begin(), found.end(), [](const KnownCommand& a, const KnownCommand& b) {
    return a.score != b.score ? a.score > b.score : a.at > b.at;
  });
  return found;
}

}  // namespace

Result<std::vector<KnownCommand>> find_commands(store::Db& db, const std::vector<std::string>& projects,
                                                std::string_view words, WallTime now, std::size_t limit,
                                                const Archive* archive) {
  const store::IndexTerms index = TRY(store::IndexTerms::open(db));
  const Wanted wanted = wanted_of(index, prefix(words, 2000));
  if (wanted.words.empty()) return std::vector<KnownCommand>();
  std::map<std::string, Seen> commands;
  for (const std::int64_t seq :
       TRY(store::newest_events(db, "input : (" + wanted.match + ")", projects, kCalls))) {
    const auto event = TRY(store::kept_event(db, seq));
    const auto session = event ? TRY(store::find_session(db, event->session)) : std::nullopt;
    if (session) take(*event, session->project, host::find_host(session->platform), commands);
  }
  // Reading transcripts is slow, so the archive is read only when the store gives too few.
  auto found = fitting(index, wanted, commands, now);
  if (found.size() < limit && archive) {
    for (const PastCall& call : TRY(archived_calls(db, *archive, wanted.match, projects)))
      take(call.event, call.session.project, host::find_host(call.session.platform), commands);
    found = fitting(index, wanted, commands, now);
  }
  if (found.size() > limit) found.resize(limit);
  return found;
}

}  // namespace cairn::recall
