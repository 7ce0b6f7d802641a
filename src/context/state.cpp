#include "context/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quoted.h"
#include "base/text.h"
#include "context/entries.h"
#include "context/page.h"
#include "event/origin.h"

namespace cairn::context {

namespace {

constexpr std::size_t kCommits = 5, kPulls = 3, kFiles = 8, kSubject = 110;

// Joins the last lines.
std::string last_of(const std::vector<std::string>& lines, std::size_t max) {
  std::string text;
  for (std::size_t i = lines.size() > max ? lines.size() - max : 0; i < lines.size(); ++i)
    text += (text.empty() ? "" : "; ") + labelled(as_data(one_line(lines[i], kSubject)));
  return text;
}

// Of several lines about one pull request, keeps the longest, and says whether it was merged.
std::vector<std::string> by_number(const std::vector<std::string>& pulls) {
  std::vector<std::string> out;
  for (const std::string& pull : pulls) {
    // "#12 Fix the lexer", then "#12 merged".
    const std::string number = pull.substr(0, pull.find(' '));
    const auto same = std::find_if(out.begin(), out.end(), [&](const std::string& other) {
      return number.starts_with('#') && other.starts_with(number + " ");
    });
    if (same == out.end())
      out.push_back(pull);
    else if (pull == number + " merged")
      same->insert(number.size(), " (merged)");
    else if (same->size() < pull.size())
      *same = pull;
  }
  return out;
}

std::string session_line(const Story& story) {
  std::string text = "Last session: " + date(story.started_at);
  if (story.branch) text += ", branch " + *story.branch;
  if (const std::string title = labelled(as_data(story.host_title(90))); !title.empty()) text += ", " + title;
  return text + ".\n";
}

}  // namespace

std::string_view interruption_of(const Story& story) {
  return story.turns.empty() ? std::string_view() : interruption_of(story.turns.back());
}

std::string state_text(const std::vector<Story>& stories, const std::vector<store::OpenItem>& plans,
                       const std::vector<std::string>& uncommitted, const std::string& own_session) {
  std::string text;
  if (!stories.empty()) {
    const Story& newest = stories.front();
    text += session_line(newest);
    if (const std::string_view cause = interruption_of(newest); !cause.empty())
      text += fmt::format("It was interrupted ({}): {} did not reach its end.\n", cause,
                          id_of(newest.turns.back()));
    if (const auto commits = newest.first_lines(store::TextKind::commit); !commits.empty())
      text += fmt::format("Its {}: {}.\n",
                          commits.size() > kCommits ? fmt::format("last commits of {}", commits.size())
                                                    : std::string(commits.size() == 1 ? "commit" : "commits"),
                          last_of(commits, kCommits));
    if (const auto pulls = by_number(newest.first_lines(store::TextKind::pull)); !pulls.empty())
      text += fmt::format("Pull request{}: {}.\n", pulls.size() == 1 ? "" : "s", last_of(pulls, kPulls));
  }
  for (const store::OpenItem& plan : plans)
    if (!stories.empty() && plan.content_session == stories.front().session)
      text += fmt::format("The plan {} was {}: nothing of it is implemented.\n",
                          quoted(labelled(as_data(one_line(plan.text, kSubject))), '"'),
                          plan.state == event::OpenState::rejected ? "rejected" : "not accepted");
  if (!uncommitted.empty())
    text += fmt::format("Changed and not committed now: {}.\n", first_few(uncommitted, kFiles));
  for (const Story& story : stories) {
    if (!story.running() || story.session == own_session) continue;
    text += fmt::format("Another session is at work here now: {}{}{}.\n", id_of(story.turns.back()),
                        story.branch ? " on branch " + *story.branch : "",
                        story.worktree ? " in " + *story.worktree : "");
  }
  return text;
}

}  // namespace cairn::context
