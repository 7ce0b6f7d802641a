#include <algorithm>
#include <memory>
#include <optional>

#include "gate/secrets/finders.h"
#include "gate/secrets/literals.h"
#include "gate/secrets/shape.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::string_view kMarker = "[secret:";
constexpr std::size_t kMaxJudged = 512;  // characters of a token that are judged
constexpr std::size_t kMaxBack = 120;    // of a token before a literal inside it
constexpr std::size_t kMaxPart = 8192;   // of a token in one of several lines
constexpr std::size_t kMatching = 12;    // cost of a match without result, in characters
constexpr std::size_t kJudging = 24;     // fixed cost of a judgement, in characters

// Finders with signs of their own.
struct Finder {
  std::string_view section, hows;  // of rules.txt
  std::size_t (*find)(const Hit& hit, const Sign& sign);
  // The text between a sign and its secret may contain secrets of other finders: search it too.
  bool ahead = false;
  bool always = false;  // it is called even when may_judge() says no
};
constexpr Finder kFinders[] = {
    {"blocks", "begin end lines", find_key_block, false, true},
    {"addresses", "password", find_in_address, false, true},
    {"users", "user", find_user},
    {"members", "private-key password", find_members, true},
    {"options", "glued apart judged user quoted any", find_option},
    {"arguments", "arguments piped login_before login_behind", find_argument},
    {"calls", "login keyed behind client pair row made", find_in_call, true},
    {"logins", "behind named", find_login_pair, true},
    {"paths", "path", find_in_path, true},
};

// Small, so that all of them stay in the processor's cache: every text is compared with all of them.
struct Literal {
  enum What : std::uint8_t { rule, name, foreign, marker, finder };
  std::string_view text;
  What what = rule;
  bool at_start = false;         // of a token
  bool may_be_broken = false;    // it is long enough to go on in another line
  bool apart = false;            // other characters are between it and the secret
  Chars first = Chars::visible;  // what must follow it, and how many of them
  std::uint16_t first_min = 0;
  std::uint16_t index = 0;  // of the rule, or of the first sign
  std::uint8_t by = 0;      // of kFinders
  std::uint8_t signs = 1;   // with this text

  bool is_judged() const { return what <= foreign; }  // it counts only after a judgement
};

// The rules, ready to be used.
struct Table {
  const std::vector<SecretRule>& rules = secret_rules();
  std::vector<Literal> entries;  // what each text of `literals` stands for, by its index
  std::vector<Shape> shapes;     // of the rules
  std::vector<CharRun> before;
  std::vector<std::vector<Sign>> signs;  // one list for each of kFinders, sorted by text
  std::unique_ptr<Literals> literals;

  Table() {
    for (const SecretRule& rule : rules) {
      const Shape& shape = shapes.emplace_back(rule.shape);
      const CharRun first = shape.first();
      for (const std::string_view literal : rule.literals)
        entries.push_back({.text = literal,
                           .what = Literal::rule,
                           .at_start = !rule.anywhere,
                           .may_be_broken = literal.size() + shape.least() >= 20 && rule.before.empty(),
                           .apart = shape.is_apart(),
                           .first = first.chars,
                           .first_min = static_cast<std::uint16_t>(first.min),
                           .index = static_cast<std::uint16_t>(shapes.size() - 1)});
      before.push_back(rule.before.empty() ? CharRun{} : char_run(rule.before));
    }
    for (const std::string_view text : WordList::texts("telling"))
      entries.push_back({.text = text, .what = Literal::name});
    for (const std::string_view text : WordList::texts("foreign"))
      entries.push_back({.text = text, .what = Literal::foreign});
    entries.push_back({.text = kMarker, .what = Literal::marker});
    add_signs();
    std::vector<Literals::Literal> texts;
    for (const Literal& literal : entries) texts.push_back(text_of(literal));
    literals = std::make_unique<Literals>(texts);
  }

  // One literal for all signs of a finder with the same text.
  void add_signs() {
    for (const Finder& finder : kFinders) {
      std::vector<Sign>& all = signs.emplace_back(signs_of(finder.section, finder.hows));
      std::stable_sort(all.begin(), all.end(), [](const Sign& a, const Sign& b) { return a.text < b.text; });
    }
    for (std::uint8_t by = 0; by < signs.size(); ++by)
      for (std::uint16_t i = 0; const Sign& sign : signs[by]) {
        if (i > 0 && entries.back().text == sign.text)
          ++entries.back().signs;
        else
          entries.push_back({.text = sign.text, .what = Literal::finder, .index = i, .by = by});
        ++i;
      }
  }

  static Literals::Literal text_of(const Literal& literal) {
    if (literal.what != Literal::rule) return {literal.text};
    // A short literal inside a longer word is probably a coincidence.
    const Kinds word = only(literal.text.size() <= 3 ? Chars::url : Chars::alnum);
    // A gap may follow instead: then the rest of the token is in the next line.
    const Kinds next = only(literal.first) | only(Chars::gap);
    return {literal.text, false, literal.at_start ? word : 0, literal.first_min > 0 ? next : 0};
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

// One pass over the text. Literals (literals.h) finds each place where a literal of a rule, a part of a name
// or a sign of a finder stands, and hit() tries what belongs to it: the shape of the rule, the value beside
// the name, the finder. What was found moves done_ forward, and text before done_ is not searched again. What
// was tried without a result is added to judged_, which may_judge() limits.
class Search {
 public:
  Search(std::string_view text, std::vector<FoundSecret>& found) : text_(text), found_(found), runs_(text) {}

  void run() {
    // The callback returns how far the search may skip: over what was found already.
    rules_.literals->each(text_, [&](std::uint16_t index, std::size_t at) {
      const Literal& literal = rules_.entries[index];
      if (!literal.is_judged() || may_judge(at)) hit(literal, at);
      return done_;
    });
  }

 private:
  // Not inlined: the calling loop is the hottest one and needs the registers.
  [[gnu::noinline]] void hit(const Literal& literal, std::size_t begin) {
    if (begin < done_ && !literal.apart) return;
    const std::size_t end = begin + literal.text.size();
    switch (literal.what) {
      case Literal::rule: return try_rule(literal, begin, end);
      case Literal::name: return try_name(begin);
      case Literal::foreign: return try_foreign(begin, end);
      case Literal::marker: done_ = std::max(done_, marker_at(text_, begin)); return;
      case Literal::finder: return try_finder(literal, begin, end);
    }
  }

  Hit hit_at(std::size_t begin, std::size_t end) { return {text_, begin, end, runs_, found_, done_}; }

  void try_finder(const Literal& literal, std::size_t begin, std::size_t end) {
    const Finder& finder = kFinders[literal.by];
    if ((!finder.always && !may_judge(begin)) || (finder.ahead && begin < ahead_)) return;
    const Sign* sign = &rules_.signs[literal.by][literal.index];
    const std::size_t known = found_.size();
    std::size_t cost = 0;
    // Several signs may have this text: the first one that finds a secret wins.
    for (int left = literal.signs; left > 0 && found_.size() == known; --left)
      cost += finder.find(hit_at(begin, end), *sign++);
    if (found_.size() == known) {
      judged_ += cost;
    } else {
      std::size_t& found_end = finder.ahead ? ahead_ : done_;
      found_end = std::max(found_end, found_.back().end);
    }
  }

  // Judging a value takes time in its length, and names may occur in values of other names. So the characters
  // judged without a result are limited by the position in the text, which keeps the time linear for any
  // text.
  bool may_judge(std::size_t at) const { return judged_ <= at + 4096; }
  void judged_without_result(std::size_t length) { judged_ += kJudging + 2 * length; }  // read more than once

  void try_name(std::size_t at) {
    if (at < name_end_) return;
    const std::size_t known = found_.size();
    const NameRead read = find_named(hit_at(at, at));
    name_end_ = read.name_end;
    finish_found(known, read.judged);
    // It is no name of a secret, or its value was found.
    if (read.begin == read.name_end || found_.size() > known) return;
    judged_ += find_column(hit_at(read.begin, read.name_end));
    if (found_.size() == known) look_around(read.begin, read.name_end);
  }

  // Searches the sentence that contains the name.
  void look_around(std::size_t begin, std::size_t end) {
    constexpr std::size_t kReadingWords = 6;
    const char before = begin > 0 ? text_[begin - 1] : ' ';
    if (before != ' ' && before != '\n' && before != '(') return;
    const std::size_t known = found_.size(), cost = find_said(hit_at(begin, end));
    finish_found(known, kReadingWords + cost);
  }

  void try_foreign(std::size_t begin, std::size_t end) {
    const std::size_t known = found_.size();
    finish_found(known, find_after(hit_at(begin, end)));
    if (found_.size() == known) look_around(begin, end);
  }

  // Completes the values that were found beside a name: those after the first `known` ones.
  void finish_found(std::size_t known, std::size_t judged) {
    if (found_.size() == known) judged_ += judged;
    for (std::size_t i = known; i < found_.size(); ++i) {
      FoundSecret& found = found_[i];
      if (found.end < text_.size() && is_quote(text_[found.end])) found.end = wrapped_end(found.end);
      name_by_shape(found);
      done_ = std::max(done_, found.end);
    }
  }

  // The shape of a token is more reliable than the name beside it.
  void name_by_shape(FoundSecret& found) {
    bool named = false;
    rules_.literals->at(text_, found.begin, [&](std::uint16_t index) {
      const Literal& literal = rules_.entries[index];
      if (named || literal.what != Literal::rule) return;
      const auto match =
          rules_.shapes[literal.index].match(text_, found.begin + literal.text.size(), runs_, false);
      if (!match) return;
      named = true;
      found.kind = rules_.rules[literal.index].kind;
      found.end = std::max(found.end, match->end);
    });
  }

  void try_rule(const Literal& literal, std::size_t begin, std::size_t end) {
    const SecretRule& rule = rules_.rules[literal.index];
    const Shape& shape = rules_.shapes[literal.index];
    std::optional<Shape::Match> match;
    if (may_be_long(literal, end)) {
      match = shape.match(text_, end, runs_, false);
      if (!match) judged_ += kMatching;
    }
    if (!match && literal.may_be_broken && is_broken(end)) {
      match = shape.match(text_, end, runs_, true);
      if (!match) judged_without_result(0);
    }
    if (!match) return;
    if (const CharRun& run = rules_.before[literal.index]; run.min > 0) {
      const std::size_t length = begin - std::max(runs_.begin(run.chars, begin), done_);
      if (length < run.min) return;
      begin -= std::min({length, run.max, kMaxBack});
    }
    std::size_t stop = match->end;
    // It is no secret: a part of a longer word, or a key that is meant to be public.
    if (stop < text_.size() && is(Chars::alnum, text_[stop]) && is(Chars::alnum, text_[stop - 1])) return;
    if (begin >= 3 && text_.substr(begin - 3, 3) == "pk_") return;
    if (match->inner) begin = end = *match->inner;
    if (is_harmless(begin, end, stop, rule.random)) return;
    while (stop > begin && (text_[stop - 1] == '.' || text_[stop - 1] == ':')) --stop;  // of a sentence
    if (begin < done_) return;
    found_.push_back({begin, wrapped_end(stop), rule.kind});
    done_ = found_.back().end;
  }

  // Whether the part after the literal can be long enough: checking its last required character excludes
  // most.
  bool may_be_long(const Literal& literal, std::size_t end) {
    const std::size_t last = end + literal.first_min - 1;
    return literal.first_min == 0 || (last < text_.size() && is(literal.first, text_[last]) &&
                                      is(literal.first, text_[end]) && runs_.end(literal.first, end) > last);
  }

  // Whether the token that goes on at `at` ends with its line or its string, and may continue in another one.
  bool is_broken(std::size_t at) {
    if (!may_judge(at)) return false;
    const std::size_t end = runs_.end(Chars::token, at);
    return end - at < kMaxJudged && over_gap(text_, end) > end;
  }

  // Whether the token [begin, end), whose literal ends at `body`, is no secret: a placeholder, a name, or not
  // random enough.
  bool is_harmless(std::size_t begin, std::size_t body, std::size_t end, bool must_be_random) {
    const std::string_view token = bare(text_.substr(begin, std::min(end - begin, kMaxJudged)), joined_);
    const std::string_view rest = token.substr(body - begin);
    const bool is_name = mixture(rest) < 3 && is_name_of_something(rest);
    const bool harmless =
        is_placeholder(token) || is_name || (must_be_random && (is_uuid(rest) || !is_random(rest)));
    if (harmless) judged_without_result(token.size());
    return harmless;
  }

  // The next line is the rest of the token when this line was long enough to be wrapped, or when strings are
  // joined across the lines.
  std::size_t wrapped_end(std::size_t end) const {
    static constexpr CharSet kEnds(" \t\n\"'`;,");
    for (int lines = 0; lines < 64 && end < text_.size(); ++lines) {
      const bool wrapped = text_[end] == '\n' && is_long_line(end);
      const std::size_t begin = wrapped ? end + 1 : is_quote(text_[end]) ? over_gap(text_, end) : end;
      if (begin == end || (!wrapped && !is_quote(text_[begin - 1]))) return end;
      const std::size_t next = run_end(Chars::token, text_.substr(0, begin + kMaxPart), begin);
      const std::string_view rest = between(text_, begin, next);
      const bool ends = next == text_.size() || kEnds.has(text_[next]);
      if (rest.size() < 2 || !ends ||
          (rest.size() >= 8 ? is_words(rest) : next < text_.size() && text_[next] == ' '))
        return end;
      end = next;
    }
    return end;
  }

  bool is_long_line(std::size_t end) const {
    return end >= 60 && text_.substr(end - 60, 60).find('\n') == std::string_view::npos;
  }

  const Table& rules_ = table();
  std::string_view text_;
  std::vector<FoundSecret>& found_;
  Runs runs_;
  std::string joined_;        // a token in several lines
  std::size_t done_ = 0;      // the text up to here is covered by secrets found
  std::size_t ahead_ = 0;     // the end of the last secret that was found ahead
  std::size_t name_end_ = 0;  // of the last name
  std::size_t judged_ = 0;    // characters judged without a result
};

}  // namespace

std::size_t marker_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(kMarker)) return 0;
  const std::string_view rest = text.substr(at + kMarker.size(), 60);
  const std::size_t colon = rest.find(':');
  const auto is_ours = [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == ':'; };
  if (colon == std::string_view::npos || skip(rest, 0, rest.size(), is_ours) != colon + 9) return 0;
  return rest.substr(colon + 9).starts_with(']') ? at + kMarker.size() + colon + 10 : 0;
}

void sort_places(std::vector<FoundSecret>& places) {
  const auto before = [](const FoundSecret& a, const FoundSecret& b) { return a.begin < b.begin; };
  if (!std::is_sorted(places.begin(), places.end(), before))
    std::stable_sort(places.begin(), places.end(), before);
}

void search_secrets(std::string_view text, int depth, std::vector<FoundSecret>& found) {
  Search(text, found).run();
  sort_places(found);
  find_prefixed(text, found);
  if (depth > 0) find_coded(text, depth - 1, found);
}

}  // namespace cairn::gate
