// A person stores notes and has one of them forgotten, in one schedule of seven, whatever happens meanwhile.
// What was acknowledged as forgotten is found nowhere at the end, and the other note still is.
#include <fmt/format.h>

#include "base/text.h"
#include "sim/schedule.h"
#include "store/walk.h"

namespace cairn::sim {

static constexpr const char* kForgotten = "zanzibar-canary-7731";
static constexpr const char* kKept = "numbat-neighbour-4242";
static constexpr const char* kPlace = "/home/dev/notes";

// Of the seed, not of the dice: the other schedules stay what they are.
bool Schedule::has_notes() const {
  return options_.seed % 7 == 3;
}

void Schedule::store_notes() {
  if (!has_notes()) return;
  if (!m_.engine) start();
  for (const char* word : {kForgotten, kKept}) {
    if (!m_.engine || outcome_.wrong) return;
    call_engine("remember", Actor::engine, [&]() -> Status {
      TRY(m_.run("remember",
                 Json::object({{"cwd", kPlace}, {"text", fmt::format("the token is {}", word)}})));
      return {};
    });
    if (!last_failed_ && m_.engine && word == kKept) kept_is_stored_ = true;
  }
}

void Schedule::forget_note() {
  if (!has_notes() || forgets_ > 0) return;
  if (!m_.engine) start();
  if (!m_.engine || outcome_.wrong) return;
  call_engine("forget", Actor::engine, [&]() -> Status {
    const auto begun = m_.run("forget", Json::object({{"all", true}, {"query", kForgotten}}));
    if (!begun && begun.error().code == Code::not_found) return {};  // the note was not stored
    if (!begun && begun.error().code == Code::busy) return {};       // rows of a renamed project still move
    if (TRY(begun)["record_count"].as_int() > 0) ++forgets_;
    return {};
  });
}

// A disk that failed may have kept the forget from going on: it is retried after a second.
void Schedule::wait_for_forget() {
  for (int tries = 0; tries < 5 && forgets_ > 0 && m_.engine && !outcome_.wrong; ++tries) {
    m_.clock.advance(std::chrono::seconds(2));
    tick();
    drain();
  }
}

void Schedule::check_forgotten() {
  if (!has_notes() || outcome_.wrong) return;
  const auto has = [](std::string_view text, std::string_view word) {
    return ascii_lower(text).find(word) != std::string::npos;
  };
  bool is_kept = false;
  std::string left;
  test::must(store::walk_texts(m_.db(), [&](const store::StoredText& stored) {
    if (has(stored.text, kForgotten)) left = stored.table + "." + stored.column;
    is_kept = is_kept || has(stored.text, kKept);
  }));
  if (kept_is_stored_ && !is_kept) return fail("a note that nobody forgot is gone");
  if (forgets_ == 0) return;
  if (test::must(m_.db().integer("SELECT count(*) FROM forgets WHERE ended_at_epoch IS NULL")) != 0)
    return fail("a forget did not come to its end");
  if (!left.empty()) return fail("what was forgotten is still in " + left);
  for (const std::string& name : test::must(m_.disk.list(m_.home.data))) {
    const std::string path = m_.home.data + "/" + name;
    if (!test::must(m_.disk.stat(path)).is_dir && has(m_.read(path), kForgotten))
      return fail("what was forgotten is still in the file " + name);
  }
  // And it does not come back.
  if (m_.run("remember",
             Json::object({{"cwd", kPlace}, {"text", fmt::format("the token is {}", kForgotten)}})))
    fail("what was forgotten came back");
}

}  // namespace cairn::sim
