#include "context/story.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "context/units.h"
#include "host/host.h"

namespace cairn::context {

namespace {

constexpr std::size_t kSessions = 25;          // more than any usual budget can show
constexpr std::size_t kNewestBytes = 256'000;  // of texts of the newest session
constexpr std::size_t kOlderBytes = 16'000;    // of texts of each other one
constexpr std::size_t kLeastTitle = 14;
constexpr std::size_t kNewestTurns = 60, kOlderTurns = 20;

}  // namespace

std::string title_of_request(std::string_view request, std::size_t max) {
  std::string first;
  for (const std::string_view line : lines(request)) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    const bool heading = text.starts_with('#');
    if (first.empty() || heading) {
      std::string_view bare = text;
      while (bare.starts_with('#')) bare.remove_prefix(1);
      const std::vector<std::string> sentences = split_line(trim(bare));
      // "Thanks. Now the endpoint": skip a few words before the request itself.
      const auto says = std::find_if(sentences.begin(), sentences.end(),
                                     [](const std::string& s) { return s.size() >= kLeastTitle; });
      if (!sentences.empty()) first = says != sentences.end() ? *says : sentences.front();
    }
    if (heading || !text.ends_with(':')) break;  // "Implement the following plan:" is named by the plan
  }
  if (first.size() <= max) return first;
  const std::string_view cut = prefix(first, max - 4);
  const std::size_t blank = cut.rfind(' ');
  return std::string(cut.substr(0, blank == std::string_view::npos || blank < max / 2 ? cut.size() : blank)) +
         " \u2026";
}

const store::Summary* Story::turn(std::int64_t number) const {
  const auto found = std::find_if(turns.begin(), turns.end(),
                                  [&](const store::Summary& s) { return s.prompt_number == number; });
  return found == turns.end() ? nullptr : &*found;
}

std::string Story::host_title(std::size_t max) const {
  for (auto text = texts.rbegin(); text != texts.rend(); ++text)
    if (text->kind == store::TextKind::title) return title_of_request(text->text, max);
  return {};
}

std::string Story::title(std::size_t max) const {
  if (std::string title = host_title(max); !title.empty()) return title;
  const store::Summary* best = nullptr;
  std::size_t most = 0;
  for (const store::Summary& turn : turns) {
    if (is_chore(turn.request)) continue;
    // The turn with the most work: an edited file counts as much as 200 bytes of answer.
    std::size_t said = 1 + 200 * turn.files_edited.size();
    for (const store::Text& text : texts)
      if (text.prompt_number == turn.prompt_number && text.kind == store::TextKind::answer)
        said += text.text.size();
    if (said <= most) continue;
    most = said;
    best = &turn;
  }
  return best ? title_of_request(best->request, max) : "";
}

std::vector<std::string> Story::first_lines(store::TextKind kind) const {
  std::vector<std::string> out;
  for (const store::Text& text : texts) {
    if (text.kind != kind) continue;
    const std::vector<std::string_view> all = lines(text.text);
    if (all.empty()) continue;
    std::string line(trim(all.front()));
    if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(std::move(line));
  }
  return out;
}

// The turns and texts of one session.
static Result<Story> load_story(store::Db& db, const store::Session& session, const StoryQuery& query,
                                bool newest) {
  Story story;
  const host::Host* host = host::known_host(session.platform);
  if (host && host != &host::default_host()) story.agent = host->title();
  story.session = session.content_id.value;
  story.branch = session.branch;
  story.worktree = session.worktree;
  story.started_at = session.started_at;
  story.turns = TRY(store::last_summaries(db, session.id, newest ? kNewestTurns : kOlderTurns));
  if (query.since)
    std::erase_if(story.turns, [&](const store::Summary& s) { return s.updated_at <= *query.since; });
  if (story.turns.empty()) return story;
  story.texts = TRY(store::texts_of_session(db, session.id, newest ? kNewestBytes : kOlderBytes, !newest));
  // Texts of turns that are not shown. The title belongs to the whole session.
  std::erase_if(story.texts, [&](const store::Text& text) {
    return text.kind != store::TextKind::title && !story.turn(text.prompt_number.value_or(0));
  });
  std::stable_sort(story.texts.begin(), story.texts.end(), [](const store::Text& a, const store::Text& b) {
    return std::tuple(a.prompt_number, a.at, a.id) < std::tuple(b.prompt_number, b.at, b.id);
  });
  if (newest)
    for (const store::Summary& turn : story.turns)
      story.prompts[turn.prompt_number] = TRY(store::prompt_text(db, session.id, turn.prompt_number));
  return story;
}

Result<std::vector<Story>> newest_stories(store::Db& db, const StoryQuery& query) {
  std::vector<Story> stories;
  // Twice as many as are shown: some have no turns, or none after `since`.
  for (const store::Session& session : TRY(store::latest_sessions(db, query.project, 2 * kSessions))) {
    if (session.content_id.value == query.except_session) continue;
    if (stories.size() >= kSessions) break;
    // Which one becomes the first is known only when a session that is not running was found: until then
    // each is read as the newest.
    const bool newest =
        std::all_of(stories.begin(), stories.end(), [](const Story& s) { return s.running(); });
    Story story = TRY(load_story(db, session, query, newest));
    if (!story.turns.empty()) stories.push_back(std::move(story));
  }
  // Another session that is at work now is not the last session: move the newest finished one to the front.
  const auto first = std::find_if(stories.begin(), stories.end(), [&](const Story& s) {
    return !s.running() || s.session == query.own_session;
  });
  if (first != stories.end()) std::rotate(stories.begin(), first, first + 1);
  return stories;
}

}  // namespace cairn::context
