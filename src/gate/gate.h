// The one way in. Every text that will be stored passes here first: hooks, transcripts, the command line.
//
// It drops what the rules exclude, and removes <private> text and secrets. Pure: no I/O.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "event/event.h"
#include "gate/secrets.h"

namespace cairn::gate {

// Every way in. Whoever adds one adds it to the test that sends the same forbidden text through all of them
// (tests/unit/gate_ways_test.cpp does not compile without it).
enum class Way {
  hook,          // an event in the inbox
  transcript,    // an event that only a transcript tells
  bad_file,      // an event that could not be read, kept as text
  remember,      // a memory typed by hand
  model,         // what a model made of events
  archive,       // a line of a transcript, as the archive keeps it
  other_memory,  // what another tool remembered, or a person wrote into files for it
};

// What a project wants kept out besides: its own file, or the user's word for that project.
struct LocalRules {
  std::string off;   // why nothing of it comes in; empty: it does
  std::string file;  // where the rules stand, for the reason
  std::vector<std::string> skip_tools, exclude;
};
using FindLocalRules = std::function<LocalRules(const std::string& project_dir, const std::string& cwd)>;

struct Rules {
  std::vector<std::string> skip_tools;  // tool names (globs) whose events are counted, not stored
  // Globs over absolute file paths and cwd: a tool event that names one is counted, not stored
  // (named_paths.h).
  std::vector<std::string> exclude;
  SecretOptions secrets;
  FindLocalRules local;  // may be empty
  std::string home;      // the user's home directory, for `~`; empty: unknown
};

// Why an event does not come in. It is counted with this reason; none of its text is kept.
struct Refusal {
  std::string outcome;  // "skipped" or "private"
  std::string reason;   // the rule, e.g. `capture.skip_tools "NAME"`
};

// Thread-safe: const after construction, as far as `local` is.
class Gate {
 public:
  explicit Gate(Rules rules)
      : rules_(std::move(rules)), secrets_(rules_.secrets), hash_(rules_.secrets.key) {}

  struct Passed {
    event::CleanEvent event;
    bool redacted = false;             // something private was removed
    std::size_t secrets = 0;           // that were removed
    bool muted = false;                // a prompt that was wholly private: its turn is not captured
    std::vector<KnownSecret> learned;  // secrets that later events of the session are searched for
  };
  // Lets `event` in, cleaned, or says why not. Strings longer than `max_field` bytes are cut with a marker.
  // `known`: secrets of earlier events of the session; they are removed wherever they stand. What stands once
  // in the event is removed from all of it.
  std::variant<Passed, Refusal> pass(event::Event event, std::size_t max_field,
                                     const KnownSecrets* known = nullptr) const;

  // Why a rule keeps the event out; nothing: none does.
  std::optional<Refusal> refuse(const event::Event& event) const;

  // What stands around an event's texts, cleaned too: an id that is none, or that holds a secret, becomes
  // another one (see id()), paths and names lose their secrets and private parts. pass() does this; whoever
  // keeps something of an event that did not come in calls it first. A second time changes nothing.
  void clean_envelope(event::Event& event) const;

  // `id` itself when it can be an id and holds no secret; else one that is always the same for it and that
  // tells nothing of it.
  std::string id(std::string_view id) const;

  // The same for one text that is no event.
  std::string clean(std::string_view text, Way way) const;

  const Secrets& secrets() const { return secrets_; }

 private:
  std::size_t remove_secrets(event::Event& event, Secrets::Reading reading) const;
  Rules rules_;
  Secrets secrets_;
  ShortHash hash_;  // of ids
};

// Files an event touches: the path-like members of its tool input, and the file its result is about.
std::vector<std::string> touched_paths(const event::Event& event);

}  // namespace cairn::gate
