#include "archive/call.h"

#include <map>
#include <set>

#include "archive/version_reader.h"
#include "base/text.h"
#include "host/host.h"

namespace cairn::archive {

static void take_line(const host::Host& host, std::string_view line, const std::string& call,
                      ArchivedCall& out) {
  const auto json = Json::parse(line);
  if (!json) return;
  const host::TranscriptRecord record = host.read_record(*json);
  for (const host::RecordCall& made : record.calls)
    if (made.id == call && !out.input) out.input = made.input.dump();
  for (const host::RecordResult& result : record.results)
    if (result.call == call && !out.response) out.response = result.text;
}

Result<ArchivedCall> find_call(store::Db& db, os::Disk& disk, const std::string& directory,
                               const store::TranscriptKey& session, const std::string& call) {
  constexpr std::int64_t kVersions = 1000;
  const host::Host& host = host::find_host(session.platform);
  ArchivedCall out;
  std::set<std::string> agents;  // whose newest version was read
  for (const store::Backup& backup : TRY(store::list_backups(
           db, {.project = {}, .session = session, .agents = true, .limit = kVersions}))) {
    // The list has the newest version first. It contains all lines of the older ones of its base.
    if (!agents.insert(backup.key.agent).second) continue;
    VersionReader reader = TRY(open_version(db, disk, directory, backup));
    FrameText frame;
    while (!(out.input && out.response) && reader.next(frame)) {
      // Comparing bytes is cheap: few frames and lines name the call, and only those are parsed.
      if (frame.text.find(call) == std::string::npos) continue;
      for (const std::string_view line : lines(frame.text))
        if (line.find(call) != std::string_view::npos) take_line(host, line, call, out);
    }
    if (out.input && out.response) break;
  }
  return out;
}

static void take_line(const host::Host& host, std::string_view line,
                      std::map<std::string, store::KeptEvent*>& wanted) {
  const auto json = Json::parse(line);
  if (!json) return;
  const host::TranscriptRecord record = host.read_record(*json);
  for (const host::RecordCall& made : record.calls)
    if (const auto event = wanted.find(std::string(made.id)); event != wanted.end())
      event->second->texts.input = made.input.dump();
  for (const host::RecordResult& result : record.results)
    if (const auto event = wanted.find(std::string(result.call)); event != wanted.end())
      // The texts of events are JSON, so the result becomes a JSON string.
      event->second->texts.response = Json(std::string(result.text)).dump();
}

Status fill_texts(store::Db& db, os::Disk& disk, const std::string& directory,
                  const store::TranscriptKey& session, std::vector<store::KeptEvent>& events) {
  constexpr std::int64_t kVersions = 1000;
  const host::Host& host = host::find_host(session.platform);
  std::map<std::string, store::KeptEvent*> wanted;
  for (store::KeptEvent& event : events)
    if (!event.tool_use_id.empty() && !event.texts.input && !event.texts.response)
      wanted[event.tool_use_id] = &event;
  if (wanted.empty()) return {};
  std::set<std::string> agents;  // whose newest version was read
  for (const store::Backup& backup : TRY(store::list_backups(
           db, {.project = {}, .session = session, .agents = true, .limit = kVersions}))) {
    if (!agents.insert(backup.key.agent).second) continue;
    VersionReader reader = TRY(open_version(db, disk, directory, backup));
    FrameText frame;
    while (reader.next(frame))
      for (const std::string_view line : lines(frame.text)) take_line(host, line, wanted);
  }
  return {};
}

}  // namespace cairn::archive
