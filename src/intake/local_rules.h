// What a project itself, or the user for one project, wants kept out: `.cairn.toml` at the root of a
// repository, and projects for which capture is off.
//
// The file can only narrow: `capture = false`, `exclude = [...]`, `skip_tools = [...]`, or the same as
// `capture.enabled`, `capture.exclude`, `capture.skip_tools`. Everything else in it is left unread, since
// whoever wrote the repository must not decide where text goes. It is read again when its time changes;
// otherwise an event costs one stat.
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

// What such a file says; one that is not TOML, or says of these what is not understood, keeps everything out,
// since nobody knows what it meant to.
gate::LocalRules read_local_rules(std::string_view toml, const std::string& path);

}  // namespace cairn::intake
