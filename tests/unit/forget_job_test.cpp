// Forgetting: whatever kind of record, whatever way, afterwards nothing of it is in any row, frame or file;
// it does not come back; and its neighbours are still there.
#include <gtest/gtest.h>

#include <functional>

#include "base/text.h"
#include "forget/job.h"
#include "forget/select.h"
#include "forget/tombstones.h"
#include "os/disk.h"
#include "store/compress.h"
#include "store/copy_store.h"
#include "store/tombstones.h"
#include "store/walk.h"
#include "support/engine_fixture.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr const char* kCanary = "zanzibar-canary-7731";
constexpr const char* kNeighbour = "numbat-neighbour-4242";

class World {
 public:
  World() { must(m.open()); }

  Json run(std::string_view name, Json args = Json::object()) { return must(m.run(name, std::move(args))); }
  Json here(std::initializer_list<Json::Member> members = {}) {
    Json args = Json::object({{"cwd", chat.cwd}});
    for (const auto& [key, value] : members) args.set(key, value);
    return args;
  }
  std::string remember(const std::string& text, const char* by = "person") {
    return std::string(run("remember", here({{"text", text}, {"by", by}}))["id"].as_string());
  }

  // A session that says the canary in every place where a host says something, and one that does not.
  void live() {
    const std::string canary = kCanary;
    m.tell(chat.start());
    m.tell(chat.prompt("please rotate the token " + canary + " for the quokka service today"));
    m.tell(chat.tool("Bash", "t1", Json::object({{"command", "echo " + canary + " > /tmp/x"}}),
                     Json::object({{"stdout", "the output has " + canary + " in it"}})));
    m.tell(chat.tool_failure("Bash", "t2", Json::object({{"command", "make " + canary}}),
                             "Exit code 2\nfatal: cannot find " + canary + " in the list of known targets"));
    m.tell(chat.wrote("notes-" + canary + ".md", "t3"));
    m.tell(chat.stop("Decided: " + canary +
                     " is the new token of the quokka service. Next step: tell the team "
                     "about " +
                     canary + "."));
    neighbour();
  }
  void neighbour() {
    Chat other = chat;
    other.session = "5c1d7d28-0000-4000-8000-00000000beef";
    m.tell(other.start());
    m.tell(other.prompt(std::string("document the ") + kNeighbour + " parser in the manual"));
    m.tell(other.wrote("manual.md", "n1"));
    m.tell(other.stop(std::string("The ") + kNeighbour + " parser is documented in the manual now."));
  }

  // Forgets and waits for the report.
  Json forget(Json args) {
    const Json begun = run("forget", std::move(args));
    must(m.drain());
    const Json status = run("forget.status", Json::object({{"forget", begun["forget"].as_int()}}));
    EXPECT_TRUE(status["done"].as_bool()) << status.dump();
    EXPECT_EQ(status["report"]["left"].as_int(), 0) << status.dump();
    return status;
  }

  // Every row, decompressed, and every byte of every file of the home.
  std::vector<std::string> places_of(std::string_view text) {
    std::vector<std::string> places;
    must(store::walk_texts(m.db(), [&](const store::StoredText& stored) {
      if (ascii_lower(stored.text).find(text) != std::string::npos)
        places.push_back(stored.table + "." + stored.column + ": " + stored.text.substr(0, 200));
    }));
    scan(m.home.data, text, places);
    return places;
  }
  void scan(const std::string& directory, std::string_view text, std::vector<std::string>& places) {
    for (const std::string& name : must(m.disk.list(directory))) {
      const std::string path = directory + "/" + name;
      if (must(m.disk.stat(path)).is_dir) {
        scan(path, text, places);
      } else if (ascii_lower(m.read(path)).find(text) != std::string::npos) {
        places.push_back(path);
      }
    }
  }
  void expect_gone(std::string_view text = kCanary) {
    for (const std::string& place : places_of(text)) ADD_FAILURE() << "still in " << place;
    const Json found = run("search", Json::object({{"all", true}, {"query", std::string(text)}}));
    EXPECT_TRUE(found["results"].items().empty()) << found.dump();
  }
  void expect_neighbour() {
    const Json found = run("search", Json::object({{"all", true}, {"query", kNeighbour}, {"limit", 50}}));
    EXPECT_FALSE(found["results"].items().empty());
  }
  // Everything that could bring it back: a new index, a restart, a new distillation of every turn, an old
  // export, an old copy of the store, and the expiry of evidence.
  void age(const std::string& exported, const std::string& copy) {
    run("reindex");
    must(m.drain());
    must(m.open());
    must(m.engine->tick());
    must(m.drain());
    run("redistil", Json::object({{"all", true}, {"provider", "builtin"}}));
    must(m.drain());
    m.put_file("/home/dev/old.json", exported);
    run("import.cairn", Json::object({{"file", "/home/dev/old.json"}}));
    must(m.disk.remove("/home/dev/old.json"));
    must(m.drain());
    expect_gone();
    restore(copy);
    expect_gone();
    m.clock.advance(std::chrono::hours(24 * 200));
    must(m.engine->tick());
    must(m.drain());
  }
  // As `cairn import --store` does it.
  void restore(const std::string& copy) {
    std::vector<gate::Tombstone> tombstones;
    for (const store::TombstoneRow& row : must(store::tombstones(m.db())))
      tombstones.push_back(forget::tombstone_of(row));
    const std::string key = m.engine->key();
    must(store::restore_copy(m.db(), copy, m.clock.now()));
    const auto selection =
        must(forget::select_named(m.db(), key, store::ForgetWay::restore, std::move(tombstones)));
    must(store::in_transaction(m.db(), [&]() -> Status {
      TRY(forget::begin(m.db(), key, selection, {}, m.clock.now()));
      return {};
    }));
    must(m.open());
    must(m.drain());
  }

  Machine m;
  Chat chat;
};

struct Case {
  const char* name;
  std::function<Json(World&)> arguments;  // prepares, and says what to forget
};
class ForgetCase : public testing::TestWithParam<Case> {};

TEST_P(ForgetCase, LeavesNothingAndDoesNotComeBack) {
  World w;
  w.live();
  const TempDir dir;
  const std::string copy = dir.path() + "/copy.db";
  const std::string exported(w.run("export", Json::object({{"all", true}}))["text"].as_string());
  must(store::write_copy(w.m.db(), copy));
  const Json arguments = GetParam().arguments(w);
  w.forget(arguments);
  w.expect_gone();
  w.expect_neighbour();
  w.age(exported, copy);
  w.expect_gone();
  w.expect_neighbour();
}

Json by_query(World& w) {
  return w.here({{"query", kCanary}});
}

Json records_with(World& w, std::string_view letters) {
  const auto table = [](char letter) {
    switch (letter) {
      case 'O': return std::string("observations");
      case 'S': return std::string("session_summaries");
      case 'P': return std::string("user_prompts");
      case 'T': return std::string("texts");
      default: return std::string("open_items");
    }
  };
  Json ids = Json::array();
  for (const char letter : letters)
    for (const std::string& row : w.m.rows("SELECT id FROM " + table(letter))) {
      const Json shown = must(w.m.run("show", Json::object({{"ids", Json::array({letter + row})}})));
      if (shown.dump().find(kCanary) != std::string::npos) ids.push(letter + row);
    }
  return w.here({{"ids", ids}});
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"query", by_query},
      {"query_upper",
       [](World& w) {
         return w.here({{"query", "ZANZIBAR-CANARY-7731"}});
       }},
      {"query_spaced",
       [](World& w) {
         return w.here({{"query", "zanzibar canary 7731"}});
       }},
      {"query_all",
       [](World&) {
         return Json::object({{"all", true}, {"query", kCanary}});
       }},
      {"secret",
       [](World& w) {
         return w.here({{"secret", kCanary}});
       }},
      {"session",
       [](World& w) {
         return w.here({{"session", w.m.text("SELECT content_session_id FROM sdk_sessions ORDER "
                                             "BY id LIMIT 1")}});
       }},
      {"session_by_number",
       [](World& w) {
         return w.here({{"session", "1"}});
       }},
      {"all_records",
       [](World& w) {
         Json args = records_with(w, "OSPTW");
         return args;
       }},
  };
  // The canary in one more place, then by query.
  const auto more = [&](const char* name, std::function<void(World&)> prepare) {
    all.push_back({name, [prepare](World& w) {
                     prepare(w);
                     return by_query(w);
                   }});
  };
  const std::string canary = kCanary;
  more("note", [canary](World& w) { w.remember("the token is " + canary); });
  more("note_agent", [canary](World& w) { w.remember("the token is " + canary, "agent"); });
  more("note_title", [canary](World& w) {
    w.run("remember", w.here({{"text", "a long text about tokens"}, {"title", "token " + canary}}));
  });
  more("note_file", [canary](World& w) {
    w.run("remember", w.here({{"text", "a note on a file"}, {"file", Json::array({canary + ".txt"})}}));
  });
  more("note_for_all", [canary](World& w) {
    w.run("remember", w.here({{"text", "everywhere " + canary}, {"for", "all"}}));
  });
  more("note_done", [canary](World& w) {
    w.run("done", Json::object({{"ids", Json::array({w.remember("done " + canary)})}}));
  });
  more("open_item", [canary](World& w) { w.run("open", w.here({{"text", "rotate " + canary}})); });
  more("open_item_closed", [canary](World& w) {
    const Json item = w.run("open", w.here({{"text", "rotate " + canary}}));
    w.run("done", Json::object({{"ids", Json::array({item["id"]})}}));
  });
  more("document", [canary](World& w) {
    w.run("save", w.here({{"text", "# Notes\n\nThe token is " + canary}}));
  });
  more("document_title", [canary](World& w) {
    w.run("save", w.here({{"text", "# Notes\n\nText."}, {"title", "about " + canary}}));
  });
  more("document_trash", [canary](World& w) {
    w.run("save", w.here({{"text", "# Notes\n\nThe token is " + canary}}));
    w.run("fresh-start", w.here());
  });
  more("document_version", [canary](World& w) {
    w.run("save", w.here({{"text", "# Notes\n\nThe token is " + canary}}));
    w.m.tell(w.chat.prompt("go on with " + canary));
    w.m.tell(w.chat.stop("Went on."));
  });
  more("context_given", [](World& w) {
    Chat next = w.chat;
    next.session = "5c1d7d28-0000-4000-8000-00000000f00d";
    w.m.ask(next.start());
  });
  more("requested_by_agent", [](World& w) {
    w.run("forget.request",
          Json::object({{"ids", Json::array({"S1"})}, {"reason", std::string("has ") + kCanary}}));
  });
  more("open_turn", [canary](World& w) {
    w.m.tell(w.chat.prompt("one more thing about " + canary));
    w.m.tell(w.chat.tool("Bash", "t9", Json::object({{"command", "echo " + canary}}), Json::object()));
  });
  more("failed_turn", [canary](World& w) {
    w.m.tell(w.chat.prompt("again " + canary));
    w.m.tell(w.chat.stop_failure("the model said no about " + canary));
  });
  more("standing_order", [canary](World& w) {
    w.m.tell(w.chat.prompt("always use " + canary + " for the tests"));
    w.m.tell(w.chat.stop("I will."));
  });
  more("shared_payload", [canary](World& w) {
    Chat other = w.chat;
    other.session = "5c1d7d28-0000-4000-8000-0000000000aa";
    w.m.tell(other.start());
    w.m.tell(other.prompt("the same command again"));
    w.m.tell(other.tool("Bash", "s1", Json::object({{"command", "echo " + canary + " > /tmp/x"}}),
                        Json::object({{"stdout", "the output has " + canary + " in it"}})));
    w.m.tell(other.stop("Done."));
  });
  more("same_observation", [canary](World& w) {
    w.remember("equal text with " + canary);
    w.remember("equal text with " + canary, "agent");
  });
  more("other_session", [canary](World& w) {
    Chat other = w.chat;
    other.session = "5c1d7d28-0000-4000-8000-0000000000bb";
    w.m.tell(other.start());
    w.m.tell(other.prompt("what was " + canary + "?"));
    w.m.tell(other.stop("It is " + canary + "."));
  });
  more("escaped", [canary](World& w) {
    w.m.tell(w.chat.prompt("quote \"" + canary + "\"\n\tand a tab"));
    w.m.tell(w.chat.stop("ok"));
  });
  more("upper_case", [](World& w) {
    w.m.tell(w.chat.prompt("shout ZANZIBAR-CANARY-7731 now"));
    w.m.tell(w.chat.stop("ok"));
  });
  more("long_prompt", [canary](World& w) {
    w.m.tell(w.chat.prompt(std::string(3000, 'x') + " " + canary + " " + std::string(3000, 'y')));
    w.m.tell(w.chat.stop("ok"));
  });
  more("subagent", [canary](World& w) {
    w.m.tell(w.chat.prompt("use a subagent"));
    w.m.tell(w.chat.tool("Task", "k1", Json::object({{"prompt", "look for " + canary}}),
                         Json::object({{"content", "found " + canary}})));
    w.m.tell(w.chat.stop("ok"));
  });
  more("tasks", [canary](World& w) {
    w.m.tell(w.chat.prompt("plan"));
    w.m.tell(w.chat.tool("TodoWrite", "k2",
                         Json::object({{"todos", Json::array({Json::object({{"content", "do " + canary},
                                                                            {"status", "pending"},
                                                                            {"activeForm", "doing"}})})}}),
                         Json::object()));
    w.m.tell(w.chat.stop("ok"));
  });
  more("commit", [canary](World& w) {
    w.m.tell(w.chat.prompt("commit"));
    w.m.tell(w.chat.ran("git commit -m 'rotate " + canary + "'", "k3"));
    w.m.tell(w.chat.stop("ok"));
  });
  more("web", [canary](World& w) {
    w.m.tell(w.chat.prompt("look it up"));
    w.m.tell(w.chat.tool("WebFetch", "k4", Json::object({{"url", "https://a.test/" + canary}}),
                         Json::object({{"result", "page " + canary}})));
    w.m.tell(w.chat.stop("ok"));
  });
  more("bad_file", [canary](World& w) {
    w.m.try_deliver("Stop", "not json but " + canary).value();
    must(w.m.drain());
  });
  more("log", [canary](World& w) {
    must(os::make_dirs(w.m.disk, w.m.home.logs()));
    w.m.put_file(w.m.home.logs() + "/daemon.log", "a line with " + canary + "\n");
  });
  more("damaged_store",
       [canary](World& w) { w.m.put_file(w.m.home.data + "/cairn.db.damaged-2026", "old page " + canary); });
  more("in_the_inbox", [canary](World& w) { w.m.deliver(w.chat.prompt("late " + canary)); });
  more("retention", [](World& w) {
    w.m.clock.advance(std::chrono::hours(24 * 200));
    must(w.m.engine->tick());
    must(w.m.drain());
  });
  more("restarted", [](World& w) { must(w.m.open()); });
  // One kind alone, with its copies.
  const auto kind = [&](const char* name, const char* letters) {
    all.push_back({name, [letters](World& w) {
                     // The others say it, too, and go as well: what is left is in no record.
                     w.forget(records_with(w, letters));
                     return by_query(w);
                   }});
  };
  kind("observations_first", "O");
  kind("summaries_first", "S");
  kind("prompts_first", "P");
  kind("texts_first", "T");
  kind("items_first", "W");
  all.push_back({"file", [canary](World& w) {
                   w.forget(w.here({{"file", "notes-" + canary + ".md"}}));
                   return by_query(w);
                 }});
  all.push_back({"before", [](World& w) {
                   w.forget(w.here({{"session", "1"}}));
                   w.remember(std::string("late ") + kCanary);
                   return by_query(w);
                 }});
  all.push_back({"rejected", [](World& w) {
                   w.run("reject", Json::object({{"id", "S1"}, {"reason", std::string("says ") + kCanary}}));
                   return by_query(w);
                 }});
  all.push_back(
      {"edited", [](World& w) {
         w.run("edit",
               Json::object({{"id", "S1"}, {"set", Json::array({std::string("notes=about ") + kCanary})}}));
         return by_query(w);
       }});
  all.push_back({"twice", [](World& w) {
                   w.forget(by_query(w));
                   w.neighbour();
                   return w.here({{"secret", kCanary}});
                 }});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Forget, ForgetCase, testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Forget, HasFiftyCases) {
  EXPECT_GE(cases().size(), 50u);
}

TEST(Forget, ADryRunChangesNothing) {
  World w;
  w.live();
  const auto before = w.places_of(kCanary).size();
  const Json shown = w.run("forget", w.here({{"query", kCanary}, {"dry_run", true}}));
  EXPECT_GT(shown["record_count"].as_int(), 3);
  EXPECT_EQ(w.places_of(kCanary).size(), before);
}

TEST(Forget, TheSameSessionAgainCreatesNothing) {
  World w;
  w.live();
  w.forget(w.here({{"session", "1"}}));
  const auto sessions = w.m.number("SELECT count(*) FROM sdk_sessions");
  w.m.tell(w.chat.prompt(std::string("please rotate ") + kCanary));
  w.m.tell(w.chat.stop("Done."));
  w.expect_gone();
  EXPECT_EQ(w.m.number("SELECT count(*) FROM sdk_sessions"), sessions);
}

TEST(Forget, TheSameWordsInAnotherSessionCreateNoMemoryOfThem) {
  World w;
  const std::string id = w.remember("the staging password is Hunter2 of the winter palace");
  w.forget(w.here({{"ids", Json::array({id})}}));
  w.m.tell(w.chat.start());
  w.m.tell(w.chat.prompt("Remember: THE STAGING  PASSWORD is hunter2 of the winter palace, ok?"));
  w.m.tell(w.chat.stop("The staging password is Hunter2 of the Winter Palace. Noted."));
  w.expect_gone("hunter2");
}

TEST(Forget, AProjectGoesWholeAndOthersStay) {
  World w;
  w.live();
  Chat other;
  other.session = "5c1d7d28-0000-4000-8000-0000000000cc";
  other.cwd = "/home/dev/elsewhere";
  w.m.tell(other.start());
  w.m.tell(other.prompt("the wombat compiler of the other project"));
  w.m.tell(other.stop("Done."));
  w.remember(std::string("note ") + kCanary);
  const std::string project = w.m.text("SELECT project FROM sdk_sessions WHERE id = 1");
  w.forget(Json::object({{"project", project}}));
  w.expect_gone();
  w.expect_gone(kNeighbour);
  EXPECT_EQ(w.m.number("SELECT count(*) FROM projects WHERE name = '" + project + "'"), 0);
  const Json found = w.run("search", Json::object({{"all", true}, {"query", "wombat"}}));
  EXPECT_FALSE(found["results"].items().empty());
}

TEST(Forget, WhatIsOlderGoesAndWhatIsNewerStays) {
  World w;
  w.live();
  w.m.clock.advance(std::chrono::hours(24 * 10));
  Chat later = w.chat;
  later.session = "5c1d7d28-0000-4000-8000-0000000000dd";
  w.m.tell(later.start());
  w.m.tell(later.prompt("a later bandicoot session"));
  w.m.tell(later.stop("Done."));
  w.forget(w.here({{"before", "5d"}}));
  w.expect_gone();
  EXPECT_FALSE(
      w.run("search", Json::object({{"all", true}, {"query", "bandicoot"}}))["results"].items().empty());
}

TEST(Forget, ItGoesOnAfterDeathAtAnyStep) {
  for (int steps = 0; steps < 14; steps += 2) {
    World w;
    w.live();
    w.remember(std::string("note ") + kCanary);
    const Json begun = w.run("forget", w.here({{"query", kCanary}}));
    for (int i = 0; i < steps; ++i) must(w.m.engine->step());
    w.m.engine.reset();
    must(w.m.open());
    must(w.m.drain());
    const Json status = w.run("forget.status", Json::object({{"forget", begun["forget"].as_int()}}));
    EXPECT_TRUE(status["done"].as_bool()) << steps;
    w.expect_gone();
    w.expect_neighbour();
  }
}

TEST(Forget, NamesWhatItCannotFind) {
  World w;
  EXPECT_EQ(w.m.run("forget", w.here({{"ids", Json::array({"O77"})}})).error().code, Code::not_found);
  EXPECT_EQ(w.m.run("forget", w.here({{"ids", Json::array({"what"})}})).error().code, Code::invalid);
  EXPECT_EQ(w.m.run("forget", w.here()).error().code, Code::invalid);
}

}  // namespace
}  // namespace cairn::test
