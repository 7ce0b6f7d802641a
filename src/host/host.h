// A coding agent, as the rest of cairn sees it: how it names its events, tools and files.
//
// One folder below this one for each agent. No other folder names a tool, an event or a file of a
// particular agent.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/event.h"
#include "hook/envelope.h"
#include "host/action.h"
#include "host/hooks.h"
#include "host/record.h"
#include "host/transcript.h"
#include "os/disk.h"

namespace cairn::host {

// The name of an event for which neither the command line nor the payload gives one.
inline constexpr std::string_view kUnknownEvent = "unknown";

// What can be expected of a host. Answers depend on it, and a test compares it with docs/hosts/README.md.
struct Traits {
  // The most characters of context that it takes at once; 0: no limit is known. Bytes if `counts_bytes`.
  std::size_t context_limit = 0;
  bool counts_bytes = false;
  // What its transcripts add to the hooks: nothing; the assistant's texts; all of it, because
  // prompts or calls have the same ids in both.
  enum class Transcript { none, texts, ledger } transcript = Transcript::none;
  bool needs_consent = false;   // the user must approve our hooks inside the host
  bool hides_failures = false;  // in its hooks a failed command looks like any other; the transcript shows it
};

// Stateless and thread-safe.
class Host {
 public:
  virtual ~Host() = default;

  // The name for `--host` and the column `platform`; and the name for people.
  virtual std::string_view name() const = 0;
  virtual std::string_view title() const = 0;
  // The environment variable with the project's directory; empty: there is none.
  virtual std::string_view project_variable() const = 0;

  // Reads what the hook delivered. Fails with `invalid`, with the reason, when the session cannot be found in
  // it. A payload that ends early or was cut gives an event with the readable part. Unknown event names and
  // members are kept.
  virtual Result<event::Event> read_event(const EventId& id, const hook::Envelope& envelope,
                                          std::string_view payload) const = 0;

  // Adds what the payload lacks and the host's files have. Called before the event is stored; failures leave
  // the event as it is.
  virtual void complete(event::Event& event, os::Disk& disk) const {
    static_cast<void>(event), static_cast<void>(disk);
  }

  // The kind of an event's name; `other` for one that is not known. And back: the name that an event of a
  // kind has when it is taken from a transcript.
  virtual event::Kind kind_of(std::string_view event_name) const = 0;
  virtual std::string_view name_of(event::Kind kind) const = 0;

  // A payload for an event, as the host would send it (read_event() can read it). For `demo` and `doctor
  // --trace`.
  virtual Json write_event(const event::Event& event) const = 0;

  // What the hook prints for an event: `context` for the model, `message` for the user; either may be empty.
  virtual Json write_answer(std::string_view event_name, std::string_view context,
                            std::string_view message) const = 0;
  // The context in such an answer; empty when there is none.
  virtual std::string_view context_in(const Json& answer) const = 0;
  // Whether it ignores the context of a session's start for this reason: then the next prompt gets it.
  virtual bool drops_context(event::StartReason reason) const {
    static_cast<void>(reason);
    return false;
  }
  virtual Traits traits() const = 0;

  // What a tool call did; and each of its parts, for a call that changes several files.
  virtual Action read_action(const ToolCall& call) const = 0;
  virtual std::vector<Action> read_actions(const ToolCall& call) const { return {read_action(call)}; }
  // A call that reads `path` and finds `content`, and one that replaces `before` in it by `after`.
  virtual MadeCall read_call(std::string_view path, std::string_view content) const = 0;
  virtual MadeCall edit_call(std::string_view path, std::string_view before,
                             std::string_view after) const = 0;
  // Whether the call asks cairn itself: one of its commands, or a tool that it offers.
  virtual bool is_own_call(std::string_view tool, const Json& input) const = 0;
  // Where the result of a tool comes from; nothing for the host's own words and the project's files.
  virtual std::optional<Origin> origin_of(std::string_view tool) const = 0;

  // Reads the lines of a session's transcript. `prompt_id`: the prompt that the lines before belonged to.
  // `alone`: no hook reported this session, so prompts without an id count too, and the last answer before
  // the next prompt ends its turn.
  virtual std::unique_ptr<TranscriptLines> transcript_lines(const ContentId& session, std::string prompt_id,
                                                            bool alone = false) const = 0;
  // The name of the file that is a session's transcript; empty when the id does not give it.
  virtual std::string transcript_name(const ContentId& session) const = 0;
  // The existing directories with this user's transcripts. `configuration`: the directory that the user's
  // environment names; empty: none.
  virtual std::vector<std::string> transcript_roots(os::Disk& disk,
                                                    const std::string& configuration) const = 0;
  // The transcripts of sessions in `root` and in the directories in it.
  virtual std::vector<FoundTranscript> find_transcripts(os::Disk& disk, const std::string& root) const = 0;
  // The prompts that the host lists beside the transcripts in `root`, oldest first.
  virtual std::vector<HistoryPrompt> prompt_history(os::Disk& disk, const std::string& root) const = 0;
  // The notes that the host keeps beside them.
  virtual std::vector<FoundNotes> find_notes(os::Disk& disk, const std::string& root) const = 0;
  // The transcript `main` and those of its subagents; empty when `main` is no transcript. When the directory
  // of subagents cannot be read, `failed` is set and the other files are still returned.
  virtual std::vector<std::string> transcript_files(os::Disk& disk, const std::string& main,
                                                    Status& failed) const = 0;
  // Which transcript the file at `path` is, by its name; nothing for another file.
  virtual std::optional<TranscriptFile> transcript_file(std::string_view path) const = 0;

  // Reads one line of a transcript, an object.
  virtual TranscriptRecord read_record(const Json& line) const = 0;
  // Whether the string below `keys` of a line, outermost first, is an id, a type, a signature or a timestamp
  // that the host needs as it is.
  virtual bool is_structure(std::span<const std::string_view> keys) const = 0;

  // How full the model's context is after a line of a transcript, as the host wrote it down. A line that ends
  // a compaction says 0 tokens: earlier lines no longer count. Nothing for other lines.
  virtual std::optional<Usage> read_usage(const Json& line) const = 0;
  // How many tokens a model's context holds. `model` as the host names it; may be empty.
  virtual std::int64_t window_of(std::string_view model) const = 0;
  // The file with instructions for the model that the host has just loaded for a session, by this event;
  // empty for other events.
  virtual std::string loaded_instructions(const event::Event& event) const = 0;

  // Where we are registered with it; the first file has the hooks. Empty: we cannot register.
  virtual std::vector<const SettingsFile*> files() const = 0;
  // Our hooks in its settings. There must be files().
  const Hooks& hooks() const { return static_cast<const Hooks&>(*files().front()); }
};

// The host of that name; the default host for an unknown name, because most payloads are similar to its
// payloads.
const Host& find_host(std::string_view name);
// The host of that name, or null.
const Host* known_host(std::string_view name);
// The host that is used when none is named.
const Host& default_host();
// What `--host` means, for help.
inline constexpr std::string_view kHostOption = "the coding agent (default claude-code)";
inline constexpr std::string_view kOneHostOption = "only this coding agent";

// Their names as choices: "claude-code|codex|...". `we_register`: only those with which we can register.
std::string host_names(bool we_register = false);

// All known hosts, the default one first.
std::vector<const Host*> hosts();

// Where the result of a tool comes from, whichever host it belongs to.
std::optional<Origin> origin_of_tool(std::string_view tool);

}  // namespace cairn::host
