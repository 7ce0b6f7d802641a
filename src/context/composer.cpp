#include "context/composer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "context/choice.h"
#include "context/entries.h"
#include "context/page.h"
#include "context/session_text.h"
#include "context/state.h"
#include "distil/distil.h"
#include "git/changes.h"
#include "host/host.h"
#include "recall/freshness.h"
#include "store/projects.h"

namespace cairn::context {

namespace {

using store::Summary;

constexpr std::string_view kLastLine =
    "More: `cairn search WORDS` finds earlier work, `cairn show ID` prints a turn in full.\n";
// Both were measured: docs/context.md.
// The newest session gets the space that the shares of earlier sessions leave, but at least this part.
constexpr double kShareOfOlder = 0.19, kLeastShareOfNewest = 0.45;
constexpr std::size_t kLeastOlder = 170;  // bytes: a shorter block says nothing useful
constexpr std::size_t kEarlierTitle = 60;

// Stored text is made harmless (as_data) before it is put between our own lines.
std::string line_of_data(std::string_view text) {
  return one_line(labelled(as_data(text)), 500);
}

class Composer {
 public:
  Composer(const Request& request, const ContextMaterial& material)
      : request_(request),
        material_(material),
        page_(request.budget_tokens, kMaxCharacters, kLastLine, request.counts_bytes) {}

  // Sections take their space in this order, so the earlier ones are the more important ones. Each has a
  // limit of its own, and the sessions get the rest.
  Composed run() {
    page_.add(fmt::format("Project {}.{}\n\n", one_line(visible(request_.project), 200),
                          request_.since ? " New since this session was last given notes:" : ""));
    if (!material_.stories.empty()) {
      const Summary& last = material_.stories.front().turns.back();
      out_.last_request = one_line(visible(last.request), 80);
      out_.last_at = last.created_at;
      out_.interrupted = !interruption_of(material_.stories.front()).empty();
    }
    if (request_.lead)
      add(OpenSection{"# Document " + request_.lead->id + "\n" + as_data(request_.lead->text) + "\n\n",
                      {request_.lead->id},
                      {}});
    add(notes_section(material_.work, page_.budget() * 4 / 10));
    add_state();
    add_open();
    add_dropped();
    emphasise();
    add_sessions();
    if (out_.items.empty()) return out_;  // the budget is too small for anything
    out_.text = page_.fenced(request_.key);
    out_.tokens = estimate_tokens(out_.text);
    out_.characters = utf16_length(out_.text);
    return out_;
  }

 private:
  // Adds a section. Its concepts count as said afterwards.
  bool add(const OpenSection& section) {
    if (section.text.empty() || !page_.add(section.text)) return false;
    concepts_.count(section.text);
    out_.items.insert(out_.items.end(), section.ids.begin(), section.ids.end());
    return true;
  }

  void add_state() {
    std::vector<std::string> others;  // files that sessions edited are listed under Open
    for (const std::string& file : material_.uncommitted)
      if (!material_.work.edits(file)) others.push_back(line_of_data(file));
    const std::string text =
        state_text(material_.stories, material_.work.plans, others, request_.own_session);
    if (!text.empty()) add(OpenSection{"# State\n" + text + "\n", {}, {}});
  }

  void add_open() {
    out_.open = material_.work.open.size();
    const OpenSection section = open_section(material_.work, material_.uncommitted, page_.budget() / 4);
    if (add(section)) shown_open_.insert(section.texts.begin(), section.texts.end());
  }

  // Under a heading of their own: the session wrote these lines itself, before the compaction.
  void add_dropped() {
    OpenSection section;
    for (const DroppedLine& line : material_.dropped) {
      section.text += (section.text.empty() ? "# Before the compaction\n- " : "- ") +
                      line_of_data(line.text) + " (" + line.id + ")\n";
      section.ids.push_back(line.id);
    }
    if (!section.text.empty()) section.text += "\n";
    add(section);
  }

  // Prompts and commits show what is important.
  void emphasise() {
    if (material_.stories.empty()) return;
    const Story& newest = material_.stories.front();
    for (const auto& [number, prompt] : newest.prompts) concepts_.emphasise(prefix(prompt, 4000));
    for (const std::string& subject : newest.first_lines(store::TextKind::commit))
      concepts_.emphasise(subject);
  }

  void add_sessions() {
    if (material_.stories.empty()) return;
    const std::size_t room = page_.room();
    const std::size_t older = material_.stories.size() - 1;
    // `room` is in bytes, like the shares. What the newest session does not use goes to the earlier ones.
    const double share = std::max(kLeastShareOfNewest, 1 - kShareOfOlder * static_cast<double>(older));
    const std::size_t used = add_newest(static_cast<std::size_t>(static_cast<double>(room) * share));
    if (older > 0 || !material_.work.earlier.empty()) add_earlier(room - std::min(room, used));
  }

  std::size_t add_newest(std::size_t room) {
    const std::string& agent = material_.stories.front().agent;
    const std::string heading = agent.empty() ? "# Last session, in the agent's words\n"
                                              : "# Last session, in " + agent + "'s words\n";
    SessionText block = newest_text(material_.stories.front(), room - std::min(room, heading.size() + 1),
                                    concepts_, figures_, shown_open_);
    if (block.text.empty() || !page_.add(heading + block.text + "\n")) return 0;
    out_.items.insert(out_.items.end(), block.items.begin(), block.items.end());
    return cost_of(block.text) + heading.size() + 1;
  }

  // Equal shares. Space that a session does not use goes to the next ones.
  void add_earlier(std::size_t room) {
    const auto& stories = material_.stories;
    // With little room fewer sessions are shown, rather than all of them too short to be useful.
    std::size_t count = std::min(stories.size() - 1, std::max<std::size_t>(1, room / kLeastOlder));
    std::string heading = "# Earlier sessions, newest first\n";
    room -= std::min(room, heading.size() + 1);
    for (std::size_t i = 1; i <= count; ++i) {
      const std::size_t share = room / (count - i + 1);
      Concepts concepts;  // not shared: a session repeats what another session said
      for (const std::string& line : stories[i].first_lines(store::TextKind::commit))
        concepts.emphasise(line);
      const SessionText block =
          earlier_text(stories[i], i, heading_of(stories, i), share, concepts, figures_);
      const bool bare =
          block.text.find('\n') + 1 == block.text.size() && stories[i].title(kEarlierTitle).empty();
      if (bare) continue;  // it had neither a request nor an answer
      if (!page_.add(heading + block.text)) return;
      heading.clear();
      room -= std::min(room, cost_of(block.text));
      out_.items.insert(out_.items.end(), block.items.begin(), block.items.end());
    }
    for (const auto& [id, line] : earlier_open(material_.work))
      if (page_.add(line)) out_.items.push_back(id);
    page_.add("\n");
  }

  // "2026-11-16 · fix the lexer · branch b"; the branch only when the following session has another one.
  static std::string heading_of(const std::vector<Story>& stories, std::size_t i) {
    const Story& story = stories[i];
    std::string text = date(story.started_at).substr(0, 10);
    if (const std::string title = labelled(as_data(story.title(kEarlierTitle))); !title.empty())
      text += " \u00b7 " + title;
    if (story.branch && story.branch != stories[i - 1].branch) text += " \u00b7 branch " + *story.branch;
    if (story.agent != stories[i - 1].agent)
      text += " \u00b7 in " + (story.agent.empty() ? std::string(host::default_host().title()) : story.agent);
    if (!interruption_of(story).empty()) text += " \u00b7 interrupted";
    return text;
  }

  const Request& request_;
  const ContextMaterial& material_;
  Concepts concepts_;
  Figures figures_;
  std::set<std::string> shown_open_;  // texts of open items that are shown already
  Page page_;
  Composed out_;
};

// The uncommitted ones among the files that earlier turns changed and those that git tracks.
Result<std::vector<std::string>> uncommitted_files(store::Db& db, const Request& request,
                                                   const std::vector<Story>& stories) {
  std::string tree = request.working_tree;
  if (tree.empty())
    if (const auto project = TRY(store::project_by_name(db, request.project))) tree = project->root;
  std::set<std::string> known;
  for (const Story& story : stories)
    for (const Summary& s : story.turns)
      // Each known file is looked up on the disk, even if git does not track it.
      if (known.size() < 200) known.insert(s.files_edited.begin(), s.files_edited.end());
  if (request.disk == nullptr) return std::vector<std::string>();
  return git::changed_files(*request.disk, tree, {known.begin(), known.end()});
}

// Finds the steps of accepted plans whose files were not edited since, as far as the shown sessions tell.
// Removes plans that are done.
void follow_plans(const std::vector<Story>& stories, OpenWork& work) {
  std::set<std::int64_t> done;
  for (const store::OpenItem& item : work.open) {
    if (item.source != event::OpenSource::plan) continue;
    // Compared by name, without directories, like the files in the steps of a plan.
    std::set<std::string> edited;
    for (const Story& story : stories)
      for (const Summary& turn : story.turns)
        if (turn.updated_at >= item.opened_at)
          for (const std::string& file : turn.files_edited) edited.insert(file.substr(file.rfind('/') + 1));
    work.steps[item.id] = distil::steps_untouched(item.detail, edited);
    // Any session may have worked on the plan, not only the one that began with it.
    if (!edited.empty() && distil::steps_left(item.detail, edited).empty()) done.insert(item.id);
  }
  std::erase_if(work.open, [&](const store::OpenItem& item) { return done.contains(item.id); });
}

// The fields that are printed as they are. Sentences become data where they are printed (session_text.cpp).
void make_harmless(Story& story) {
  std::erase_if(story.texts, [](const store::Text& text) { return trim(text.text).empty(); });
  if (story.branch) story.branch = line_of_data(as_name(*story.branch));
  if (story.worktree) story.worktree = line_of_data(*story.worktree);
  for (Summary& s : story.turns) {
    s.next_steps = as_data(s.next_steps);
    for (std::string& file : s.files_edited) file = line_of_data(file);
  }
}

}  // namespace

Composed render(const Request& request, ContextMaterial material) {
  for (Story& story : material.stories) make_harmless(story);
  return Composer(request, material).run();
}

Result<Composed> compose(store::Db& db, const Request& request) {
  ContextMaterial material;
  material.stories =
      TRY(newest_stories(db, {request.project, request.since, request.except_session, request.own_session}));
  material.work =
      TRY(read_open_work(db, request.project, request.since, request.own_session, request.working_tree));
  follow_plans(material.stories, material.work);
  if (request.disk) {
    recall::Freshness freshness(db, *request.disk);
    for (store::Note& note : material.work.notes) note.is_stale = TRY(freshness.is_stale(note.observation));
  }
  const OpenWork& work = material.work;
  if (material.stories.empty() && work.open.empty() && work.notes.empty() && !request.lead) return Composed{};
  material.uncommitted = TRY(uncommitted_files(db, request, material.stories));
  if (request.compacted) material.dropped = TRY(dropped_by_compaction(db, *request.compacted));
  return render(request, std::move(material));
}

}  // namespace cairn::context
