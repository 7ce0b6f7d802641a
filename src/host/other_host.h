// What coding agents other than the first one have in common. An adapter gives its tables of events and tools
// and overrides what differs.
//
// They put nothing reliable into the environment of a hook (a hook may run in a daemon that was started in
// another terminal), so an event's project is found by the directory in its payload alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "host/shaped.h"
#include "host/vocabulary.h"

namespace cairn::host {

class OtherHost : public Host {
 public:
  std::string_view project_variable() const override { return ""; }

  Result<event::Event> read_event(const EventId& id, const hook::Envelope& envelope,
                                  std::string_view payload) const override;
  event::Kind kind_of(std::string_view event_name) const override { return kind_in(kinds(), event_name); }
  std::string_view name_of(event::Kind kind) const override { return name_in(kinds(), kind); }
  Json write_event(const event::Event& event) const override { return write_shaped(event); }

  // {"systemMessage", "hookSpecificOutput": {"hookEventName", "additionalContext"}}, each only when it says
  // something.
  Json write_answer(std::string_view event_name, std::string_view context,
                    std::string_view message) const override;
  std::string_view context_in(const Json& answer) const override;

  Action read_action(const ToolCall& call) const override;
  MadeCall read_call(std::string_view path, std::string_view content) const override;
  MadeCall edit_call(std::string_view path, std::string_view before, std::string_view after) const override;
  bool is_own_call(std::string_view tool, const Json& input) const override;
  std::optional<Origin> origin_of(std::string_view tool) const override;

  std::unique_ptr<TranscriptLines> transcript_lines(const ContentId& session, std::string prompt_id,
                                                    bool alone) const override;
  std::string transcript_name(const ContentId&) const override { return ""; }
  std::vector<std::string> transcript_roots(os::Disk& disk, const std::string& configuration) const override;
  std::vector<FoundTranscript> find_transcripts(os::Disk& disk, const std::string& root) const override;
  std::vector<HistoryPrompt> prompt_history(os::Disk&, const std::string&) const override { return {}; }
  std::vector<FoundNotes> find_notes(os::Disk&, const std::string&) const override { return {}; }
  std::vector<std::string> transcript_files(os::Disk& disk, const std::string& main,
                                            Status& failed) const override;
  std::optional<TranscriptFile> transcript_file(std::string_view path) const override;
  TranscriptRecord read_record(const Json& line) const override;
  bool is_structure(std::span<const std::string_view> keys) const override;
  std::optional<Usage> read_usage(const Json&) const override { return std::nullopt; }
  std::int64_t window_of(std::string_view) const override { return 200'000; }
  std::string loaded_instructions(const event::Event&) const override { return {}; }

 protected:
  virtual KindNames kinds() const = 0;
  virtual ToolVerbs tools() const = 0;
  // Changes the event where the host's payload differs from the shape.
  virtual void adapt(event::Event& event, const Json& payload) const = 0;
  // The directory below $HOME with transcripts, and how deep they are in it; empty: it keeps none in files.
  virtual std::string_view transcripts_below_home() const { return ""; }
  virtual int transcript_depth() const { return 0; }
  // The start of the names of MCP tools that belong to cairn's server, as the host calls them. Adapters put
  // "mcp__" before names that do not show a server.
  virtual std::string_view own_tool_prefix() const { return "mcp__cairn__"; }
};

}  // namespace cairn::host
