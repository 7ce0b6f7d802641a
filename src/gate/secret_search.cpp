#include "gate/secret_search.h"

#include <algorithm>

#include "base/result.h"
#include "base/text.h"
#include "gate/key_blocks.h"
#include "gate/literals.h"
#include "gate/named_secrets.h"
#include "gate/pattern.h"
#include "gate/plain_view.h"
#include "gate/secret_rules.h"
#include "gate/secret_value.h"
#include "gate/telling_names.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kWindow = 512;  // of a text that a pattern sees; a longer token is taken to its end
constexpr std::size_t kLongWindow = 8192;  // of those that have parts of any length
constexpr std::size_t kBack = 120;         // that stand before a literal inside a token

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool in_token(char c) {
  return is_alnum(c) || (c != '\0' && std::string_view("._-/+=~:$%@").find(c) != std::string_view::npos);
}

struct Literal {
  enum What { rule, name, block, address, user, marker } what = rule;
  std::size_t index = 0;  // of the rule
  std::size_t length = 0;
};

// The rules, ready to be used.
struct Table {
  std::vector<Literal> meaning;
  std::vector<Pattern> patterns;  // as secret_rules()
  std::unique_ptr<Literals> literals;

  Table() {
    std::vector<std::string_view> texts;
    const auto add = [&](Literal::What what, std::size_t index, std::string_view text) {
      meaning.push_back({what, index, text.size()});
      texts.push_back(text);
    };
    const auto& rules = secret_rules();
    for (std::size_t i = 0; i < rules.size(); ++i) {
      auto pattern = Pattern::compile(rules[i].pattern);
      CAIRN_ASSERT(pattern.ok());
      patterns.push_back(*std::move(pattern));
      for (const std::string_view literal : split(rules[i].literals, ' '))
        if (!literal.empty()) add(Literal::rule, i, literal);
    }
    for (const std::string_view literal : telling_literals()) add(Literal::name, 0, literal);
    for (const std::string_view literal : {"-----BEGIN", "-----END", "Private-Lines:"})
      add(Literal::block, 0, literal);
    add(Literal::address, 0, "://");
    add(Literal::marker, 0, "[secret");
    for (const std::string_view literal : {" -u ", "--user ", "--user=", "--proxy-user "})
      add(Literal::user, 0, literal);
    literals = std::make_unique<Literals>(texts);
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

// The end of one of our own markers whose kind begins at `at`; 0: it is none.
std::size_t marker_end(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at, 60);
  const std::size_t colon = rest.find(':'), end = rest.find(']');
  if (colon == std::string_view::npos || end != colon + 9) return 0;
  const bool ours = std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= ':') || c == '-';
  });
  return ours ? at + end + 1 : 0;
}

class Search {
 public:
  Search(std::string_view text, std::vector<Place>& found) : text_(text), found_(found) {}

  void run() {
    const Table& rules = table();
    const Literals& literals = *rules.literals;
    Literals::State state = Literals::kStart;
    for (std::size_t at = 0; (at = literals.next(text_, at, state)) != std::string_view::npos;) {
      for (const std::uint16_t index : literals.ending(state)) hit(rules.meaning[index], at);
      if (done_ <= at) continue;
      at = done_;  // what was found is not looked at again
      state = Literals::kStart;
    }
  }

 private:
  void hit(const Literal& literal, std::size_t end) {
    const std::size_t begin = end - literal.length;
    if (begin < done_) return;
    switch (literal.what) {
      case Literal::rule: return try_rule(literal.index, begin, end);
      case Literal::name: return try_name(begin);
      case Literal::block: return add(key_block(text_, begin, done_), "private-key");
      case Literal::marker: done_ = std::max(done_, marker_end(text_, end + 1)); return;
      case Literal::address: return add(address_password(text_, begin), "url-password");
      case Literal::user: return add(user_password(text_, end), "password");
    }
  }

  void add(const std::optional<std::pair<std::size_t, std::size_t>>& span, std::string_view kind) {
    if (!span) return;
    found_.push_back({span->first, span->second, kind});
    done_ = std::max(done_, span->second);
    if (in_vain_ > 0) --in_vain_;
  }

  // What makes hostile text slow is many beginnings and no end. Text that is not made for it has far fewer: a
  // try in vain for every twelve bytes.
  bool may_try(std::size_t at) const { return in_vain_ * 12 <= at + 4096; }

  void try_name(std::size_t at) {
    if (at < name_end_ || !may_try(at)) return;
    const std::size_t known = found_.size();
    const NameRead read = find_named(text_, at, found_);
    name_end_ = read.name_end;
    // A long value that was looked at in vain counts as several.
    if (found_.size() == known) in_vain_ += 1 + (read.looked_to - read.name_end) / 16;
    for (std::size_t i = known; i < found_.size(); ++i) done_ = std::max(done_, found_[i].end);
  }

  void try_rule(std::size_t index, std::size_t begin, std::size_t end) {
    const SecretRule& rule = secret_rules()[index];
    if (rule.start == SecretRule::token && begin > 0) {
      const char before = text_[begin - 1];
      // A short literal says little: inside a longer word it is chance.
      if (is_alnum(before) || (end - begin <= 3 && (before == '_' || before == '-'))) return;
    }
    std::size_t token = begin;
    while (token < text_.size() && token - begin < rule.min && in_token(text_[token])) ++token;
    if (token - begin < rule.min) return try_joined(index, begin, token);
    if (!may_try(begin)) return;
    in_vain_ += rule.start == SecretRule::back ? 6 : rule.kind == "jwt" ? 8 : 1;
    const Pattern& pattern = table().patterns[index];
    std::optional<Pattern::Match> match;
    std::size_t from = begin;
    if (rule.start == SecretRule::back)
      while (from > done_ && begin - from < kBack && in_token(text_[from - 1])) --from;
    const std::size_t window = rule.kind == "jwt"               ? kLongWindow
                               : rule.start == SecretRule::back ? kBack
                                                                : kWindow;
    const std::string_view seen = text_.substr(0, std::min(text_.size(), begin + window));
    match = rule.start == SecretRule::back ? pattern.find(seen, from) : pattern.match_at(seen, begin);
    if (!match) {
      while (token < seen.size() && in_token(text_[token])) ++token;
      return try_joined(index, begin, token);
    }
    if (!is_whole(rule, *match, seen.size(), end)) return;
    std::size_t stop = rest_of(match->inner_end, seen.size());
    while (stop > match->inner_begin && (text_[stop - 1] == '.' || text_[stop - 1] == ':'))
      --stop;  // of a sentence
    add(std::pair(match->inner_begin, wrapped_end(stop)), rule.kind);
  }

  // A token that the window cut goes on.
  std::size_t rest_of(std::size_t end, std::size_t window_end) const {
    if (end == window_end)
      while (end < text_.size() && (is_alnum(text_[end]) || text_[end] == '_' || text_[end] == '-')) ++end;
    return end;
  }

  bool is_whole(const SecretRule& rule, const Pattern::Match& match, std::size_t window_end,
                std::size_t literal_end) const {
    const std::string_view secret = text_.substr(match.inner_begin, match.inner_end - match.inner_begin);
    if (match.end < text_.size() && match.end < window_end && rule.min > 0 && is_alnum(text_[match.end]) &&
        is_alnum(text_[match.end - 1]))
      return false;
    if (is_placeholder(secret)) return false;
    return !is_name_of_something(secret,
                                 literal_end > match.inner_begin ? literal_end - match.inner_begin : 0);
  }

  // sk-some-class-of-a-style-sheet
  static bool is_name_of_something(std::string_view secret, std::size_t prefix) {
    const std::string_view rest = secret.substr(std::min(prefix, secret.size()));
    const auto digits = std::count_if(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits <= 2 && rest.find_first_of("-_") != std::string_view::npos && is_words(rest);
  }

  // Skips what stands between the two halves of a token that was broken over lines: quotes, a sign that joins
  // strings, the break, the sign of a patch, indentation. Gives `at` itself when there is no break.
  std::size_t over_break(std::size_t at) const {
    std::size_t next = at;
    bool broken = false;
    while (next < text_.size() && next - at < 80) {
      const char c = text_[next];
      if (c == '\n') {
        if (broken) return at;
        broken = true;
      } else if (std::string_view(" \t\r\"'`+\\.>|&").find(c) == std::string_view::npos &&
                 !(broken && c == '-')) {
        break;
      }
      ++next;
    }
    return broken ? next : at;
  }

  void try_joined(std::size_t index, std::size_t begin, std::size_t token_end) {
    const SecretRule& rule = secret_rules()[index];
    if (rule.min < 20 || rule.start == SecretRule::back || token_end - begin < 6) return;
    std::string joined(text_.substr(begin, token_end - begin));
    std::size_t end = token_end;
    for (int lines = 0; lines < 4; ++lines) {
      const std::size_t next = over_break(end);
      if (next == end) return;
      end = next;
      while (end < text_.size() && end - next < kWindow && in_token(text_[end])) ++end;
      if (end == next || !may_try(begin)) return;
      in_vain_ += 2;
      joined.append(text_.substr(next, end - next));
      const auto match = table().patterns[index].match_at(joined, 0);
      if (!match) continue;
      if (!is_placeholder(joined) && !is_name_of_something(joined, 3))
        add(std::pair(begin, wrapped_end(end - (joined.size() - match->end))), rule.kind);
      return;
    }
  }

  // What goes on in the next line is the rest of it: when the line was long enough to be wrapped, or when
  // strings are joined over it.
  std::size_t wrapped_end(std::size_t end) const {
    for (int lines = 0; lines < 64 && end < text_.size(); ++lines) {
      const std::size_t begin = text_[end] == '\n' && is_long_line(end) ? end + 1 : over_break(end);
      if (begin <= end || (begin > end + 1 && (!is_quote(text_[end]) || !is_quote(text_[begin - 1]))))
        return end;
      std::size_t next = begin;
      while (next < text_.size() && next - begin < kLongWindow && in_token(text_[next])) ++next;
      const std::string_view rest = text_.substr(begin, next - begin);
      const bool ends =
          next == text_.size() || std::string_view("\n\"'` ;,").find(text_[next]) != std::string_view::npos;
      if (rest.size() < 2 || !ends ||
          (rest.size() >= 8 ? is_words(rest) : next < text_.size() && text_[next] == ' '))
        return end;
      end = next;
    }
    return end;
  }

  static bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

  bool is_long_line(std::size_t end) const {
    return end >= 60 && text_.substr(end - 60, 60).find('\n') == std::string_view::npos;
  }

  std::string_view text_;
  std::vector<Place>& found_;
  std::size_t done_ = 0;      // up to here it is found
  std::size_t name_end_ = 0;  // of the last name
  std::size_t in_vain_ = 0;   // tries
};

}  // namespace

void search_secrets(std::string_view text, int depth, std::vector<Place>& found) {
  Search(text, found).run();
  if (depth == 0) return;
  for (std::size_t at = 0;;) {
    const auto coded = next_coded_text(text, at);
    if (!coded) return;
    at = coded->end;
    const PlainView inner(coded->text);
    std::vector<Place> within;
    search_secrets(inner.text(), depth - 1, within);
    if (!within.empty()) found.push_back({coded->begin, coded->end, within.front().kind});
  }
}

}  // namespace cairn::gate
