#include "documents/resume.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "distil/distil.h"

namespace cairn::documents {

namespace {

constexpr std::size_t kLines = 15;
constexpr std::size_t kLeastPart = 80;  // bytes: less says nothing

struct Part {
  std::string heading;
  std::string text;
  std::size_t most = 100;  // its largest share of the room, in percent
};

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : std::string(between)) + part;
  return out;
}

std::string head_of(const ResumeInput& input) {
  const store::Document& d = input.document;
  std::string out = input.name.empty()
                        ? "No document yet; drafted from the last session.\n"
                        : fmt::format("Resuming from {}, {}, {}", input.name, input.age, d.status);
  if (!input.name.empty()) {
    if (d.branch) out += ", branch " + *d.branch;
    if (!d.tags.empty()) out += ", tags " + join(d.tags, ", ");
    out += ".\n";
  }
  if (!d.title.empty()) out += d.title + "\n";
  return out;
}

std::string since_of(const ResumeInput& input) {
  if (!input.since) return "Its transcript is not archived: what came after it is not known.\n";
  const Since& since = *input.since;
  const Material& m = since.material;
  if (since.delta.records == 0) return "Nothing happened in that session after it.\n";
  std::string out =
      fmt::format("{} {} after it ({} {}).\n", since.delta.records,
                  since.delta.records == 1 ? "record" : "records", since.delta.anchor, since.delta.anchor_at);
  if (since.skipped > 0) out += fmt::format("The first {} of them were not read.\n", since.skipped);
  if (since.delta.malformed > 0)
    out += fmt::format("{} damaged lines were left out.\n", since.delta.malformed);
  if (m.empty()) return out + "No work is among them.\n";
  if (m.is_cut_off) out += "The last turn did not reach its end.\n";
  if (!m.requests.empty()) out += "Asked for:\n" + bullets(m.requests, kLines);
  if (!m.done.empty()) out += "Done:\n" + bullets(m.done, kLines);
  if (!m.commits.empty()) out += "Committed:\n" + bullets(m.commits, kLines);
  if (!m.decisions.empty()) out += "Decided:\n" + bullets(m.decisions, kLines);
  if (!m.files.empty()) out += "Changed files:\n" + bullets(m.files, kLines);
  if (!m.last_answer.empty()) out += "Last answer:\n" + m.last_answer + "\n";
  return out;
}

std::string failed_of(const ResumeInput& input) {
  std::vector<std::string> all;
  if (input.since) {
    all = input.since->material.failed;
    for (const std::string& line : input.since->material.gotchas) all.push_back(line);
  }
  const DocumentText text = read_text(input.document.body);
  std::string out;
  if (const Section* failed = text.section("Failed Approaches"); failed && failed->text != "None.")
    out = failed->text + "\n";
  return out + bullets(all, kLines);
}

std::string drift_of(const Drift& drift) {
  std::string out;
  for (const std::string& sentence : drift.sentences) out += "- " + sentence + "\n";
  return out;
}

// Open tasks that were closed since the document are ticked.
std::string ticked(std::string text, const std::vector<std::int64_t>& closed) {
  for (const std::int64_t id : closed) {
    const std::size_t at = text.find(fmt::format("(W{})", id));
    const std::size_t box = at == std::string::npos ? at : text.rfind("- [ ]", at);
    // The box must be on the line of the item, not on an earlier one.
    if (box != std::string::npos && text.find('\n', box) > at) text.replace(box, 5, "- [x]");
  }
  return text;
}

// The tasks of a document that are not among the open items listed already.
std::string other_tasks(std::string_view text, const std::vector<store::OpenItem>& open) {
  std::string out;
  for (const std::string_view line : lines(text)) {
    const bool is_listed = std::any_of(open.begin(), open.end(), [&](const store::OpenItem& item) {
      return line.starts_with("- [ ]") && line.ends_with(fmt::format("(W{})", item.id));
    });
    if (!is_listed) out.append(line).append("\n");
  }
  return out;
}

bool is_wanted(const std::vector<std::string>& wanted, std::string_view name) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
           return ascii_lower(trim(one)) == ascii_lower(name);
         });
}

std::vector<Part> parts_of(const ResumeInput& input) {
  std::vector<Part> parts;
  const auto add = [&](std::string heading, std::string text, std::size_t most) {
    text = std::string(trim(text));
    if (!text.empty()) parts.push_back({std::move(heading), std::move(text), most});
  };
  // Who asks for certain sections gets these alone, as they are.
  const bool all = input.wanted.empty();
  if (all) {
    if (!input.name.empty()) add("Since the document", since_of(input), 30);
    add("Later sessions", bullets(input.sessions, kLines), 15);
    std::string open;
    for (const store::OpenItem& item : input.open) open += task_line(item);
    if (!input.in_context) add("The working tree now", drift_of(input.drift), 12);
    if (!input.in_context) add("Open", open, 20);
    add("Failed approaches: do not try these again", failed_of(input), 20);
  }
  for (const Section& section : read_text(input.document.body).sections) {
    if (!is_wanted(input.wanted, section.name)) continue;
    if (all && ascii_lower(section.name) == "failed approaches") continue;  // shown above
    if (all && section.text == "None.") continue;
    const std::string text = all ? other_tasks(section.text, input.open) : section.text;
    add(section.name.empty() ? "Document" : section.name, ticked(text, input.closed), 60);
  }
  return parts;
}

// Cuts at a line or a sentence, and says that something is missing.
std::string cut_to(const std::string& text, std::size_t max) {
  constexpr std::string_view kMore = "\n(shortened)";
  if (text.size() <= max) return text;
  // So little says nothing: leave the part out.
  if (max <= kMore.size() + kLeastPart / 2) return {};
  const std::string_view head = prefix(text, max - kMore.size());
  const std::size_t line = head.rfind('\n');
  std::string kept = line != std::string_view::npos && line > head.size() / 2
                         ? std::string(head.substr(0, line))
                         : distil::shorten(head, head.size());
  return kept.append(kMore);
}

}  // namespace

Resumed resume(const ResumeInput& input) {
  Resumed out;
  out.text = std::string(prefix(head_of(input), input.max_bytes));
  std::vector<Part> parts = parts_of(input);
  std::size_t room = input.max_bytes - std::min(input.max_bytes, out.text.size());
  std::size_t wanted = 0;
  for (const Part& part : parts) wanted += part.heading.size() + part.text.size() + 8;
  // The shares limit the parts only when not everything fits.
  const bool tight = wanted > room;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    // "## ", line feeds and blank lines around the heading and the text.
    const std::size_t frame = part.heading.size() + 8;
    std::size_t most = room - std::min(room, frame);
    // What a part does not use is left for those after it.
    if (tight) most = std::min(most, input.max_bytes * part.most / 100);
    std::string text = cut_to(part.text, most);
    if (text.size() < part.text.size()) out.shortened.push_back(part.heading);
    if (text.empty()) continue;
    const std::string block = fmt::format("\n## {}\n\n{}\n", part.heading, text);
    if (block.size() > room) continue;
    out.text += block;
    room -= block.size();
  }
  return out;
}

}  // namespace cairn::documents
