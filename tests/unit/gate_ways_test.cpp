// The same forbidden text from every source: nothing of it may be left in any row, any file or the log.
#include <gtest/gtest.h>

#include "gate/gate.h"
#include "gate/secret_corpus.h"
#include "old_memory_fixture.h"
#include "ops/scan.h"
#include "ops/settings.h"
#include "store/walk.h"
#include "support/scripted_provider.h"
#include "transcript_lines.h"

namespace cairn::test {
namespace {

using gate::Way;

// The text that is sent: words that must be stored, so that a source that loses everything fails, and words
// that must not.
struct Load {
  std::string control = "quokka marmalade";
  std::vector<std::string> forbidden = {"zebra-private", "zebra-nested", "zebra-unclosed"};
  std::string text;

  Load() {
    for (const SecretSample& sample : one_of_each(31)) {
      text += sample.text + "\n";
      forbidden.insert(forbidden.end(), sample.parts.begin(), sample.parts.end());
    }
    text = control + "\n" + text +
           "<private>zebra-private <PRIVATE x>zebra-nested</private></private>\n<private>zebra-unclosed";
  }
};

class Ways : public testing::TestWithParam<Way> {
 protected:
  Ways() {
    m.provider = &provider;
    must(m.open());
  }
  ~Ways() override { m.close(); }

  void send_by_hook(const std::string& text) {
    m.tell(chat.start());
    m.tell(chat.prompt(text));
    m.tell(chat.tool("Bash", "t1", Json::object({{"command", text}}), Json::object({{"stdout", text}})));
    m.tell(chat.tool_failure("Bash", "t2",
                             Json::object({{"deep", Json::array({Json::object({{"er", text}})})}}), text));
    m.tell(chat.call("Notification", {{"message", text}}));
    m.tell(chat.stop(text));
    m.tell(chat.end());
    send_around(text);
  }

  // The fields around the texts of an event: ids, paths and names.
  void send_around(const std::string& text) {
    Chat odd{.session = text, .cwd = "/home/dev/" + text, .prompt_id = text};
    m.project_dir = odd.cwd;
    m.tell(odd.call("SessionStart",
                    {{"source", text}, {"model", text}, {"transcript_path", "/home/dev/" + text}}));
    m.tell(odd.call("PostToolUse",
                    {{"tool_name", text}, {"tool_use_id", text}, {"agent_id", text}, {"agent_type", text}}));
    m.tell(odd.call("Odd <private>zebra-private</private>", {{text, text}}));
    must(ops::set_setting(m.disk, m.home, "capture.skip_tools", "Hidden"));
    m.engine->reload();
    m.tell(odd.call("PostToolUse", {{"tool_name", "Hidden"}, {"tool_use_id", text}}));
    EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 2) << "an odd id is one session's id too";
  }

  void send_by_transcript(const std::string& text) {
    TranscriptWriter transcript{m, chat, "", ""};
    m.tell(chat.start());
    m.tell(chat.prompt("a prompt that a hook told of"));
    transcript.prompt("a prompt that a hook told of");
    transcript.use("t1", "Bash", Json::object({{"command", text}}));
    transcript.result("t1", Json::object({{"stdout", text}}));
    transcript.answer(text);
    transcript.save();
    m.processes.kill(m.host.pid);
    m.clock.advance(std::chrono::seconds(200));
    must(m.engine->tick());
    must(m.drain());
  }

  void send_by_bad_file(const std::string& text) {
    const std::string id(32, 'a');
    m.put_file(m.home.inbox() + "/new/" + id, "no header\n" + text);
    must(m.drain());
  }

  void send_by_remember(const std::string& text) {
    must(m.run(
        "remember",
        Json::object(
            {{"text", text}, {"title", text}, {"file", Json::array({text})}, {"cwd", "/home/dev/" + text}})));
  }

  void send_by_model(const std::string& text) {
    provider.script = [&](SessionId, const agent::Request&) {
      const auto field = [&](const char* tag) { return fmt::format("<{0}>{1}</{0}>", tag, text); };
      return Plan::says(
          fmt::format("<observation><type>discovery</type>{}{}{}<facts>{}</facts><concepts>{}</concepts>"
                      "<files_read>{}</files_read></observation>",
                      field("title"), field("subtitle"), field("narrative"), field("fact"), field("concept"),
                      field("file")));
    };
    m.tell(chat.start());
    m.tell(chat.prompt("a prompt"));
    m.tell(chat.ran("make", "t1"));
    m.tell(chat.stop("done"));
    EXPECT_GT(m.number("SELECT count(*) FROM observations WHERE narrative <> ''"), 0);
  }

  // A transcript that only the archive keeps, in records, in names and in lines that are none.
  void send_by_archive(const std::string& text) {
    TranscriptWriter transcript{m, chat, "", ""};
    m.tell(chat.start());
    transcript.prompt(text);
    transcript.use("t1", "Bash", Json::object({{"command", text}, {text, text}}));
    transcript.result("t1", Json::object({{"stdout", text}}), false, text);
    transcript.text += "{broken " + Json(text).dump() + "\n";
    transcript.save();
    m.tell(chat.call("PreCompact", {{"trigger", text}}));
    EXPECT_EQ(m.number("SELECT count(*) FROM backups"), 1) << m.log.all();
  }

  // What another memory kept, in every text that it has.
  void send_by_other_memory(const std::string& text) {
    {
      OldDatabase old(m, "/home/dev/old.db");
      old.session("s-one", "parser", 1'750'000'000'000);
      must(old.db.run("UPDATE sdk_sessions SET project = ?1, user_prompt = ?1", text));
      old.prompt("s-one", 1, text, 1'750'000'000'010);
      old.observation("s-one", text, text, text, 1'750'000'000'020, text);
      must(
          old.db.run("UPDATE observations SET type = ?1, subtitle = ?1, facts = json_array(?1), concepts = "
                     "json_array(?1), files_read = json_array(?1)",
                     text));
      old.summary("s-one", text, text, 1'750'000'000'030);
      must(
          old.db.run("UPDATE session_summaries SET request = ?1, investigated = ?1, learned = ?1, next_steps "
                     "= ?1, notes = ?1, files_read = json_array(?1), files_edited = json_array(?1)",
                     text));
    }
    must(m.run("import.claude-mem", Json::object({{"path", "/home/dev/old.db"}})));
    must(m.drain());
    EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 1);
    const std::string tree = "/home/dev/app/.claude/memory";
    must(os::make_dirs(m.disk, tree + "/sessions"));
    const std::string front = one_line(text, text.size());
    m.put_file(tree + "/sessions/session-2026-01-09-2045.md",
               "---\ntags: [" + front + "]\nbranch: " + front + "\n---\n# " + front + "\n" + text);
    m.put_file(tree + "/project-memory.md", "## " + front + "\n" + text);
    m.put_file(tree + "/active-context.md", "## Next Steps\n1. " + front + "\n");
    must(m.run("import.claude-memory", Json::object({{"directory", "/home/dev/app"}})));
    EXPECT_EQ(m.number("SELECT count(*) FROM session_documents"), 1);
  }

  void send_by_document(const std::string& text) {
    m.tell(chat.start());
    m.tell(chat.prompt("a prompt"));
    // Unclosed private text hides what follows it: each field has its own.
    must(m.run("save", Json::object({{"cwd", chat.cwd},
                                     {"text", "## Session Summary\n\n" + text},
                                     {"title", text},
                                     {"tag", Json::array({text})}})));
    EXPECT_EQ(m.number("SELECT count(*) FROM session_documents"), 1);
  }

  // All that is kept, in one text. The transcript is the host's own file.
  std::string everything() {
    std::string all = m.log.all();
    must(store::walk_texts(m.db(), [&](const store::StoredText& stored) { all += stored.text + "\n"; }));
    for (const char* box : {"new", "cur", "bad", "tmp"})
      for (const std::string& name : m.files(box))
        all += m.read(m.home.inbox() + "/" + box + "/" + name) + "\n";
    if (m.number("SELECT count(*) FROM backups") == 1) {
      must(m.run("backup.restore", Json::object({{"id", "B1"}, {"to", "/home/dev/restored"}})));
      all += m.read("/home/dev/restored");
    }
    return all;
  }

  Machine m;
  ScriptedProvider provider{m.clock};
  Chat chat;
};

TEST_P(Ways, KeepNothingThatIsForbidden) {
  const Load load;
  switch (GetParam()) {  // a new source must add its code here
    case Way::hook: send_by_hook(load.text); break;
    case Way::transcript: send_by_transcript(load.text); break;
    case Way::bad_file: send_by_bad_file(load.text); break;
    case Way::remember: send_by_remember(load.text); break;
    case Way::model: send_by_model(load.text); break;
    case Way::archive: send_by_archive(load.text); break;
    case Way::other_memory: send_by_other_memory(load.text); break;
    case Way::document: send_by_document(load.text); break;
  }
  const std::string all = everything();
  EXPECT_NE(all.find(load.control), std::string::npos) << "nothing came in at all";
  for (const std::string& word : load.forbidden) EXPECT_EQ(all.find(word), std::string::npos) << word;
}

std::string name_of(const testing::TestParamInfo<Way>& info) {
  const char* const names[] = {"hook",  "transcript", "bad_file",     "remember",
                               "model", "archive",    "other_memory", "document"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Gate, Ways,
                         testing::Values(Way::hook, Way::transcript, Way::bad_file, Way::remember, Way::model,
                                         Way::archive, Way::other_memory, Way::document),
                         name_of);

TEST(Exclude, AResultThatNamesAnExcludedPathTakesItsCallWithIt) {
  Machine m;
  must(m.open());
  must(ops::set_setting(m.disk, m.home, "capture.exclude", "/home/dev/vault/**"));
  m.engine->reload();
  Chat chat;
  m.tell(chat.start());
  m.tell(chat.prompt("find the zebra"));
  const Json input = Json::object({{"pattern", "zebra-pattern"}, {"path", "/home/dev"}});
  m.tell(chat.before_tool("Grep", "t1", input));
  m.tell(chat.tool("Grep", "t1", input, Json::object({{"content", "/home/dev/vault/a:1:zebra-text"}})));
  m.tell(chat.stop("done"));
  EXPECT_EQ(
      m.number("SELECT count(*) FROM events WHERE outcome = 'skipped' AND reason LIKE 'capture.exclude%'"),
      2);
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE kind LIKE 'tool%' AND outcome = 'stored'"), 0);
  std::string all;
  must(store::walk_texts(m.db(), [&](const store::StoredText& stored) { all += stored.text + "\n"; }));
  EXPECT_EQ(all.find("zebra-"), std::string::npos) << all;
  EXPECT_NE(all.find("find the zebra"), std::string::npos);
}

TEST(Secrets, AreKnownToTheirSessionAfterARestart) {
  Machine m;
  must(m.open());
  Chat chat;
  m.tell(chat.start());
  m.tell(chat.prompt("connect with DB_PASSWORD=hT7bNq22wx please"));
  m.tell(chat.prompt("again: hT7bNq22wx"));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_secrets"), 1);
  m.close();
  must(m.open());
  m.tell(chat.prompt("and again: hT7bNq22wx"));
  Chat other{.session = "another-session"};
  m.tell(other.start());
  m.tell(other.prompt("the word hT7bNq22wx"));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts WHERE prompt_text LIKE '%hT7bNq22wx%'"), 1)
      << "another session knows nothing of it";
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts WHERE prompt_text LIKE '%again: [secret:known:%'"),
            2);
  m.close();
}

TEST(Scan, DoesNotReportItsOwnMarkers) {
  Machine m;
  must(m.open());
  Chat chat;
  std::string text;
  for (const SecretSample& sample : one_of_each(9)) text += sample.text + "\n";
  m.tell(chat.prompt(text));
  const gate::Secrets secrets(gate::SecretOptions{{}, {}, m.engine->key()});
  const Json report = must(ops::scan(m.db(), m.disk, m.home, secrets));
  EXPECT_EQ(report["findings"].items().size(), 0u) << report.dump(1);
}

TEST(Scan, ReadsTheArchiveToo) {
  Machine m;
  must(m.open());
  must(ops::set_setting(m.disk, m.home, "archive.redact", "false"));
  m.engine->reload();
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};
  const SecretSample sample = one_of_each(5).front();
  m.tell(chat.start());
  m.tell(chat.prompt("hello"));
  transcript.prompt("hello");
  transcript.answer("it is " + sample.text);
  transcript.save();
  m.tell(chat.end("other"));
  const gate::Secrets secrets(gate::SecretOptions{{}, {}, m.engine->key()});
  const Json report = must(ops::scan(m.db(), m.disk, m.home, secrets));
  ASSERT_EQ(report["findings"].items().size(), 1u) << report.dump(1);
  EXPECT_TRUE(report["findings"].items()[0]["place"].as_string().starts_with("archive/"));
  EXPECT_EQ(report["findings"].items()[0]["row"].as_int(), 2);
}

TEST(Scan, FindsAStoredSecretAndReportsWhereNotWhat) {
  Machine m;
  must(m.open());
  Chat chat;
  m.tell(chat.prompt("hello"));
  const gate::Secrets secrets(gate::SecretOptions{{}, {}, m.engine->key()});
  EXPECT_EQ(must(ops::scan(m.db(), m.disk, m.home, secrets))["findings"].items().size(), 0u);
  const SecretSample sample = one_of_each(5).front();
  must(m.db().run("UPDATE user_prompts SET prompt_text = ?", "by an older version: " + sample.text));
  const Json report = must(ops::scan(m.db(), m.disk, m.home, secrets));
  ASSERT_EQ(report["findings"].items().size(), 1u) << report.dump(1);
  const Json& finding = report["findings"].items().front();
  EXPECT_EQ(finding["place"].as_string(), "user_prompts");
  EXPECT_EQ(finding["column"].as_string(), "prompt_text");
  EXPECT_EQ(finding["fingerprint"].as_string(), secrets.fingerprint(sample.parts[0]));
  EXPECT_EQ(report.dump().find(sample.parts[0]), std::string::npos);
}

}  // namespace
}  // namespace cairn::test
