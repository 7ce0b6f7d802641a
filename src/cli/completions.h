// What other programs read of the table of commands: completions for three shells, and the manual page.
// Generated, so that neither can tell anything else than the help does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::cli {

// The script for bash, zsh or fish; `invalid` for another shell.
Result<std::string> completion_script(std::string_view shell);

// The manual page, in roff.
std::string man_page();

// A generated file and where this user's shells, or man, look for it.
struct GeneratedFile {
  std::string path;
  std::string text;
};
// Those whose place there is: `home` is the user's own directory, `program` the path of cairn.
std::vector<GeneratedFile> generated_files(os::Disk& disk, const std::string& home,
                                           const std::string& program);

// Writes those that differ; takes away those that cairn made. Both give the paths concerned.
Result<std::vector<std::string>> install_generated(os::Disk& disk, const std::vector<GeneratedFile>& files);
std::vector<std::string> remove_generated(os::Disk& disk, const std::vector<GeneratedFile>& files);

}  // namespace cairn::cli
