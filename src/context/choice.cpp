#include "context/choice.h"

#include <algorithm>
#include <unordered_set>

#include "base/hash.h"
#include "base/text.h"
#include "distil/distil.h"

namespace cairn::context {

namespace {

constexpr double kName = 1.5;          // an identifier or a number; other words have 1
constexpr double kEmphasis = 1.3;      // a word that also occurs in prompts or subjects of commits
constexpr double kAgain = 0.1;         // factor for a concept that was said already
constexpr std::size_t kOverhead = 28;  // bytes added to each size: else the shortest would always win
constexpr double kPointsBack = 0.1;    // "This ..." without the sentence before it is hard to understand
constexpr double kBegins = 0.6;        // the same when no sentence precedes it in its paragraph
constexpr double kGoesOn = 1.15;      // the sentence after a chosen one: reads better than one from elsewhere
constexpr double kLeastGain = 0.012;  // units with less gain are not shown

bool is_empty_word(std::string_view word) {
  static const std::unordered_set<std::string_view> kWords(distil::code_mode().empty.begin(),
                                                           distil::code_mode().empty.end());
  return kWords.contains(word);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_part(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
bool joins(char c) {
  return c == '.' || c == '/' || c == '-' || c == ':' || c == '#' || c == '@';
}

// Whether the word is an identifier or a number: it has a digit, a sign in the middle, or capitals inside.
bool is_name(std::string_view word) {
  bool lower = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if (is_digit(c) || c == '_' || c == '/' || c == '.' || c == ':' || c == '#') return true;
    if (lower && c >= 'A' && c <= 'Z') return true;
    lower = c >= 'a' && c <= 'z';
  }
  return false;
}

// "34", "84.5", "12/14", "25ms"; not "2026-11-16" nor "1a2b3c4".
bool is_figure(std::string_view word) {
  constexpr std::size_t kLongestUnit = 3;
  const std::size_t digits = std::min(word.find_first_not_of("0123456789./"), word.size());
  const std::string_view unit = word.substr(digits);
  return digits > 0 && unit.size() <= kLongestUnit && std::all_of(unit.begin(), unit.end(), is_letter);
}

// Makes "tests", "tested" and "testing" one concept. Errors are harmless: they only change what is chosen.
std::string stem(std::string word) {
  for (const std::string_view end : {"ing", "ed", "es", "s"})
    if (word.size() > end.size() + 3 && word.ends_with(end)) {
      word.resize(word.size() - end.size());
      break;
    }
  return word;
}

}  // namespace

int Concepts::id_of(std::string word, bool is_name) {
  const auto [known, added] = ids_.try_emplace(std::move(word), static_cast<int>(known_.size()));
  if (added) known_.push_back({checksum(known->first), is_name ? kName : 1.0, 1.0, false});
  return known->second;
}

std::vector<Concepts::Use> Concepts::of(std::string_view text) {
  std::vector<Use> uses;
  const auto add = [&](std::string word, bool is_name, bool figure = false) {
    const int id = id_of(std::move(word), is_name);
    const Known& known = known_[static_cast<std::size_t>(id)];
    if (std::none_of(uses.begin(), uses.end(), [id](const Use& use) { return use.id == id; }))
      uses.push_back({id, known.value, figure, known.hash});
  };
  std::size_t before = 0;  // where the last word began
  for (std::size_t i = 0; i < text.size();) {
    if (!is_part(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() &&
           (is_part(text[end]) || (joins(text[end]) && end + 1 < text.size() && is_part(text[end + 1]))))
      ++end;
    const std::string_view word = text.substr(i, end - i);
    // "Phase 2" and "#12" are names.
    const bool named = i > 0 && (text[i - 1] == '#' || (text[before] >= 'A' && text[before] <= 'Z'));
    before = i;
    i = end;
    // Six bytes are two characters.
    const bool foreign = static_cast<unsigned char>(word[0]) >= 0xE3;  // no blanks: pairs of characters
    if (foreign)
      for (std::size_t at = 0; at < word.size(); at += 6) add(std::string(word.substr(at, 6)), false);
    else if (is_name(word))
      add(ascii_lower(word), true, !named && is_figure(word));
    else if (const std::string lower = ascii_lower(word); word.size() > 1 && !is_empty_word(lower))
      add(stem(lower), false);
  }
  return uses;
}

void Concepts::count(const std::vector<Use>& uses) {
  for (const Use& use : uses) known_[static_cast<std::size_t>(use.id)].left *= kAgain;
}

void Concepts::emphasise(std::string_view text) {
  for (const Use& use : of(text)) known_[static_cast<std::size_t>(use.id)].emphasised = true;
}

double Concepts::novelty(const std::vector<Use>& uses) const {
  double sum = 0;
  for (const Use& use : uses) {
    const Known& known = known_[static_cast<std::size_t>(use.id)];
    sum += use.value * known.left * (known.emphasised ? kEmphasis : 1);
  }
  return sum;
}

std::size_t choose(std::vector<Candidate>& candidates, GroupCosts costs, std::size_t room,
                   Concepts& concepts) {
  std::size_t used = 0;
  const auto cost_of = [&](const Candidate& c) {
    return c.bytes + costs.groups[c.group] + costs.turns[c.turn];
  };
  // Each choice changes the gains of the others (its concepts were said, its heading is paid for), so all
  // are computed again.
  for (;;) {
    Candidate* best = nullptr;
    double best_gain = kLeastGain;
    for (Candidate& c : candidates) {
      if (c.chosen || c.weight <= 0) continue;
      const std::size_t cost = cost_of(c);
      if (used + cost > room) continue;
      const bool follows = c.before > 0 && candidates[c.before - 1].chosen;
      double gain = c.weight * concepts.novelty(c.concepts) / static_cast<double>(cost + kOverhead);
      if (follows) gain *= kGoesOn;
      if (c.continues && !follows) gain *= c.before > 0 ? kPointsBack : kBegins;
      if (gain <= best_gain) continue;
      best = &c;
      best_gain = gain;
    }
    if (!best) return used;
    used += cost_of(*best);
    // The heading is printed once.
    costs.groups[best->group] = 0;
    costs.turns[best->turn] = 0;
    best->chosen = true;
    concepts.count(best->concepts);
  }
}

}  // namespace cairn::context
