// The memory of claude-mem: its SQLite database (versions from 2025 on), or what its export script writes.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "import/memories.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::importer {

inline constexpr std::string_view kClaudeMem = "claude-mem";

// The usual place of its database; empty: there is none.
std::string find_claude_mem(os::Disk& disk);

// Copies the database or the export at `path` to `copy`, a database on the same disk as `like`. Fails with
// `invalid` when it is neither.
Status copy_claude_mem(const store::Db& like, os::Disk& disk, const std::string& path,
                       const std::string& copy);
// Opens such a copy.
Result<std::unique_ptr<OldMemory>> open_claude_mem(const store::Db& like, const std::string& copy);

}  // namespace cairn::importer
