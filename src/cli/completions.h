// Completions for three shells, and the manual page, generated from the table of commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::cli {

// The script for bash, zsh or fish.
std::string completion_script(std::string_view shell);

// The manual page, in roff.
std::string man_page();

// A generated file and its path, where this user's shells or man look for it.
struct GeneratedFile {
  std::string path;
  std::string text;
};
// The files whose directories exist. `home` is the user's own directory, `program` the path of cairn.
std::vector<GeneratedFile> generated_files(os::Disk& disk, const std::string& home,
                                           const std::string& program);

// Writes the files that differ; removes those that cairn made. Both return the paths concerned.
Result<std::vector<std::string>> install_generated(os::Disk& disk, const std::vector<GeneratedFile>& files);
std::vector<std::string> remove_generated(os::Disk& disk, const std::vector<GeneratedFile>& files);

}  // namespace cairn::cli
