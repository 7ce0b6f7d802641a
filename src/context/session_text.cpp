#include "context/session_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "context/entries.h"
#include "context/page.h"
#include "context/units.h"
#include "distil/distil.h"
#include "event/origin.h"

namespace cairn::context {

// How the text of a session is made:
// 1. collect() lists the texts of its turns as sources, each with a weight.
// 2. prepare() splits them into units, the candidates, and drops those that a later turn repeats with other
// figures.
// 3. choose_within() marks the best of them (choice.h).
// 4. by_turns() or as_paragraph() prints what was chosen, in the order in which it was said.

namespace {

using store::Summary;
using store::TextKind;

// Weights of sentences by their source. Tuned with bench/sessions on all its projects together.
constexpr double kAnswer = 1, kLongRemark = 1, kMessage = 0.9, kFinding = 0.5, kPrompt = 0.5, kPlan = 0.2,
                 kCompaction = 0.2, kFacts = 0.3, kObjection = 1.5;
constexpr double kOlderMessage = 0.6, kOlderRemark = 0.5, kOlderObjection = 1;
constexpr double kRow = 0.8, kOlderRow = 0.4, kCode = 0.2, kLastTurn = 1.3, kCue = 1.5, kIntroduces = 0.3;
constexpr double kQuestion = 0.4;        // a question that a later turn has answered
constexpr double kAnnounces = 0.15;      // "Let me look at ..." announces work and reports no result
constexpr std::size_t kLeastUnit = 24;   // bytes of a unit without its heading
constexpr std::size_t kLong = 500;       // a remark of this size is an answer of its own
constexpr std::size_t kPlanSize = 1500;  // a prompt of this size contains a plan
constexpr std::size_t kTurnTitle = 110;

// One text that units are chosen from.
struct Source {
  std::string text;
  std::string heading;  // printed by us above the whole text; empty: the text's own headings are used
  std::int64_t turn = 0;
  double weight = 1;
  bool finding_only = false;  // only sentences with a cue
  bool labelled = false;      // written by the distiller: its labels are genuine
};

// Where a candidate is printed.
struct Place {
  Unit unit;
  std::string heading;
  std::int64_t turn = 0;
  std::size_t order = 0;  // number among all units of the session, including those that are not candidates
  bool ours = false;      // the heading is ours: the units under it are one paragraph
  bool labelled = false;
};

bool announces(std::string_view text) {
  constexpr std::size_t kBeginning = 24;
  return distil::begins_with_cue(distil::fold(text.substr(0, kBeginning)), distil::code_mode().announces);
}

// "And 45 more commands.": useless without the sentence before it.
bool is_rest(std::string_view text) {
  return text.starts_with("And ") && text.size() > 4 && text[4] >= '0' && text[4] <= '9';
}

// Finds words that show a cause, a decision or a next step.
const distil::CueFinder& cue_finder() {
  static const distil::CueFinder finder{&distil::code_mode().findings, &distil::code_mode().decisions,
                                        &distil::code_mode().remains};
  return finder;
}

class SessionWriter {
 public:
  // `place`: index of the session; 0 is the newest.
  SessionWriter(const Story& story, std::size_t place, Concepts& concepts, Figures& figures)
      : story_(story),
        place_(place),
        concepts_(concepts),
        figures_(figures),
        newest_(place == 0),
        cues_(cue_finder()) {
    for (const Summary& turn : story.turns)
      if (!is_chore(turn.request)) last_work_ = turn.prompt_number;
    collect();
  }

  // Splits the sources into candidates. Units whose text is in `already` are left out.
  void prepare(const std::set<std::string>& already) {
    for (const Source& source : sources_) add_units(source, already);
    // All figures are known before the first is compared: the later turn may come later in the list.
    for (const Figures::Said& said : said_) figures_.add(said);
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (figures_.replaced(said_[i])) candidates_[i].weight = 0;
  }

  std::size_t choose_within(std::size_t room) { return choose(candidates_, costs_, room, concepts_); }

  SessionText by_turns() const;
  // The newest turn that ended normally; null: none.
  const Summary* last_finished() const;
  // Whether the text shows this turn: a unit of it was chosen, or the session's title is its request.
  bool mentions(const Summary& turn) const;
  std::string turn_heading(const Summary& turn) const;
  std::string title_of_turn(const Summary& turn) const;
  std::string as_paragraph() const;
  std::int64_t main_turn() const;

 private:
  void collect();
  void add_texts(const Summary& turn);
  Source& add_source(std::string text, double weight, const Summary& turn, std::string heading = "",
                     bool finding_only = false);
  void add_units(const Source& source, const std::set<std::string>& said);
  double weight_of(const Unit& unit, const Source& source) const;
  // Whether unit `i` is printed: it was chosen and, if it only introduces the next unit, that one was chosen
  // too.
  bool is_printed(std::size_t i) const {
    if (!candidates_[i].chosen || !places_[i].unit.introduces) return candidates_[i].chosen;
    return i + 1 < places_.size() && candidates_[i + 1].chosen &&
           places_[i + 1].order == places_[i].order + 1;
  }
  bool has_cue(std::string_view text) const { return cues_.in(distil::fold(text)); }
  std::size_t group_of(const Source& source, const std::string& heading);
  std::size_t turn_of(std::int64_t number);

  const Story& story_;
  std::size_t place_;
  Concepts& concepts_;
  Figures& figures_;
  bool newest_;
  const distil::CueFinder& cues_;
  std::int64_t last_work_ = 0;
  std::vector<Source> sources_;
  std::vector<Candidate> candidates_;
  std::vector<Place> places_;        // one for each candidate
  std::vector<Figures::Said> said_;  // the figures of each candidate
  std::size_t units_ = 0;
  // The first entries are for units without a heading, which cost nothing.
  GroupCosts costs_{{0}, {0}};
  std::map<std::string, std::size_t> groups_;
  std::map<std::int64_t, std::size_t> turns_;
};

// The distiller's own first line of what was done. The rest is the answer, which is stored whole elsewhere.
std::string facts_of(const Summary& turn) {
  if (!distil::begins_with_facts(trim(turn.completed))) return {};
  return std::string(lines(trim(turn.completed)).front());
}

Source& SessionWriter::add_source(std::string text, double weight, const Summary& turn, std::string heading,
                                  bool finding_only) {
  if (turn.prompt_number == last_work_) weight *= kLastTurn;
  return sources_.emplace_back(
      Source{std::move(text), std::move(heading), turn.prompt_number, weight, finding_only, false});
}

void SessionWriter::collect() {
  for (const Summary& turn : story_.turns) {
    if (newest_) {
      const auto prompt = story_.prompts.find(turn.prompt_number);
      if (prompt != story_.prompts.end() && !is_chore(prompt->second))
        add_source(prompt->second, prompt->second.size() > kPlanSize ? kPlan : kPrompt, turn, "Asked");
    }
    add_texts(turn);
  }
}

void SessionWriter::add_texts(const Summary& turn) {
  bool answered = false;
  if (turn.provider != event::kBuiltin)  // a model's summary is better than single sentences
    for (const std::string* field : {&turn.completed, &turn.learned, &turn.notes})
      add_source(*field, kAnswer * 1.2, turn).labelled = answered = true;
  for (const store::Text& text : story_.texts) {
    if (text.prompt_number != turn.prompt_number) continue;
    const std::string first(trim(lines(text.text).front()));
    const auto body = [&] { return text.text.substr(std::min(text.text.find('\n'), text.text.size())); };
    switch (text.kind) {
      case TextKind::answer:
        add_source(text.text, kAnswer, turn);
        answered = true;
        break;
      case TextKind::remark:
        if (text.text.size() > kLong)
          add_source(text.text, newest_ ? kLongRemark : kOlderRemark, turn);
        else
          add_source(text.text, newest_ ? kFinding : kOlderRemark / 2, turn, "", true);
        break;
      case TextKind::commit:
        // The subjects of the newest session are listed under "State".
        if (!newest_) add_source("Commit " + first, kOlderMessage, turn);
        add_source(body(), newest_ ? kMessage : kOlderMessage, turn, "Commit " + first);
        break;
      case TextKind::pull:
        if (!newest_) add_source("Pull request " + first, kOlderMessage, turn);
        add_source(body(), newest_ ? kMessage : kOlderMessage, turn, "Pull request " + first);
        break;
      case TextKind::objection:
        add_source(text.text, newest_ ? kObjection : kOlderObjection, turn, "Corrected");
        break;
      case TextKind::away: add_source(text.text, kMessage, turn); break;
      case TextKind::compaction:
        // When later turns exist, what was pending at the compaction is out of date.
        add_source(text.text, turn.prompt_number < last_work_ ? kCompaction / 2 : kCompaction, turn,
                   "Summary of the conversation");
        break;
      case TextKind::title: break;
    }
  }
  // Without an answer, show what was done.
  if (!answered) {
    add_source(turn.completed, kAnswer, turn).labelled = true;
    add_source(turn.investigated, kFacts, turn).labelled = true;
  } else if (newest_ && turn.provider == event::kBuiltin) {
    add_source(facts_of(turn), kFacts, turn).labelled = true;
  }
}

double SessionWriter::weight_of(const Unit& unit, const Source& source) const {
  double weight = source.weight;
  const bool cue = has_cue(unit.text);
  if (source.finding_only && !cue) return 0;
  if (cue) weight *= kCue;
  if (announces(unit.text)) weight *= kAnnounces;
  // A question in an earlier turn was answered by later turns.
  if (unit.text.ends_with('?') && (!newest_ || source.turn != last_work_))
    weight *= source.heading.empty() ? 0 : kQuestion;
  if (source.labelled && is_rest(unit.text)) return 0;
  if (!newest_ && unit.text.size() < kLeastUnit) return 0;
  if (unit.form == Unit::Form::row) weight *= newest_ ? kRow : kOlderRow;
  if (unit.form == Unit::Form::code) weight *= kCode;
  if (unit.introduces) weight *= kIntroduces;
  return weight;
}

std::size_t SessionWriter::group_of(const Source& source, const std::string& heading) {
  // An earlier session is one paragraph without headings.
  if (heading.empty() || !newest_) return 0;
  const auto [known, added] =
      groups_.try_emplace(std::to_string(source.turn) + " " + heading, costs_.groups.size());
  if (added) costs_.groups.push_back(cost_of(heading) + 2);
  return known->second;
}

std::size_t SessionWriter::turn_of(std::int64_t number) {
  if (!newest_) return 0;
  const auto [known, added] = turns_.try_emplace(number, costs_.turns.size());
  const Summary* turn = story_.turn(number);
  if (added) costs_.turns.push_back(turn && !is_chore(turn->request) ? cost_of(turn_heading(*turn)) + 1 : 0);
  return known->second;
}

void SessionWriter::add_units(const Source& source, const std::set<std::string>& said) {
  const Split split = source.labelled ? split_facts(visible(source.text)) : split_text(visible(source.text));
  std::size_t last_block = static_cast<std::size_t>(-1);
  const Summary* turn = story_.turn(source.turn);
  const std::string title = turn && newest_ && !is_chore(turn->request) ? title_of_turn(*turn) : "";
  for (const Unit& unit : split.units) {
    ++units_;
    if (said.contains(unit.text) || unit.text == title) continue;
    Candidate candidate;
    candidate.weight = weight_of(unit, source);
    if (candidate.weight <= 0) continue;
    std::string heading = source.heading;
    if (heading.empty() && unit.heading >= 0)
      heading = split.headings[static_cast<std::size_t>(unit.heading)];
    // A blank or a line feed after a sentence; "- " and a line feed around an item.
    candidate.bytes = cost_of(unit.text) + (unit.form == Unit::Form::sentence ? 1 : 3);
    candidate.group = group_of(source, heading);
    candidate.turn = turn_of(source.turn);
    candidate.continues = unit.continues;
    // The unit before it in its paragraph is the last candidate; its index plus one is the size of the
    // list.
    if (unit.block == last_block && !candidates_.empty()) candidate.before = candidates_.size();
    candidate.concepts = concepts_.of(unit.text);
    last_block = unit.block;
    said_.push_back(Figures::said(candidate.concepts, place_, source.turn));
    candidates_.push_back(std::move(candidate));
    places_.push_back(
        {unit, std::move(heading), source.turn, units_, !source.heading.empty(), source.labelled});
  }
}

// Stored text as data on one line, without anything that looks like one of our labels.
std::string as_line(std::string_view text) {
  return labelled(as_data(one_line(text, text.size() + 8)));
}

std::string as_line(const Place& place) {
  return place.labelled ? closed(as_data(place.unit.text)) : as_line(place.unit.text);
}

void end_line(std::string& text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
}

std::string SessionWriter::turn_heading(const Summary& turn) const {
  std::string text = fmt::format("## {}{}", id_of(turn), label(turn.origins));
  const std::string title = as_line(title_of_turn(turn));
  if (!title.empty()) text += " \u00b7 " + title;
  if (turn.interim) text += " \u00b7 still running";
  if (!interruption_of(turn).empty()) text += " \u00b7 interrupted";
  return text;
}

// What the turn was about: its request, or the first sentence of its answer where the request says nothing by
// itself ("7", "go on until all are done").
std::string SessionWriter::title_of_turn(const Summary& turn) const {
  const distil::Words words = distil::key_words(turn.request);
  static const distil::Words chores = [] {
    distil::Words all;
    for (const std::string& chore : distil::code_mode().routine_requests) all.merge(distil::key_words(chore));
    return all;
  }();
  const bool says = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.find_first_not_of("0123456789") != std::string::npos && !chores.contains(word);
  });
  if (!says)
    for (const store::Text& text : story_.texts)
      if (text.prompt_number == turn.prompt_number && text.kind == TextKind::answer)
        if (std::string title = title_of_request(text.text, kTurnTitle); title.size() >= kLeastUnit)
          return title;
  return title_of_request(turn.request, kTurnTitle);
}

bool names_turn(const SessionText& text, const Summary& turn) {
  return std::find(text.items.begin(), text.items.end(), id_of(turn)) != text.items.end();
}

SessionText SessionWriter::by_turns() const {
  SessionText out;
  std::string& text = out.text;
  const Place* before = nullptr;
  // Always name the turn that was finished last, even when none of its sentences was chosen.
  const Summary* last = last_finished();
  const std::int64_t last_number = last ? last->prompt_number : std::numeric_limits<std::int64_t>::max();
  const auto name_last = [&] {
    text += turn_heading(*last) + "\n";
    out.items.push_back(id_of(*last));
  };
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!is_printed(i)) continue;
    const Place& place = places_[i];
    const Summary* turn = story_.turn(place.turn);
    const bool new_turn = turn && (!before || before->turn != place.turn);
    if (new_turn) {
      end_line(text);
      // In its place among the turns, before the first one that came after it.
      if (turn->prompt_number > last_number && !names_turn(out, *last)) name_last();
      if (!is_chore(turn->request) || text.empty()) text += turn_heading(*turn) + "\n";
      out.items.push_back(id_of(*turn));
    }
    const bool new_heading = new_turn || before->heading != place.heading;
    if (new_heading) {
      end_line(text);
      if (!place.heading.empty()) text += as_line(place.heading + ":") + (place.ours ? "" : "\n");
    }
    const bool sentence = place.ours || place.unit.form == Unit::Form::sentence;
    const bool goes_on = !new_heading && sentence && before->unit.form == Unit::Form::sentence &&
                         before->unit.block == place.unit.block;
    if (place.ours || goes_on)
      text += " ";
    else
      end_line(text);
    text += (sentence ? "" : "- ") + as_line(place);
    before = &place;
  }
  end_line(text);
  if (last && !names_turn(out, *last)) name_last();
  return out;
}

const Summary* SessionWriter::last_finished() const {
  for (auto turn = story_.turns.rbegin(); turn != story_.turns.rend(); ++turn)
    if (turn->turn_end == store::TurnEnd::stop && !turn->request.empty() && !is_chore(turn->request))
      return &*turn;
  return nullptr;
}

bool SessionWriter::mentions(const Summary& turn) const {
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (candidates_[i].chosen && places_[i].turn == turn.prompt_number) return true;
  return story_.title(kTurnTitle) == title_of_request(turn.request, kTurnTitle);
}

std::string SessionWriter::as_paragraph() const {
  std::string out;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!is_printed(i)) continue;
    const std::string line = as_line(places_[i]);
    if (!out.empty()) out += " ";
    out += line;
    if (std::string_view(".!?:\"").find(line.back()) == std::string_view::npos) out += ".";
  }
  return out;
}

// The turn with the most chosen bytes.
std::int64_t SessionWriter::main_turn() const {
  std::map<std::int64_t, std::size_t> said;
  std::int64_t best = story_.turns.back().prompt_number;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (candidates_[i].chosen && (said[places_[i].turn] += candidates_[i].bytes) > said[best])
      best = places_[i].turn;
  return best;
}

}  // namespace

std::size_t cost_of(std::string_view text) {
  std::size_t cost = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    cost += byte < 0x80 ? 1 : byte >= 0xC0 ? 4 : 0;
  }
  return cost;
}

SessionText newest_text(const Story& story, std::size_t room, Concepts& concepts, Figures& figures,
                        const std::set<std::string>& said) {
  SessionWriter writer(story, 0, concepts, figures);
  writer.prepare(said);
  const Summary* last = writer.last_finished();
  const std::size_t kept = last ? cost_of(writer.turn_heading(*last)) + 1 : 0;  // its heading is printed
  writer.choose_within(room - std::min(room, kept));
  return writer.by_turns();
}

SessionText earlier_text(const Story& story, std::size_t place, const std::string& heading, std::size_t room,
                         Concepts& concepts, Figures& figures) {
  SessionWriter writer(story, place, concepts, figures);
  writer.prepare({});
  // The rest of the first line: "## ", the id, its label, the dot and the line feed.
  const std::size_t head = cost_of(heading) + 24;
  const Summary* last = writer.last_finished();
  // Without the "## " of a heading.
  std::string finished = last ? "Finished last: " + writer.turn_heading(*last).substr(3) + "\n" : "";
  // The title of a session that is still running, or ended inside a turn, names unfinished work. So add the
  // turn that it finished last. Add it also when no sentence of that turn was chosen.
  const std::size_t kept =
      last && story.turns.back().turn_end != store::TurnEnd::stop ? cost_of(finished) : 0;
  const std::size_t left = room - std::min(room, head + kept);
  const std::size_t used = writer.choose_within(left);
  const Summary* turn = story.turn(writer.main_turn());
  const bool fits = kept > 0 || used + cost_of(finished) <= left;
  if (!fits || (kept == 0 && last && writer.mentions(*last))) finished.clear();
  SessionText out;
  const std::string id = turn ? id_of(*turn) + label(turn->origins) : "";
  out.text = fmt::format("## {} \u00b7 {}\n", id, heading);
  if (const std::string text = writer.as_paragraph(); !text.empty()) out.text += text + "\n";
  out.text += finished;
  if (turn) out.items.push_back(id_of(*turn));
  if (!finished.empty() && last != turn) out.items.push_back(id_of(*last));
  return out;
}

}  // namespace cairn::context
