// Finds transcripts: CONFIG/projects/DIRECTORY/SESSION.jsonl.
#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "host/claude_code/transcript.h"

namespace cairn::host::claude {

namespace {

constexpr std::string_view kEnd = ".jsonl";

// Whether the name is a session id ("0b5d6c1e-..."). Other files are not sessions.
bool is_session(std::string_view name) {
  return name.size() == 36 && name.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos &&
         std::count(name.begin(), name.end(), '-') == 4;
}

// Whether it has the sessions of a memory agent: that of another tool (claude-mem), or cairn's own.
bool is_memory_agents(std::string_view directory) {
  return directory.find("observer-sessions") != std::string_view::npos ||
         directory.find("-cairn-agent") != std::string_view::npos;
}

void find_in(os::Disk& disk, const std::string& directory, std::vector<FoundTranscript>& found) {
  const auto names = disk.list(directory);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.ends_with(kEnd)) continue;
    const std::string session = name.substr(0, name.size() - kEnd.size());
    if (!is_session(session)) continue;
    const std::string path = directory + "/" + name;
    const auto stat = disk.stat(path);
    if (!stat || stat->is_dir || stat->size == 0) continue;
    found.push_back({path, session, stat->size, from_epoch_ms(stat->modified_ns / 1'000'000),
                     is_memory_agents(directory) ? "a memory agent's own session" : ""});
  }
}

}  // namespace

std::vector<FoundTranscript> find_transcripts(os::Disk& disk, const std::string& root) {
  std::vector<FoundTranscript> found;
  find_in(disk, root, found);
  const auto names = disk.list(root);
  if (!names) return found;
  for (const std::string& name : *names) {
    const std::string path = root + "/" + name;
    const auto stat = disk.stat(path);
    // A directory that is called like a session has the transcripts of its subagents.
    if (!stat || !stat->is_dir || is_session(name)) continue;
    if (name == "projects") {  // the configuration directory was named
      for (FoundTranscript& transcript : find_transcripts(disk, path)) found.push_back(std::move(transcript));
    } else {
      find_in(disk, path, found);
    }
  }
  return found;
}

std::vector<std::string> transcript_roots(os::Disk& disk, const std::string& configuration) {
  std::vector<std::string> configurations;
  if (!configuration.empty()) configurations.push_back(configuration);
  if (const char* home = std::getenv("HOME"); home && *home) {
    configurations.push_back(std::string(home) + "/.config/claude");
    // ~/.claude, and others that people keep beside it for a second account: ~/.claude-work
    if (const auto names = disk.list(home))
      for (const std::string& name : *names)
        if (name == ".claude" || name.starts_with(".claude-"))
          configurations.push_back(std::string(home) + "/" + name);
  }
  std::vector<std::string> roots;
  for (const std::string& directory : configurations) {
    std::string root = disk.real_path(directory + "/projects");
    const auto stat = disk.stat(root);
    if (stat && stat->is_dir && std::find(roots.begin(), roots.end(), root) == roots.end())
      roots.push_back(std::move(root));
  }
  return roots;
}

}  // namespace cairn::host::claude
