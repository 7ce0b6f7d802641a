#include "rubric.h"

#include <algorithm>

#include "support/engine_fixture.h"
#include "support/temp_dir.h"

namespace cairn::test {

namespace {

constexpr std::string_view kRoot = "/home/dev/code/all";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The session as if its project were the one that all share.
void play(Machine& machine, const std::string& session) {
  for (const RecordedCall& recorded : recorded_calls(session)) {
    machine.clock.advance(std::chrono::seconds(1));
    machine.project_dir = kRoot;
    const std::string payload = replaced(recorded.call.payload.dump(), recorded.project_dir, kRoot);
    machine.deliver({recorded.call.event, must(Json::parse(payload))});
  }
  must(machine.drain());
  machine.clock.advance(std::chrono::hours(20));
}

// In the order of their times.
std::vector<std::string> written_sessions() {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& name : recorded_scenarios())
    if (name.starts_with("written_")) found.emplace_back(recorded_calls(name).front().at, name);
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [at, name] : found) names.push_back(std::move(name));
  return names;
}

Score score(Machine& machine, const Json& rubric, const std::vector<std::string>& sessions,
            const context::Request& request) {
  const context::Composed composed = must(context::compose(machine.db(), request));
  Score out;
  out.tokens = composed.tokens;
  for (const Json& question : rubric["questions"].items()) {
    const std::string session(question["session"].as_string());
    const bool newest = std::find(sessions.end() - 3, sessions.end(), session) != sessions.end();
    const auto& answers = question["answers"].items();
    const bool found = std::any_of(answers.begin(), answers.end(), [&](const Json& answer) {
      return composed.text.find(answer.as_string()) != std::string::npos;
    });
    ++out.questions;
    out.answered += found;
    out.questions_newest += newest;
    out.answered_newest += newest && found;
    if (!found) out.missed.push_back(session + ": " + std::string(question["ask"].as_string()));
  }
  return out;
}

}  // namespace

Score score_context(std::size_t budget_tokens) {
  const Json rubric = must(Json::parse(read_text(std::string(CAIRN_RUBRIC))));
  const std::vector<std::string> sessions = written_sessions();
  Machine machine;
  must(machine.open());
  for (const std::string& session : sessions) play(machine, session);
  context::Request request;
  request.project = "all";
  request.budget_tokens = budget_tokens;
  request.key = machine.engine->key();
  return score(machine, rubric, sessions, request);
}

}  // namespace cairn::test
