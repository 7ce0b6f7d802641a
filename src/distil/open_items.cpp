#include "distil/open_items.h"

#include <algorithm>

#include "base/text.h"
#include "distil/answer_lines.h"
#include "distil/plans.h"
#include "distil/reader.h"
#include "distil/sentences.h"
#include "distil/shell.h"
#include "distil/words.h"
#include "host/action.h"

namespace cairn::distil {

using event::OpenSource;
using event::OpenState;

namespace {

constexpr std::size_t kMaxSteps = 6;        // of one answer
constexpr std::size_t kMaxObligations = 3;  // sentences, of one answer
constexpr std::size_t kMaxText = 300;
// Limits for the work of one turn.
constexpr std::size_t kMaxPieces = 400, kMaxEdited = 2000;

}  // namespace

// Collects what the turn did, for WorkDone. A failed or interrupted call did nothing.
class WorkReader {
 public:
  explicit WorkReader(std::string root) : root_(std::move(root)) {}

  void add(const host::Action& action, const Step& step) {
    using Verb = host::Action::Verb;
    if (step.outcome != Step::Outcome::ok) return;
    if (action.verb == Verb::run) run(action);
    if (action.verb == Verb::write || action.verb == Verb::edit) edit(action.path);
    if (action.verb == Verb::track && step.agent_type.empty()) track(action, step.event);
  }

  WorkDone done() const {
    WorkDone out = out_;
    for (const TaskChange& task : out.tasks)
      if (task.state == host::TaskChange::State::completed && !task.subject.empty() &&
          out.did.size() < kMaxPieces)
        out.did.push_back(key_words(task.subject));
    return out;
  }

 private:
  void did(std::string_view text) {
    if (out_.did.size() < kMaxPieces) out_.did.push_back(key_words(text));
  }

  void add_file(std::string_view path) {
    if (out_.files.size() < kMaxEdited) out_.files.insert(std::string(path.substr(path.rfind('/') + 1)));
  }

  void edit(std::string_view path) {
    if (path.empty()) return;
    out_.work = true;
    add_file(path);
    if (out_.uncommitted.size() < kMaxPieces) out_.uncommitted.insert(shown_path(path, root_));
  }

  void run(const host::Action& action) {
    const ShellFiles files = shell_files(prefix(action.command, 20'000));
    for (const std::string& message : files.commits) did(std::string(lines(message).front()) + " commit");
    if (files.makes_commits) {
      out_.work = out_.committed = true;
      out_.uncommitted.clear();
      did("commit");
    }
    // Publishing something counts as work done; reading or checking does not.
    for (const std::string_view verb : {"git push", "gh pr create", "gh pr merge", "gh issue create"})
      if (action.command.find(verb) != std::string_view::npos) {
        out_.work = true;
        did(std::string(verb) + " open");  // "create" also counts as "open"
      }
    for (const std::string& file : files.written) add_file(file);
    if (out_.ran.size() < kMaxPieces)
      out_.ran.push_back(
          key_words(action.description.empty() ? prefix(action.command, 200) : action.description));
  }

  void track(const host::Action& action, std::int64_t event) {
    if (action.all_tasks) {
      out_.tasks.clear();
      out_.whole_list = true;
    }
    for (const host::TaskChange& change : action.tasks) {
      const std::string subject = one_line(visible(change.subject), kMaxText);
      auto known = out_.tasks.end();
      if (!change.id.empty() && !action.all_tasks)
        known = std::find_if(out_.tasks.begin(), out_.tasks.end(),
                             [&](const TaskChange& task) { return task.id == change.id; });
      if (known == out_.tasks.end()) {
        if ((change.id.empty() && !action.all_tasks) || out_.tasks.size() >= kMaxPieces) continue;
        known = out_.tasks.insert(known, {.id = action.all_tasks ? "" : change.id, .event = event});
      }
      if (!subject.empty()) known->subject = subject;
      if (change.state != host::TaskChange::State::unknown) known->state = change.state;
    }
  }

  std::string root_;
  WorkDone out_;
};

namespace {

// "None.", "Nothing left": an item of a list that says that there is none.
bool is_nothing(std::string_view text, const Mode& mode) {
  std::string folded = fold(trim(text));
  if (folded.ends_with('.')) folded.pop_back();
  return begins_with_cue(folded + " ", mode.nothing_left);
}

std::string shown_item(std::string_view text) {
  std::string out = one_line(text, 4 * kMaxText);
  for (const std::string_view mark : {"**", "__"})
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at)) out.erase(at, 2);
  return shorten(trim(out), kMaxText);
}

// Whether a line is understandable alone as something to do.
bool is_item(std::string_view raw, const Mode& mode) {
  const std::string shown = shown_item(raw);
  const std::string_view text = shown;
  if (text.ends_with(':') || text.starts_with('/') || text.starts_with("`/"))
    return false;  // a heading, a command
  const std::string folded = fold(text);
  const bool label = folded.starts_with("not yet ") && folded.find(':') != std::string::npos;
  if (folded.starts_with("if ") || label) return false;  // only a condition
  return !is_nothing(text, mode) && !key_words(text).empty();
}

// Whether the sentence is a question, or an offer in certain words: "say the word and I push it". Other
// offers without a question mark are only polite ("Let me know if you want changes").
bool asks(std::string_view sentence, const Mode& mode) {
  return trim(sentence).ends_with('?') || trim(sentence).ends_with("\uff1f") ||
         has_cue(fold(sentence), mode.offers_without_question);
}

// Whether the question names some work. "What would you like to work on next?" does not.
bool offers_something(std::string_view question, const Mode& mode) {
  Words words = key_words(question);
  for (const std::string& vague : mode.offer_fillers)
    for (const std::string& word : key_words(vague)) words.erase(word);
  return !words.empty();
}

// Reads an answer line by line. `listing` is true below a heading such as "Next steps": items there are
// steps. Elsewhere each sentence either states remaining work (an obligation) or something that was done
// (said).
class AnswerReader {
 public:
  AnswerReader(const Mode& mode, bool work) : mode_(mode), work_(work) {}

  void read(std::string_view answer) {
    const std::vector<AnswerLine> all = answer_lines(answer, mode_);
    bool listing = false;
    for (const AnswerLine& line : all) {
      if (line.kind == AnswerLine::Kind::blank) continue;
      if (line.kind == AnswerLine::Kind::heading) {
        listing = is_next_heading(line.text, mode_);
        if (listing && !line.rest.empty()) add_step(line.rest);
        continue;
      }
      if (line.kind == AnswerLine::Kind::item && listing) {
        // An indented item explains the one above it.
        if (!line.done && line.depth == 0) add_step(line.text);
        continue;
      }
      // A paragraph right under the heading is the next step itself.
      if (listing && steps_.empty() && line.kind == AnswerLine::Kind::text && is_item(line.text, mode_)) {
        for (const std::string& sentence : sentences(line.text)) add_step(sentence);
        listing = false;
        continue;
      }
      listing = listing && line.kind == AnswerLine::Kind::item;
      if (line.kind != AnswerLine::Kind::quote) read_sentences(line.text);
    }
    find_question(all);
  }

  std::vector<OpenItem> items(std::int64_t event) {
    std::vector<OpenItem> out;
    const auto add = [&](const std::string& text, OpenSource source) {
      const std::string key = item_key(text);
      if (std::none_of(out.begin(), out.end(), [&](const OpenItem& item) { return item.key == key; }))
        out.push_back({source,
                       source == OpenSource::next_step && !work_ ? OpenState::offered : OpenState::none, key,
                       text, "", event});
    };
    for (const std::string& step : steps_) add(step, OpenSource::next_step);
    // The last ones: an answer states at its end what is left.
    const std::size_t first =
        obligations_.size() > kMaxObligations ? obligations_.size() - kMaxObligations : 0;
    for (std::size_t i = first; i < obligations_.size(); ++i) add(obligations_[i], OpenSource::next_step);
    if (!question_.empty()) add(question_, OpenSource::question);
    return out;
  }
  std::vector<Words> said() { return std::move(said_); }

 private:
  void add_step(std::string_view text) {
    if (steps_.size() < kMaxSteps && is_item(text, mode_)) steps_.push_back(shown_item(text));
  }

  void read_sentences(std::string_view text) {
    for (const std::string& sentence : sentences(text)) {
      const std::string folded = fold(sentence);
      const bool question = trim(sentence).ends_with('?');
      // In "nothing left to do" a cue of `resolved` cancels the cue "left to do".
      const bool left = has_cue(without_cues(folded, mode_.resolved), mode_.remains);
      if (!left && !question) {
        if (said_.size() < kMaxPieces) said_.push_back(key_words(sentence));
      } else if (left && !question && work_ && is_item(sentence, mode_)) {
        obligations_.push_back(shown_item(sentence));
      }
    }
  }

  // The last thing said, when it offers to go on: "Want me to push?", "Say the word and I will."
  void find_question(const std::vector<AnswerLine>& all) {
    for (auto line = all.rbegin(); line != all.rend(); ++line) {
      if (line->kind == AnswerLine::Kind::blank) continue;
      const auto parts = sentences(line->text);
      // A short remark may follow the offer.
      for (auto part = parts.rbegin(); part != parts.rend() && part - parts.rbegin() < 2; ++part)
        if (asks(*part, mode_) && has_cue(fold(*part), mode_.offers) && offers_something(*part, mode_)) {
          question_ = shown_item(*part);
          return;
        }
      return;
    }
  }

  const Mode& mode_;
  bool work_;
  std::vector<std::string> steps_, obligations_;
  std::string question_;
  std::vector<Words> said_;
};

// Keeps the last plan of the turn in `out`: it replaces an earlier one.
void add_plan(const host::Action& action, const Step& step, std::vector<OpenItem>& out) {
  if (action.verb != host::Action::Verb::plan || !step.agent_type.empty()) return;
  const std::string plan = visible(action.plan);
  const std::string heading = plan_heading(plan);
  if (heading.empty()) return;
  // The host ends the call when the user has answered: a success is a yes, a failure a no.
  const OpenState state = step.outcome == Step::Outcome::ok       ? OpenState::accepted
                          : step.outcome == Step::Outcome::failed ? OpenState::rejected
                                                                  : OpenState::proposed;
  out.assign(1, {OpenSource::plan, state, item_key(heading), heading, plan, step.event});
}

// What an interrupted call was about, in a few words.
std::string running_of(const host::Action& action) {
  if (action.verb == host::Action::Verb::plan)
    return "the plan \"" + plan_heading(visible(action.plan)) + "\"";
  const std::string what = one_line(visible(action.description), 80);
  const std::string command = one_line(visible(action.command), 120);
  if (!what.empty() && !command.empty()) return what + " (" + command + ")";
  return !command.empty() ? command : !what.empty() ? what : one_line(visible(action.tool), 60);
}

// Whether a short prompt has a word of agreement, or is a number: "yes", "go ahead", "continue", "1". A
// prompt that was never seen is empty and agrees to nothing.
bool has_agreement(std::string_view prompt, const Mode& mode) {
  const std::string folded = fold(one_line(prompt, 400));
  if (folded.size() > 120) return false;
  const bool is_number = folded.find_first_of("0123456789") != std::string::npos &&
                         folded.find_first_not_of("0123456789. ") == std::string::npos;
  return has_cue(folded, mode.agrees) || is_number;
}

}  // namespace

std::string item_key(std::string_view text) {
  std::string out = fold(one_line(text, kMaxText));
  std::erase_if(out, [](char c) { return c == '*' || c == '`' || c == '_'; });
  while (out.ends_with('.') || out.ends_with('!')) out.pop_back();
  return out;
}

class OpenReader::Impl {
 public:
  explicit Impl(std::string root) : done_(std::move(root)) {}

  void add(const Step& step, const host::Action& action) {
    done_.add(action, step);
    add_plan(action, step, plans_);
    any_ = true;
    last_event_ = step.event;
    questions_.clear();
    // A plan that "failed" was refused: the turn may end there, so it counts as interrupted at the plan.
    const bool ended = step.outcome == Step::Outcome::ok ||
                       (step.outcome == Step::Outcome::failed && action.verb != host::Action::Verb::plan);
    if (ended) return;
    running_ = running_of(action);
    if (action.verb != host::Action::Verb::ask) return;
    for (const host::Question& question : action.questions)
      if (const std::string text = shown_item(visible(question.text)); !text.empty())
        questions_.push_back({OpenSource::question, OpenState::none, item_key(text), text, "", step.event});
  }

  LeftOpen left_open(const Turn& turn, const Mode& mode) const {
    LeftOpen out{plans_, done_.done()};
    out.done.finished = turn.end == Turn::End::stopped;
    out.done.agrees = has_agreement(turn.prompt, mode);
    std::vector<OpenItem> more;
    if (turn.end == Turn::End::stopped) {
      AnswerReader answer(mode, out.done.work);
      answer.read(visible(turn.last_answer));
      out.done.said = answer.said();
      more = answer.items(turn.answer_event);
    } else if (out.items.empty() ||
               out.items[0].state != OpenState::accepted) {  // an accepted plan already shows what was begun
      more = interruption_of(turn);
    }
    for (OpenItem& item : more) out.items.push_back(std::move(item));
    return out;
  }

 private:
  std::vector<OpenItem> interruption_of(const Turn& turn) const {
    if (turn.end != Turn::End::failed && turn.end != Turn::End::cut_off) return {};
    if (!questions_.empty()) return questions_;  // the turn was interrupted at them
    const std::string request = shorten(one_line(visible(prefix(turn.prompt, 1000)), 1000), 160);
    // A command of the host without any step left nothing behind.
    if (!any_ && (request.empty() || request.starts_with('/'))) return {};
    std::string text = turn.end == Turn::End::failed ? "Ended by an error of the service" : "Interrupted";
    if (turn.end == Turn::End::failed && !turn.failure.empty() && turn.failure != "unknown")
      text += " (" + one_line(visible(turn.failure), 80) + ")";
    if (!running_.empty()) text += " at: " + running_;
    if (!request.empty()) text += "; the request was: " + request;
    const bool at_plan = !plans_.empty() && plans_[0].event == last_event_;
    return {{OpenSource::interruption, at_plan ? OpenState::at_plan : OpenState::none, item_key(text), text,
             "", last_event_}};
  }

  WorkReader done_;
  std::vector<OpenItem> plans_;      // at most one
  std::string running_;              // what was interrupted last
  std::vector<OpenItem> questions_;  // of the last call, when it was interrupted
  std::int64_t last_event_ = 0;
  bool any_ = false;
};

OpenReader::OpenReader(std::string root) : impl_(std::make_unique<Impl>(std::move(root))) {}
OpenReader::OpenReader(const OpenReader& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
OpenReader::~OpenReader() = default;

void OpenReader::add(const Step& step, const host::Action& action) {
  impl_->add(step, action);
}

LeftOpen OpenReader::left_open(const Turn& turn, const Mode& mode) const {
  return impl_->left_open(turn, mode);
}

LeftOpen left_open(const Turn& turn, const Mode& mode) {
  TurnReader reader(turn.host, turn.root);
  for (const Step& step : turn.steps) reader.add(step);
  return reader.left_open(turn, mode);
}

bool did(const WorkDone& done, std::string_view text) {
  if (!done.finished || !done.work) return false;
  const Words wanted = key_words(text);
  Words all_done, all_said;
  for (const Words& piece : done.did) {
    if (mostly_in(wanted, piece)) return true;
    all_done.insert(piece.begin(), piece.end());
  }
  // Several commits may have done it together.
  if (mostly_in(wanted, all_done)) return true;
  for (const Words& sentence : done.said) {
    // One common word is too little for a sentence to mean the item.
    if (wanted.size() > 1 && mostly_in(wanted, sentence)) return true;
    all_said.insert(sentence.begin(), sentence.end());
  }
  // A long item may be covered by several sentences together.
  all_said.insert(all_done.begin(), all_done.end());
  if (wanted.size() >= 6 && mostly_in(wanted, all_said)) return true;
  // An item to run something is done when a command had that purpose.
  const std::string folded = fold(text);
  if (has_cue(folded, code_mode().done_by_running))
    for (const Words& purpose : done.ran)
      if (wanted.size() > 1 && mostly_in(wanted, purpose)) return true;
  for (const std::string& file : named_files(text)) {
    if (!done.files.contains(file)) continue;
    const Words name = key_words(file);
    Words others;
    for (const std::string& word : wanted)
      if (!name.contains(word)) others.insert(word);
    // With its file edited, a third of its other words is enough.
    if (others.empty() || 3 * shared(others, all_said) >= others.size()) return true;
  }
  return false;
}

std::vector<std::string> standing_orders(std::string_view prompt, const Mode& mode) {
  constexpr std::size_t kLongestPrompt = 1500, kLongest = 200;
  std::vector<std::string> out;
  if (prompt.size() > kLongestPrompt) return out;
  for (std::string& sentence : sentences(visible(prompt))) {
    const std::string folded = fold(sentence);
    if (sentence.size() > kLongest || trim(sentence).ends_with('?') || out.size() == 3) continue;
    const bool only_sounds = std::any_of(mode.not_rules.begin(), mode.not_rules.end(),
                                         [&](const std::string& cue) { return folded.starts_with(cue); });
    if (only_sounds || folded.starts_with('/')) continue;
    const bool orders = begins_with_cue(folded, mode.rule_starts) || has_cue(folded, mode.rule_words);
    // "Always!" orders nothing.
    if (orders && key_words(sentence).size() > 1) out.push_back(std::move(sentence));
  }
  return out;
}

}  // namespace cairn::distil
