#include "agent/prompt.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/event_text.h"
#include "agent/prompt_texts.h"
#include "base/hash.h"
#include "base/text.h"

namespace cairn::agent {

namespace {

// A list of a mode for the prompt: "bugfix (an error was fixed), feature".
std::string names_of(const std::vector<distil::Mode::Named>& list) {
  std::string out;
  for (const auto& named : list) {
    out.append(out.empty() ? "" : ", ").append(named.name);
    if (!named.about.empty()) out.append(" (").append(named.about).append(")");
  }
  return out;
}

void replace(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// A block of a request, without its marks: their code must not occur in any block, so it is chosen last.
struct Block {
  std::string head;  // in the opening mark, after the code
  std::string text;
};

// Writes the text of a request in two steps: first all blocks, then the marks around them. What was
// recorded is only in blocks; the sentences outside are ours, except for the project's name.
class RequestWriter {
 public:
  RequestWriter(const PromptMaterial& material, const PromptLimits& limits) : m_(material), limits_(limits) {}

  std::string write() {
    add("running summary of the session so far", m_.so_far, limits_.text_bytes);
    add("open items of the project", bullet_list(m_.open), limits_.text_bytes / 2);
    add("plan", m_.plan, limits_.text_bytes / 2);
    add("rules that the person gave before", bullet_list(m_.rules), limits_.text_bytes / 2);
    for (std::size_t i = 0; i < m_.turns.size(); ++i) add_turn(i);
    return opening() + with_marks();
  }

 private:
  static std::string bullet_list(const std::vector<std::string>& list) {
    std::string out;
    for (const std::string& item : list) out.append(out.empty() ? "- " : "\n- ").append(item);
    return out;
  }

  void add(std::string head, std::string_view text, std::size_t max) {
    const std::string shown = visible(valid_utf8(std::string(trim(text))));
    if (!shown.empty()) blocks_.push_back({std::move(head), cut_middle(shown, max)});
  }

  // A turn in the order of time: prompt, remarks and events, answer, the built-in distiller's notes.
  void add_turn(std::size_t index) {
    const TurnMaterial& turn = m_.turns[index];
    add(fmt::format("turn {} prompt of the person", turn.number), turn.prompt, limits_.text_bytes);
    auto remark = turn.remarks.begin();
    const auto add_remarks_until = [&](WallTime at) {
      for (; remark != turn.remarks.end() && remark->at <= at; ++remark)
        add(fmt::format("turn {} {}", turn.number,
                        remark->by_person ? "person refuses a call and says" : "agent says"),
            remark->text, limits_.text_bytes / 2);
    };
    for (const store::KeptEvent& event : m_.events) {
      if (event.prompt_number != turn.number) continue;
      add_remarks_until(event.at);
      const bool is_end = event.kind == event::Kind::stop || event.kind == event::Kind::stop_failure;
      if (is_end) {
        // Its text is the answer, which has a block of its own below.
        blocks_.push_back({fmt::format("event {} end of turn {}", event.seq, turn.number), ""});
        continue;
      }
      EventText shown = event_text(event, m_.host, limits_.field_bytes);
      blocks_.push_back({fmt::format("event {} {}", event.seq, shown.what), std::move(shown.text)});
    }
    // Later remarks of a turn that goes on are sent with its next batch.
    if (turn.wants_summary) add_remarks_until(WallTime::max());
    if (turn.wants_summary) add(fmt::format("turn {} answer", turn.number), turn.answer, limits_.text_bytes);
    if (!turn.ended.empty())
      blocks_.push_back({fmt::format("turn {} ended: {}", turn.number, turn.ended), ""});
    add(fmt::format("turn {} facts noted by the program", turn.number), turn.noted, limits_.text_bytes / 2);
  }

  // A code that none of the texts contains. It depends on the batch's random id: text that was written before
  // cannot know it.
  std::string code() const {
    for (int i = 0;; ++i) {
      const std::string code = content_hash(fmt::format("mark {} {}", m_.batch_id, i)).substr(0, 10);
      const auto has = [&](const Block& block) { return block.text.find(code) != std::string::npos; };
      if (std::none_of(blocks_.begin(), blocks_.end(), has)) return code;
    }
  }

  std::string with_marks() const {
    const std::string code = this->code();
    std::string out = fmt::format("The code of this request's blocks is {}.\n\n", code);
    for (const Block& block : blocks_)
      out += fmt::format("[[{} {}]]\n{}{}[[/{}]]\n", code, block.head, block.text,
                         block.text.empty() ? "" : "\n", code);
    return out + closing();
  }

  std::string opening() const {
    return fmt::format("Record of a session in the project \"{}\".\n", one_line(visible(m_.project), 80));
  }

  std::string closing() const {
    std::string turns;
    for (const TurnMaterial& turn : m_.turns)
      if (turn.wants_summary) turns.append(turns.empty() ? "" : ", ").append(std::to_string(turn.number));
    const std::string asked = turns.empty()
                                  ? "Its turn is not over yet: write no summary, only observations, or skip."
                                  : fmt::format("Write a summary for turn {}, and the observations.", turns);
    return "\nThe record ends here. " + asked + " Reply in the tagged format.\n";
  }

  const PromptMaterial& m_;
  const PromptLimits& limits_;
  std::vector<Block> blocks_;
};

}  // namespace

std::string system_text(const distil::Mode& mode) {
  std::string format(format_text());
  replace(format, "{types}", names_of(mode.types));
  replace(format, "{concepts}", names_of(mode.concepts));
  const auto or_own = [](const std::string& own, std::string_view builtin) {
    return own.empty() ? std::string(builtin) : own + "\n";
  };
  std::string out = fmt::format("{}\n{}\n{}\n{}", or_own(mode.prompt.role, role_text()), data_text(),
                                or_own(mode.prompt.focus, focus_text()), format);
  // A single word names a language ("German"); text with a blank is an instruction of its own.
  const std::string& language = mode.prompt.language;
  if (!language.empty())
    out += language.find(' ') == std::string::npos
               ? fmt::format("\nWrite all texts in {}; keep the tags, types and concepts as they are.\n",
                             language)
               : "\n" + language + "\n";
  return out;
}

Request write_request(const PromptMaterial& material, const distil::Mode& mode, const PromptLimits& limits) {
  // Fields are not cut below this: a request whose events still do not fit is sent, longer than the limit.
  constexpr std::size_t kLeastField = 160;
  Request request;
  request.batch_id = material.batch_id;
  request.system = system_text(mode);
  // All fields shrink together until the request fits: every event stays visible, the long ones lose most.
  PromptLimits now = limits;
  while (true) {
    request.text = RequestWriter(material, now).write();
    if (request.text.size() <= limits.total_bytes || now.field_bytes <= kLeastField) return request;
    now.field_bytes = std::max(kLeastField, now.field_bytes / 2);
    now.text_bytes = std::max<std::size_t>(600, now.text_bytes * 2 / 3);
  }
}

}  // namespace cairn::agent
