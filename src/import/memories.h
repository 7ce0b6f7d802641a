// Imports what another memory remembered: sessions with their prompts, observations and summaries.
//
// The source is copied first, then imported in the background in small transactions, newest session first.
// Every record gets an alias, so that a second import adds nothing. An interrupted import continues where it
// stopped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "gate/gate.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/aliases.h"
#include "store/observations.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/summaries.h"

namespace cairn::importer {

struct OldSession {
  std::string content;  // the host's id
  std::string memory;   // the other memory's id; may be empty
  std::string platform;
  std::string project;  // its name there
  std::string old_id;
  WallTime started_at;
  std::optional<WallTime> completed_at;
};

struct OldItem {
  enum class Kind { prompt, observation, summary };
  Kind kind = Kind::prompt;
  std::string key;     // the same at each import
  std::string old_id;  // as the other memory shows it
  std::optional<std::int64_t> number;
  WallTime at;
  std::string text;  // of a prompt
  store::Observation observation;
  store::Summary summary;
};

// Another memory, open for reading.
class OldMemory {
 public:
  virtual ~OldMemory() = default;
  // Newest first.
  virtual const std::vector<OldSession>& sessions() const = 0;
  // Prompts first, each kind in the order of time.
  virtual Result<std::vector<OldItem>> items(const OldSession& session) = 0;
  // The directory of the session; empty: unknown.
  virtual Result<std::string> directory(const OldSession& session) = 0;
  // Why a session is left out; empty: it is not.
  virtual std::string left_out(const OldSession& session) const = 0;
  // Remarks for the report about parts of the format that are not read.
  virtual Json remarks() const = 0;
  // Whether the source has only prompts. A session that cairn recorded already has them and is left as it is;
  // one made from prompts alone is not part of the context.
  virtual bool prompts_only() const { return false; }
};

// Counts by kind and by reason, as reports have them.
struct Tally {
  std::map<std::string, std::int64_t> imported, known, left_out;
  Json json() const;
  static Tally read(const std::string& text);
};

// What an import would add: numbers of new and of known records, by kind.
Result<Tally> survey(store::Db& db, const std::string& source, OldMemory& memory);

// Belongs to the writer's thread.
class MemoryImport {
 public:
  MemoryImport(store::Db& db, os::Disk& disk, os::Clock& clock, Log& log, std::string home)
      : db_(db), disk_(disk), clock_(clock), log_(log), folder_(std::move(home) + "/imports") {}

  void configure(gate::Gate gate) { gate_ = std::move(gate); }

  // Imports the next records. False: there is nothing to import.
  Result<bool> step();

 private:
  struct Target;  // the session that records go to
  Status next_piece(store::ImportJob& job);
  Result<bool> import_session(store::ImportJob& job, const OldSession& old, std::size_t from);
  Result<std::optional<Target>> target_of(const store::ImportJob& job, const OldSession& old, Tally& tally);
  Result<std::string> project_of(const store::ImportJob& job, const OldSession& old,
                                 const std::string& directory);
  Status put(const store::ImportJob& job, const Target& target, OldItem item, Tally& tally);
  Result<std::optional<std::int64_t>> put_prompt(const Target& target, const OldItem& item, Tally& tally);
  Result<std::optional<std::int64_t>> put_observation(const Target& target, OldItem& item);
  Result<std::optional<std::int64_t>> put_summary(const store::ImportJob& job, const Target& target,
                                                  OldItem& item);
  std::string clean(std::string_view text) const;
  void remove_leftovers();

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  Log& log_;
  gate::Gate gate_{gate::Rules{}};
  std::string folder_;
  bool swept_ = false;
  std::int64_t open_job_ = 0;
  std::unique_ptr<OldMemory> memory_;  // of open_job_
};

// The path of a job's copy of its source, below `home`.
std::string copy_of(const std::string& home, std::int64_t job);

}  // namespace cairn::importer
