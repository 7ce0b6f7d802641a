#include "cli/install.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/json_edit.h"
#include "support/temp_dir.h"

namespace cairn::cli {
namespace {

using test::exists;
using test::read_text;
using test::write_file;

constexpr const char* kHook = "/home/dev/.local/bin/cairn-hook";

// Files in memory: many cases a second, and a disk on which nothing may be created.
class MemoryDisk final : public os::Disk {
 public:
  bool denied = false;

  Result<std::unique_ptr<os::File>> open(const std::string& path, os::Open how) override {
    if (how == os::Open::read && files_.count(path) == 0) return Error{Code::not_found, path};
    if (how != os::Open::read && denied) return Error{Code::denied, "open " + path + ": permission denied"};
    return std::unique_ptr<os::File>(std::make_unique<MemoryFile>(files_[path]));
  }
  Status rename(const std::string& from, const std::string& to) override {
    files_[to] = files_[from];
    files_.erase(from);
    return {};
  }
  Status remove(const std::string& path) override {
    return files_.erase(path) > 0 ? Status() : Error{Code::not_found, path};
  }
  Status make_dir(const std::string&) override { return {}; }
  Result<std::vector<std::string>> list(const std::string&) override { return std::vector<std::string>(); }
  Result<os::Stat> stat(const std::string& path) override {
    if (files_.count(path) == 0) return Error{Code::not_found, path};
    return os::Stat{.size = files_[path].size()};
  }
  Status sync_dir(const std::string&) override { return {}; }

 private:
  class MemoryFile final : public os::File {
   public:
    explicit MemoryFile(std::string& bytes) : bytes_(bytes) {}
    Result<std::size_t> read_at(std::uint64_t offset, char* to, std::size_t size) override {
      return offset < bytes_.size() ? bytes_.copy(to, size, offset) : 0;
    }
    Status write_at(std::uint64_t offset, std::string_view bytes) override {
      bytes_.resize(std::max(bytes_.size(), offset + bytes.size()));
      bytes_.replace(offset, bytes.size(), bytes);
      return {};
    }
    Status truncate(std::uint64_t size) override {
      bytes_.resize(size);
      return {};
    }
    Result<std::uint64_t> size() override { return bytes_.size(); }
    Status sync() override { return {}; }

   private:
    std::string& bytes_;
  };
  std::map<std::string, std::string> files_;
};

// The settings file of a host on some disk.
class Host {
 public:
  Host(os::Disk& disk, std::string file) : disk_(disk), file_(std::move(file)) {}

  void write(std::string_view text) {
    ASSERT_TRUE(os::make_dirs(disk_, std::filesystem::path(file_).parent_path().string()).ok());
    ASSERT_TRUE(os::replace_file(disk_, file_, text).ok());
  }
  std::string text() const { return os::read_file(disk_, file_, 1 << 20).value_or("unreadable"); }
  Json json() const { return Json::parse(text()).value_or(Json("not JSON")); }

  Status install(const std::string& program = kHook, bool exec_form = true) {
    const InstallPlan plan = TRY(plan_install(disk_, file_, program, exec_form));
    return apply_install(disk_, plan);
  }
  Status uninstall() {
    const InstallPlan plan = TRY(plan_uninstall(disk_, file_));
    return apply_install(disk_, plan);
  }

 protected:
  os::Disk& disk_;
  std::string file_;
};

struct Machine {
  test::TempDir dir_;
  os::RealDisk real_;
};

class Install : public testing::Test, protected Machine, protected Host {
 protected:
  Install() : Host(real_, dir_ / "claude/settings.json") {}
  bool there() const { return exists(file_); }
  std::string install_error() {
    const Status status = install();
    return status.ok() ? "no error" : status.error().message;
  }
};

Json our_entry(const std::string& event) {
  Json hook = Json::object({{"type", "command"}, {"command", kHook}, {"args", Json::array({Json(event)})}});
  if (event != "SessionEnd") hook.set("timeout", 10);
  return hook;
}

std::size_t count_ours(const Json& settings) {
  std::size_t count = 0;
  for (const auto& [event, groups] : settings["hooks"].members())
    for (const Json& group : groups.items())
      for (const Json& hook : group["hooks"].items()) count += is_our_hook(hook) ? 1 : 0;
  return count;
}

constexpr std::string_view kRealistic = R"json({
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": ["Bash(git status)", "Read(~/notes/**)"],
    "deny": []
  },
  "env": { "GREETING": "grüß dich \u2713 日本" },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "~/bin/guard.sh", "timeout": 5 }
        ]
      },
      { "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "prettier --check" }] }
    ],
    "Stop": [],
    "WorktreeCreate": [{"hooks": [{"type": "command", "command": "make-tree"}]}]
  },
  "model": "opus"
})json";

TEST_F(Install, CreatesAFileThatRegistersEveryEventOnce) {
  ASSERT_TRUE(install().ok());
  const Json settings = json();
  EXPECT_EQ(registered_events().size(), 17u);
  EXPECT_EQ(settings["hooks"].members().size(), 17u);
  for (const std::string& event : registered_events())
    EXPECT_EQ(settings["hooks"][event],
              Json::array({Json::object({{"hooks", Json::array({our_entry(event)})}})}))
        << event;
  EXPECT_FALSE(settings["hooks"].has("WorktreeCreate"));
  EXPECT_EQ(text(), settings.dump(2) + "\n");
}

TEST_F(Install, WritesAPlainCommandLineForAnOldHost) {
  ASSERT_TRUE(install("/home/dev/my bin/it's/cairn-hook", false).ok());
  const Json stop = json()["hooks"]["Stop"].items()[0]["hooks"].items()[0];
  EXPECT_EQ(stop, Json::object({{"type", "command"},
                                {"command", "'/home/dev/my bin/it'\\''s/cairn-hook' Stop"},
                                {"timeout", 10}}));
  EXPECT_EQ(count_ours(json()), 17u);
  ASSERT_TRUE(install(kHook, false).ok());
  EXPECT_EQ(json()["hooks"]["SessionEnd"].items()[0]["hooks"].items()[0],
            Json::object({{"type", "command"}, {"command", std::string(kHook) + " SessionEnd"}}));
}

TEST_F(Install, ChangesNothingTheSecondTime) {
  write(kRealistic);
  ASSERT_TRUE(install().ok());
  const std::string once = text();
  EXPECT_FALSE(plan_install(disk_, file_, kHook, true)->changes());
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(text(), once);
  EXPECT_EQ(read_text(file_ + ".cairn-backup"), kRealistic);
}

TEST_F(Install, OnlyAddsLinesToARealisticFile) {
  write(kRealistic);
  ASSERT_TRUE(install().ok());
  const std::string diff = diff_text(std::string(kRealistic), text(), "settings.json");
  std::string removed;
  for (std::size_t at = diff.find("\n-"); at != std::string::npos; at = diff.find("\n-", at + 1))
    removed += diff.substr(at + 2, diff.find('\n', at + 1) - at - 1);
  // What is followed by something new now ends with a comma, and an empty array is opened.
  EXPECT_EQ(
      removed,
      "      { \"matcher\": \"Edit|Write\", \"hooks\": [{ \"type\": \"command\", \"command\": \"prettier "
      "--check\" }] }\n    \"Stop\": [],\n"
      "    \"WorktreeCreate\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"make-tree\"}]}]\n");
  EXPECT_EQ(json()["hooks"]["PreToolUse"].items().size(), 3u);
  EXPECT_EQ(count_ours(json()), 17u);
  EXPECT_EQ(text().back(), '}');
}

TEST_F(Install, GivesTheOriginalBytesBack) {
  for (const std::string_view original :
       {kRealistic, std::string_view("{}"), std::string_view("{}\n"), std::string_view("{ \t }\r\n"),
        std::string_view(""), std::string_view(" \n"), std::string_view("{\"hooks\":{}}"),
        std::string_view("{\"hooks\": { }, \"a\": 1}\n"), std::string_view("{\"hooks\":{\"Stop\":[]}}"),
        std::string_view("\xef\xbb\xbf{\r\n\t\"a\": 1\r\n}"), std::string_view("\xef\xbb\xbf"),
        std::string_view("{\n    \"hooks\": {\n    }\n}\n")}) {
    write(original);
    ASSERT_TRUE(install().ok()) << original;
    EXPECT_EQ(count_ours(Json::parse(text().substr(text().find('{'))).value_or(Json())), 17u) << original;
    ASSERT_TRUE(uninstall().ok()) << original;
    EXPECT_EQ(text(), original);
    EXPECT_FALSE(exists(file_ + ".cairn-backup"));
  }
}

TEST_F(Install, IsUndoneWithTheFileItCreated) {
  ASSERT_TRUE(install().ok());
  EXPECT_TRUE(exists(file_ + ".cairn-created"));
  EXPECT_EQ(read_text(file_ + ".cairn-created"), "");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_FALSE(there());
  EXPECT_FALSE(exists(file_ + ".cairn-created"));

  ASSERT_TRUE(install().ok());
  const std::string changed = "{\n  \"model\": \"opus\"," + text().substr(1);
  write(changed);
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\n  \"model\": \"opus\"\n}\n");
  EXPECT_FALSE(exists(file_ + ".cairn-created"));
}

TEST_F(Install, RemovesExactlyOursWhenSomethingElseChanged) {
  write(kRealistic);
  ASSERT_TRUE(install().ok());
  std::string changed = text();
  changed.replace(changed.find("\"opus\""), 6, "\"sonnet\"");
  write(changed);
  ASSERT_TRUE(uninstall().ok());
  std::string expected(kRealistic);
  expected.replace(expected.find("\"opus\""), 6, "\"sonnet\"");
  EXPECT_EQ(text(), expected);
}

TEST_F(Install, RemovesContainersThatOnlyItFilled) {
  write("{\n  \"model\": \"opus\"\n}\n");
  ASSERT_TRUE(install().ok());
  std::filesystem::remove(file_ + ".cairn-backup");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\n  \"model\": \"opus\"\n}\n");
}

TEST_F(Install, ReplacesAMovedBinaryWhereItStands) {
  write(
      R"({"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"/old/cairn-hook Stop"},{"type":"command","command":"b"}]}]}})");
  ASSERT_TRUE(install().ok());
  const Json stop = json()["hooks"]["Stop"];
  ASSERT_EQ(stop.items().size(), 1u);
  const auto& hooks = stop.items()[0]["hooks"].items();
  ASSERT_EQ(hooks.size(), 3u);
  EXPECT_EQ(hooks[0]["command"].as_string(), "a");
  EXPECT_EQ(hooks[1], our_entry("Stop"));
  EXPECT_EQ(hooks[2]["command"].as_string(), "b");
  EXPECT_EQ(count_ours(json()), 17u);
}

TEST_F(Install, ReducesDuplicatesAndMovesOutOfAMatcher) {
  write(R"({"hooks":{
    "Stop":[{"hooks":[{"command":"/a/cairn-hook","args":["Stop"]}]},{"hooks":[{"command":"/b/cairn-hook Stop"},{"command":"x"}]}],
    "PreToolUse":[{"matcher":"Bash","hooks":[{"command":"/a/cairn-hook","args":["PreToolUse"]}]}],
    "PostToolUse":[{"matcher":"*","hooks":[{"command":"/a/cairn-hook","args":["PostToolUse"]}]}],
    "WorktreeCreate":[{"hooks":[{"command":"/a/cairn-hook","args":["WorktreeCreate"]}]}]}})");
  ASSERT_TRUE(install().ok());
  const Json hooks = json()["hooks"];
  EXPECT_EQ(count_ours(json()), 17u);
  EXPECT_EQ(hooks["Stop"],
            Json::array({Json::object({{"hooks", Json::array({our_entry("Stop")})}}),
                         Json::object({{"hooks", Json::array({Json::object({{"command", "x"}})})}})}));
  EXPECT_EQ(hooks["PreToolUse"],
            Json::array({Json::object({{"hooks", Json::array({our_entry("PreToolUse")})}})}));
  EXPECT_EQ(hooks["PostToolUse"].items()[0]["hooks"].items()[0], our_entry("PostToolUse"));
  EXPECT_FALSE(hooks.has("WorktreeCreate"));
}

TEST_F(Install, KeepsTheBackupOfTheFirstInstall) {
  write("{\"a\": 1}");
  ASSERT_TRUE(install("/old/cairn-hook").ok());
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(read_text(file_ + ".cairn-backup"), "{\"a\": 1}");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\"a\": 1}");
}

TEST_F(Install, BacksUpAnewAfterTheEntriesWereRemovedByHand) {
  write("{\"a\": 1}");
  ASSERT_TRUE(install().ok());
  write("{\"a\": 2}");
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(read_text(file_ + ".cairn-backup"), "{\"a\": 2}");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\"a\": 2}");
}

TEST_F(Install, TakesItsEntriesOutWhateverTheBackupHolds) {
  write("{\"a\": 1}");
  ASSERT_TRUE(install().ok());
  write_file(file_ + ".cairn-backup", text());
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\"a\": 1}");
}

TEST_F(Install, RefusesWhatItCannotReadAndSaysWhere) {
  const auto refuses = [&](std::string_view bad, std::string_view why) {
    write(bad);
    EXPECT_EQ(install_error(), file_ + ": " + std::string(why));
    EXPECT_EQ(text(), bad);
    EXPECT_FALSE(exists(file_ + ".cairn-backup"));
  };
  refuses("{\n  \"a\": 1,\n  // mine\n}", "line 3, column 3: a name in quotes is expected");
  refuses("[]", "line 1, column 1: the settings must be an object");
  refuses("{\n \"hooks\": []}", "line 2, column 11: `hooks` must be an object");
  refuses("{\"hooks\": null}", "line 1, column 11: `hooks` must be an object");
  refuses("{\"hooks\": {\"Stop\": {}}}", "line 1, column 20: `hooks.Stop` must be an array");
  write("{");
  EXPECT_EQ(plan_uninstall(disk_, file_).error().code, Code::invalid);
}

TEST_F(Install, RefusesAProgramThatItWouldNotKnowAgain) {
  EXPECT_EQ(plan_install(disk_, file_, "/usr/bin/env", true).error().code, Code::invalid);
  EXPECT_EQ(plan_install(disk_, file_, "bin/cairn-hook", true).error().code, Code::invalid);
}

TEST_F(Install, LeavesStrangeGroupsOfOthersAlone) {
  const std::string strange =
      R"({"hooks":{"Stop":[1,"x",{"hooks":7},{"matcher":3,"hooks":[null,[],{}]}],"Other":"text"}})";
  write(strange);
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(json()["hooks"]["Stop"].items().size(), 5u);
  EXPECT_EQ(json()["hooks"]["Other"].as_string(), "text");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), strange);
}

TEST_F(Install, IsBusyWhenTheFileChangedSinceThePlan) {
  write("{}");
  const InstallPlan plan = *plan_install(disk_, file_, kHook, true);
  write("{\"a\":1}");
  const Status status = apply_install(disk_, plan);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::busy);
  EXPECT_EQ(text(), "{\"a\":1}");
}

TEST_F(Install, KeepsTheModeAndFollowsSymbolicLinks) {
  const std::string target = dir_ / "dotfiles/claude.json";
  write_file(target, "{}\n");
  ASSERT_EQ(::chmod(target.c_str(), 0640), 0);
  std::filesystem::create_directories(dir_ / "claude");
  std::filesystem::create_symlink("../dotfiles/claude.json", file_);
  ASSERT_TRUE(install().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
  EXPECT_EQ(count_ours(Json::parse(read_text(target)).value_or(Json())), 17u);
  struct stat st {};
  ASSERT_EQ(::stat(target.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0640u);
  ASSERT_EQ(::stat((file_ + ".cairn-backup").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);  // settings may hold keys
  ASSERT_TRUE(uninstall().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
  EXPECT_EQ(read_text(target), "{}\n");
}

TEST_F(Install, WritesThroughALinkToNothing) {
  std::filesystem::create_directories(dir_ / "claude");
  std::filesystem::create_symlink(dir_ / "dotfiles/claude.json", file_);
  ASSERT_TRUE(install().ok());
  EXPECT_TRUE(exists(dir_ / "dotfiles/claude.json"));
  ASSERT_TRUE(uninstall().ok());
  EXPECT_FALSE(exists(dir_ / "dotfiles/claude.json"));
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
}

TEST_F(Install, LeavesNothingBehindButTheFileAndItsBackup) {
  write("{}");
  ASSERT_TRUE(install().ok());
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir_ / "claude")) ++files;
  EXPECT_EQ(files, 2u);
}

TEST_F(Install, SaysWhatToDoWhenItMayNotWrite) {
  MemoryDisk disk;
  Host host(disk, file_);
  host.write("{}");
  disk.denied = true;
  const Status status = host.install();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::denied);
  EXPECT_NE(status.error().message.find(file_ + " cannot be written"), std::string::npos);
  EXPECT_EQ(host.text(), "{}");
}

TEST_F(Install, HasNothingToUndoWhereItNeverWas) {
  EXPECT_FALSE(plan_uninstall(disk_, file_)->changes());
  ASSERT_TRUE(uninstall().ok());
  EXPECT_FALSE(there());
  write(kRealistic);
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), kRealistic);
}

TEST(InstallNames, KnowOurCommandByItsProgram) {
  for (const char* ours :
       {"cairn-hook", "/a/cairn-hook Stop", "'/a b/cairn-hook' Stop", "\"/a b/cairn-hook\" Stop",
        "/a\\ b/cairn-hook", "  cairn-hook;true", "CAIRN_HOME=/x HOME='/y z' /a/cairn-hook Stop",
        "${CLAUDE_PLUGIN_ROOT}/bin/cairn-hook Stop"})
    EXPECT_TRUE(is_our_command(ours)) << ours;
  for (const char* other : {"", "cairn", "/a/cairn-hook.sh", "/cairn-hook/run", "echo /a/cairn-hook",
                            "my-cairn-hook", "'/a b/cairn-hook x'", "A=cairn-hook"})
    EXPECT_FALSE(is_our_command(other)) << other;
  EXPECT_TRUE(is_our_hook(Json::object({{"command", "/a b/cairn-hook"}, {"args", Json::array()}})));
  EXPECT_FALSE(
      is_our_hook(Json::object({{"command", "echo"}, {"args", Json::array({Json("/a/cairn-hook")})}})));
  EXPECT_FALSE(is_our_hook(Json("cairn-hook")));
}

TEST(InstallNames, FollowTheHostsEnvironment) {
  ::setenv("CLAUDE_CONFIG_DIR", "/home/dev/cfg/", 1);
  EXPECT_EQ(*claude_settings_file(), "/home/dev/cfg/settings.json");
  ::unsetenv("CLAUDE_CONFIG_DIR");
  const char* home = std::getenv("HOME");
  const std::string saved = home ? home : "/";
  ::setenv("HOME", "/home/dev", 1);
  EXPECT_EQ(*claude_settings_file(), "/home/dev/.claude/settings.json");
  ::unsetenv("HOME");
  EXPECT_FALSE(claude_settings_file().ok());
  ::setenv("HOME", saved.c_str(), 1);
}

// Random settings of other people, written in random styles.
class Author {
 public:
  Author() {
    indent_ = pick({"", "", "  ", "    ", "\t", "   "});
    newline_ = pick({"\n", "\r\n"});
    colon_ = pick({":", ": ", " : "});
    loose_ = chance(3);
  }

  std::string document() {
    Json root = Json::object();
    const int members = number(0, 4);
    const int hooks_at = number(0, 5);
    for (int i = 0; i <= members; ++i) {
      if (i == hooks_at) root.set("hooks", hooks());
      if (i < members) root.set("key" + std::to_string(i), value(0));
    }
    std::string text = chance(8) ? "\xef\xbb\xbf" : "";
    text += write(root, "");
    return text + pick({"", "\n", "\r\n", " \n\n"});
  }

  Json value(int depth) {
    switch (number(0, depth > 2 ? 4 : 6)) {
      case 0: return Json(pick({"", "plain", "ü\"\\\n", "日本 / {[,]}", "\t"}));
      case 1: return Json(number(-5, 100000));
      case 2: return Json(2.5);
      case 3: return Json(chance(2));
      case 4: return Json();
      case 5: {
        Json list = Json::array();
        for (int i = number(0, 3); i > 0; --i) list.push(value(depth + 1));
        return list;
      }
      default: {
        Json object = Json::object();
        for (int i = number(0, 3); i > 0; --i)
          object.set(pick({"hooks", "a", "ß"}) + std::to_string(i), value(depth + 1));
        return object;
      }
    }
  }

  Json group() {
    Json group = Json::object();
    if (chance(2)) group.set("matcher", pick({"Bash", "*", "", "Edit|Write"}));
    Json hooks = Json::array();
    for (int i = number(0, 2); i > 0; --i)
      hooks.push(
          Json::object({{"type", "command"}, {"command", pick({"lint", "echo cairn-hook", "'a b' c"})}}));
    return group.set("hooks", hooks);
  }

  std::string event() { return pick({"Stop", "SessionStart", "PreToolUse", "SessionEnd", "TaskCompleted"}); }
  int number(int low, int high) { return *rc::gen::inRange(low, high + 1); }
  bool chance(int of) { return number(1, of) == 1; }

 private:
  std::string pick(std::vector<std::string> from) { return *rc::gen::elementOf(std::move(from)); }

  Json hooks() {
    Json hooks = Json::object();
    for (int i = number(0, 4); i > 0; --i) {
      Json groups = Json::array();
      for (int j = number(0, 2); j > 0; --j) groups.push(group());
      hooks.set(chance(4) ? "WorktreeCreate" : event(), groups);
    }
    return hooks;
  }

  // Some containers of a file with line breaks stand on one line, as people write them.
  std::string write(const Json& value, const std::string& indent) {
    const bool object = value.is_object();
    const std::size_t size = object ? value.members().size() : value.items().size();
    if (size == 0) return value.is_object() && chance(3) ? "{ }" : value.dump();
    const bool one_line = indent_.empty() || (loose_ && chance(3));
    const std::string inner = indent + indent_;
    std::string text = object ? "{" : "[";
    for (std::size_t i = 0; i < size; ++i) {
      if (i > 0) text += one_line && loose_ ? ", " : ",";
      if (!one_line) text += newline_ + inner;
      if (object) text += Json(value.members()[i].first).dump() + colon_;
      text += write(object ? value.members()[i].second : value.items()[i], inner);
    }
    if (!one_line) text += newline_ + indent;
    return text + (object ? "}" : "]");
  }

  std::string indent_, newline_, colon_;
  bool loose_ = false;
};

std::string_view after_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

Json sorted(const Json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value.items()) list.push(sorted(item));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, member] : value.members()) object.set(key, sorted(member));
  auto& members = object.mutable_members();
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return object;
}

Json parsed(std::string_view text) {
  auto value = Json::parse(after_mark(text));
  RC_ASSERT(value.ok());
  return sorted(*value);
}

RC_GTEST_PROP(InstallProperty, UninstallGivesTheOriginalBytesBack, ()) {
  MemoryDisk disk;
  Host host(disk, "/home/dev/.claude/settings.json");
  Author author;
  const std::string original = author.document();
  const bool exec_form = author.chance(2);
  host.write(original);
  RC_ASSERT(host.install(kHook, exec_form).ok());
  RC_ASSERT(count_ours(parsed(host.text())) == 17u);
  const std::string once = host.text();
  RC_ASSERT(host.install(kHook, exec_form).ok());
  RC_ASSERT(host.text() == once);
  RC_ASSERT(host.uninstall().ok());
  RC_ASSERT(host.text() == original);
}

RC_GTEST_PROP(InstallProperty, UninstallAfterAnotherChangeLeavesExactlyThatChange, ()) {
  MemoryDisk disk;
  Host host(disk, "/home/dev/.claude/settings.json");
  Author author;
  const std::string original = author.document();
  host.write(original);
  RC_ASSERT(host.install().ok());

  // The same change to the model of the original and, as text, to the installed file.
  Json expected = parsed(original);
  std::string text = host.text();
  const JsonNode root = *scan(text);
  const JsonStyle style = JsonStyle::of(text, root);
  if (author.chance(2)) {
    const Json value = author.value(0);
    expected.set("changed", value);
    text = insert_last(text, style, root, "changed", value);
  } else {
    const std::string event = author.event();
    const Json group = author.group();
    Json hooks = expected["hooks"];
    Json groups = hooks[event];
    if (groups.is_null()) groups = Json::array();
    hooks.set(event, groups.push(group));
    expected.set("hooks", hooks);
    text = insert_last(text, style, *root.find("hooks")->find(event), "", group);
  }
  host.write(text);
  RC_ASSERT(host.uninstall().ok());
  RC_ASSERT(parsed(host.text()) == sorted(expected));
}

}  // namespace
}  // namespace cairn::cli
