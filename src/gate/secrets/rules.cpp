#include "gate/secrets/rules.h"

#include <algorithm>
#include <map>

#include "base/result.h"
#include "base/text.h"

namespace cairn::gate {

extern const std::string_view kRulesText;  // rules.txt

namespace {

constexpr std::string_view kLists = "lists";

// Calls `take(section, columns)` for each entry. Comments and the text before the first section are for
// people.
template <class Take>
void each_line(Take&& take) {
  std::string_view section;
  for (const std::string_view line : lines(kRulesText)) {
    if (line.starts_with("== "))
      section = line.substr(3);
    else if (!section.empty() && !line.empty() && line[0] != '#')
      take(section, columns_of(line));
  }
}

// The texts of a column: one blank divides them; \s is a blank of a text, \t a tab.
std::vector<std::string> texts_of(std::string_view column) {
  std::vector<std::string> out;
  for (const std::string_view text : split(column, ' ')) {
    std::string& plain = out.emplace_back();
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool escape = text[at] == '\\' && at + 1 < text.size();
      const char c = text[escape ? ++at : at];
      plain += !escape ? c : c == 's' ? ' ' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

SecretRule token_rule(const RuleEntry& entry) {
  constexpr std::string_view kPreceded = "preceded:";
  SecretRule rule{entry.columns[0], texts_of(entry.columns[1]), entry.columns[2]};
  for (;;) {
    const std::size_t end = rule.shape.find(' ');
    const std::string_view word = rule.shape.substr(0, end);
    if (word.starts_with(kPreceded))
      rule.before = word.substr(kPreceded.size());
    else if (word == "anywhere" || word == "random")
      (word == "random" ? rule.random : rule.anywhere) = true;
    else
      return rule;
    rule.shape.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find("  "), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  }
  return out;
}

const std::vector<RuleEntry>& rule_entries() {
  static const std::vector<RuleEntry> kEntries = [] {
    std::vector<RuleEntry> out;
    each_line([&](std::string_view section, std::vector<std::string_view> columns) {
      if (section == kLists) return;
      CAIRN_ASSERT(columns.size() >= 4);
      const std::string_view kept = columns.back(), removed = columns[columns.size() - 2];
      columns.resize(columns.size() - 2);
      out.push_back({section, std::move(columns), removed, kept});
    });
    return out;
  }();
  return kEntries;
}

std::vector<Sign> signs_of(std::string_view section, std::string_view hows) {
  const auto words = split(hows, ' ');
  std::vector<Sign> out;
  for (const RuleEntry& entry : rule_entries()) {
    if (entry.section != section) continue;
    std::string_view how = entry.columns[0];  // arguments:2!
    const std::size_t end = std::min(how.find_first_of(":!"), how.size());
    const auto word = std::find(words.begin(), words.end(), how.substr(0, end));
    CAIRN_ASSERT(word != words.end());
    Sign sign{"", static_cast<std::size_t>(word - words.begin())};
    how.remove_prefix(std::min(how.find_first_not_of(':', end), how.size()));
    sign.number = read_number(how);
    sign.sure = how == "!";
    if (entry.columns.size() > 2) sign.words = WordList(texts_of(entry.columns[2]));
    for (std::string& text : texts_of(entry.columns[1])) {
      sign.text = std::move(text);
      out.push_back(sign);
    }
  }
  return out;
}

WordList::WordList(std::vector<std::string> words) : words_(std::move(words)) {
  for (const std::string_view word : words_) {
    first_.add_nocase(word.front());
    last_.add_nocase(word.back());
    sizes_ |= std::uint64_t{1} << word.size() % 64;
  }
}

const std::vector<std::string>& WordList::texts(std::string_view name) {
  static const auto kAll = [] {
    std::map<std::string_view, std::vector<std::string>> out;
    each_line([&](std::string_view section, const std::vector<std::string_view>& columns) {
      if (section != kLists) return;
      for (std::string& text : texts_of(columns[1])) out[columns[0]].push_back(std::move(text));
    });
    return out;
  }();
  return kAll.at(name);
}

bool WordList::has(std::string_view word) const {
  return !word.empty() && first_.has(word[0]) && (sizes_ >> word.size() % 64 & 1) != 0 &&
         std::any_of(words_.begin(), words_.end(), [&](std::string_view known) {
           return known.size() == word.size() && ends_with_nocase(word, known);
         });
}

std::size_t WordList::begins(std::string_view text) const {
  if (text.empty() || !first_.has(text[0])) return 0;
  const auto found = std::find_if(words_.begin(), words_.end(), [&](std::string_view word) {
    return (word[0] | 0x20) == (text[0] | 0x20) && starts_with_nocase(text, word);
  });
  return found == words_.end() ? 0 : found->size();
}

bool WordList::ends(std::string_view text) const {
  return !text.empty() && last_.has(text.back()) &&
         std::any_of(words_.begin(), words_.end(),
                     [&](std::string_view word) { return ends_with_nocase(text, word); });
}

bool WordList::is_in(std::string_view text) const {
  const std::string lower = ascii_lower(text);
  return std::any_of(words_.begin(), words_.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

const std::vector<SecretRule>& secret_rules() {
  static const std::vector<SecretRule> kRules = [] {
    std::vector<SecretRule> out;
    for (const RuleEntry& entry : rule_entries())
      if (entry.section == "tokens") out.push_back(token_rule(entry));
    return out;
  }();
  return kRules;
}

}  // namespace cairn::gate
