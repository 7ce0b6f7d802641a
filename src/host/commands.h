// Commands that people type in a coding agent: files that the agent reads. Each runs `cairn` and lets the
// model write the words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::host {

struct CommandFile {
  std::string path;    // below the host's directory of settings: commands/cairn-save.md
  std::string plugin;  // below the plugin's directory: commands/save.md
  std::string text;    // with kCommandMark in it
  std::string plugin_text;
  bool for_people = true;  // people type it; false: the model calls it
};

// Distinguishes a file of ours from one that the user wrote.
inline constexpr std::string_view kCommandMark = "<!-- installed by cairn -->";

// Those of the host with that name; empty when it has none.
std::vector<CommandFile> command_files(std::string_view host);

}  // namespace cairn::host
