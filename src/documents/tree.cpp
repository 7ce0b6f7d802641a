#include "documents/tree.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "documents/text.h"
#include "git/changes.h"
#include "git/objects.h"
#include "git/repository.h"

namespace cairn::documents {

namespace {

constexpr std::int64_t kMostCommits = 500;  // that are walked back
constexpr std::size_t kSubjects = 5;
constexpr std::size_t kSubject = 120;

// The first line of a commit's message.
std::string subject_of(const git::Object& commit) {
  const std::string_view bytes = commit.bytes;
  const std::size_t body = bytes.find("\n\n");
  if (body == std::string_view::npos) return {};
  const std::string_view message = bytes.substr(body + 2);
  return one_line(visible(valid_utf8(std::string(message.substr(0, message.find('\n'))))), kSubject);
}

std::string first_few(const std::vector<std::string>& items, std::string_view between) {
  constexpr std::size_t kMost = 8;
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < kMost; ++i)
    out += (i == 0 ? "" : std::string(between)) + items[i];
  return items.size() > kMost ? out + fmt::format(" and {} more", items.size() - kMost) : out;
}

// Counts the commits from `at` back to `known`. A rebase or another branch does not have `known`: then
// is_known stays false.
void walk_back(git::Objects& objects, git::ObjectId at, const std::string& known, Drift& drift) {
  for (std::int64_t n = 0; n < kMostCommits; ++n) {
    if (to_hex(at) == known) {
      drift.commits = n;
      drift.is_known = true;
      return;
    }
    const auto commit = objects.read(at);
    if (!commit) return;
    if (drift.subjects.size() < kSubjects)
      drift.subjects.push_back(to_hex(at).substr(0, 7) + " " + subject_of(*commit));
    const auto parent = git::first_parent(*commit);
    if (!parent) return;
    at = *parent;
  }
}

}  // namespace

TreeState read_tree(os::Disk& disk, const std::string& directory, const std::vector<std::string>& known) {
  TreeState tree;
  const auto repository = git::find_repository(disk, directory);
  if (!repository) return tree;
  tree.branch = one_line(visible(git::current_branch(disk, *repository).value_or("")), 200);
  git::Objects objects(disk, repository->common);
  if (const auto head = objects.head(repository->directory); head && *head) tree.head = to_hex(**head);
  for (const std::string& file : git::changed_files(disk, repository->worktree, known))
    tree.uncommitted.push_back(one_line(visible(file), 200));
  return tree;
}

std::vector<std::string> key_files(std::string_view body) {
  std::vector<std::string> files;
  const DocumentText text = read_text(body);
  const Section* section = text.section("Key Files");
  if (!section) return files;
  for (const std::string_view line : lines(section->text)) {
    const std::size_t begin = line.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : line.find('`', begin + 1);
    if (end == std::string_view::npos || end == begin + 1) continue;
    files.emplace_back(line.substr(begin + 1, end - begin - 1));
  }
  return files;
}

Drift read_drift(os::Disk& disk, const std::string& directory, const store::Document& document) {
  Drift drift;
  const std::vector<std::string> named = key_files(document.body);
  drift.now = read_tree(disk, directory, named);
  const auto repository = git::find_repository(disk, directory);
  const std::string& root = repository ? repository->worktree : directory;
  for (const std::string& file : named)
    if (!root.empty() && !disk.stat(file.starts_with('/') ? file : root + "/" + file).ok())
      drift.missing.push_back(file);
  if (!drift.missing.empty())
    drift.sentences.push_back("Named in the document and not there: " + first_few(drift.missing, ", ") + ".");
  if (!repository) return drift;
  if (document.branch && !drift.now.branch.empty() && *document.branch != drift.now.branch)
    drift.sentences.push_back(fmt::format("The document was written on branch {}; now it is {}.",
                                          *document.branch, drift.now.branch));
  if (!document.head_commit.empty() && !drift.now.head.empty()) {
    git::Objects objects(disk, repository->common);
    if (const auto head = objects.head(repository->directory); head && *head)
      walk_back(objects, **head, document.head_commit, drift);
    // The subjects that were collected may be as old as the document, or older.
    if (!drift.is_known) {
      drift.subjects.clear();
      drift.sentences.push_back(
          fmt::format("The document's commit {} is not among the last commits of this branch.",
                      document.head_commit.substr(0, 12)));
    } else if (drift.commits > 0) {
      if (std::ssize(drift.subjects) > drift.commits)
        drift.subjects.resize(static_cast<std::size_t>(drift.commits));
      drift.sentences.push_back(
          fmt::format("{} since the document: {}.",
                      drift.commits == 1 ? "1 commit" : fmt::format("{} commits", drift.commits),
                      first_few(drift.subjects, "; ")));
    }
  }
  if (!drift.now.uncommitted.empty())
    drift.sentences.push_back("Changed and not committed: " + first_few(drift.now.uncommitted, ", ") + ".");
  return drift;
}

}  // namespace cairn::documents
