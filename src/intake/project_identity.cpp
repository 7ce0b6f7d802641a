#include "intake/project_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "intake/place.h"
#include "store/project_links.h"

namespace cairn::intake {

using store::Place;
using store::Project;

namespace {

constexpr std::int64_t kAtOnceNs = 100'000'000;  // while a session or a command waits
constexpr std::int64_t kPieceNs = 20'000'000;    // in the background
constexpr std::size_t kPieceCommits = 20'000;
constexpr std::size_t kMostSuggestions = 3;

// What was read from a repository.
struct Traits {
  std::optional<std::string> root_commit, head_commit, remote;
};

// Projects that may be the same one at another path.
struct Matches {
  std::optional<Project> certain;
  std::vector<std::pair<Project, std::string>> perhaps;  // with the reason
};

// Whether `other`, which has the same first commit, was moved to the new place rather than cloned or forked.
bool is_sure(os::Disk& disk, const Project& other, const Traits& traits) {
  return is_gone(disk, other.key) && (!other.remote || !traits.remote || other.remote == traits.remote);
}

// The projects that the repository with this key may be. One is certain only when no other one comes into
// question: repositories that were made from one template have the same first commit.
Result<Matches> matches_of(store::Db& db, os::Disk& disk, const std::string& key, const Traits& traits) {
  Matches matches;
  std::size_t sure = 0;
  if (traits.root_commit)
    for (const Project& other : TRY(store::projects_with_root_commit(db, *traits.root_commit))) {
      if (other.key == key) continue;
      if (is_sure(disk, other, traits) && ++sure == 1) matches.certain = other;
      matches.perhaps.emplace_back(other, "same first commit");
    }
  // When a first commit is unknown, only the remote can be compared.
  if (traits.remote)
    for (const Project& other : TRY(store::projects_with_remote(db, *traits.remote)))
      if (other.key != key && (!traits.root_commit || !other.root_commit))
        matches.perhaps.emplace_back(other, "same remote");
  if (matches.perhaps.size() != 1) matches.certain.reset();
  if (matches.certain) matches.perhaps.clear();
  // Newest first.
  std::sort(matches.perhaps.begin(), matches.perhaps.end(),
            [](const auto& a, const auto& b) { return a.first.id > b.first.id; });
  if (matches.perhaps.size() > kMostSuggestions) matches.perhaps.resize(kMostSuggestions);
  return matches;
}

enum class How { known, became_repository, moved };

struct Match {
  std::optional<Project> project;
  How how = How::known;
  Traits traits;  // of an unknown repository
  Matches matches;
};

Traits read_traits(os::Disk& disk, os::Clock& clock, const Place& place) {
  git::RootSearch search(disk, place.key, place.git_dir);
  Traits traits;
  // A history that is too long for 100 ms gives no first commit now. RepositoryReader finds it later, and
  // then links the projects.
  if (search.step(kPieceCommits, clock, clock.boot_ns() + kAtOnceNs)) {
    traits.root_commit = search.root();
    traits.head_commit = search.head();
  }
  traits.remote = git::remote_of(disk, place.key);
  return traits;
}

// For a directory that is not, or no longer, a repository.
Result<std::optional<Project>> project_of_directory(store::Db& db, os::Disk& disk, const Place& place) {
  auto at_root = TRY(store::project_by_root(db, place.root));
  if (at_root && is_gone(disk, at_root->key)) return at_root;
  if (!is_gone(disk, place.root)) return std::optional<Project>();
  // Its events were read late: the worktree was deleted, or the project moved away.
  if (auto project = TRY(store::project_by_worktree(db, place.root))) return project;
  return store::project_by_old_place(db, place);
}

// A project that another memory knew only by its name belongs to the first directory of that name.
Result<std::optional<Project>> project_without_place(store::Db& db, const Place& place) {
  auto project = TRY(store::project_by_name(db, place.name));
  if (!project || project->key.starts_with('/') || !place.key.starts_with('/'))
    return std::optional<Project>();
  return project;
}

// The most certain way first: the place itself, what a person said (an alias), a project without a place.
// Then the same directory before `git init`, and only then the repository's history, which takes time to
// read.
Result<Match> match(store::Db& db, os::Disk& disk, os::Clock& clock, const Place& place) {
  Match match;
  match.project = TRY(store::project_by_key(db, place.key));
  if (match.project) return match;
  match.project = TRY(store::project_by_alias(db, place.key));
  if (match.project) return match;
  match.project = TRY(project_without_place(db, place));
  if (match.project) {
    match.how = How::moved;
    return match;
  }
  if (!place.is_git()) {
    match.project = TRY(project_of_directory(db, disk, place));
    return match;
  }
  match.project = TRY(store::project_by_key(db, place.root));
  if (match.project) {
    match.how = How::became_repository;
    return match;
  }
  match.traits = read_traits(disk, clock, place);
  match.matches = TRY(matches_of(db, disk, place.key, match.traits));
  match.project = match.matches.certain;
  match.how = How::moved;
  return match;
}

}  // namespace

Result<std::optional<Project>> find_project_at(store::Db& db, os::Disk& disk, os::Clock& clock,
                                               const Place& place) {
  return TRY(match(db, disk, clock, place)).project;
}

// The project of the place: known, moved here, or new.
static Result<Project> own_project(store::Db& db, os::Disk& disk, os::Clock& clock, const Place& place) {
  const WallTime now = clock.now();
  const Match found = TRY(match(db, disk, clock, place));
  if (found.project) {
    if (found.how == How::known) return *found.project;
    const bool moved = found.how == How::moved;
    TRY(store::move_project(db, *found.project, place,
                            moved ? store::ProjectStep::moved : store::ProjectStep::repository, now));
    return TRY(store::project_by_key(db, place.key)).value();
  }
  const Project added = TRY(store::add_project(db, place, now));
  for (const auto& [other, reason] : found.matches.perhaps)
    TRY(store::suggest_link(db, added, other, reason, now));
  return added;
}

Result<std::string> project_at(store::Db& db, os::Disk& disk, os::Clock& clock, const Place& place) {
  const Project project = TRY(own_project(db, disk, clock, place));
  // The session's directory was a project of its own before it became part of this repository.
  if (place.is_git() && place.start != place.root)
    if (const auto inner = TRY(store::project_by_key(db, place.start)); inner && inner->id != project.id)
      TRY(store::link_projects(db, project, *inner, store::MadeBy::cairn,
                               "its directory is a part of this repository", clock.now()));
  return project.name;
}

RepositoryReader::~RepositoryReader() = default;

Result<bool> RepositoryReader::step() {
  if (!search_) {
    const auto due = TRY(store::next_due(db_));
    if (!due) return false;
    TRY(begin(*due));
    return true;
  }
  if (search_->step(kPieceCommits, clock_, clock_.boot_ns() + kPieceNs)) {
    // The search is dropped even after an error: the project stays due and is searched again.
    const Status finished = finish();
    search_.reset();
    TRY(finished);
  }
  return true;
}

Status RepositoryReader::begin(const Project& project) {
  const Place place = resolve_place(disk_, "", project.root);
  // A place that changed since the project was stored is not searched; only `git init` in it is noted.
  if (place.is_git() && place.key == project.key) {
    project_ = project.id;
    place_ = place;
    search_ = std::make_unique<git::RootSearch>(disk_, place.key, place.git_dir, project.head_commit,
                                                project.root_commit);
    return {};
  }
  return store::in_transaction(db_, [&]() -> Status {
    TRY(store::set_looked_at(db_, project.id));
    const bool became_one = place.is_git() && place.root == project.root && project.key == project.root;
    return became_one ? note_repository(project, place) : Status();
  });
}

// Handles `git init` in a known directory.
Status RepositoryReader::note_repository(const Project& project, const Place& place) {
  const auto other = TRY(store::project_by_key(db_, place.key));
  if (other) {
    TRY(store::link_projects(db_, *other, project, store::MadeBy::cairn,
                             "the directory became this repository", clock_.now()));
    return {};
  }
  log_.info(fmt::format("project {} became a repository", project.name));
  return store::move_project(db_, project, place, store::ProjectStep::repository, clock_.now());
}

Status RepositoryReader::finish() {
  return store::in_transaction(db_, [&]() -> Status {
    TRY(store::set_looked_at(db_, project_));
    const auto project = TRY(store::find_project(db_, project_));
    // It was moved or forgotten while its history was read.
    if (!project || project->key != place_.key) return {};
    Traits traits{search_->root(), search_->head(), git::remote_of(disk_, place_.key)};
    // The search found no first commit, for example in a shallow clone: keep what is known.
    if (!traits.root_commit) traits.root_commit = project->root_commit;
    if (traits.remote && gate_) traits.remote = gate_->clean(*traits.remote, gate::Way::hook);
    const bool is_new = traits.root_commit != project->root_commit || traits.remote != project->remote;
    if (is_new || traits.head_commit != project->head_commit)
      TRY(store::set_lineage(db_, project->id, traits.root_commit, traits.remote, traits.head_commit));
    // Other projects were compared when these traits were first seen.
    if (!is_new) return {};
    const Matches matches = TRY(matches_of(db_, disk_, project->key, traits));
    if (matches.certain)
      TRY(store::link_projects(db_, *project, *matches.certain, store::MadeBy::cairn,
                               "same first commit, its old path is gone", clock_.now()));
    for (const auto& [other, reason] : matches.perhaps)
      TRY(store::suggest_link(db_, *project, other, reason, clock_.now()));
    return {};
  });
}

}  // namespace cairn::intake
