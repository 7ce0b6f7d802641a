#include "documents/draft.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "context/open_section.h"

namespace cairn::documents {

namespace {

constexpr std::size_t kMostLines = 20;

std::string minutes_of(WallTime time) {
  return iso8601(time).substr(0, 16) + "Z";
}

std::string count(std::int64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

// The title, "3 turns, FROM to TO; 2 files edited, 1 commit.", and what was asked for.
std::string summary_of(const Material& m) {
  if (m.empty()) return {};
  std::string out;
  if (!m.title.empty())
    out = m.title + (std::string_view(".!?").find(m.title.back()) != std::string_view::npos ? "" : ".") +
          "\n\n";
  out += count(m.turns, "turn", "turns");
  if (m.from && m.to) out += fmt::format(", {} to {}", minutes_of(*m.from), minutes_of(*m.to));
  out += fmt::format("; {} edited, {}.", count(std::ssize(m.files), "file", "files"),
                     count(std::ssize(m.commits), "commit", "commits"));
  if (m.requests.size() > 1 || (m.requests.size() == 1 && m.requests.front() != m.title))
    out += "\n\nAsked for:\n\n" + bullets(m.requests, kMostLines);
  return out;
}

std::string accomplishments_of(const Material& m) {
  std::vector<std::string> all = m.done;
  for (const std::string& fixed : m.fixed) all.push_back(fixed);
  return bullets(all, kMostLines);
}

std::string in_a_row(const std::vector<std::string>& items, std::size_t max) {
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < max; ++i) out += (i == 0 ? "" : ", ") + items[i];
  if (items.size() > max) out += fmt::format(" and {} more", items.size() - max);
  return out;
}

std::string git_of(const DraftInput& input) {
  std::string out;
  if (!input.tree.branch.empty()) out += "- Branch: " + input.tree.branch + "\n";
  if (!input.tree.head.empty()) out += "- Commit: " + input.tree.head.substr(0, 12) + "\n";
  for (const std::string& commit : input.material.commits) out += "- Committed: " + commit + "\n";
  if (!input.tree.uncommitted.empty())
    out += "- Not committed: " + in_a_row(input.tree.uncommitted, 12) + "\n";
  return out;
}

// Makes headings within an answer deeper than those of the document.
std::string with_lower_headings(std::string_view text, std::string_view lowest) {
  std::string out;
  bool in_code = false;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("```")) in_code = !in_code;
    const std::size_t signs = line.find_first_not_of('#');
    const bool heading =
        !in_code && signs > 0 && signs <= 6 && signs != std::string_view::npos && line[signs] == ' ';
    out.append(out.empty() ? "" : "\n");
    out.append(heading && signs < lowest.size() ? std::string(lowest) + std::string(line.substr(signs))
                                                : std::string(line));
  }
  return out;
}

std::string state_of(const Material& m, std::string_view lowest) {
  std::string out;
  if (m.is_cut_off) out = "The last turn did not reach its end.\n\n";
  return out + with_lower_headings(m.last_answer, lowest);
}

std::string tasks_of(const std::vector<store::OpenItem>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < 2 * kMostLines; ++i) out += task_line(items[i]);
  if (items.size() > 2 * kMostLines)
    out += fmt::format("\nand {} more: `cairn open`\n", items.size() - 2 * kMostLines);
  return out;
}

std::string next_of(const DraftInput& input) {
  if (!input.material.next.empty()) {
    std::string out;
    for (std::size_t i = 0; i < input.material.next.size(); ++i)
      out += fmt::format("{}. {}\n", i + 1, input.material.next[i]);
    return out;
  }
  // The last turn left nothing to do: the first open item is next.
  return input.open.empty() ? "" : "1. " + context::item_text(input.open.front()) + "\n";
}

std::string files_of(const Material& m) {
  std::vector<std::string> shown;
  for (auto file = m.files.rbegin(); file != m.files.rend(); ++file) shown.push_back("`" + *file + "`");
  return bullets(shown, 2 * kMostLines);
}

std::map<std::string, std::string> words_of(const DraftInput& input) {
  const Material& m = input.material;
  return {{"summary", input.summary.empty() ? summary_of(m) : input.summary},
          {"accomplishments", accomplishments_of(m)},
          {"decisions", bullets(m.decisions, kMostLines)},
          {"preferences", bullets(m.preferences, kMostLines)},
          {"failed", bullets(m.failed, kMostLines)},
          {"git", git_of(input)},
          {"state", state_of(m, "###")},
          {"open", tasks_of(input.open)},
          {"next", next_of(input)},
          {"files", files_of(m)},
          {"findings", bullets(m.findings, kMostLines)},
          {"gotchas", bullets(m.gotchas, kMostLines)},
          {"title", m.title}};
}

// `text` with its {{words}} replaced. A word that is not known stays, so that its writer sees it.
std::string filled(std::string_view text, const std::map<std::string, std::string>& words, bool& found) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find("{{");
    const std::size_t end = begin == std::string_view::npos ? begin : text.find("}}", begin);
    if (end == std::string_view::npos) break;
    const auto word = words.find(std::string(trim(text.substr(begin + 2, end - begin - 2))));
    // An unknown word is copied with its braces.
    out += text.substr(0, word == words.end() ? end + 2 : begin);
    if (word != words.end()) {
      out += word->second;
      found = found || !trim(word->second).empty();
    }
    text.remove_prefix(end + 2);
  }
  return out.append(text);
}

}  // namespace

std::string bullets(const std::vector<std::string>& items, std::size_t max) {
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < max; ++i) out += "- " + items[i] + "\n";
  if (items.size() > max) out += fmt::format("- and {} more\n", items.size() - max);
  return out;
}

std::string task_line(const store::OpenItem& item) {
  return fmt::format("- [ ] {} (W{})\n", one_line(context::item_text(item), 300), item.id);
}

std::string draft(const DraftInput& input, const Template& form) {
  const auto words = words_of(input);
  std::vector<Section> sections;
  for (const TemplateSection& wanted : form.sections) {
    bool found = false;
    std::string text(trim(filled(wanted.text, words, found)));
    // A section asks for something by its {{words}}. If all of them are empty there is nothing for it, even
    // if it has text around them.
    const bool asks = wanted.text.find("{{") != std::string::npos;
    if (wanted.optional && (asks ? !found : text.empty())) continue;
    if (asks && !found) text = "None.";
    if (text.empty()) text = "None.";
    sections.push_back({wanted.name, std::move(text), 0});
  }
  // A person's words are never lost, whatever the template asks for.
  const auto has_summary = [&](const Section& section) {
    return section.text.find(input.summary) != std::string::npos;
  };
  if (!input.summary.empty() && std::none_of(sections.begin(), sections.end(), has_summary))
    sections.insert(sections.begin(), Section{"", input.summary, 0});
  return write_sections(sections);
}

Section continuation(const Since& since, std::string_view backup, WallTime at) {
  const Material& m = since.material;
  const auto part = [](std::string_view heading, const std::string& text) {
    return fmt::format("### {}\n\n{}\n", heading, trim(text).empty() ? "None." : trim(text)) + "\n";
  };
  std::vector<std::string> work = m.done;
  // Without results at least show what was asked for.
  if (work.empty()) work = m.requests;
  for (const std::string& commit : m.commits) work.push_back("Committed: " + commit);
  for (const std::string& failed : m.failed) work.push_back("Did not work: " + failed);
  std::string files;
  for (const std::string& file : m.files) files += "- `" + file + "`\n";
  std::vector<std::string> decisions = m.decisions;
  for (const std::string& order : m.preferences) decisions.push_back(order);
  std::string state = state_of(m, "####");
  if (!m.next.empty()) state += "\n\nNext:\n\n" + bullets(m.next, kMostLines);
  Section section;
  section.name = fmt::format("{} ({})", kContinuation, minutes_of(at));
  section.text = fmt::format("> Coalesced from: {}, {} after {}\n\n", backup,
                             count(since.delta.records, "record", "records"), since.delta.anchor_at) +
                 part("Additional Work", bullets(work, kMostLines)) + part("Files Modified", files) +
                 part("Decisions Made", bullets(decisions, kMostLines)) + part("Updated State", state);
  section.text = std::string(trim(section.text));
  return section;
}

}  // namespace cairn::documents
