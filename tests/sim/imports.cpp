// Sessions that ended before cairn was there: one schedule in five imports them, whatever happens meanwhile.
#include <fmt/format.h>

#include "sim/schedule.h"

namespace cairn::sim {

static constexpr const char* kOldHost = "/home/dev/old-host";
static constexpr int kTurns = 2;  // of each old session

// Of the seed, not of the dice: the other schedules stay what they are.
static std::uint64_t old_sessions(std::uint64_t seed) {
  return seed % 5 == 0 ? 1 + seed / 5 % 3 : 0;
}

static std::string old_session(std::uint64_t number) {
  return fmt::format("01d00000-0000-4000-8000-{:012}", number);
}

static std::string line(const std::string& session, std::string_view type, const std::string& prompt,
                        const Json& content, WallTime at) {
  return Json::object({{"type", type},
                       {"sessionId", session},
                       {"promptId", type == "user" ? Json(prompt) : Json()},
                       {"message", Json::object({{"content", content}, {"stop_reason", Json()}})},
                       {"cwd", "/home/dev/old"},
                       {"timestamp", iso8601(at)}})
             .dump() +
         "\n";
}

void Schedule::provide_old_sessions() {
  for (std::uint64_t i = 0; i < old_sessions(options_.seed); ++i) {
    const std::string session = old_session(i);
    std::string text;
    for (int turn = 1; turn <= kTurns; ++turn) {
      const std::string prompt = fmt::format("old-{}-{}", i, turn), tool = "toolu_old" + prompt.substr(4);
      const WallTime at = m_.clock.now();
      text += line(session, "user", prompt, Json("make the old part " + prompt), at);
      text += line(session, "assistant", prompt,
                   Json::array({Json::object({{"type", "tool_use"},
                                              {"id", tool},
                                              {"name", "Bash"},
                                              {"input", Json::object({{"command", "make " + prompt}})}})}),
                   at);
      text += line(
          session, "user", prompt,
          Json::array({Json::object({{"type", "tool_result"}, {"tool_use_id", tool}, {"content", "done"}})}),
          at);
      text += line(session, "assistant", prompt,
                   Json::array({Json::object({{"type", "text"}, {"text", "The old part " + prompt}})}), at);
      m_.clock.advance(std::chrono::seconds(5));
    }
    m_.disk.provide_dir(fmt::format("{}/projects/-home-dev-old", kOldHost));
    m_.disk.provide_file(fmt::format("{}/projects/-home-dev-old/{}.jsonl", kOldHost, session), text);
  }
  if (old_sessions(options_.seed) > 0) m_.clock.advance(std::chrono::hours(1));
}

void Schedule::import_old_sessions() {
  if (old_sessions(options_.seed) == 0) return;
  if (!m_.engine) start();
  if (!m_.engine || outcome_.wrong) return;
  call_engine("import", Actor::engine, [&]() -> Status {
    TRY(m_.run("import.transcripts", Json::object({{"directory", kOldHost}})));
    return {};
  });
}

// A copy that failed several times is tried again after up to an hour.
void Schedule::wait_for_old_sessions() {
  for (int tries = 0; tries < 3 && old_sessions(options_.seed) > 0 && m_.engine && !outcome_.wrong; ++tries) {
    if (test::must(m_.db().integer("SELECT count(*) FROM imports WHERE state IN ('pending', 'reading')")) ==
        0)
      return;
    m_.clock.advance(std::chrono::minutes(70));
    tick();
    drain();
  }
}

// Each is there once, with its turns, and so is its backup.
void Schedule::check_old_sessions() {
  // With a clock that was set back, an old session may have happened while capture was off: it is left out.
  if (model_.clock_was_set && model_.capture_was_off) return;
  for (std::uint64_t i = 0; i < old_sessions(options_.seed) && !outcome_.wrong; ++i) {
    const std::string session = old_session(i);
    const auto count = [&](std::string_view sql) {
      return test::must(m_.db().integer(sql, session)).value_or(-1);
    };
    if (count("SELECT count(*) FROM imports WHERE state = 'done' AND content_session_id = ?") != 1)
      fail("an old session was not imported: " + session);
    else if (count("SELECT count(*) FROM user_prompts WHERE content_session_id = ?") != kTurns)
      fail("an old session has not its prompts: " + session);
    else if (count("SELECT count(*) FROM events e JOIN sdk_sessions s ON s.id = e.session_db_id WHERE "
                   "e.kind = 'tool' AND e.outcome = 'stored' AND s.content_session_id = ?") != kTurns)
      fail("an old session has not its tool calls: " + session);
    else if (count("SELECT count(*) FROM turns t JOIN sdk_sessions s ON s.id = t.session_db_id WHERE "
                   "t.end_reason = 'stop' AND s.content_session_id = ?") != kTurns)
      fail("turns of an old session did not end: " + session);
    else if (count("SELECT count(*) FROM backups WHERE content_session_id = ?") != 1)
      fail("an old session has not one backup: " + session);
  }
}

}  // namespace cairn::sim
