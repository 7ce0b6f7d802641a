#include "import/history.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "host/host.h"
#include "import/file_notes.h"
#include "import/markdown.h"
#include "intake/place.h"
#include "intake/project_identity.h"

namespace cairn::importer {

namespace {

constexpr std::size_t kMostCopy = 128u << 20;
// Prompts without a session id count as one session while at most this time is between two of them.
constexpr Millis kOneSitting = std::chrono::hours(4);

class History final : public OldMemory {
 public:
  History(std::string platform, std::vector<host::HistoryPrompt> prompts);

  const std::vector<OldSession>& sessions() const override { return sessions_; }
  Result<std::vector<OldItem>> items(const OldSession& session) override;
  Result<std::string> directory(const OldSession& session) override { return session.project; }
  std::string left_out(const OldSession&) const override { return ""; }
  Json remarks() const override { return Json::array(); }
  bool prompts_only() const override { return true; }

 private:
  std::vector<OldSession> sessions_;
  std::map<std::string, std::vector<host::HistoryPrompt>> prompts_;  // by session
};

History::History(std::string platform, std::vector<host::HistoryPrompt> prompts) {
  std::map<std::string, std::pair<WallTime, std::string>>
      sittings;  // by directory: the last prompt, its session
  for (host::HistoryPrompt& prompt : prompts) {
    if (prompt.session.empty()) {
      auto& [last, session] = sittings[prompt.directory];
      if (session.empty() || prompt.at - last > kOneSitting)
        // Made from the first prompt of the sitting, so that the next import finds the same id.
        session = "history-" + content_hash(prompt.directory + std::to_string(epoch_ms(prompt.at)));
      last = prompt.at;
      prompt.session = session;
    }
    prompts_[prompt.session].push_back(std::move(prompt));
  }
  for (const auto& [id, list] : prompts_) {
    OldSession session;
    session.content = id;
    session.platform = platform;
    session.project = list.front().directory;
    session.old_id = id;
    session.started_at = list.front().at;
    // The prompts are in the order of time.
    session.completed_at = list.back().at;
    sessions_.push_back(std::move(session));
  }
  std::sort(sessions_.begin(), sessions_.end(), [](const OldSession& a, const OldSession& b) {
    return std::pair(a.started_at, a.content) > std::pair(b.started_at, b.content);
  });
}

Result<std::vector<OldItem>> History::items(const OldSession& session) {
  std::vector<OldItem> items;
  for (const host::HistoryPrompt& prompt : prompts_[session.content]) {
    OldItem item;
    item.kind = OldItem::Kind::prompt;
    item.key =
        content_hash(session.content + "\n" + std::to_string(epoch_ms(prompt.at)) + "\n" + prompt.text);
    item.number = static_cast<std::int64_t>(items.size()) + 1;
    item.at = prompt.at;
    item.text = prompt.text;
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

// A copy, because the host may shorten its list while the import runs.
Result<bool> copy_history(os::Disk& disk, const std::vector<host::HistoryPrompt>& prompts,
                          const std::set<std::string>& with_transcript, const std::string& copy) {
  std::string text;
  for (const host::HistoryPrompt& prompt : prompts) {
    if (with_transcript.contains(prompt.session)) continue;
    text += Json::object({{"session", prompt.session},
                          {"directory", prompt.directory},
                          {"text", prompt.text},
                          {"at", epoch_ms(prompt.at)}})
                .dump() +
            "\n";
  }
  if (!text.empty()) TRY(os::replace_file(disk, copy, text));
  return !text.empty();
}

Result<std::unique_ptr<OldMemory>> open_history(os::Disk& disk, const std::string& platform,
                                                const std::string& copy) {
  const std::string text = TRY(os::read_file(disk, copy, kMostCopy));
  std::vector<host::HistoryPrompt> prompts;
  for (const std::string_view line : lines(text))
    if (const auto json = Json::parse(line))
      prompts.push_back({std::string((*json)["session"].as_string()),
                         std::string((*json)["directory"].as_string()),
                         std::string((*json)["text"].as_string()), from_epoch_ms((*json)["at"].as_int())});
  return std::unique_ptr<OldMemory>(std::make_unique<History>(platform, std::move(prompts)));
}

Result<NotesFound> import_host_notes(store::Db& db, os::Disk& disk, os::Clock& clock, const gate::Gate& gate,
                                     const std::string& root) {
  NotesFound found;
  constexpr std::size_t kMostFile = 1u << 20;
  for (const host::Host* host : host::hosts())
    for (const host::FoundNotes& notes : host->find_notes(disk, root)) {
      const auto text = os::read_file(disk, notes.path, kMostFile);
      const auto stat = disk.stat(notes.path);
      if (!text || !stat) continue;
      event::Event start;
      start.kind = event::Kind::session_start;
      start.host = host->name();
      start.session = ContentId{"import"};
      start.cwd = notes.directory;
      if (gate.refuse(start)) continue;
      const Markdown file = read_markdown(*text);
      if (file.body.empty()) continue;
      const std::string name = notes.path.substr(notes.path.rfind('/') + 1);
      std::string title = file.title;
      for (const char* key : {"description", "name"})
        if (const auto said = file.front.find(key); title.empty() && said != file.front.end())
          title = said->second;
      if (title.empty()) title = name;
      const std::string project = TRY(intake::project_at(
          db, disk, clock,
          intake::resolve_place(disk, "", gate.clean(notes.directory, gate::Way::other_memory))));
      // Not given to sessions: the host does that itself.
      const NoteFile as_file{"notes of " + std::string(host->name()), project, notes.path, false};
      const WallTime at = from_epoch_ms(stat->modified_ns / 1'000'000);
      const FileChange change = TRY(put_file_notes(db, gate, as_file, {{title, file.body, at}}, clock.now()));
      ++(change == FileChange::added     ? found.added
         : change == FileChange::changed ? found.changed
                                         : found.known);
    }
  return found;
}

}  // namespace cairn::importer
