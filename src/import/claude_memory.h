// Imports the files of the tool claude-memory, in `.claude/memory/` of a project: session documents, project
// memory, active context, copies of transcripts and markers.
//
// docs/coming-from.md says what becomes of each. The files are only read.
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "gate/gate.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::importer {

struct FilesReport {
  std::string directory, project;
  std::map<std::string, std::int64_t> found, changed, known, left_out;
  Json json() const;
};

// Imports from `directory`: `.claude/memory` itself, or a directory that contains it. Runs in the caller's
// transaction; roll it back for a dry run. Copies of transcripts are only queued, for the archive and for the
// import, and are read in the background.
Result<FilesReport> import_claude_memory(store::Db& db, os::Disk& disk, os::Clock& clock,
                                         const gate::Gate& gate, const std::string& directory);

}  // namespace cairn::importer
