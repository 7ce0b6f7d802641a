#include "documents/material.h"

#include <algorithm>
#include <deque>

#include "base/text.h"
#include "context/entries.h"
#include "context/story.h"
#include "event/origin.h"
#include "host/host.h"
#include "store/observations.h"
#include "store/summaries.h"
#include "store/texts.h"
#include "store/turns.h"

namespace cairn::documents {

// A Sorter puts turns and observations into the lists of a Material. It gets them from the store
// (material_of), or from a Distiller that reads lines of the archive as if they were new events
// (material_since): the part of a turn that comes after an anchor was never distilled alone.

namespace {

using Slot = distil::Observation::Slot;

constexpr std::size_t kRequest = 160, kDone = 400, kAnswer = 900, kLine = 300;
constexpr std::size_t kMostOfAKind = 40;
constexpr std::int64_t kMostObservations = 500;
constexpr std::size_t kMostTextBytes = 1u << 20;
// Of a longer delta only the last records are read: they show the state of the work.
constexpr std::size_t kMostDeltaBytes = 32u << 20;

// Appends a line unless it is there already.
void add(std::vector<std::string>& list, std::string_view text, std::size_t max = kLine) {
  std::string line = one_line(text, max);
  if (line.empty() || std::find(list.begin(), list.end(), line) != list.end()) return;
  if (list.size() < kMostOfAKind) list.push_back(std::move(line));
}

// The file edited last is at the end, also when it was edited before.
void add_file(std::vector<std::string>& files, const std::string& file) {
  std::erase(files, file);
  files.push_back(file);
}

// The fields of a turn, from the store or from the archive.
struct TurnText {
  std::string request, completed, next_steps;
  std::vector<std::string> files_edited;
  bool is_cut_off = false;
};

bool ends_sentence(std::string_view text) {
  return !text.empty() && std::string_view(".!?:").find(text.back()) != std::string_view::npos;
}

// "'make check' failed (...)" names the command 'make check', with its quotes.
std::string failed_command(std::string_view line) {
  return std::string(line.substr(0, line.find(" failed")));
}

// The first statements of an answer on one line: its headings, introductions and words such as "Done." say
// nothing.
std::string statements_of(std::string_view answer) {
  constexpr std::size_t kLeast = 25, kMost = 3;
  std::string out;
  std::size_t count = 0;
  for (const distil::AnswerLine& line : distil::answer_lines(answer, distil::code_mode())) {
    const bool says =
        line.kind == distil::AnswerLine::Kind::item || line.kind == distil::AnswerLine::Kind::text;
    if (!says || line.text.size() < kLeast || line.text.ends_with(':')) continue;
    out += (out.empty() ? "" : " ") + line.text + (ends_sentence(line.text) ? "" : ".");
    if (++count == kMost || out.size() >= kDone) break;
  }
  return distil::shorten(out, kDone);
}

// Sorts turns and observations, in their order.
class Sorter {
 public:
  explicit Sorter(Material& material) : m_(material) {}

  void add_turn(const TurnText& turn) {
    ++m_.turns;
    std::string request = context::title_of_request(turn.request, kRequest);
    const bool chore = distil::is_chore(turn.request);
    // "Ouch." is no request, unless something was done for it.
    if (!chore && (request.size() >= kLeastRequest || !turn.files_edited.empty()))
      add(m_.requests, request, kRequest);
    // The first paragraph lists edits and commands; the answer follows it, and says more.
    const std::string_view completed = turn.completed;
    const std::string_view deeds = completed.substr(0, completed.find("\n\n"));
    if (!trim(deeds).empty() && !turn.files_edited.empty()) {
      std::string head = request;
      while (ends_sentence(head)) head.pop_back();
      const std::string said = statements_of(completed.substr(deeds.size()));
      add(m_.done, (chore || head.empty() ? "" : head + ": ") + (said.empty() ? std::string(deeds) : said),
          kRequest + kDone);
    }
    // The turn with the most work gives the title: a file counts as much as 200 bytes of text.
    const std::size_t done = 200 * turn.files_edited.size() + completed.size();
    if (!chore && done > most_done_) {
      most_done_ = done;
      m_.title = request;
    }
    for (const std::string& file : turn.files_edited) add_file(m_.files, file);
    // A command that failed in an earlier turn and passed in this one is no failed approach.
    std::erase_if(m_.failed, [&](const std::string& line) {
      const std::string command = failed_command(line);
      return completed.find(command + ": passed") != std::string_view::npos ||
             completed.find(command + " passed") != std::string_view::npos;
    });
    // Only what the last turn left to do is still to do.
    m_.next.clear();
    for (const std::string_view line : lines(turn.next_steps)) add(m_.next, line);
    m_.is_cut_off = turn.is_cut_off;
  }

  void add_observation(Slot slot, const std::string& title, const std::vector<std::string>& facts) {
    switch (slot) {
      case Slot::fixed: add(m_.fixed, title); break;
      case Slot::failing:
        for (const std::string& fact : facts) add(m_.failed, fact);
        break;
      case Slot::worked:
        for (const std::string& fact : facts) add(m_.gotchas, fact);
        break;
      case Slot::decided:
        for (const std::string& fact : facts) add(m_.decisions, fact);
        break;
      case Slot::found:
        for (const std::string& fact : facts)
          if (!fact.starts_with("Read ") && !fact.starts_with("Looked ") && !fact.starts_with("Searched "))
            add(m_.findings, fact);
        break;
      case Slot::changed: break;  // covered by files and commits
    }
  }

  // "See you tomorrow." says nothing about the state of the work: the last longer answer is kept.
  void add_answer(std::string_view answer) {
    if (answer.size() >= kLeastAnswer || m_.last_answer.size() < kLeastAnswer)
      m_.last_answer = labelled(visible(distil::shorten(answer, kAnswer)));
  }

  // `title`: the host's; empty: it has none.
  void finish(const std::string& title) {
    if (!title.empty()) m_.title = context::title_of_request(title, kTitle);
    if (m_.title.empty() && !m_.requests.empty()) m_.title = m_.requests.front();
    // A check that failed and then passed is under `fixed` and no failed approach.
    std::erase_if(m_.failed, [&](const std::string& line) {
      return std::any_of(m_.fixed.begin(), m_.fixed.end(),
                         [&](const std::string& fixed) { return fixed.starts_with(failed_command(line)); });
    });
    // A directory is only an argument of `git add` when files in it are named too.
    const std::vector<std::string> all = m_.files;
    std::erase_if(m_.files, [&](const std::string& file) {
      return std::any_of(all.begin(), all.end(),
                         [&](const std::string& other) { return other.starts_with(file + "/"); });
    });
  }

 private:
  static constexpr std::size_t kLeastRequest = 12, kLeastAnswer = 120, kTitle = 90;
  Material& m_;
  std::size_t most_done_ = 0;
};

distil::Step step_of(const host::TranscriptItem& item) {
  distil::Step step;
  step.tool = item.tool_name;
  step.input = item.input;
  if (item.agent_id) step.agent_type = "agent";
  if (!item.result || item.result->rejected) {
    step.outcome = distil::Step::Outcome::interrupted;
  } else if (item.result->failed) {
    step.outcome = distil::Step::Outcome::failed;
    step.error = item.result->error;
  } else {
    step.response = item.result->response;
    if (host::was_interrupted(step.response)) step.outcome = distil::Step::Outcome::interrupted;
  }
  return step;
}

// Distils items of a transcript, turn by turn.
class Distiller {
 public:
  Distiller(std::string platform, std::string root, const distil::Mode& mode, Material& material)
      : platform_(std::move(platform)),
        root_(std::move(root)),
        mode_(mode),
        material_(material),
        sorter_(material) {
    begin("");
  }

  void take(const host::TranscriptItem& item) {
    if (item.at != WallTime()) {
      if (!material_.from) material_.from = item.at;
      material_.to = std::max(item.at, material_.to.value_or(item.at));
    }
    switch (item.kind) {
      case host::TranscriptItem::Kind::prompt:
        end();
        begin(item.text);
        break;
      case host::TranscriptItem::Kind::call: reader_->add(step_of(item)); break;
      case host::TranscriptItem::Kind::stop: turn_.last_answer = item.text; break;
      case host::TranscriptItem::Kind::text:
        if (item.said == event::TextKind::title) title_ = item.text;
        // What a person says when refusing a call can be a rule too.
        if (item.said == event::TextKind::objection) add_orders(item.text);
        break;
    }
  }

  void end() {
    if (turn_.prompt.empty() && reader_->empty() && turn_.last_answer.empty()) return;
    // A turn without an answer did not reach its end.
    turn_.end = turn_.last_answer.empty() ? distil::Turn::End::cut_off : distil::Turn::End::stopped;
    const distil::Distilled found = reader_->distil(turn_, mode_);
    sorter_.add_turn({found.summary.request, found.summary.completed, found.summary.next_steps,
                      found.summary.files_edited, turn_.last_answer.empty()});
    for (const distil::Observation& one : found.observations)
      sorter_.add_observation(one.slot, one.title, one.facts);
    for (const distil::Carried& text : found.carried)
      if (text.kind == distil::Carried::Kind::commit)
        add(material_.commits, lines(text.text).front(), kRequest);
    add_orders(turn_.prompt);
    if (!turn_.last_answer.empty()) sorter_.add_answer(turn_.last_answer);
    begin("");
  }

  void finish() {
    end();
    sorter_.finish(title_);
  }

 private:
  void add_orders(std::string_view words) {
    for (const std::string& order : distil::standing_orders(words, mode_)) add(material_.preferences, order);
  }

  void begin(std::string prompt) {
    turn_ = distil::Turn{};
    turn_.host = platform_;
    turn_.root = root_;
    turn_.prompt = std::move(prompt);
    reader_.emplace(platform_, root_);
  }

  std::string platform_, root_;
  const distil::Mode& mode_;
  Material& material_;
  Sorter sorter_;
  std::string title_;
  distil::Turn turn_;
  std::optional<distil::TurnReader> reader_;
};

}  // namespace

Result<Material> material_of(store::Db& db, const store::Session& session, const distil::Mode& mode) {
  Material material;
  Sorter sorter(material);
  const auto observations = TRY(store::observations_of_session(db, session.id, kMostObservations));
  for (const store::Summary& s : TRY(store::session_summaries(db, session.id))) {
    const bool cut_off = !context::interruption_of(s).empty();
    sorter.add_turn({s.request, s.completed, s.next_steps, s.files_edited, cut_off});
    material.to = s.created_at;
    for (const store::Observation& one : observations) {
      if (one.prompt_number != s.prompt_number) continue;
      // A model's observations have types instead of slots.
      if (one.type == "decision")
        sorter.add_observation(Slot::decided, one.title,
                               one.facts.empty() ? std::vector<std::string>{one.title} : one.facts);
      else if (one.position && *one.position >= 0 && *one.position <= static_cast<std::int64_t>(Slot::found))
        sorter.add_observation(static_cast<Slot>(*one.position), one.title, one.facts);
    }
    for (const std::string& words : TRY(store::words_of_person(db, session.id, s.prompt_number)))
      for (const std::string& order : distil::standing_orders(words, mode)) add(material.preferences, order);
  }
  material.from = session.started_at;
  std::string title;
  for (const store::Text& text : TRY(store::texts_of_session(db, session.id, kMostTextBytes))) {
    if (lines(text.text).empty()) continue;
    if (text.kind == store::TextKind::commit) add(material.commits, lines(text.text).front(), kRequest);
    if (text.kind == store::TextKind::answer) sorter.add_answer(text.text);
    if (text.kind == store::TextKind::title) title = text.text;
  }
  sorter.finish(title);
  return material;
}

Result<Since> material_since(store::Db& db, os::Disk& disk, const archive::Places& places,
                             const store::TranscriptKey& key, const store::Anchor& anchor,
                             const std::string& root, const distil::Mode& mode) {
  Since since;
  std::deque<std::string> kept;
  std::size_t bytes = 0;
  since.delta =
      TRY(archive::each_after(db, disk, places, key, anchor, [&](std::string_view line, std::int64_t) {
        kept.emplace_back(line);
        bytes += line.size();
        while (bytes > kMostDeltaBytes && kept.size() > 1) {
          bytes -= kept.front().size();
          kept.pop_front();
          ++since.skipped;
        }
      }));
  // As if no hook had reported the session: all prompts count, and an answer ends its turn.
  const auto reader = host::find_host(key.platform).transcript_lines(ContentId{key.session}, "since", true);
  std::uint64_t at = 0;
  for (const std::string& line : kept) {
    reader->take(line, at, at + line.size() + 1);
    at += line.size() + 1;
  }
  // No more lines come: the last answer ends its turn.
  reader->piece.at_end = true;
  reader->end_piece(0);
  Distiller distiller(key.platform, root, mode, since.material);
  for (const host::TranscriptItem& item : reader->piece.items) distiller.take(item);
  distiller.finish();
  return since;
}

}  // namespace cairn::documents
