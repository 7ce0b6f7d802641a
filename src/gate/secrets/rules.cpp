#include "gate/secrets/rules.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/text.h"

namespace cairn::gate {

extern const std::string_view kRulesText;  // rules.txt

namespace {

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

std::vector<RuleEntry> read_entries() {
  std::vector<RuleEntry> out;
  std::string_view section;
  for (const std::string_view line : lines(kRulesText)) {
    if (line.starts_with("== ")) {
      section = line.substr(3);
    } else if (!section.empty() && !line.empty() && line[0] != '#') {
      std::vector<std::string_view> columns = columns_of(line);
      CAIRN_ASSERT(columns.size() >= 4);
      const std::string_view stays = columns.back(), goes = columns[columns.size() - 2];
      columns.resize(columns.size() - 2);
      out.push_back({section, std::move(columns), goes, stays});
    }
  }
  return out;
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
  static const std::vector<RuleEntry> kEntries = read_entries();
  return kEntries;
}

std::vector<RuleEntry> rule_entries(std::string_view section) {
  std::vector<RuleEntry> out;
  for (const RuleEntry& entry : rule_entries())
    if (entry.section == section) out.push_back(entry);
  return out;
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
      plain += !escape ? text[at] : text[++at] == 's' ? ' ' : '\t';
    }
    out.push_back(plain);
  }
  return out;
}

const std::vector<SecretRule>& secret_rules() {
  static const std::vector<SecretRule> kRules = [] {
    std::vector<SecretRule> out;
    for (const RuleEntry& entry : rule_entries("tokens")) out.push_back(token_rule(entry));
    return out;
  }();
  return kRules;
}

}  // namespace cairn::gate
