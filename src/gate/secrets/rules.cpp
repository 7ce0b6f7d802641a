#include "gate/secrets/rules.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/text.h"

namespace cairn::gate {

extern const std::string_view kRulesText;  // rules.txt

namespace {

constexpr std::string_view kLists = "lists";

// Columns are two or more blanks apart.
std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find("  "), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  }
  return out;
}

// Calls `take(section, columns)` for each line that says something.
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

SecretRule token_rule(const RuleEntry& entry) {
  SecretRule rule{entry.columns[0], texts_of(entry.columns[1]), entry.columns[2], false, ""};
  constexpr std::string_view kAnywhere = "anywhere ", kBehind = "behind:";
  if (rule.shape.starts_with(kAnywhere)) {
    rule.anywhere = true;
    rule.shape.remove_prefix(kAnywhere.size());
  }
  if (rule.shape.starts_with(kBehind)) {
    const std::size_t end = rule.shape.find(' ');
    rule.before = rule.shape.substr(kBehind.size(), end - kBehind.size());
    rule.shape.remove_prefix(end + 1);
  }
  return rule;
}

}  // namespace

const std::vector<RuleEntry>& rule_entries() {
  static const std::vector<RuleEntry> kEntries = [] {
    std::vector<RuleEntry> out;
    each_line([&](std::string_view section, std::vector<std::string_view> columns) {
      if (section == kLists) return;
      CAIRN_ASSERT(columns.size() >= 4);
      const std::string_view stays = columns.back(), goes = columns[columns.size() - 2];
      columns.resize(columns.size() - 2);
      out.push_back({section, std::move(columns), goes, stays});
    });
    return out;
  }();
  return kEntries;
}

std::vector<std::string_view> texts_of(std::string_view column) {
  static std::mutex mutex;
  static std::deque<std::string> unescaped;  // stays where it is while it grows
  const std::lock_guard lock(mutex);
  std::vector<std::string_view> out;
  for (const std::string_view text : split(column, ' ')) {
    if (text.find('\\') == std::string_view::npos) {
      out.push_back(text);
      continue;
    }
    std::string& plain = unescaped.emplace_back();
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool escape = text[at] == '\\' && at + 1 < text.size();
      const char c = text[escape ? ++at : at];
      plain += !escape ? c : c == 's' ? ' ' : c == 't' ? '\t' : c;
    }
    out.push_back(plain);
  }
  return out;
}

std::size_t position(std::string_view word, std::initializer_list<std::string_view> words) {
  const auto* const found = std::find(words.begin(), words.end(), word);
  CAIRN_ASSERT(found != words.end());
  return static_cast<std::size_t>(found - words.begin());
}

std::vector<Sign> signs_of(std::string_view section, std::initializer_list<std::string_view> hows) {
  std::vector<Sign> out;
  for (const RuleEntry& entry : rule_entries())
    if (entry.section == section)
      for (const std::string_view text : texts_of(entry.columns[1]))
        out.push_back({text, position(entry.columns[0], hows)});
  return out;
}

WordList::WordList(std::vector<std::string_view> words) : words_(std::move(words)) {
  for (const std::string_view word : words_) {
    first_.add_nocase(word.front());
    last_.add_nocase(word.back());
    sizes_ |= std::uint64_t{1} << word.size() % 64;
  }
}

const std::vector<std::string_view>& WordList::texts(std::string_view name) {
  static const auto kAll = [] {
    std::map<std::string_view, std::vector<std::string_view>> out;
    each_line([&](std::string_view section, const std::vector<std::string_view>& columns) {
      if (section != kLists) return;
      for (const std::string_view text : texts_of(columns[1])) out[columns[0]].push_back(text);
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
