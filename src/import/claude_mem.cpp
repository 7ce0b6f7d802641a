#include "import/claude_mem.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "host/host.h"
#include "import/stage.h"
#include "store/foreign.h"
#include "store/lists.h"

namespace cairn::importer {

namespace {

constexpr std::size_t kMostJson = 256u << 20;
constexpr std::size_t kPathsToLookAt = 200;

// The columns of the two ids of a session; earlier versions had other names.
constexpr std::array kContent = {"content_session_id", "claude_session_id"};
constexpr std::array kMemory = {"memory_session_id", "sdk_session_id"};
const std::map<std::string, std::string> kExported = {{"sessions", "sdk_sessions"},
                                                      {"observations", "observations"},
                                                      {"summaries", "session_summaries"},
                                                      {"prompts", "user_prompts"}};

template <std::size_t N>
std::string one_of(const Json& row, const std::array<const char*, N>& names) {
  for (const char* name : names)
    if (const std::string_view text = row[name].as_string(); !text.empty()) return std::string(text);
  return "";
}

std::string text_in(const Json& row, std::string_view name) {
  const Json& value = row[name];
  return value.is_int() ? std::to_string(value.as_int()) : std::string(value.as_string());
}

// A time: milliseconds, seconds (in the first versions) or a date.
std::optional<WallTime> time_in(const Json& row, const std::string& name) {
  // In seconds this is the year 5138, in milliseconds March 1973: no real time is on the wrong side.
  constexpr std::int64_t kMostSeconds = 100'000'000'000;
  if (const std::int64_t epoch = row[name + "_epoch"].as_int(); epoch > 0)
    return from_epoch_ms(epoch < kMostSeconds ? epoch * 1000 : epoch);
  return parse_iso8601(row[name].as_string());
}

// A list that older versions wrote as one text.
std::vector<std::string> list_in(const Json& row, std::string_view name) {
  const std::string text(trim(row[name].as_string()));
  if (text.empty() || text == "null") return {};
  if (text.starts_with('[')) return store::read_list(text);
  return {text};
}

// The length of each part is hashed too: ("ab", "c") and ("a", "bc") must differ.
std::string key_of(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += std::to_string(part.size()) + ":" + std::string(part);
  return content_hash(all);
}

OldItem item_of(OldItem::Kind kind, const Json& row, std::string_view sign, const OldSession& session) {
  OldItem item;
  item.kind = kind;
  item.old_id = std::string(sign) + text_in(row, "id");
  item.at = time_in(row, "created_at").value_or(session.started_at);
  if (const std::int64_t number = row["prompt_number"].as_int(); number > 0) item.number = number;
  return item;
}

OldItem prompt_of(const Json& row, const OldSession& session) {
  OldItem item = item_of(OldItem::Kind::prompt, row, "P", session);
  item.text = row["prompt_text"].as_string();
  item.key = key_of({"prompt", session.content, std::to_string(epoch_ms(item.at)), item.text});
  return item;
}

OldItem observation_of(const Json& row, const OldSession& session) {
  OldItem item = item_of(OldItem::Kind::observation, row, "", session);
  store::Observation& o = item.observation;
  const std::string text(row["text"].as_string());
  o.type = ascii_lower(row["type"].as_string("discovery"));
  o.title = row["title"].as_string();
  o.subtitle = row["subtitle"].as_string();
  o.narrative = row["narrative"].as_string(text);
  if (o.narrative.empty()) o.narrative = text;
  o.facts = list_in(row, "facts");
  o.concepts = list_in(row, "concepts");
  o.files_read = list_in(row, "files_read");
  o.files_modified = list_in(row, "files_modified");
  item.key = key_of({"observation", session.memory, std::to_string(epoch_ms(item.at)), o.title, o.narrative});
  return item;
}

OldItem summary_of(const Json& row, const OldSession& session) {
  OldItem item = item_of(OldItem::Kind::summary, row, "S", session);
  store::Summary& s = item.summary;
  s.request = row["request"].as_string();
  s.investigated = row["investigated"].as_string();
  s.learned = row["learned"].as_string();
  s.completed = row["completed"].as_string();
  s.next_steps = row["next_steps"].as_string();
  s.notes = row["notes"].as_string();
  s.files_read = list_in(row, "files_read");
  s.files_edited = list_in(row, "files_edited");
  item.key = key_of({"summary", session.memory, std::to_string(epoch_ms(item.at)), s.request, s.completed});
  return item;
}

// The part of `path` up to its last directory called `name`; empty when there is none.
std::string directory_named(const std::string& path, std::string_view name) {
  if (!path.starts_with('/') || name.empty()) return "";
  const std::string part = "/" + std::string(name);
  // With slashes on both sides, so that "lib" is not found in "/src/library".
  const std::size_t at = (path + "/").rfind(part + "/");
  return at == std::string::npos ? "" : path.substr(0, at + part.size());
}

class ClaudeMem final : public OldMemory {
 public:
  explicit ClaudeMem(store::Foreign db) : db_(std::move(db)) {}

  Status load();
  const std::vector<OldSession>& sessions() const override { return sessions_; }
  Result<std::vector<OldItem>> items(const OldSession& session) override;
  Result<std::string> directory(const OldSession& session) override;
  std::string left_out(const OldSession& session) const override {
    return session.project == "observer-sessions" ? "a memory agent's own session" : "";
  }
  Json remarks() const override;

 private:
  template <std::size_t N>
  Result<std::vector<Json>> rows_of(const std::string& table, const std::array<const char*, N>& columns,
                                    const std::string& value) {
    for (const char* column : columns)
      if (db_.has(table, column)) return db_.rows(table, column, value);
    return std::vector<Json>();
  }
  template <std::size_t N>
  Result<std::vector<std::string>> ids_in(const std::string& table,
                                          const std::array<const char*, N>& columns) {
    for (const char* column : columns)
      if (db_.has(table, column)) return db_.values(table, column);
    return std::vector<std::string>();
  }
  Status add_sessions_without_row();
  Status date(OldSession& session);
  Result<std::string> directory_of_project(const std::string& project);

  store::Foreign db_;
  std::vector<OldSession> sessions_;
  std::map<std::string, std::string> directories_;  // of projects
  std::map<std::string, Json> first_prompts_;       // by session, from versions that had no table of prompts
};

Status ClaudeMem::load() {
  for (const Json& row : TRY(db_.rows("sdk_sessions"))) {
    OldSession session;
    session.content = one_of(row, kContent);
    session.memory = one_of(row, kMemory);
    if (session.content.empty() && session.memory.empty()) continue;
    if (session.content.empty()) session.content = "claude-mem-" + session.memory;
    // claude-mem calls Claude Code "claude".
    const std::string platform(row["platform_source"].as_string("claude"));
    session.platform = platform == "claude" ? std::string(host::default_host().name()) : platform;
    session.project = row["project"].as_string();
    session.old_id = "session " + text_in(row, "id");
    session.started_at = time_in(row, "started_at").value_or(WallTime());
    session.completed_at = time_in(row, "completed_at");
    if (const std::string_view prompt = row["user_prompt"].as_string(); !trim(prompt).empty())
      first_prompts_[session.content] = Json::object({{"id", "of " + session.old_id},
                                                      {"prompt_text", prompt},
                                                      {"prompt_number", 1},
                                                      {"created_at_epoch", epoch_ms(session.started_at)}});
    sessions_.push_back(std::move(session));
  }
  TRY(add_sessions_without_row());
  std::stable_sort(sessions_.begin(), sessions_.end(), [](const OldSession& a, const OldSession& b) {
    return std::pair(a.started_at, a.content) > std::pair(b.started_at, b.content);
  });
  return {};
}

// An export may contain records without their sessions.
Status ClaudeMem::add_sessions_without_row() {
  std::set<std::string> contents, memories;
  for (const OldSession& session : sessions_) {
    contents.insert(session.content);
    memories.insert(session.memory);
  }
  for (const std::string& id : TRY(ids_in("user_prompts", kContent)))
    if (contents.insert(id).second) {
      OldSession& session = sessions_.emplace_back();
      session.content = id;
      TRY(date(session));
    }
  for (const char* table : {"observations", "session_summaries"})
    for (const std::string& id : TRY(ids_in(table, kMemory)))
      if (memories.insert(id).second) {
        OldSession& session = sessions_.emplace_back();
        session.memory = id;
        session.content = "claude-mem-" + id;
        TRY(date(session));
      }
  return {};
}

// Finds the time and project of a session that is known only from its records.
Status ClaudeMem::date(OldSession& session) {
  session.platform = host::default_host().name();
  session.old_id = "session of " + (session.memory.empty() ? session.content : session.memory);
  std::optional<WallTime> first;
  for (const auto& rows : {TRY(rows_of("user_prompts", kContent, session.content)),
                           TRY(rows_of("observations", kMemory, session.memory)),
                           TRY(rows_of("session_summaries", kMemory, session.memory))})
    for (const Json& row : rows) {
      if (const auto at = time_in(row, "created_at")) first = std::min(first.value_or(*at), *at);
      if (session.project.empty()) session.project = row["project"].as_string();
    }
  session.started_at = first.value_or(WallTime());
  return {};
}

Result<std::vector<OldItem>> ClaudeMem::items(const OldSession& session) {
  std::vector<OldItem> items;
  for (const Json& row : TRY(rows_of("user_prompts", kContent, session.content)))
    items.push_back(prompt_of(row, session));
  if (const auto first = first_prompts_.find(session.content); items.empty() && first != first_prompts_.end())
    items.push_back(prompt_of(first->second, session));
  if (!session.memory.empty()) {
    for (const Json& row : TRY(rows_of("observations", kMemory, session.memory)))
      items.push_back(observation_of(row, session));
    for (const Json& row : TRY(rows_of("session_summaries", kMemory, session.memory)))
      items.push_back(summary_of(row, session));
  }
  std::stable_sort(items.begin(), items.end(), [](const OldItem& a, const OldItem& b) {
    return std::pair(a.kind, a.at) < std::pair(b.kind, b.at);
  });
  return items;
}

// Uses the directories recorded for the session, else those recorded for its project.
Result<std::string> ClaudeMem::directory(const OldSession& session) {
  const std::string name = session.project.substr(0, session.project.find('/'));
  for (const char* table : {"tool_uses", "pending_messages"})
    for (const std::string& cwd : TRY(db_.values(table, "cwd", "content_session_id", session.content, 1))) {
      const std::string named = directory_named(cwd, name);
      return named.empty() ? cwd : named;
    }
  return directory_of_project(session.project);
}

Result<std::string> ClaudeMem::directory_of_project(const std::string& project) {
  const auto known = directories_.find(project);
  if (known != directories_.end()) return known->second;
  const std::string name = project.substr(0, project.find('/'));
  // Sessions of one project may have worked in several directories: the most frequent one wins.
  std::map<std::string, int> votes;
  for (const std::string& cwd : TRY(db_.values("tool_uses", "cwd", "project", project, kPathsToLookAt)))
    if (const std::string named = directory_named(cwd, name); !named.empty()) ++votes[named];
  // No directory was recorded: use the paths of files.
  if (votes.empty())
    for (const char* column : {"files_modified", "files_read"})
      for (const std::string& list :
           TRY(db_.values("observations", column, "project", project, kPathsToLookAt)))
        for (const std::string& path : store::read_list(list))
          if (const std::string named = directory_named(path, name); !named.empty() && named != path)
            ++votes[named];
  std::string best;
  for (const auto& [directory, count] : votes)
    if (best.empty() || count > votes[best]) best = directory;
  directories_[project] = best;
  return best;
}

// The tables that are read, tables derived from them, and tables for claude-mem's own work.
Json ClaudeMem::remarks() const {
  static const std::set<std::string> kRead = {"sdk_sessions",     "observations",    "session_summaries",
                                              "user_prompts",     "schema_versions", "tool_uses",
                                              "pending_messages", "telegram_wrapups"};
  Json unread = Json::array();
  for (const std::string& table : db_.tables())
    if (!kRead.contains(table) && !table.starts_with("sync_") && table.find("_fts") == std::string::npos)
      unread.push(table);
  return unread;
}

}  // namespace

std::string find_claude_mem(os::Disk& disk) {
  const char* home = std::getenv("HOME");
  if (!home || !*home) return "";
  std::string folder = std::string(home) + "/.claude-mem";
  // Its settings may name another directory.
  if (const auto settings = os::read_file(disk, folder + "/settings.json", 1u << 20)) {
    const Json parsed = Json::parse_partial(*settings).value;
    const Json& flat = parsed.has("env") ? parsed["env"] : parsed;
    if (std::string named(flat["CLAUDE_MEM_DATA_DIR"].as_string()); !named.empty())
      folder = named.starts_with("~/") ? home + named.substr(1) : named;
  }
  const std::string path = folder + "/claude-mem.db";
  return disk.stat(path) ? path : "";
}

Status copy_claude_mem(const store::Db& like, os::Disk& disk, const std::string& path,
                       const std::string& copy) {
  if (TRY(is_database(disk, path))) return copy_database(disk, path, copy);
  remove_database(disk, copy);
  const std::string text = TRY(os::read_file(disk, path, kMostJson));
  TRY(store::Foreign::from_json(like, copy, text, kExported));
  return {};
}

Result<std::unique_ptr<OldMemory>> open_claude_mem(const store::Db& like, const std::string& copy) {
  auto memory = std::make_unique<ClaudeMem>(TRY(store::Foreign::open(like, copy)));
  TRY(memory->load());
  return std::unique_ptr<OldMemory>(std::move(memory));
}

}  // namespace cairn::importer
