// Exports: complete, scoped, and read back without loss; what was forgotten does not travel, its tombstones
// do.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "base/text.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

constexpr const char* kFile = "/home/dev/export.json";

// One home with its daemon.
class Home {
 public:
  explicit Home(Chat of = {}) : chat(std::move(of)) { must(m.open()); }

  Json run(std::string_view name, Json args = Json::object()) { return must(m.run(name, std::move(args))); }
  Json here(std::initializer_list<Json::Member> members = {}) {
    Json args = Json::object({{"cwd", chat.cwd}});
    for (const auto& [key, value] : members) args.set(key, value);
    return args;
  }
  std::string remember(const std::string& text, const char* by = "person") {
    return std::string(run("remember", here({{"text", text}, {"by", by}}))["id"].as_string());
  }
  // Something of every kind.
  void live() {
    m.tell(chat.start());
    m.tell(chat.prompt(
        "Teach the quokka lexer to read trigraphs. From now on always use tabs in this project."));
    m.tell(chat.tool_failure("Bash", "t1", Json::object({{"command", "make quokka"}}),
                             "Exit code 2\nfatal: the quokka lexer cannot read trigraphs in this shell"));
    m.tell(chat.wrote("quokka.cpp", "t2"));
    m.tell(chat.stop("Decided: the quokka port is 4711, because 4710 is taken. Next step: test the wombat."));
    m.tell(chat.prompt("now the wombat parser"));
    m.tell(chat.wrote("wombat.cpp", "t3"));
    m.tell(chat.stop("The wombat parser is done."));
    m.tell(chat.end());
    remember("deploys go through the numbat pipeline");
    remember("an agent's note about the dunnart", "agent");
    run("open", here({{"text", "write the bilby manual"}}));
    run("save", here({{"text", "# State\n\nThe potoroo branch is merged."}, {"title", "Potoroo"}}));
    run("pin", Json::object({{"id", remember("pinned: the release is on fridays")}}));
    run("reject", Json::object({{"id", remember("the cassowary is blue")}, {"reason", "it is not"}}));
    run("edit", Json::object({{"id", "S1"}, {"set", Json::array({"learned=The quokka port is 5822."})}}));
  }
  std::string exported(Json args = Json::object({{"all", true}})) {
    return std::string(run("export", std::move(args))["text"].as_string());
  }
  Result<Json> import(const std::string& text, bool dry_run = false) {
    m.put_file(kFile, text);
    return m.run("import.cairn", Json::object({{"file", kFile}, {"dry_run", dry_run}}));
  }
  Json take(const std::string& text) {
    Json report = must(import(text));
    must(m.drain());
    return report;
  }
  void forget(Json args) {
    run("forget", std::move(args));
    must(m.drain());
  }
  bool finds(const std::string& words) {
    return !run("search", Json::object({{"all", true}, {"query", words}}))["results"].items().empty();
  }
  std::string context() { return std::string(run("context", here())["text"].as_string()); }

  Machine m;
  Chat chat;
};

// The records of an export by kind, without what says where and when it was made.
std::map<std::string, std::vector<std::string>> records_of(const std::string& text) {
  std::map<std::string, std::vector<std::string>> records;
  const Json all = must(Json::parse(text));
  for (Json record : all["records"].items()) {
    if (record.has("origin")) record.set("origin", "anywhere");
    records[std::string(record["record"].as_string())].push_back(record.dump());
  }
  return records;
}

TEST(Export, IsReadBackWithoutLossInAnotherHome) {
  Home a, b;
  a.live();
  const std::string text = a.exported();
  const auto before = records_of(text);
  for (const char* kind : {"project", "session", "turn", "prompt", "text", "observation", "note", "summary",
                           "open item", "order", "document"})
    EXPECT_TRUE(before.contains(kind)) << kind;
  const Json report = b.take(text);
  EXPECT_TRUE(report["left_out"].members().empty()) << report.dump();
  EXPECT_EQ(records_of(b.exported()), before);
  EXPECT_TRUE(b.finds("trigraphs") && b.finds("numbat") && b.finds("bilby") && b.finds("potoroo"));
  EXPECT_FALSE(b.finds("cassowary")) << "what was rejected stays so";
  EXPECT_NE(b.context().find("release is on fridays"), std::string::npos);
  const Json why = b.run("why", Json::object({{"id", "S1"}}));
  EXPECT_EQ(why["actor"].as_string(), "person") << why.dump();
}

TEST(Export, ASecondImportChangesNothing) {
  Home a, b;
  a.live();
  const std::string text = a.exported();
  b.take(text);
  const std::string once = b.exported();
  const Json report = b.take(text);
  EXPECT_TRUE(report["imported"].members().empty()) << report.dump();
  EXPECT_TRUE(report["changed"].members().empty()) << report.dump();
  EXPECT_EQ(records_of(b.exported()), records_of(once));
  const Json own = a.take(text);
  EXPECT_TRUE(own["imported"].members().empty()) << own.dump();
  EXPECT_EQ(records_of(a.exported()), records_of(text));
}

TEST(Export, ASessionThatBothHomesRecordedIsOneSession) {
  Home a, b;
  a.live();
  b.live();
  const char* counts =
      "SELECT (SELECT count(*) FROM sdk_sessions WHERE hidden = 0), (SELECT count(*) FROM turns), (SELECT "
      "count(*) FROM "
      "user_prompts), (SELECT count(*) FROM texts), (SELECT count(*) FROM session_summaries)";
  const auto before = b.m.rows(counts);
  const Json report = b.take(a.exported());
  EXPECT_GT(report["known"]["sessions"].as_int(), 0) << report.dump();
  EXPECT_EQ(b.m.rows(counts), before) << report.dump();
}

TEST(Export, ADryRunSaysWhatWouldComeAndStoresNothing) {
  Home a, b;
  a.live();
  const Json report = must(b.import(a.exported(), true));
  EXPECT_GT(report["imported"]["observations"].as_int(), 2);
  EXPECT_EQ(b.m.number("SELECT count(*) FROM projects"), 0);
}

TEST(Export, HasOnlyTheProjectThatIsAskedForAndThoseLinkedWithIt) {
  Home a;
  a.live();
  Chat other;
  other.session = "5c1d7d28-0000-4000-8000-0000000000cc";
  other.cwd = "/home/dev/code/elsewhere";
  Home* home = &a;
  home->m.tell(other.start());
  home->m.tell(other.prompt("the bandicoot compiler of the other project"));
  home->m.tell(other.stop("The bandicoot compiler is done."));
  home->run("remember", Json::object({{"cwd", other.cwd}, {"text", "bandicoot for all"}, {"for", "all"}}));
  for (const char* format : {"json", "md", "html"}) {
    const std::string mine = a.exported(a.here({{"format", format}}));
    EXPECT_EQ(mine.find("bandicoot"), std::string::npos) << format;
    EXPECT_NE(mine.find("quokka"), std::string::npos) << format;
    const std::string theirs = a.exported(Json::object({{"cwd", other.cwd}, {"format", format}}));
    EXPECT_EQ(theirs.find("quokka"), std::string::npos) << format;
    EXPECT_NE(theirs.find("bandicoot"), std::string::npos) << format;
  }
  const auto names = a.m.rows("SELECT name FROM projects ORDER BY id");
  a.run("projects.link", Json::object({{"name", names[0]}, {"other", names[1]}}));
  EXPECT_NE(a.exported(a.here()).find("bandicoot"), std::string::npos);
  Home b;
  b.take(a.exported(a.here()));
  EXPECT_EQ(b.m.number("SELECT count(*) FROM project_links WHERE state = 'linked'"), 1);
}

TEST(Export, TheFileIsPrivateWholeAndInTheAuditLog) {
  Home a;
  a.live();
  const Json result = a.run("export", a.here({{"to", "/home/dev/out.json"}}));
  EXPECT_EQ(static_cast<std::int64_t>(a.m.read("/home/dev/out.json").size()), result["bytes"].as_int());
  EXPECT_TRUE(Json::parse(a.m.read("/home/dev/out.json")).ok());
  EXPECT_EQ(a.m.text("SELECT what FROM audit ORDER BY id DESC LIMIT 1"), "export");
  EXPECT_TRUE(a.run("audit.verify")["ok"].as_bool());
  EXPECT_EQ(a.m.run("export", a.here({{"to", "/home/dev/out.json"}})).error().code, Code::invalid);
  EXPECT_FALSE(a.m.disk.stat("/home/dev/out.json.part").ok());
}

TEST(Export, APageCountsOnlyTheTextsThatItHas) {
  Home a;
  a.live();
  must(a.m.db().run("UPDATE texts SET kind = 'title' WHERE id = (SELECT min(id) FROM texts)"));
  const auto shown = a.m.number("SELECT count(*) FROM texts WHERE kind IN ('answer', 'commit')");
  ASSERT_LT(shown, a.m.number("SELECT count(*) FROM texts"));
  EXPECT_EQ(a.run("export", a.here({{"format", "md"}}))["records"]["text"].as_int(), shown);
}

TEST(Export, StoredTextCannotBecomePartOfThePage) {
  Home a;
  a.remember(
      "<script>alert(1)</script> & \"quoted\" <img src=x onerror=y> \x1b[31mred ![x](http://a.test/b)\n# "
      "Heading");
  const std::string html = a.exported(a.here({{"format", "html"}}));
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(html.find("http://"), html.find("http://a.test")) << "it must load nothing";
  const std::string md = a.exported(a.here({{"format", "md"}}));
  EXPECT_EQ(md.find("<script"), std::string::npos);
  EXPECT_EQ(md.find("![x]"), std::string::npos);
  EXPECT_EQ(md.find("\n# Heading"), std::string::npos);
  EXPECT_EQ(md.find('\x1b'), std::string::npos);
}

TEST(Export, WhatWasForgottenDoesNotComeBackThroughAnOldOne) {
  Home a;
  a.live();
  const std::string old = a.exported();
  a.forget(a.here({{"ids", Json::array({"D1"})}}));
  a.forget(a.here({{"query", "quokka"}}));
  a.forget(a.here({{"query", "numbat"}}));
  const Json report = a.take(old);
  EXPECT_GT(report["left_out"]["forgotten here"].as_int(), 3) << report.dump();
  EXPECT_FALSE(a.finds("quokka"));
  EXPECT_FALSE(a.finds("numbat"));
  EXPECT_FALSE(a.finds("potoroo"));
  EXPECT_TRUE(a.finds("dunnart"));
}

TEST(Export, AForgottenSessionStaysForgotten) {
  Home a;
  a.live();
  const std::string old = a.exported();
  a.forget(a.here({{"session", "1"}}));
  a.take(old);
  EXPECT_FALSE(a.finds("trigraphs"));
  EXPECT_EQ(a.m.number("SELECT count(*) FROM sdk_sessions WHERE platform <> 'cairn'"), 0);
  EXPECT_TRUE(a.finds("numbat"));
}

TEST(Export, ARecordThatWasEditedAndThenForgottenDoesNotComeBackWithItsOldWords) {
  Home a;
  const std::string id = a.remember("the cassowary is blue and lives in the north");
  const std::string old = a.exported();
  a.run("edit", Json::object({{"id", id}, {"set", Json::array({"title=it is a green parrot after all"})}}));
  a.forget(a.here({{"ids", Json::array({id})}}));
  a.take(old);
  EXPECT_FALSE(a.finds("cassowary"));
}

TEST(Export, TombstonesAreExportedAndWorkInTheOtherHome) {
  Home a, b;
  a.live();
  b.take(a.exported());
  ASSERT_TRUE(b.finds("numbat"));
  a.forget(a.here({{"query", "deploys go through the numbat pipeline"}}));
  a.forget(a.here({{"session", "1"}}));
  const std::string text = a.exported();
  EXPECT_EQ(text.find("numbat"), std::string::npos);
  const Json report = b.take(text);
  EXPECT_GT(report["tombstones"].as_int(), 0);
  EXPECT_FALSE(b.finds("numbat")) << "what was forgotten there is forgotten here";
  EXPECT_FALSE(b.finds("trigraphs"));
  EXPECT_TRUE(b.finds("dunnart"));
  // And it does not come in here any more, in whatever case.
  b.m.tell(b.chat.start());
  EXPECT_EQ(b.m.run("remember", b.here({{"text", "Deploys go through the NUMBAT pipeline"}})).error().code,
            Code::denied);
  must(b.m.open());
  EXPECT_EQ(b.m.run("remember", b.here({{"text", "deploys go through  the numbat-pipeline"}})).error().code,
            Code::denied);
  // They go on to a third home, and the user can lift them there.
  Home c;
  c.take(b.exported());
  EXPECT_EQ(c.m.run("remember", c.here({{"text", "deploys go through the numbat pipeline"}})).error().code,
            Code::denied);
  c.run("remember", c.here({{"text", "deploys go through the numbat pipeline"}, {"again", true}}));
  EXPECT_TRUE(c.finds("numbat"));
  const Json again = c.take(b.exported());
  EXPECT_TRUE(again["imported"].members().empty()) << again.dump();
}

TEST(Export, WithoutTombstonesItHasNothingOfWhatWasForgotten) {
  Home a;
  a.live();
  a.forget(a.here({{"query", "quokka"}}));
  EXPECT_NE(a.exported().find("\"tombstone\""), std::string::npos);
  const std::string text = a.exported(Json::object({{"all", true}, {"no_tombstones", true}}));
  EXPECT_EQ(text.find("\"tombstone\""), std::string::npos);
  EXPECT_EQ(text.find("\"key\",\"number\""), std::string::npos);
}

TEST(Export, ALaterDecisionTravelsAndAnEarlierOneDoesNot) {
  Home a, b;
  const std::string id = a.remember("the quokka port is 4711");
  b.take(a.exported());
  b.m.clock.advance(std::chrono::hours(1));
  a.m.clock.advance(std::chrono::hours(1));
  a.run("edit", Json::object({{"id", id}, {"set", Json::array({"title=the quokka port is 5822"})}}));
  const Json report = b.take(a.exported());
  EXPECT_EQ(report["changed"]["observations"].as_int(), 1) << report.dump();
  EXPECT_TRUE(b.finds("5822"));
  EXPECT_FALSE(b.finds("4711"));
  // Here it was rejected later than it was edited there.
  const std::string old = a.exported();
  b.m.clock.advance(std::chrono::hours(1));
  b.run("reject", Json::object({{"id", "O1"}}));
  b.take(old);
  EXPECT_FALSE(b.finds("5822"));
  a.m.clock.advance(std::chrono::hours(9));
  a.take(b.exported());
  EXPECT_FALSE(a.finds("5822")) << "the rejection is the last word";
}

TEST(Export, ProjectsAreMatchedByTheirFirstCommit) {
  Home a, b({.session = "5c1d7d28-0000-4000-8000-0000000000ee", .cwd = "/home/dev/clone/other-name"});
  a.live();
  b.remember("a note of the clone");
  const std::string commit(40, 'c'), another(40, 'd');
  must(a.m.db().run("UPDATE projects SET root_commit = ?", commit));
  must(b.m.db().run("UPDATE projects SET root_commit = ?", commit));
  const Json report = b.take(a.exported());
  EXPECT_FALSE(report["projects"].items()[0]["new"].as_bool()) << report.dump();
  EXPECT_EQ(b.m.number("SELECT count(*) FROM projects"), 1);
  EXPECT_NE(b.context().find("release is on fridays"), std::string::npos) << b.context();
  // The same name and path, but another history: another project.
  Home c;
  c.remember("something else");
  must(c.m.db().run("UPDATE projects SET root_commit = ?", another));
  c.take(a.exported());
  EXPECT_EQ(c.m.number("SELECT count(*) FROM projects"), 2);
  EXPECT_EQ(c.context().find("release is on fridays"), std::string::npos);
}

TEST(Export, EveryTextPassesTheGate) {
  Home a, b;
  a.live();
  std::string text = a.exported();
  const std::string secret = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6";
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("wombat", "wombat <private>undisclosed</private> " + secret);
  b.take(text);
  EXPECT_EQ(b.exported().find("undisclosed"), std::string::npos);
  EXPECT_EQ(b.exported().find(secret), std::string::npos);
  EXPECT_TRUE(b.finds("wombat"));
}

struct Damage {
  const char* name;
  std::function<std::string(std::string)> change;
};
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const std::vector<Damage> kDamages = {
    {"empty", [](std::string) { return std::string(); }},
    {"not_json",
     [](std::string) {
       return std::string(
           "\x7f"
           "ELF and more");
     }},
    {"other_json", [](std::string) { return std::string("{\"observations\":[]}"); }},
    {"a_list", [](std::string) { return std::string("[1,2,3]"); }},
    {"deep", [](std::string) { return std::string(1'000'000, '['); }},
    {"half", [](std::string text) { return text.substr(0, text.size() / 2); }},
    {"no_end", [](std::string text) { return text.substr(0, text.rfind("\n]")); }},
    {"a_line_is_missing",
     [](std::string text) {
       const std::size_t at = text.find("{\"record\":\"prompt\""), end = text.find('\n', at);
       return text.erase(at, end - at + 1);
     }},
    {"twice_in_one_file", [](std::string text) { return text + text; }},
    {"newer", [](std::string text) { return replaced(text, "\"cairn_export\":1", "\"cairn_export\":2"); }},
    {"unknown_kind",
     [](std::string text) { return replaced(text, "\"record\":\"order\"", "\"record\":\"spell\""); }},
    {"wrong_type",
     [](std::string text) { return replaced(text, "\"prompt_number\":1", "\"prompt_number\":\"x\""); }},
    {"text_is_an_object",
     [](std::string text) { return replaced(text, "\"title\":\"", "\"title\":{\"a\":1},\"was\":\""); }},
    {"state_of_no_set",
     [](std::string text) { return replaced(text, "\"status\":\"completed\"", "\"status\":\"magic\""); }},
    {"reason_of_no_set",
     [](std::string text) { return replaced(text, "\"hidden_by\":\"reject\"", "\"hidden_by\":\"magic\""); }},
    {"text_in_an_id",
     [](std::string text) {
       return replaced(text, "\"platform\":\"claude-code\"", "\"platform\":\"<b>\\u001b[1m\"");
     }},
    {"no_such_session",
     [](std::string text) {
       const std::size_t at = text.find("\"session\":\"") + 11;
       return text.replace(at, 8, "00000000");
     }},
    {"no_such_project",
     [](std::string text) {
       const std::size_t at = text.find("\"project\":\"") + 11;
       return text.replace(at, 8, "00000000");
     }},
    {"no_uuid",
     [](std::string text) {
       const std::size_t at = text.find("{\"record\":\"observation\",\"uuid\":\"") + 32;
       return text.erase(at, 36);
     }},
    {"tombstone_of_a_common_word",
     [](std::string text) {
       const std::size_t at = text.find("\"kind\":\"text\",\"hash\""), length = text.find("\"length\":", at);
       return text.replace(length + 9, text.find('}', length) - length - 9, "5");
     }},
    {"tombstone_without_key",
     [](std::string text) {
       return replaced(text, "\"record\":\"tombstone\",\"key\":0", "\"record\":\"tombstone\",\"key\":7");
     }},
};

TEST(Export, ADamagedOneIsRefusedWithAReasonAndStoresNothing) {
  Home a, b;
  a.live();
  a.forget(a.here({{"query", "numbat"}}));
  const std::string whole = a.exported();
  for (const Damage& damage : kDamages) {
    SCOPED_TRACE(damage.name);
    const auto result = b.import(damage.change(whole));
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(result.error().code == Code::invalid || result.error().code == Code::unsupported)
        << result.error().message;
    EXPECT_GT(result.error().message.size(), 20u);
    EXPECT_EQ(b.m.number("SELECT count(*) FROM projects") + b.m.number("SELECT count(*) FROM tombstones") +
                  b.m.number("SELECT count(*) FROM sdk_sessions") + b.m.number("SELECT count(*) FROM audit"),
              0);
  }
}

// The file with one record changed, or with a changed copy of it behind the others.
std::string with_changed(const Json& all, std::size_t number, bool as_copy,
                         const std::function<void(Json&)>& change) {
  Json records = Json::array(), counts = all["counts"], head = all;
  std::size_t at = 0;
  Json changed;
  for (const Json& record : all["records"].items()) {
    Json copy = record;
    if (at++ == number) change(changed = record);
    records.push(at == number + 1 && !as_copy ? changed : std::move(copy));
  }
  if (as_copy) {
    const std::string_view kind = changed["record"].as_string();
    counts.set(kind, counts[kind].as_int() + 1);
    records.push(changed);
  }
  head.set("records", std::move(records)).set("counts", std::move(counts));
  return head.dump();
}

// Each value of each record in turn is replaced by values that do not belong there.
TEST(Export, AnyWrongValueIsRefusedWithAReasonOrTaken) {
  Home a, b;
  a.live();
  a.forget(a.here({{"query", "numbat"}}));
  const Json all = must(Json::parse(a.exported()));
  const std::vector<Json> values = {
      Json(),          Json(0),           Json(-1),
      Json(INT64_MAX), Json(INT64_MIN),   Json(""),
      Json("x"),       Json(true),        Json(std::string(1, '\0')),
      Json::array(),   Json::array({""}), Json::object({{"trust", "x"}, {"changed_at_epoch", INT64_MAX}})};
  const std::size_t stride = std::getenv("CAIRN_FULL") ? 1 : 97;
  std::size_t made = 0, number = 0;
  std::set<std::string> kinds;
  const auto expect_refused_or_taken = [&](const std::string& text, const std::string& what) {
    const auto result = b.import(text, true);
    EXPECT_TRUE(result || result.error().code == Code::invalid || result.error().code == Code::unsupported)
        << what << "\n"
        << result.error().message;
  };
  for (const Json& record : all["records"].items()) {
    const Json bare = Json::object({{"record", record["record"]}});
    if (kinds.insert(bare.dump()).second)
      expect_refused_or_taken(with_changed(all, number, true, [&](Json& of) { of = bare; }), bare.dump());
    for (const auto& [key, was] : record.members())
      for (const Json& value : values)
        for (const bool as_copy : {false, true})
          if (key != "record" && ++made % stride == 0)
            expect_refused_or_taken(
                with_changed(all, number, as_copy, [&, &k = key](Json& of) { of.set(k, value); }),
                key + " = " + value.dump() + (as_copy ? " in a copy of " : " in ") + record.dump());
    ++number;
  }
  EXPECT_GT(made / stride, 50u);
}

TEST(Export, AFileThatAnotherProgramFormattedIsReadAsWell) {
  Home a, b;
  a.live();
  const std::string text = a.exported();
  b.take(must(Json::parse(text)).dump(2));
  EXPECT_EQ(records_of(b.exported()), records_of(text));
}

TEST(Export, WaitsUntilAForgetIsDone) {
  Home a;
  a.live();
  a.run("forget", a.here({{"query", "quokka"}}));
  EXPECT_EQ(a.m.run("export", a.here()).error().code, Code::busy);
  must(a.m.drain());
  EXPECT_EQ(a.exported().find("quokka"), std::string::npos);
}

}  // namespace
}  // namespace cairn::test
