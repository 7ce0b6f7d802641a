// The working tree of a project, now and when a document was written: which branch, which commits, which
// files. Reads git's files, starts no git process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "documents/draft.h"
#include "os/disk.h"
#include "store/documents.h"

namespace cairn::documents {

// The state of the repository around `directory`; empty when there is none. `known`: files that sessions
// edited, relative to it: they count as uncommitted even if git does not track them.
TreeState read_tree(os::Disk& disk, const std::string& directory, const std::vector<std::string>& known);

// What changed between the document and now, a sentence each.
struct Drift {
  TreeState now;
  std::int64_t commits = 0;            // made since, along first parents
  bool is_known = false;               // the document's commit was found; otherwise `commits` says nothing
  std::vector<std::string> subjects;   // of the newest of them, with their hash, newest first
  std::vector<std::string> sentences;  // for a reader
  std::vector<std::string> missing;    // files that the document names and that are not there
};
Drift read_drift(os::Disk& disk, const std::string& directory, const store::Document& document);

// Paths in backquotes in the section "Key Files" of a document's body.
std::vector<std::string> key_files(std::string_view body);

}  // namespace cairn::documents
