#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "ops/mode.h"
#include "ops/settings.h"
#include "support/temp_dir.h"

namespace cairn::ops {
namespace {

using test::exists;
using test::read_text;
using test::write_file;

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

class SettingsFile : public testing::Test {
 protected:
  void write(std::string_view toml) { write_file(home_.config_file, toml); }
  std::string text() const { return read_text(home_.config_file); }
  Settings load() { return Settings::load(disk_, home_); }
  Status set(std::string_view key, std::string_view value) { return set_setting(disk_, home_, key, value); }
  distil::Mode must_load(const std::string& mode) {
    auto loaded = load_mode(disk_, home_, mode);
    EXPECT_TRUE(loaded.ok());
    return *std::move(loaded);
  }
  std::string message(std::string_view key, std::string_view value) {
    const Status status = set(key, value);
    return status.ok() ? "no error" : status.error().message;
  }

  test::TempDir dir_;
  os::RealDisk disk_;
  hook::Home home_ = hook::Home::at(dir_ / "home");
};

bool mentions(const Settings& settings, std::string_view what) {
  for (const auto& problem : settings.problems())
    if (problem.message.find(what) != std::string::npos) return true;
  return false;
}

TEST(SettingsTable, HoldsTheDefaultsOfTheContract) {
  const Settings settings = Settings::defaults();
  EXPECT_EQ(settings.integer("context.budget_tokens"), 2000);
  EXPECT_EQ(settings.list("context.sources"),
            (std::vector<std::string>{"startup", "clear", "compact", "resume"}));
  EXPECT_TRUE(settings.list("capture.exclude").empty());
  EXPECT_TRUE(settings.flag("capture.enabled"));
  EXPECT_EQ(settings.text("context.notice"), "line");
  EXPECT_EQ(settings.text("automation"), "hybrid");
  EXPECT_EQ(settings.integer("context.stale_hours"), 24);
  EXPECT_EQ(settings.integer("context.overhead_kb"), 20);
  EXPECT_EQ(settings.decimal("daemon.idle_exit_minutes"), 120);
  EXPECT_EQ(settings.origin("hook.sync"), "default");
  EXPECT_EQ(settings.hook_flags(), hook::Flags());
  EXPECT_EQ(find_setting("hook.nothing"), nullptr);
}

TEST(SettingsTable, ExplainsEverySettingInOneLine) {
  for (const Setting& setting : all_settings()) {
    EXPECT_FALSE(setting.meaning.empty()) << setting.key;
    EXPECT_EQ(setting.meaning.find('\n'), std::string_view::npos) << setting.key;
  }
}

TEST_F(SettingsFile, IsFineWhenAbsent) {
  const Settings settings = load();
  EXPECT_TRUE(settings.problems().empty());
  EXPECT_EQ(settings.text("log.level"), "info");
}

TEST_F(SettingsFile, OverridesDefaultsAndIsOverriddenByTheEnvironment) {
  write("[hook]\nsync = \"disk\"\ndeadline_ms.session_start = 1500\n[capture]\nskip_tools = [\"Read\"]\n");
  const Variable prompt("CAIRN_HOOK_DEADLINE_MS_USER_PROMPT_SUBMIT", "77");
  const Variable tools("CAIRN_CAPTURE_SKIP_TOOLS", "Bash, Glob,");
  const Variable idle("CAIRN_DAEMON_IDLE_EXIT_MINUTES", "0.03");
  const Variable empty("CAIRN_LOG_LEVEL", "");
  const Settings settings = load();
  EXPECT_TRUE(settings.problems().empty());
  EXPECT_EQ(settings.text("hook.sync"), "disk");
  EXPECT_EQ(settings.origin("hook.sync"), "config.toml");
  EXPECT_EQ(settings.list("capture.skip_tools"), (std::vector<std::string>{"Bash", "Glob"}));
  EXPECT_EQ(settings.origin("capture.skip_tools"), "environment CAIRN_CAPTURE_SKIP_TOOLS");
  EXPECT_DOUBLE_EQ(settings.decimal("daemon.idle_exit_minutes"), 0.03);
  EXPECT_EQ(settings.origin("log.level"), "default");
  const hook::Flags flags = settings.hook_flags();
  EXPECT_EQ(flags.sync, hook::Flags::Sync::disk);
  EXPECT_EQ(flags.session_start_ms, 1500);
  EXPECT_EQ(flags.user_prompt_submit_ms, 77);
}

TEST_F(SettingsFile, KeepsTheNextOriginWhenAValueIsBad) {
  write(
      "[hook]\nsync = \"dsik\"\n[context]\nbudget_tokens = \"many\"\n[queue]\nmax_retries = 7\n"
      "[log]\nmax_mb = 0\n[capture]\nexclude = [1]\n");
  const Variable retries("CAIRN_QUEUE_MAX_RETRIES", "-1");
  const Settings settings = load();
  EXPECT_EQ(settings.text("hook.sync"), "process");
  EXPECT_EQ(settings.integer("queue.max_retries"), 7);
  EXPECT_EQ(settings.origin("queue.max_retries"), "config.toml");
  EXPECT_EQ(settings.integer("log.max_mb"), 20);
  EXPECT_EQ(settings.problems().size(), 5u);
  EXPECT_TRUE(mentions(settings, "hook.sync: \"dsik\" is not one of process, disk"));
  EXPECT_TRUE(mentions(settings, "context.budget_tokens: \"many\" is not a whole number from 0 to 100000"));
  EXPECT_TRUE(mentions(settings, "queue.max_retries: -1 is not a whole number from 0 to 100"));
  EXPECT_TRUE(mentions(settings, "environment CAIRN_QUEUE_MAX_RETRIES"));
  EXPECT_TRUE(mentions(settings, "capture.exclude: [1] is not a list of texts"));
}

TEST_F(SettingsFile, ReportsUnknownKeysWithTheNearestName) {
  write(
      "[hook]\nsnyc = \"disk\"\n[contxt]\nnotice = \"off\"\n[agent]\nmodel = \"some\"\n[colour]\nred = "
      "1\n");
  const Settings settings = load();
  ASSERT_EQ(settings.problems().size(), 3u);
  EXPECT_TRUE(mentions(settings, "hook.snyc: unknown setting; did you mean hook.sync?"));
  EXPECT_TRUE(mentions(settings, "contxt.notice: unknown setting; did you mean context.notice?"));
  EXPECT_TRUE(mentions(settings, "colour.red: unknown setting"));
  EXPECT_FALSE(mentions(settings, "colour.red: unknown setting;"));
}

TEST_F(SettingsFile, AModeIsAFileBesideItAndABadOneIsAProblemWithItsName) {
  const std::string mode = dir_ / "home/modes/diary.toml";
  write("[agent]\nmode = \"diary\"\n");
  EXPECT_TRUE(mentions(load(), "agent.mode: there is no " + mode));
  write_file(mode, "types = [\"entry\"]\nconcepts = [\"mood\"]\n[en]\nfinding = [\"so\"]\n");
  EXPECT_TRUE(load().problems().empty());
  EXPECT_EQ(must_load("diary").types[0].name, "entry");
  write_file(mode, "types = 3\n");
  EXPECT_TRUE(mentions(load(), "agent.mode: modes/diary.toml: types is not a list of names"));
  write("[agent]\nmode = \"../x\"\n");
  EXPECT_TRUE(mentions(load(), "agent.mode: \"../x\" is not a name"));
}

TEST_F(SettingsFile, ReportsAValueWhereATableMustStand) {
  write("hook = 5\n");
  EXPECT_TRUE(mentions(load(), "hook: 5 is not a table of settings"));
}

TEST_F(SettingsFile, GivesDefaultsAndThePlaceWhenItIsNotToml) {
  write("[hook]\nsync = \n");
  const Settings settings = load();
  ASSERT_EQ(settings.problems().size(), 1u);
  EXPECT_EQ(settings.problems()[0].key, "config.toml");
  EXPECT_TRUE(mentions(settings, "config.toml: line 2"));
  EXPECT_EQ(settings.text("hook.sync"), "process");
}

TEST_F(SettingsFile, IsCreatedPrivateWithItsDirectory) {
  ASSERT_TRUE(set("context.notice", "off").ok());
  EXPECT_EQ(text(), "[context]\nnotice = \"off\"\n");
  struct stat st {};
  ASSERT_EQ(::stat(home_.config_file.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  EXPECT_FALSE(exists(home_.flags()));
}

TEST_F(SettingsFile, KeepsEveryOtherByteWhenAValueIsReplaced) {
  write("# mine\r\n\r\n[ hook ]   # h\r\n  sync = 'process' # why\r\n\r\n[log]\r\nlevel=\"warn\"\r\n# end");
  ASSERT_TRUE(set("hook.sync", "disk").ok());
  EXPECT_EQ(
      text(),
      "# mine\r\n\r\n[ hook ]   # h\r\n  sync = \"disk\" # why\r\n\r\n[log]\r\nlevel=\"warn\"\r\n# end");
  ASSERT_TRUE(set("log.max_mb", "5").ok());
  EXPECT_EQ(text(),
            "# mine\r\n\r\n[ hook ]   # h\r\n  sync = \"disk\" # "
            "why\r\n\r\n[log]\r\nlevel=\"warn\"\r\nmax_mb = 5\r\n# end");
}

TEST_F(SettingsFile, PutsAKeyWithoutASectionBeforeTheFirstOne) {
  write("# mine\n[hook]\nsync = \"disk\"\n");
  ASSERT_TRUE(set("automation", "auto").ok());
  EXPECT_EQ(text(), "automation = \"auto\"\n# mine\n[hook]\nsync = \"disk\"\n");
  ASSERT_TRUE(set("automation", "manual").ok());
  EXPECT_EQ(text(), "automation = \"manual\"\n# mine\n[hook]\nsync = \"disk\"\n");
}

TEST_F(SettingsFile, AddsAKeyAfterTheLastEntryOfItsSection) {
  write("[hook]\n  # about sync\n  sync = \"disk\"\n\n# about logs\n[log]\nlevel = \"info\"\n");
  ASSERT_TRUE(set("hook.deadline_ms.session_start", "100").ok());
  EXPECT_EQ(text(),
            "[hook]\n  # about sync\n  sync = \"disk\"\n  deadline_ms.session_start = 100\n\n# about "
            "logs\n[log]\nlevel = "
            "\"info\"\n");
  EXPECT_EQ(load().integer("hook.deadline_ms.session_start"), 100);
}

TEST_F(SettingsFile, AppendsToALastLineWithoutALineFeed) {
  write("[log]\nlevel = \"info\"");
  ASSERT_TRUE(set("log.max_mb", "9").ok());
  EXPECT_EQ(text(), "[log]\nlevel = \"info\"\nmax_mb = 9");
  ASSERT_TRUE(set("hook.sync", "\"disk\"").ok());
  EXPECT_EQ(text(), "[log]\nlevel = \"info\"\nmax_mb = 9\n\n[hook]\nsync = \"disk\"\n");
}

TEST_F(SettingsFile, EditsDottedInlineAndNestedForms) {
  write("hook.sync = \"disk\"\n[capture]\nexclude = [\n  \"[not.a.section]\", # c\n  \"b\"\n]\n");
  ASSERT_TRUE(set("hook.deadline_ms.session_start", "5").ok());
  EXPECT_EQ(text(),
            "hook.sync = \"disk\"\nhook.deadline_ms.session_start = 5\n[capture]\nexclude = [\n  "
            "\"[not.a.section]\", "
            "# c\n  \"b\"\n]\n");
  ASSERT_TRUE(set("capture.exclude", "a/**, b\"c").ok());
  EXPECT_EQ(load().list("capture.exclude"), (std::vector<std::string>{"a/**", "b\"c"}));

  write("hook = { sync = \"disk\" }\nlog = {}\n");
  ASSERT_TRUE(set("hook.deadline_ms.user_prompt_submit", "5").ok());
  ASSERT_TRUE(set("log.level", "debug").ok());
  EXPECT_EQ(text(),
            "hook = { sync = \"disk\", deadline_ms.user_prompt_submit = 5 }\nlog = {level = \"debug\"}\n");

  write("[hook.deadline_ms]\nsession_start = 1\n");
  ASSERT_TRUE(set("hook.deadline_ms.user_prompt_submit", "2").ok());
  ASSERT_TRUE(set("hook.sync", "disk").ok());
  EXPECT_EQ(text(),
            "[hook.deadline_ms]\nsession_start = 1\nuser_prompt_submit = 2\n\n[hook]\nsync = \"disk\"\n");
}

TEST_F(SettingsFile, FindsItsPlaceAmongCharactersOfManyBytes) {
  write("\xef\xbb\xbf\"größe\" = \"日本\"\n[log]\nlevel = \"info\" # ü\n[[\"träger\"]]\nn = 1\n");
  ASSERT_TRUE(set("log.level", "warn").ok());
  EXPECT_EQ(text(), "\xef\xbb\xbf\"größe\" = \"日本\"\n[log]\nlevel = \"warn\" # ü\n[[\"träger\"]]\nn = 1\n");
}

TEST_F(SettingsFile, RefusesALetterOutsideAsciiInABareName) {
  write("# ü\n[log]\ngröße = 1\n");
  EXPECT_TRUE(mentions(load(), "config.toml: line 3: a name outside ASCII must be quoted"));
  EXPECT_FALSE(set("log.level", "warn").ok());
}

TEST_F(SettingsFile, StaysUntouchedWhenAValueOrTheFileIsBad) {
  write("[log]\nlevel = \"info\"\n");
  EXPECT_EQ(message("log.level", "loud"), "log.level: \"loud\" is not one of debug, info, warn, error");
  EXPECT_EQ(message("log.levle", "info"), "log.levle: unknown setting; did you mean log.level?");
  EXPECT_EQ(message("automation", "some"), "automation: \"some\" is not one of manual, hybrid, auto");
  EXPECT_EQ(message("agent.provider", "oracle"),
            "agent.provider: \"oracle\" is not one of builtin, claude-cli, anthropic, openai");
  EXPECT_EQ(message("context.sources", "startup,noon"),
            "context.sources: [\"startup\",\"noon\"] is not a list of texts, each one of startup, clear, "
            "compact, resume");
  EXPECT_EQ(text(), "[log]\nlevel = \"info\"\n");

  write("[log\n");
  const Status status = set("log.level", "warn");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::invalid);
  EXPECT_EQ(text(), "[log\n");

  write("log = 3\n");
  EXPECT_NE(message("log.level", "warn").find("edit it by hand"), std::string::npos);
  EXPECT_EQ(text(), "log = 3\n");
}

TEST_F(SettingsFile, ReachesTheHooksThroughTheirFlags) {
  ASSERT_TRUE(set("hook.sync", "disk").ok());
  ASSERT_TRUE(set("capture.enabled", "off").ok());
  const hook::Flags flags = hook::Flags::decode(read_text(home_.flags()));
  EXPECT_EQ(flags.sync, hook::Flags::Sync::disk);
  EXPECT_FALSE(flags.capture);
}

TEST_F(SettingsFile, ThatIsASymbolicLinkStaysOne) {
  write_file(dir_ / "dotfiles/cairn.toml", "# kept\n");
  std::filesystem::create_directories(home_.data);
  std::filesystem::create_symlink(dir_ / "dotfiles/cairn.toml", home_.config_file);
  ASSERT_TRUE(set("log.max_mb", "3").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(home_.config_file));
  EXPECT_EQ(read_text(dir_ / "dotfiles/cairn.toml"), "# kept\n\n[log]\nmax_mb = 3\n");
}

}  // namespace
}  // namespace cairn::ops
