#include "import/claude_memory.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "distil/distil.h"
#include "event/origin.h"
#include "gate/private_text.h"
#include "host/host.h"
#include "import/file_notes.h"
#include "import/markdown.h"
#include "intake/place.h"
#include "intake/project_identity.h"
#include "os/path.h"
#include "store/aliases.h"
#include "store/archive.h"
#include "store/documents.h"
#include "store/imports.h"
#include "store/open_items.h"
#include "store/projects.h"

namespace cairn::importer {

namespace {

constexpr std::string_view kSource = "claude-memory";
constexpr std::string_view kTree = "/.claude/memory";
constexpr std::size_t kMostFile = 4u << 20;
constexpr std::size_t kMostItem = 2000;
constexpr std::size_t kFirstLines = 1u << 20;  // bytes of a transcript that are searched for the session's id

// The first of these directories that has one of the tool's files; empty: none has.
std::string tree_at(os::Disk& disk, const std::string& directory) {
  for (const std::string& path : {directory + std::string(kTree), directory + "/memory", directory}) {
    const auto stat = disk.stat(path + "/active-context.md");
    const auto sessions = disk.stat(path + "/sessions");
    const auto raw = disk.stat(path + "/raw");
    if (stat || sessions || raw || disk.stat(path + "/project-memory.md")) return path;
  }
  return "";
}

// The time in a name such as "2026-01-15-2045" or "20260115_204500".
std::optional<WallTime> time_of_digits(std::string_view name) {
  std::string digits;
  for (const char c : name)
    if (std::isdigit(static_cast<unsigned char>(c))) digits += c;
  if (digits.size() < 12) return std::nullopt;
  // A name without seconds.
  if (digits.size() < 14) digits = digits.substr(0, 12) + "00";
  return parse_iso8601(digits.substr(0, 4) + "-" + digits.substr(4, 2) + "-" + digits.substr(6, 2) + "T" +
                       digits.substr(8, 2) + ":" + digits.substr(10, 2) + ":" + digits.substr(12, 2) + "Z");
}

WallTime written_at(os::Disk& disk, const std::string& path) {
  const auto stat = disk.stat(path);
  return stat ? from_epoch_ms(stat->modified_ns / 1'000'000) : WallTime();
}

std::vector<std::string> names_in(os::Disk& disk, const std::string& folder, std::string_view end) {
  std::vector<std::string> names = disk.list(folder).value_or(std::vector<std::string>());
  std::erase_if(names, [&](const std::string& name) { return !name.ends_with(end); });
  std::sort(names.begin(), names.end());
  return names;
}

// A UUID that is the same for the same file of the same project.
std::string uuid_of(std::string_view text) {
  std::string hex = content_hash(text);
  hex[12] = '8';  // UUID version 8: a custom format
  // The variant that RFC 9562 prescribes.
  hex[16] = 'a';
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20);
}

class Importer {
 public:
  Importer(store::Db& db, os::Disk& disk, os::Clock& clock, const gate::Gate& gate)
      : db_(db), disk_(disk), clock_(clock), gate_(gate) {}

  Result<FilesReport> run(const std::string& directory);

 private:
  Status documents();
  Status document(const std::string& name, const std::string& path);
  Status link_documents();
  Status project_memory();
  Status active_context();
  Status open_items(std::string_view text, WallTime at);
  Status transcripts();
  Result<std::string> session_in(const std::string& path);
  std::string clean(std::string_view text) const {
    return labelled(visible(gate_.clean(text, gate::Way::other_memory)));
  }
  // The content of the file, if it exists and can be imported.
  std::optional<std::string> read(const std::string& path) {
    auto text = os::read_file(disk_, path, kMostFile);
    if (text) return *std::move(text);
    if (text.error().code != Code::not_found) ++report_.left_out["cannot be read, or is larger than 4 MB"];
    return std::nullopt;
  }

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  const gate::Gate& gate_;
  std::string tree_, project_uuid_;
  FilesReport report_;
  std::map<std::string, std::pair<std::int64_t, std::string>> documents_;  // number and predecessor, by name
  std::optional<std::pair<WallTime, std::string>> newest_;                 // document: its date and to-dos
};

Result<FilesReport> Importer::run(const std::string& directory) {
  tree_ = tree_at(disk_, directory);
  if (tree_.empty())
    return Error{Code::not_found,
                 directory + " has no active-context.md, project-memory.md, sessions or raw"};
  std::string root = tree_.ends_with(kTree) ? tree_.substr(0, tree_.size() - kTree.size()) : tree_;
  event::Event start;
  start.kind = event::Kind::session_start;
  start.host = host::default_host().name();
  start.session = ContentId{"import"};
  start.cwd = root;
  if (const auto refusal = gate_.refuse(start))
    return Error{Code::denied, root + ": a rule keeps it out: " + refusal->reason};
  report_.directory = tree_;
  report_.project = TRY(intake::project_at(
      db_, disk_, clock_, intake::resolve_place(disk_, "", gate_.clean(root, gate::Way::other_memory))));
  const auto project = TRY(store::project_by_name(db_, report_.project));
  project_uuid_ = project ? project->uuid : "";
  TRY(documents());
  TRY(project_memory());
  TRY(active_context());
  TRY(transcripts());
  return report_;
}

Status Importer::documents() {
  for (const std::string& name : names_in(disk_, tree_ + "/sessions", ".md"))
    TRY(document(name, tree_ + "/sessions/" + name));
  return link_documents();
}

Status Importer::document(const std::string& name, const std::string& path) {
  const auto text = read(path);
  if (!text) return {};
  const Markdown file = read_markdown(*text);
  if (file.body.empty()) {
    ++report_.left_out["an empty file"];
    return {};
  }
  const auto of = [&](const char* key) {
    const auto found = file.front.find(key);
    return found == file.front.end() || found->second == "null" ? std::string() : found->second;
  };
  store::Document document;
  document.uuid = uuid_of("document\n" + project_uuid_ + "\n" + name);
  document.project = report_.project;
  document.name = clean(name);
  document.source = store::DocumentSource::imported;
  document.body = clean(file.body);
  document.title = one_line(clean(file.title.empty() ? file.section("Session Summary") : file.title), 120);
  if (document.title.empty()) document.title = document.name;
  document.status = ascii_lower(of("status"));
  if (!any_of(document.status, {"completed", "in-progress", "blocked"})) document.status = "in-progress";
  for (const std::string& tag : read_tags(of("tags"))) document.tags.push_back(one_line(clean(tag), 60));
  if (!of("branch").empty()) document.branch = one_line(clean(of("branch")), 200);
  document.previous_name = one_line(clean(of("previous_session")), 200);
  // The date in the document, else in its name, else the file's time.
  const auto date = read_date(of("date"));
  document.created_at = date ? *date : time_of_digits(name).value_or(written_at(disk_, path));
  if (!newest_ || document.created_at > newest_->first)
    newest_ = {document.created_at, file.section("Remaining Todos")};
  const auto known = TRY(store::document_by_uuid(db_, document.uuid));
  if (!known) {
    documents_[name] = {TRY(store::add_document(db_, document)), document.previous_name};
    ++report_.found["documents"];
  } else if (known->deleted || known->updated_at || known->body == document.body) {
    // Without a predecessor, so that link_documents() does not change its link.
    documents_[name] = {known->id, ""};
    ++report_.known["documents"];  // a document that was changed or deleted here stays so
  } else {
    document.id = known->id;
    TRY(store::update_document(db_, document, clock_.now()));
    documents_[name] = {known->id, document.previous_name};
    ++report_.changed["documents"];
  }
  return {};
}

// Sets the predecessors by name, once all documents are known.
Status Importer::link_documents() {
  for (const auto& [name, entry] : documents_) {
    const auto& [id, previous] = entry;
    if (previous.empty()) continue;
    // A predecessor may be given with its directory: "sessions/2026-01-15-2045.md".
    const std::string bare = previous.substr(previous.rfind('/') + 1);
    const auto found = documents_.find(bare);
    if (found != documents_.end() && found->second.first != id)
      TRY(store::set_previous(db_, id, found->second.first, previous));
  }
  return {};
}

// The other tool gave this file to every session, so its sections become notes.
Status Importer::project_memory() {
  const std::string path = tree_ + "/project-memory.md";
  const auto text = read(path);
  if (!text) return {};
  std::vector<FileNote> notes;
  for (const MarkdownSection& section : read_markdown(*text).sections())
    if (!section.title.empty() && !is_template(section.text))
      notes.push_back({section.title, section.title + ":\n" + section.text, written_at(disk_, path)});
  if (notes.empty()) {
    ++report_.left_out["a template that nobody filled in"];
    return {};
  }
  const NoteFile file{std::string(kSource), report_.project, "project-memory.md", true};
  const FileChange change = TRY(put_file_notes(db_, gate_, file, notes, clock_.now()));
  auto& counts = change == FileChange::added     ? report_.found
                 : change == FileChange::changed ? report_.changed
                                                 : report_.known;
  counts["notes"] += static_cast<std::int64_t>(notes.size());
  return {};
}

// The state of the last session: its text becomes an observation, its next steps become open items.
Status Importer::active_context() {
  const std::string path = tree_ + "/active-context.md";
  const auto text = read(path);
  std::string steps;
  WallTime at = newest_ ? newest_->first : clock_.now();
  if (text) {
    const Markdown file = read_markdown(*text);
    bool filled = false;
    for (const MarkdownSection& section : file.sections())
      filled = filled || (!section.title.empty() && !is_template(section.text));
    if (!filled) {
      ++report_.left_out["a template that nobody filled in"];
    } else {
      std::optional<WallTime> updated;
      for (const std::string_view line : lines(file.body))
        if (constexpr std::string_view kUpdated = "> Last Updated:"; line.starts_with(kUpdated))
          updated = read_date(line.substr(kUpdated.size()));
      at = updated.value_or(written_at(disk_, path));
      steps = file.section("Next Steps");
      const std::string task = file.section("Current Task");
      const NoteFile as_file{std::string(kSource), report_.project, "active-context.md", false};
      const std::string title =
          "Active context" + (is_template(task) ? std::string() : ": " + one_line(task, 90));
      const FileChange change =
          TRY(put_file_notes(db_, gate_, as_file, {{title, file.body, at}}, clock_.now()));
      ++(change == FileChange::added     ? report_.found
         : change == FileChange::changed ? report_.changed
                                         : report_.known)["observations"];
    }
  }
  // The same step in both files becomes one item: the alias of the first is found.
  TRY(open_items(steps, at));
  return newest_ ? open_items(newest_->second, newest_->first) : Status();
}

Status Importer::open_items(std::string_view text, WallTime at) {
  for (const std::string& item : open_list_items(text)) {
    const std::string words = one_line(clean(item), kMostItem);
    if (gate::only_private(words)) continue;
    const std::string item_key = distil::item_key(words);
    const std::string key = "open " + content_hash(project_uuid_ + "\n" + item_key);
    if (TRY(store::find_alias(db_, std::string(kSource), key))) {
      ++report_.known["open items"];
      continue;
    }
    store::OpenItem open;
    open.project = report_.project;
    open.text = words;
    open.key = item_key;
    open.opened_at = open.last_seen_at = at;
    const std::int64_t id = TRY(store::add_open_item(db_, open));
    TRY(store::put_alias(db_, {std::string(kSource), key, "open", "", id, ""}));
    ++report_.found["open items"];
  }
  return {};
}

// The session that the first lines of a transcript name; empty: none.
Result<std::string> Importer::session_in(const std::string& path) {
  const auto file = TRY(disk_.open(path, os::Open::read));
  std::string head(kFirstLines, '\0');
  head.resize(TRY(file->read_at(0, head.data(), head.size())));
  const host::Host& host = host::default_host();
  for (const std::string_view line : lines(head))
    if (const auto json = Json::parse(line))
      if (std::string session = host.read_record(*json).session; !session.empty()) return gate_.id(session);
  return std::string();
}

// Each copy becomes a version of its session's backup, oldest first; the last one is read as its transcript,
// unless the session is remembered.
Status Importer::transcripts() {
  std::vector<std::string> pending;  // the file names in the markers
  for (const char* marker : {"/.pending-backup-exit", "/.pending-backup-compact"})
    if (const auto text = os::read_file(disk_, tree_ + marker, 4096))
      if (const std::string_view path = trim(*text); !path.empty())
        pending.emplace_back(path.substr(path.rfind('/') + 1));
  const std::string platform(host::default_host().name());
  std::map<std::string, std::string> last;  // by session
  for (const std::string& name : names_in(disk_, tree_ + "/raw", ".jsonl")) {
    const std::string path = tree_ + "/raw/" + name;
    const auto stat = disk_.stat(path);
    if (!stat || stat->is_dir) continue;
    if (stat->size == 0) {
      ++report_.left_out["an empty file"];
      continue;
    }
    std::string session = TRY(session_in(path));
    if (session.empty()) {
      ++report_.left_out["a transcript that names no session: a backup, but not read"];
      // A made-up id, so that the copy can be archived all the same.
      session = std::string(kSource) + "-" + name.substr(0, name.size() - 6);
    } else {
      // The names begin with their times, so the last one is the newest copy.
      last[session] = path;
    }
    // A copy that grew is a new version.
    const std::string key = "raw " + content_hash(path + "\n" + std::to_string(stat->size));
    if (TRY(store::find_alias(db_, std::string(kSource), key))) {
      ++report_.known["backups"];
      continue;
    }
    store::BackupRequest request;
    request.platform = platform;
    request.session = session;
    request.source_path = path;
    // A transcript that the other tool has processed is not pending here.
    const bool waits = std::find(pending.begin(), pending.end(), name) != pending.end();
    request.cause = waits ? store::BackupCause::imported_pending : store::BackupCause::imported;
    // "20260115_204500_exit.jsonl": the second underscore precedes the reason.
    const std::size_t reason = name.find('_', 9);
    request.reason = reason == std::string::npos ? "" : name.substr(reason + 1, name.size() - reason - 7);
    request.at = request.not_before = clock_.now();
    TRY(store::request_backup(db_, request));
    TRY(store::put_alias(db_, {std::string(kSource), key, "backup", name, {}, ""}));
    ++report_.found["backups"];
  }
  for (const auto& [session, path] : last) {
    const auto stat = disk_.stat(path);
    const store::TranscriptToImport import{
        path, platform, session, stat ? static_cast<std::int64_t>(stat->size) : 0, written_at(disk_, path)};
    if (TRY(store::known_as(db_, import)) != store::Known::no) {
      ++report_.known["sessions"];
      continue;
    }
    TRY(store::add_import(db_, import, clock_.now()));
    ++report_.found["sessions"];
  }
  return {};
}

}  // namespace

Json FilesReport::json() const {
  const auto counts = [](const std::map<std::string, std::int64_t>& map) {
    Json out = Json::object();
    for (const auto& [what, count] : map) out.set(what, count);
    return out;
  };
  return Json::object({{"source", kSource},
                       {"path", directory},
                       {"project", project},
                       {"found", counts(found)},
                       {"changed", counts(changed)},
                       {"known", counts(known)},
                       {"left_out", counts(left_out)}});
}

Result<FilesReport> import_claude_memory(store::Db& db, os::Disk& disk, os::Clock& clock,
                                         const gate::Gate& gate, const std::string& directory) {
  return Importer(db, disk, clock, gate).run(directory);
}

}  // namespace cairn::importer
