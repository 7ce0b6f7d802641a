// Prompts of sessions whose transcripts are gone, from the host's own list of prompts: sessions of which only
// the prompts are known. And the notes that a host keeps about a project.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "gate/gate.h"
#include "host/transcript.h"
#include "import/memories.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::importer {

// The source of such an import job begins with this; the name of the host follows.
inline constexpr std::string_view kHistory = "history of ";

// Writes the prompts of sessions that are not in `with_transcript` to `copy`. False: there are none.
Result<bool> copy_history(os::Disk& disk, const std::vector<host::HistoryPrompt>& prompts,
                          const std::set<std::string>& with_transcript, const std::string& copy);
Result<std::unique_ptr<OldMemory>> open_history(os::Disk& disk, const std::string& platform,
                                                const std::string& copy);

struct NotesFound {
  std::int64_t added = 0, changed = 0, known = 0;
};
// Stores the notes that the hosts keep beside the transcripts in `root`, or their changes, in the caller's
// transaction. Search finds them. The context leaves them out: the host gives them to its sessions itself.
Result<NotesFound> import_host_notes(store::Db& db, os::Disk& disk, os::Clock& clock, const gate::Gate& gate,
                                     const std::string& root);

}  // namespace cairn::importer
