// The gate. Every text passes it before it is stored: from hooks, transcripts, the command line, imports.
//
// It drops what the rules exclude, and removes <private> text and secrets. Pure: no I/O.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "event/event.h"
#include "gate/forgotten.h"
#include "gate/secrets.h"

namespace cairn::gate {

// Where a text comes from. A new value must also be added to the test that sends the same forbidden text
// through all of them (tests/unit/gate_ways_test.cpp does not compile without it).
enum class Way {
  hook,          // an event in the inbox
  transcript,    // an event that was read from a transcript
  bad_file,      // an event that could not be read, kept as text
  remember,      // a memory typed by hand
  model,         // what a model made of events
  archive,       // a line of a transcript, as the archive keeps it
  other_memory,  // what another tool remembered, or a person wrote into files for it
  document,      // a document about a session
};

// Additional rules of one project: from its file `.cairn.toml`, or set by the user for that project.
struct LocalRules {
  std::string off;   // why nothing of the project is stored; empty: capture is on
  std::string file;  // the file with the rules, named in reasons
  std::vector<std::string> skip_tools, exclude;
};
using FindLocalRules = std::function<LocalRules(const std::string& project_dir, const std::string& cwd)>;

struct Rules {
  std::vector<std::string> skip_tools;  // tool names (globs) whose events are counted, not stored
  // Globs over absolute file paths and cwd: a tool event that names one is counted, not stored
  // (named_paths.h).
  std::vector<std::string> exclude;
  SecretOptions secrets;
  FindLocalRules local;                                  // may be empty
  std::string home;                                      // the user's home directory, for `~`; empty: unknown
  std::shared_ptr<const Forgotten> forgotten = nullptr;  // what must not come back; may be null
};

// Why an event is refused. It is counted with this reason, and none of its text is kept.
struct Refusal {
  std::string outcome;  // "skipped"
  std::string reason;   // the rule, e.g. `capture.skip_tools "NAME"`
};

// Const after construction. Thread-safe if `local` is.
class Gate {
 public:
  explicit Gate(Rules rules)
      : rules_(std::move(rules)), secrets_(rules_.secrets), hash_(rules_.secrets.key) {}

  struct Passed {
    event::CleanEvent event;
    bool redacted = false;             // something private was removed
    std::size_t secrets = 0;           // the number of secrets removed
    bool is_private = false;           // a prompt that was wholly private: its turn is not captured
    std::vector<KnownSecret> learned;  // secrets that later events of the session are searched for
  };
  // Returns the cleaned event, or why it is refused. Strings longer than `max_field` bytes are cut with a
  // marker. `known`: secrets of earlier events of the session, which are removed everywhere. A secret that is
  // found at one place of the event is removed from all of it.
  std::variant<Passed, Refusal> pass(event::Event event, std::size_t max_field,
                                     const KnownSecrets* known = nullptr) const;

  // The rule that excludes the event; nothing: none does.
  std::optional<Refusal> refuse(const event::Event& event) const;

  // Cleans the fields around an event's texts: an invalid id, or one that contains a secret, is replaced (see
  // id()); secrets and private parts are removed from paths and names. pass() does this itself. Call it
  // before you store any field of a refused event. Calling it twice changes nothing.
  void clean_envelope(event::Event& event) const;

  // `id` itself when it is a valid id without a secret; else a keyed hash of it, which is always the same.
  std::string id(std::string_view id) const;

  // Cleans one text that is not part of an event.
  std::string clean(std::string_view text, Way way) const;

  // The same, but keeps what was forgotten: the user says it again on purpose.
  std::string clean_of_secrets(std::string_view text) const;

  const Secrets& secrets() const { return secrets_; }
  // What was forgotten; null when nothing was.
  const Forgotten* forgotten() const { return rules_.forgotten.get(); }
  std::shared_ptr<const Forgotten> forgotten_shared() const { return rules_.forgotten; }
  // Whether nothing of that session may be stored.
  bool forgot_session(std::string_view platform, std::string_view id) const {
    return rules_.forgotten && rules_.forgotten->has_session(platform, id);
  }

 private:
  std::size_t remove_secrets(event::Event& event, Secrets::Reading reading) const;
  Rules rules_;
  Secrets secrets_;
  ShortHash hash_;  // of ids
};

// Files an event touches: the path-like members of its tool input, and the file its result is about.
std::vector<std::string> touched_paths(const event::Event& event);

}  // namespace cairn::gate
