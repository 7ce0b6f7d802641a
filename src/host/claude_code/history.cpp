// What Claude Code keeps beside its transcripts: CONFIG/history.jsonl, one prompt a line, and its own notes
// in CONFIG/projects/DIRECTORY/memory/.
#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"
#include "host/claude_code/transcript.h"
#include "os/path.h"

namespace cairn::host::claude {

namespace {

constexpr std::size_t kMostHistory = 64u << 20;
constexpr std::size_t kMostNotes = 1u << 20;  // a file
constexpr std::size_t kMostLooks = 5000;      // directories that are tried for one name

// "/clear", "/model opus": orders to the host itself.
bool is_command(std::string_view text) {
  if (!text.starts_with('/') || text.size() < 2) return false;
  const std::string_view first = text.substr(1, text.find_first_of(" \n") - 1);
  if (first.find('/') != std::string_view::npos) return false;  // a path
  return split(one_line(text, text.size()), ' ').size() <= 2;
}

// The text as it was sent. The host stores pasted text in another field of the line.
std::string prompt_text(const Json& line) {
  std::string text(trim(line["display"].as_string()));
  for (const auto& [number, pasted] : line["pastedContents"].members())
    if (const std::string_view content = pasted["content"].as_string();
        pasted["type"].as_string() == "text" && !content.empty())
      text.append("\n").append(content);
  return text;
}

bool is_directory(os::Disk& disk, const std::string& path) {
  const auto stat = disk.stat(path);
  return stat && stat->is_dir;
}

// CONFIG/projects for CONFIG itself.
std::string projects_in(os::Disk& disk, const std::string& root) {
  return is_directory(disk, root + "/projects") ? root + "/projects" : root;
}

std::string slug_of(std::string_view path) {
  std::string slug;
  for (const char c : path) slug += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  return slug;
}

// The directory that the host calls `slug`: each character that is no letter or digit is '-' in it, so the
// name is ambiguous ("-home-dev-my-shop" is /home/dev/my-shop or /home/dev/my/shop). Goes down through the
// directories that exist and fit, and takes the longest path. Empty: there is none.
std::string directory_of(os::Disk& disk, const std::string& at, std::string_view slug, std::size_t& looks) {
  if (slug.empty()) return at;
  if (!slug.starts_with('-') || ++looks > kMostLooks) return "";
  const auto names = disk.list(at.empty() ? "/" : at);
  if (!names) return "";
  slug.remove_prefix(1);
  std::string best;
  for (const std::string& name : *names) {
    const std::string own = slug_of(name);
    if (!slug.starts_with(own) || (slug.size() > own.size() && slug[own.size()] != '-')) continue;
    if (!is_directory(disk, at + "/" + name)) continue;
    const std::string found = directory_of(disk, at + "/" + name, slug.substr(own.size()), looks);
    if (found.size() > best.size()) best = found;
  }
  return best;
}

// Where the sessions of a folder were at work: one of its transcripts says it, else the folder's name.
std::string directory_of_folder(os::Disk& disk, const std::string& folder, const std::string& slug) {
  for (const std::string& name : disk.list(folder).value_or(std::vector<std::string>())) {
    if (!name.ends_with(".jsonl")) continue;
    const auto file = disk.open(folder + "/" + name, os::Open::read);
    if (!file) continue;
    std::string head(64u << 10, '\0');
    head.resize((*file)->read_at(0, head.data(), head.size()).value_or(0));
    for (const std::string_view line : lines(head))
      if (const auto json = Json::parse(line))
        if (const std::string_view cwd = (*json)["cwd"].as_string(); slug_of(cwd) == slug)
          return std::string(cwd);
  }
  std::size_t looks = 0;
  std::string found = directory_of(disk, "", slug, looks);
  if (!found.empty()) return found;
  // The directory is gone: the best guess.
  found = slug;
  std::replace(found.begin(), found.end(), '-', '/');
  return found;
}

}  // namespace

std::vector<HistoryPrompt> prompt_history(os::Disk& disk, const std::string& root) {
  std::vector<HistoryPrompt> prompts;
  const std::string projects = projects_in(disk, root);
  const auto text = os::read_file(disk, os::above(projects) + "/history.jsonl", kMostHistory);
  if (!text) return prompts;
  for (const std::string_view line : lines(*text)) {
    const auto json = Json::parse(line);
    if (!json || !json->is_object()) continue;
    HistoryPrompt prompt;
    prompt.text = prompt_text(*json);
    const std::int64_t at = (*json)["timestamp"].as_int();
    if (prompt.text.empty() || is_command(prompt.text) || at <= 0) continue;
    prompt.session = (*json)["sessionId"].as_string();
    prompt.directory = (*json)["project"].as_string();
    prompt.at = from_epoch_ms(at);
    prompts.push_back(std::move(prompt));
  }
  std::stable_sort(prompts.begin(), prompts.end(),
                   [](const HistoryPrompt& a, const HistoryPrompt& b) { return a.at < b.at; });
  return prompts;
}

std::vector<FoundNotes> find_notes(os::Disk& disk, const std::string& root) {
  std::vector<FoundNotes> found;
  const std::string projects = projects_in(disk, root);
  for (const std::string& slug : disk.list(projects).value_or(std::vector<std::string>())) {
    const std::string folder = projects + "/" + slug;
    auto names = disk.list(folder + "/memory");
    if (!names) continue;
    std::sort(names->begin(), names->end());
    std::string directory;
    for (const std::string& name : *names) {
      const auto stat = disk.stat(folder + "/memory/" + name);
      if (!name.ends_with(".md") || !stat || stat->is_dir || stat->size == 0 || stat->size > kMostNotes)
        continue;
      if (directory.empty()) directory = directory_of_folder(disk, folder, slug);
      found.push_back({folder + "/memory/" + name, directory});
    }
  }
  return found;
}

}  // namespace cairn::host::claude
