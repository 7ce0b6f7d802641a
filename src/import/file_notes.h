// Notes that people or a host wrote into files for later sessions. They are stored as observations, and
// updated when their file changes.
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
  std::string source;   // the tool whose file it is
  std::string project;  // its name in cairn
  std::string path;     // identifies the file: the same at each import
  bool given = false;   // every session of the project gets its notes, as with `cairn remember`
};

enum class FileChange { same, added, changed };

// Stores the notes of a file and replaces its earlier ones. A note that a person ended stays ended. Runs in
// the caller's transaction; passes the text through the gate.
Result<FileChange> put_file_notes(store::Db& db, const gate::Gate& gate, const NoteFile& file,
                                  const std::vector<FileNote>& notes, WallTime now);

}  // namespace cairn::importer
