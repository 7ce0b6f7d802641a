// What people, or a host, wrote into files for later sessions: kept as observations that follow their file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "gate/gate.h"
#include "store/sql.h"

namespace cairn::importer {

struct FileNote {
  std::string title, text;
  WallTime at;
};

struct NoteFile {
  std::string source;   // who wrote it
  std::string project;  // ours
  std::string path;     // which file: the same at each import
  bool given = false;   // every session of the project is given its notes, as with `cairn remember`
};

enum class FileChange { same, added, changed };

// Stores the notes of a file in place of those that it had before. What a person ended stays ended. In the
// caller's transaction; the text passes the gate here.
Result<FileChange> put_file_notes(store::Db& db, const gate::Gate& gate, const NoteFile& file,
                                  const std::vector<FileNote>& notes, WallTime now);

}  // namespace cairn::importer
