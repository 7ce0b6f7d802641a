// Rules of one project about what is not stored: `.cairn.toml` at the root of a repository, and projects for
// which the user switched capture off.
//
// The file can only reduce what is stored: `capture = false`, `exclude = [...]`, `skip_tools = [...]`, or the
// same as `capture.enabled`, `capture.exclude`, `capture.skip_tools`. Everything else in it is ignored,
// because the author of a repository must not decide where text goes. It is read again when its size or
// modification time changes; otherwise an event costs one stat.
#pragma once

#include <string>
#include <vector>

#include "gate/gate.h"
#include "os/disk.h"

namespace cairn::intake {

inline constexpr std::string_view kLocalFile = ".cairn.toml";

// `projects_off`: keys of projects (place.h). `disk` must live as long as the result. The result shares its
// cache between copies and belongs to one thread.
gate::FindLocalRules find_local_rules(os::Disk& disk, std::vector<std::string> projects_off);

// Reads such a file. When it is not valid TOML, or one of these values has the wrong type, nothing is
// captured: we do not know what its author wanted to exclude.
gate::LocalRules read_local_rules(std::string_view toml, const std::string& path);

}  // namespace cairn::intake
