#include "distil/open_items.h"

#include <algorithm>

#include "base/text.h"
#include "distil/answer_lines.h"
#include "distil/plans.h"
#include "distil/sentences.h"
#include "distil/shell.h"
#include "distil/words.h"
#include "host/host.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxSteps = 6;        // of one answer
constexpr std::size_t kMaxObligations = 3;  // sentences, of one answer
constexpr std::size_t kMaxText = 300;
constexpr std::size_t kMaxPieces = 400;  // of a turn's deeds

// ---- what the turn did

class DeedsReader {
 public:
  explicit DeedsReader(std::string_view root) : root_(root) {}

  void add(const host::Action& action, const Step& step) {
    using Verb = host::Action::Verb;
    if (step.outcome != Step::Outcome::ok) return;
    if (action.verb == Verb::run) run(action);
    if (action.verb == Verb::write || action.verb == Verb::edit) edit(action.path);
    if (action.verb == Verb::track && step.agent_type.empty()) track(action, step.event);
  }

  Deeds take() {
    for (const TaskChange& task : out_.tasks)
      if (task.status == "completed" && !task.subject.empty()) did(task.subject);
    return std::move(out_);
  }

 private:
  void did(std::string_view text) {
    if (out_.did.size() < kMaxPieces) out_.did.push_back(key_words(text));
  }

  void edit(std::string_view path) {
    if (path.empty()) return;
    out_.work = true;
    out_.files.insert(std::string(path.substr(path.rfind('/') + 1)));
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
    // What leaves the machine is a deed; what only looks or checks is not.
    for (const std::string_view deed : {"git push", "gh pr create", "gh pr merge", "gh issue create"})
      if (action.command.find(deed) != std::string_view::npos) {
        out_.work = true;
        did(std::string(deed) + " open");  // what is created is opened
      }
    for (const std::string& file : files.written) out_.files.insert(file.substr(file.rfind('/') + 1));
    if (out_.ran.size() < kMaxPieces)
      out_.ran.push_back(
          key_words(action.description.empty() ? prefix(action.command, 200) : action.description));
  }

  static std::string_view name_of(host::TaskChange::State state) {
    using State = host::TaskChange::State;
    switch (state) {
      case State::pending: return "pending";
      case State::in_progress: return "in_progress";
      case State::completed: return "completed";
      case State::deleted: return "deleted";
      case State::unknown: break;
    }
    return "";
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
        if (change.id.empty() && !action.all_tasks) continue;
        known = out_.tasks.insert(known, {action.all_tasks ? "" : change.id, "", "", event});
      }
      if (!subject.empty()) known->subject = subject;
      if (const std::string_view state = name_of(change.state); !state.empty()) known->status = state;
    }
  }

  std::string_view root_;
  Deeds out_;
};

// ---- what the answer says

bool is_nothing(std::string_view text) {
  const std::string folded = fold(trim(text));
  for (const std::string_view word : {"none", "nothing", "n/a", "no ", "nothing "})
    if (folded == word || (word.ends_with(' ') && folded.starts_with(word)) ||
        folded == std::string(word) + ".")
      return true;
  return false;
}

std::string shown_item(std::string_view text) {
  std::string out = one_line(text, 4 * kMaxText);
  for (const std::string_view mark : {"**", "__"})
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at)) out.erase(at, 2);
  return shorten(trim(out), kMaxText);
}

// A line that can stand alone as something to do.
bool is_item(std::string_view raw) {
  const std::string shown = shown_item(raw);
  const std::string_view text = shown;
  if (text.ends_with(':') || text.starts_with('/') || text.starts_with("`/")) return false;  // a menu
  const std::string folded = fold(text);
  const bool label = folded.starts_with("not yet ") && folded.find(':') != std::string::npos;
  if (folded.starts_with("if ") || label) return false;  // a case, not a duty
  return !is_nothing(text) && !key_words(text).empty();
}

// A question, or a few words that are one: "say the word and I push it". Other offers without a question mark
// are courtesies ("Let me know if you want changes").
bool asks(std::string_view sentence) {
  return trim(sentence).ends_with('?') || trim(sentence).ends_with("\uff1f") ||
         has_cue(fold(sentence), {"say the word", "tell me to", "let me know when"});
}

// Not "What would you like to work on next?".
bool offers_something(std::string_view question) {
  Words words = key_words(question);
  for (const char* word : {"work", "help", "today", "tackl", "prefer", "think", "approach", "option"})
    words.erase(word);
  return !words.empty();
}

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
        if (!line.done && line.depth == 0) add_step(line.text);
        continue;
      }
      // A paragraph right under the heading is the next step itself.
      if (listing && steps_.empty() && line.kind == AnswerLine::Kind::text && is_item(line.text)) {
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
    const auto add = [&](const std::string& text, std::string_view source) {
      const std::string key = item_key(text);
      if (std::none_of(out.begin(), out.end(), [&](const OpenItem& item) { return item.key == key; }))
        out.push_back(
            {std::string(source), source == "next_step" && !work_ ? "offered" : "", key, text, "", event});
    };
    for (const std::string& step : steps_) add(step, "next_step");
    const std::size_t first =
        obligations_.size() > kMaxObligations ? obligations_.size() - kMaxObligations : 0;
    for (std::size_t i = first; i < obligations_.size(); ++i) add(obligations_[i], "next_step");
    if (!question_.empty()) add(question_, "question");
    return out;
  }
  std::vector<Words> said() { return std::move(said_); }

 private:
  void add_step(std::string_view text) {
    if (steps_.size() < kMaxSteps && is_item(text)) steps_.push_back(shown_item(text));
  }

  void read_sentences(std::string_view text) {
    for (const std::string& sentence : sentences(text)) {
      const std::string folded = fold(sentence);
      const bool question = trim(sentence).ends_with('?');
      const bool left = has_cue(without_cues(folded, mode_.settled), mode_.remains);
      if (!left && !question) {
        if (said_.size() < kMaxPieces) said_.push_back(key_words(sentence));
      } else if (left && !question && work_ && is_item(sentence)) {
        obligations_.push_back(shown_item(sentence));
      }
    }
  }

  // The last thing said, when it offers to go on: "Want me to push?", "Say the word and I will."
  void find_question(const std::vector<AnswerLine>& all) {
    for (auto line = all.rbegin(); line != all.rend(); ++line) {
      if (line->kind == AnswerLine::Kind::blank) continue;
      const auto parts = sentences(line->text);
      // The offer may be followed by a word about it.
      for (auto part = parts.rbegin(); part != parts.rend() && part - parts.rbegin() < 2; ++part)
        if (asks(*part) && has_cue(fold(*part), mode_.offers) && offers_something(*part)) {
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

// ---- plans, interruptions

// The last plan of the turn; an earlier one was replaced by it.
void add_plan(const host::Action& action, const Step& step, std::vector<OpenItem>& out) {
  if (action.verb != host::Action::Verb::plan || !step.agent_type.empty()) return;
  const std::string plan = visible(action.plan);
  const std::string heading = plan_heading(plan);
  if (heading.empty()) return;
  const bool accepted = step.outcome == Step::Outcome::ok;
  out.assign(1, {"plan", accepted ? "accepted" : "rejected", item_key(heading), heading, plan, step.event});
}

// What was running when the turn broke off.
std::string last_running(const Turn& turn, const host::Host& host) {
  for (auto step = turn.steps.rbegin(); step != turn.steps.rend(); ++step) {
    if (step->outcome != Step::Outcome::interrupted) continue;
    const host::Action action = host.read_action({step->tool, step->input, step->response});
    const std::string what = one_line(visible(action.description), 80);
    const std::string command = one_line(visible(action.command), 120);
    if (!what.empty() && !command.empty()) return what + " (" + command + ")";
    return !command.empty() ? command : !what.empty() ? what : one_line(visible(step->tool), 60);
  }
  return {};
}

// The question that the turn broke off at.
std::vector<OpenItem> unanswered(const Turn& turn, const host::Host& host) {
  if (turn.steps.empty() || turn.steps.back().outcome != Step::Outcome::interrupted) return {};
  const Step& step = turn.steps.back();
  const host::Action action = host.read_action({step.tool, step.input, step.response});
  if (action.verb != host::Action::Verb::ask) return {};
  std::vector<OpenItem> out;
  for (const host::Question& question : action.questions)
    if (const std::string text = shown_item(visible(question.text)); !text.empty())
      out.push_back({"question", "", item_key(text), text, "", step.event});
  return out;
}

std::vector<OpenItem> interruption_of(const Turn& turn, const host::Host& host) {
  if (turn.end != Turn::End::failed && turn.end != Turn::End::cut_off) return {};
  if (auto questions = unanswered(turn, host); !questions.empty()) return questions;
  const std::string request = shorten(one_line(visible(prefix(turn.prompt, 1000)), 1000), 160);
  if (turn.steps.empty() && (request.empty() || request.starts_with('/'))) return {};
  std::string text = turn.end == Turn::End::failed ? "Ended by an error of the service" : "Interrupted";
  if (turn.end == Turn::End::failed && !turn.failure.empty() && turn.failure != "unknown")
    text += " (" + one_line(visible(turn.failure), 80) + ")";
  if (const std::string running = last_running(turn, host); !running.empty()) text += " at: " + running;
  if (!request.empty()) text += "; the request was: " + request;
  return {{"interruption", "", item_key(text), text, "", turn.steps.empty() ? 0 : turn.steps.back().event}};
}

// "yes", "go ahead", "continue", "1": what was offered before is what is asked for now.
bool only_agrees(std::string_view prompt, const Mode& mode) {
  const std::string folded = fold(one_line(prompt, 400));
  if (folded.size() > 120) return false;
  return has_cue(folded, mode.agrees) || folded.find_first_not_of("0123456789. ") == std::string::npos;
}

}  // namespace

std::string item_key(std::string_view text) {
  std::string out = fold(one_line(text, kMaxText));
  std::erase_if(out, [](char c) { return c == '*' || c == '`' || c == '_'; });
  while (out.ends_with('.') || out.ends_with('!')) out.pop_back();
  return out;
}

LeftOpen left_open(const Turn& turn, const Mode& mode) {
  DeedsReader reader(turn.root);
  const host::Host& host = host::find_host(turn.host);
  LeftOpen out;
  for (const Step& step : turn.steps) {
    const host::Action action = host.read_action({step.tool, step.input, step.response});
    reader.add(action, step);
    add_plan(action, step, out.items);
  }
  out.deeds = reader.take();
  out.deeds.finished = turn.end == Turn::End::stopped;
  out.deeds.agrees = only_agrees(turn.prompt, mode);
  if (turn.end == Turn::End::stopped) {
    AnswerReader answer(mode, out.deeds.work);
    answer.read(visible(turn.last_answer));
    out.deeds.said = answer.said();
    for (OpenItem& item : answer.items(turn.answer_event)) out.items.push_back(std::move(item));
  } else if (out.items.empty()) {  // a plan tells what was interrupted
    out.items = interruption_of(turn, host);
  }
  return out;
}

bool did(const Deeds& deeds, std::string_view text) {
  if (!deeds.finished || !deeds.work) return false;
  const Words wanted = key_words(text);
  Words all_done, all_said;
  for (const Words& piece : deeds.did) {
    if (mostly_in(wanted, piece)) return true;
    all_done.insert(piece.begin(), piece.end());
  }
  if (mostly_in(wanted, all_done)) return true;
  for (const Words& sentence : deeds.said) {
    if (wanted.size() > 1 && mostly_in(wanted, sentence)) return true;
    all_said.insert(sentence.begin(), sentence.end());
  }
  // A long item is told in several sentences.
  all_said.insert(all_done.begin(), all_done.end());
  if (wanted.size() >= 6 && mostly_in(wanted, all_said)) return true;
  // What is to be run has been run when a command was for it.
  const std::string folded = fold(text);
  if (has_cue(folded, {"run", "rerun", "re-run", "verify", "check", "build", "lint", "test"}))
    for (const Words& purpose : deeds.ran)
      if (wanted.size() > 1 && mostly_in(wanted, purpose)) return true;
  // Its file was edited, and something else of it was spoken of.
  for (const std::string& file : named_files(text)) {
    if (!deeds.files.contains(file)) continue;
    const Words name = key_words(file);
    Words others;
    for (const std::string& word : wanted)
      if (!name.contains(word)) others.insert(word);
    if (others.empty() || 3 * shared(others, all_said) >= others.size()) return true;
  }
  return false;
}

std::vector<std::string> standing_orders(std::string_view prompt) {
  constexpr std::size_t kLongestPrompt = 1500, kLongest = 200;
  static const Cues kGood = {"always", "never", "from now on", "in future", "going forward"};
  static const Cues kLeads = {"please always",
                              "please never",
                              "should always",
                              "should never",
                              "must always",
                              "must never",
                              "must not ever",
                              "do not ever",
                              "don't ever",
                              "from now on",
                              "going forward",
                              "make sure you always",
                              "make sure to always",
                              "remember to always",
                              "you always",
                              "we always",
                              "we never"};
  std::vector<std::string> out;
  if (prompt.size() > kLongestPrompt) return out;
  for (std::string& sentence : sentences(visible(prompt))) {
    const std::string folded = fold(sentence);
    if (sentence.size() > kLongest || trim(sentence).ends_with('?') || out.size() == 3) continue;
    if (folded.starts_with("never mind") || folded.starts_with("always on") || folded.starts_with("/"))
      continue;
    const bool begins = std::any_of(kGood.begin(), kGood.end(), [&](const std::string& cue) {
      return folded.starts_with(cue + " ") || folded.starts_with(cue + ",");
    });
    if ((begins || has_cue(folded, kLeads)) && key_words(sentence).size() > 1)
      out.push_back(std::move(sentence));
  }
  return out;
}

}  // namespace cairn::distil
