#include <algorithm>
#include <memory>

#include "gate/secrets/finders.h"
#include "gate/secrets/literals.h"
#include "gate/secrets/shape.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxJudged = 512;  // characters of a token that are judged
constexpr std::size_t kMaxBack = 120;    // of a token before a literal inside it
constexpr std::size_t kMaxPart = 8192;   // of a token in one of several lines
constexpr std::size_t kMatching = 12;    // cost of a match without result, in characters
constexpr std::size_t kJudging = 24;     // fixed cost of a judgement, in characters

// Finders with signs of their own. The text between a sign and its secret may contain secrets of other
// finders; `ahead`: search it too.
struct Finder {
  const std::vector<Sign>& (*signs)();
  std::size_t (*find)(const Hit& hit, const Sign& sign);
  bool ahead;
};
constexpr Finder kFinders[] = {{command_signs, find_in_command, false},
                               {call_signs, find_in_call, true},
                               {login_signs, find_login_pair, true},
                               {address_signs, find_in_address, true}};

// Small, so that all of them stay near: every text asks for them all the time.
struct Literal {
  enum What : std::uint8_t { rule, name, foreign, block, address, user, marker, finder };
  std::string_view text;
  What what = rule;
  bool at_start = false;         // of a token
  bool may_be_broken = false;    // it is long enough to go on in another line
  Chars first = Chars::visible;  // what must follow it, and how many of them
  std::uint16_t first_min = 0;
  std::uint16_t index = 0;  // of the rule, or of the sign
  std::uint8_t by = 0;      // of kFinders

  bool is_judged() const { return what <= foreign; }  // it counts only after a judgement
};

// The rules, ready to be used.
struct Table {
  std::vector<Literal> meaning;
  std::vector<Shape> shapes;  // as secret_rules()
  std::vector<CharRun> before;
  std::unique_ptr<Literals> literals;

  Table() {
    for (const SecretRule& rule : secret_rules()) {
      const Shape shape(rule.shape);
      const CharRun first = shape.first();
      for (const std::string_view literal : rule.literals)
        meaning.push_back({.text = literal,
                           .what = Literal::rule,
                           .at_start = !rule.anywhere,
                           .may_be_broken = literal.size() + shape.least() >= 20 && rule.before.empty(),
                           .first = first.chars,
                           .first_min = static_cast<std::uint16_t>(first.min),
                           .index = static_cast<std::uint16_t>(shapes.size())});
      shapes.push_back(shape);
      before.push_back(rule.before.empty() ? CharRun{} : char_run(rule.before));
    }
    const auto add = [&](Literal::What what, const char* list) {
      for (const std::string_view text : WordList::texts(list))
        meaning.push_back({.text = text, .what = what});
    };
    add(Literal::name, "telling");
    add(Literal::foreign, "foreign");
    add(Literal::block, "blocks");
    add(Literal::address, "address");
    add(Literal::user, "user-options");
    add(Literal::marker, "marker");
    for (std::uint8_t by = 0; by < std::size(kFinders); ++by)
      for (std::uint16_t index = 0; const Sign& sign : kFinders[by].signs())
        meaning.push_back({.text = sign.text, .what = Literal::finder, .index = index++, .by = by});
    std::vector<Literals::Literal> texts;
    for (const Literal& literal : meaning) texts.push_back(text_of(literal));
    literals = std::make_unique<Literals>(texts);
  }

  static Literals::Literal text_of(const Literal& literal) {
    if (literal.what != Literal::rule) return {literal.text};
    // A short literal inside a longer word is probably a coincidence.
    const Kinds word = only(literal.text.size() <= 3 ? Chars::url : Chars::alnum);
    // What does not follow as it must, follows in the next line.
    const Kinds next = only(literal.first) | only(Chars::gap);
    return {literal.text, false, literal.at_start ? word : 0, literal.first_min > 0 ? next : 0};
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

// The end of one of our own markers whose kind begins at `at`; 0: it is none.
std::size_t marker_end(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(std::min(at, text.size()), 60);
  const std::size_t colon = rest.find(':'), end = rest.find(']');
  if (colon == std::string_view::npos || end != colon + 9) return 0;
  const bool ours = std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= ':') || c == '-';
  });
  return ours ? at + end + 1 : 0;
}

class Search {
 public:
  Search(std::string_view text, std::vector<FoundSecret>& found) : text_(text), found_(found), runs_(text) {}

  void run() {
    // Skip what was found already.
    rules_.literals->each(text_, [&](std::uint16_t index, std::size_t at) {
      const Literal& literal = rules_.meaning[index];
      if (!literal.is_judged() || may_judge(at)) hit(literal, at);
      return done_;
    });
    put_back();
  }

 private:
  // Not inlined: the calling loop is the hottest one and needs the registers.
  [[gnu::noinline]] void hit(const Literal& literal, std::size_t begin) {
    if (begin < done_) return;
    const std::size_t end = begin + literal.text.size();
    switch (literal.what) {
      case Literal::rule: return try_rule(literal, begin, end);
      case Literal::name: return try_name(begin);
      case Literal::foreign: return try_foreign(begin, end);
      case Literal::block: return add(key_block(text_, begin, done_), "private-key");
      case Literal::marker: done_ = std::max(done_, marker_end(text_, end + 1)); return;
      case Literal::address: return add(address_password(text_, begin), "url-password");
      case Literal::user: return try_user(end);
      case Literal::finder: return try_finder(literal, begin, end);
    }
  }

  void try_finder(const Literal& literal, std::size_t begin, std::size_t end) {
    const Finder& finder = kFinders[literal.by];
    std::vector<FoundSecret>& found = finder.ahead ? aside_ : found_;
    if (!may_judge(begin) || (finder.ahead && begin < aside_end_)) return;
    const std::size_t known = found.size();
    const std::size_t cost = finder.find({text_, begin, end, runs_, found}, finder.signs()[literal.index]);
    std::size_t& found_end = finder.ahead ? aside_end_ : done_;
    if (found.size() == known)
      judged_ += cost;
    else
      found_end = std::max(found_end, found.back().end);
    expect_more();
  }

  // Adds, in order, the places in aside_ that no other finder found.
  void put_back() {
    if (aside_.empty()) return;
    const auto before = [](const FoundSecret& a, const FoundSecret& b) { return a.begin < b.begin; };
    std::sort(aside_.begin(), aside_.end(), before);
    const std::size_t known = found_.size();
    for (std::size_t next = 0; const FoundSecret& place : aside_) {
      while (next < known && found_[next].end <= place.begin) ++next;
      if (next == known || found_[next].begin >= place.end) found_.push_back(place);
    }
    std::inplace_merge(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(known), found_.end(),
                       before);
  }

  void add(const std::optional<std::pair<std::size_t, std::size_t>>& span, std::string_view kind) {
    if (!span) return;
    found_.push_back({span->first, span->second, kind});
    done_ = std::max(done_, span->second);
    expect_more();
  }

  // A text with one secret may have very many. Reserving much memory costs nothing until it is used; growing
  // later would copy everything.
  void expect_more() {
    if (found_.size() == 1) found_.reserve(4 + text_.size() / 10);
  }

  // Judging a value takes time in its length, and names may occur in values of other names. So the characters
  // judged without a result are limited by the size of the text, which keeps the time linear for any text.
  bool may_judge(std::size_t at) const { return judged_ <= at + 4096; }
  void judged_in_vain(std::size_t length) { judged_ += kJudging + 2 * length; }  // read more than once

  void try_name(std::size_t at) {
    if (at < name_end_) return;
    const std::size_t known = found_.size();
    const NameRead read = find_named({text_, at, at, runs_, found_});
    name_end_ = read.name_end;
    finish_found(known, read.judged);
    if (read.begin == read.name_end || found_.size() > known) return;
    judged_ += find_column({text_, read.begin, read.name_end, runs_, found_});
    if (found_.size() == known) look_around(read.begin, read.name_end);
  }

  // Searches the sentence that contains the name.
  void look_around(std::size_t begin, std::size_t end) {
    constexpr std::size_t kReadingWords = 6;
    const char before = begin > 0 ? text_[begin - 1] : ' ';
    if (before != ' ' && before != '\n' && before != '(') return;
    const std::size_t known = found_.size(), cost = find_said({text_, begin, end, runs_, found_}, done_);
    finish_found(known, kReadingWords + cost);
  }

  void try_foreign(std::size_t begin, std::size_t end) {
    const std::size_t known = found_.size();
    finish_found(known, find_behind({text_, begin, end, runs_, found_}));
    if (found_.size() == known) look_around(begin, end);
  }

  // Adds the value after a name, if there is one.
  void finish_found(std::size_t known, std::size_t judged) {
    if (found_.size() == known) judged_ += judged;
    expect_more();
    for (std::size_t i = known; i < found_.size(); ++i) {
      if (found_[i].end < text_.size() && is_quote(text_[found_[i].end]))
        found_[i].end = wrapped_end(found_[i].end);
      if (const auto token = token_at(found_[i].begin)) {
        found_[i].kind = token->first;
        found_[i].end = std::max(found_[i].end, token->second);
      }
      done_ = std::max(done_, found_[i].end);
    }
  }

  // The kind of the token at `begin` by its shape, and its end. The shape is more reliable than the name
  // beside it.
  std::optional<std::pair<std::string_view, std::size_t>> token_at(std::size_t begin) {
    std::optional<std::pair<std::string_view, std::size_t>> token;
    rules_.literals->at(text_, begin, [&](std::uint16_t index) {
      const Literal& literal = rules_.meaning[index];
      if (token || literal.what != Literal::rule) return;
      if (const auto match =
              rules_.shapes[literal.index].match(text_, begin + literal.text.size(), runs_, false))
        token.emplace(secret_rules()[literal.index].kind, match->end);
    });
    return token;
  }

  void try_user(std::size_t end) {
    if (!may_judge(end)) return;
    const auto password = user_password(text_, end);
    if (!password) judged_in_vain(kMaxUser);
    add(password, "password");
  }

  void try_rule(const Literal& literal, std::size_t begin, std::size_t end) {
    const bool follows = literal.first_min == 0 || (end < text_.size() && is(literal.first, text_[end]));
    if (!follows && end < text_.size() && is_quote(text_[end])) return try_joined(literal, begin, end);
    // What does not begin here as it must, begins in the next line or not at all.
    if (!follows && (!literal.may_be_broken || over_break(text_, end) == end)) return;
    const Shape& shape = rules_.shapes[literal.index];
    std::optional<Shape::Match> match;
    if (follows && may_be_long(literal, end) && runs_.end(literal.first, end) - end >= literal.first_min) {
      match = shape.match(text_, end, runs_, false);
      if (!match) judged_ += kMatching;
    }
    if (!match && literal.may_be_broken && is_broken(begin)) {
      match = shape.match(text_, end, runs_, true);
      if (!match) judged_in_vain(0);
    }
    if (!match) return;
    if (const CharRun& run = rules_.before[literal.index]; run.min > 0) {
      const std::size_t length = begin - std::max(runs_.begin(run.chars, begin), done_);
      if (length < run.min) return;
      begin -= std::min({length, run.max, kMaxBack});
    }
    if (is_cut_short(*match) || (begin >= 3 && text_.substr(begin - 3, 3) == "pk_")) return;
    if (match->inner) begin = end = *match->inner;
    if (is_harmless(begin, end, match->end)) return;
    std::size_t stop = match->end;
    while (stop > begin && (text_[stop - 1] == '.' || text_[stop - 1] == ':')) --stop;  // of a sentence
    add(std::pair(begin, wrapped_end(stop)), secret_rules()[literal.index].kind);
    if (found_.back().kind == "aws-key-id") add_secret_half(stop);
  }

  // AKIA... / SECRET: the secret directly follows the id.
  void add_secret_half(std::size_t id_end) {
    constexpr std::size_t kLength = 40;
    static constexpr CharSet kBetween(" /:,;|\t\n\"'");
    std::size_t begin = id_end;
    while (begin < text_.size() && begin - id_end < 6 && kBetween.has(text_[begin])) ++begin;
    if (begin == id_end || runs_.end(Chars::base64, begin) - begin != kLength) return;
    if (is_random(text_.substr(begin, kLength))) add(std::pair(begin, begin + kLength), "aws-secret-key");
  }

  // "prefix" + "rest"
  void try_joined(const Literal& literal, std::size_t begin, std::size_t end) {
    const bool beside = end + 2 < text_.size() && text_[end + 1] == ' ' && text_[end + 2] == text_[end];
    const std::size_t rest = beside ? end + 3 : over_join(text_, end);  // "prefix" "rest"
    if (rest == end || !may_judge(begin)) return;
    const auto match = rules_.shapes[literal.index].match(text_, rest, runs_, false);
    if (!match || is_cut_short(*match) || is_harmless(rest, rest, match->end)) return judged_in_vain(0);
    add(std::pair(begin, wrapped_end(match->end)), secret_rules()[literal.index].kind);
  }

  // Whether the part after the literal can be long enough: checking its last required character excludes
  // most.
  bool may_be_long(const Literal& literal, std::size_t end) const {
    const std::size_t last = end + std::max<std::size_t>(literal.first_min, 1) - 1;
    return literal.first_min == 0 || (last < text_.size() && is(literal.first, text_[last]));
  }

  // Whether the token at `begin` ends with its line, and is long enough to be worth a second one.
  bool is_broken(std::size_t begin) {
    constexpr std::size_t kLeast = 6;
    if (!may_judge(begin) || begin + kLeast > text_.size() || !is(Chars::token, text_[begin + kLeast - 1]))
      return false;
    const std::size_t end = runs_.end(Chars::token, begin);
    return end - begin >= kLeast && end - begin < kMaxJudged && over_break(text_, end) > end;
  }

  // In the midst of a longer word.
  bool is_cut_short(const Shape::Match& match) const {
    return match.end < text_.size() && is(Chars::alnum, text_[match.end]) &&
           is(Chars::alnum, text_[match.end - 1]);
  }

  // The token [begin, end), whose literal ends at `body`, looks like something else.
  bool is_harmless(std::size_t begin, std::size_t body, std::size_t end) {
    std::string_view token = text_.substr(begin, std::min(end - begin, kMaxJudged));
    if (token.find('\n') != std::string_view::npos) token = bare(token, joined_);
    const bool harmless = is_placeholder(token) || is_name_of_something(token.substr(body - begin));
    if (harmless) judged_in_vain(token.size());
    return harmless;
  }

  // The next line is the rest of the token when this line was long enough to be wrapped, or when strings are
  // joined across the lines.
  std::size_t wrapped_end(std::size_t end) const {
    static constexpr CharSet kEnds(" \t\n\"'`;,");
    for (int lines = 0; lines < 64 && end < text_.size(); ++lines) {
      const std::size_t begin = text_[end] == '\n' && is_long_line(end)
                                    ? end + 1
                                    : std::max(over_break(text_, end), over_join(text_, end));
      if (begin <= end || (begin > end + 1 && (!is_quote(text_[end]) || !is_quote(text_[begin - 1]))))
        return end;
      const std::size_t next = run_end(Chars::token, text_.substr(0, begin + kMaxPart), begin);
      const std::string_view rest = text_.substr(begin, next - begin);
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
  std::vector<FoundSecret> aside_;  // found ahead of the current position
  std::size_t aside_end_ = 0;
  std::string joined_;        // a token in several lines
  std::size_t done_ = 0;      // the text up to here is covered by secrets found
  std::size_t name_end_ = 0;  // of the last name
  std::size_t judged_ = 0;    // characters judged without a result
};

}  // namespace

std::size_t marker_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "[secret:";
  return text.substr(at, kBegin.size()) == kBegin ? marker_end(text, at + kBegin.size()) : 0;
}

void search_secrets(std::string_view text, int depth, std::vector<FoundSecret>& found) {
  Search(text, found).run();
  find_prefixed(text, found);
  if (depth > 0) find_coded(text, depth - 1, found);
}

}  // namespace cairn::gate
