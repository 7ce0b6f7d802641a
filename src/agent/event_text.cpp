#include "agent/event_text.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "host/host.h"

namespace cairn::agent {

std::string cut_middle(std::string_view text, std::size_t max) {
  if (text.size() <= max) return std::string(text);
  // The end is kept too: the last lines of a command's output often have its result.
  const std::string_view head = prefix(text, max * 2 / 3), tail = suffix(text, max - head.size());
  return fmt::format("{}\u2026 [{} bytes cut] \u2026{}", head, text.size() - head.size() - tail.size(), tail);
}

namespace {

using Verb = host::Action::Verb;

// The stored text of a call's input or response. When it is not well-formed, what could be read of it.
Json json_of(const std::optional<std::string>& text) {
  return text ? Json::parse_partial(*text).value : Json();
}

// Collects the strings of a response whose form is not known, one on each line, down to a small depth. Also
// those that will not be shown: cut_middle() shows the end and says how much it cut. evidence.max_field_kb
// limits the size of a stored response.
void add_strings(const Json& value, std::string& out, int depth = 0) {
  if (depth > 6) return;
  if (value.is_string())
    out.append(out.empty() ? "" : "\n").append(value.as_string());
  else if (value.is_array())
    for (const Json& item : value.items()) add_strings(item, out, depth + 1);
  else if (value.is_object())
    for (const Json::Member& member : value.members()) add_strings(member.second, out, depth + 1);
}

std::string result_of(const Json& response) {
  std::string text;
  add_strings(response, text);
  return text;
}

// The changed lines only: a model needs no more to say what changed.
std::string diff_of(const host::Action& action) {
  std::string out;
  for (const host::Hunk& hunk : action.hunks) {
    out += fmt::format("@@ line {} @@\n", hunk.old_start);
    for (const std::string_view line : hunk.lines)
      if (!line.empty() && line[0] != ' ') out.append(line).append("\n");
  }
  // Without hunks (the response is missing, or the host sends none) there are only the texts before and
  // after.
  if (!action.hunks.empty()) return out;
  for (const host::Replacement& part : action.replacements) {
    for (const std::string_view line : lines(part.before)) out.append("-").append(line).append("\n");
    for (const std::string_view line : lines(part.after)) out.append("+").append(line).append("\n");
  }
  return out;
}

std::string tasks_of(const host::Action& action) {
  using State = host::TaskChange::State;
  std::string out;
  for (const host::TaskChange& task : action.tasks) {
    const std::string_view state = task.state == State::completed     ? "done"
                                   : task.state == State::in_progress ? "in progress"
                                   : task.state == State::deleted     ? "deleted"
                                                                      : "to do";
    out += fmt::format("{}: {} {}\n", state, task.id, task.subject);
  }
  return out;
}

// The event's text by the kind of its action. Shares of `max` reflect what a model needs: most of a
// command's output, little of a file that was only read, twice as much of a plan or of a subagent's result.
class Writer {
 public:
  Writer(const host::Action& action, const Json& response, std::string_view error, std::size_t max)
      : action_(action), response_(response), error_(error), max_(max) {}

  // The name of the kind, and the text.
  EventText write() {
    EventText out{std::string(kind()), ""};
    switch (action_.verb) {
      case Verb::run:
        add(action_.description.empty() ? "" : fmt::format("# {}", action_.description), max_ / 2);
        add(fmt::format("$ {}", action_.command), max_);
        add(action_.output.empty() ? result_of(response_) : action_.output, max_);
        break;
      case Verb::write:
        add(action_.path, max_);
        add(action_.hunks.empty() ? fmt::format("({} lines)\n{}", lines(action_.content).size(),
                                                cut_middle(action_.content, max_ / 2))
                                  : diff_of(action_),
            max_);
        break;
      case Verb::edit:
        add(action_.path, max_);
        add(diff_of(action_), max_);
        break;
      case Verb::read:
        add(action_.path, max_);
        add(result_of(response_), max_ / 4);
        break;
      case Verb::search:
      case Verb::fetch:
      case Verb::search_web:
        add(action_.query, max_ / 2);
        add(result_of(response_), action_.verb == Verb::search ? max_ / 3 : max_);
        break;
      case Verb::plan: add(action_.plan, max_ * 2); break;
      case Verb::ask:
        for (const host::Question& question : action_.questions)
          add(fmt::format("{} -> {}", question.text,
                          question.answer.empty() ? "(no answer)" : question.answer),
              max_);
        break;
      case Verb::delegate:
        add(action_.description, max_ / 2);
        add(action_.result.empty() ? result_of(response_) : action_.result, max_ * 2);
        break;
      case Verb::track: add(tasks_of(action_), max_); break;
      case Verb::routine:
      case Verb::other: add(result_of(response_), max_); break;
    }
    if (!error_.empty()) add(fmt::format("error: {}", error_), max_);
    out.text = std::move(text_);
    return out;
  }

 private:
  std::string_view kind() const {
    switch (action_.verb) {
      case Verb::run: return "command";
      case Verb::write: return action_.existed ? "file rewritten" : "file created";
      case Verb::edit: return "file edited";
      case Verb::read: return "file read";
      case Verb::search: return "search in files";
      case Verb::fetch: return "web page";
      case Verb::search_web: return "web search";
      case Verb::plan: return "plan proposed";
      case Verb::ask: return "question to the person";
      case Verb::delegate: return "subagent";
      case Verb::track: return "task list";
      case Verb::routine:
      case Verb::other: break;
    }
    return "tool";
  }

  void add(std::string_view part, std::size_t max) {
    const std::string shown = visible(valid_utf8(cut_middle(trim(part), max)));
    if (!shown.empty()) text_.append(text_.empty() ? "" : "\n").append(shown);
  }

  const host::Action& action_;
  const Json& response_;
  const std::string_view error_;
  const std::size_t max_;
  std::string text_;
};

}  // namespace

EventText event_text(const store::KeptEvent& event, std::string_view host, std::size_t max) {
  const Json input = json_of(event.texts.input);
  const Json response = json_of(event.texts.response);
  const bool failed = event.kind == event::Kind::tool_failure;
  const std::string_view error = failed ? response["error"].as_string() : std::string_view();
  // A failed call has no result but its error. The action's views point into these values: they must live as
  // long as it is used.
  const Json nothing;
  const Json& result = failed ? nothing : response;
  const host::Action action = host::find_host(host).read_action({event.tool_name, input, result, error});
  EventText out = Writer(action, result, error, max).write();
  // A tool that cairn does not know: its name and raw input are all there is to say what it did.
  if (action.verb == Verb::other || action.verb == Verb::routine) {
    const std::string asked = cut_middle(visible(input.is_null() ? "" : input.dump()), max / 2);
    out.text = fmt::format("{} {}\n{}", one_line(visible(event.tool_name), 80), asked, out.text);
  }
  if (failed) out.what += ", failed";
  if (action.interrupted || host::was_interrupted(response)) out.what += ", interrupted";
  if (!event.agent_type.empty()) out.what += ", by a subagent";
  return out;
}

}  // namespace cairn::agent
