// A database as claude-mem 13 makes it (the tables that matter), on the disk of a machine.
#pragma once

#include <gtest/gtest.h>

#include "store/sql.h"
#include "support/engine_fixture.h"

namespace cairn::test {

using Lines = std::vector<std::string>;

// As long as it lives its changes are in the WAL beside it, as while claude-mem runs.
struct OldDatabase {
  store::Db db;

  static store::Db open(Machine& m, const std::string& path) {
    store::Db::Options options;
    options.path = path;
    options.vfs = m.vfs.name();
    options.exclusive = true;
    return must(store::Db::open(options));
  }
  OldDatabase(Machine& m, const std::string& path) : db(open(m, path)) {
    must(db.exec(
        "CREATE TABLE sdk_sessions(id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL, "
        "memory_session_id TEXT UNIQUE, project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT "
        "'claude', user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, "
        "completed_at TEXT, completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active', worker_port "
        "INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT);"
        "CREATE TABLE observations(id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, "
        "project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, "
        "narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER, "
        "created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);"
        "CREATE TABLE session_summaries(id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT "
        "NULL, project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, "
        "next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT, prompt_number INTEGER, created_at "
        "TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);"
        "CREATE TABLE user_prompts(id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER, "
        "content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, "
        "created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);"
        "CREATE TABLE tool_uses(id INTEGER PRIMARY KEY, content_session_id TEXT, project TEXT, cwd TEXT)"));
  }

  void session(const std::string& id, const std::string& project, std::int64_t at, bool completed = true) {
    must(
        db.run("INSERT INTO sdk_sessions(content_session_id, memory_session_id, project, started_at, "
               "started_at_epoch, completed_at_epoch, status) VALUES(?1, 'm-' || ?1, ?2, '', ?3, ?4, "
               "'completed')",
               id, project, at, completed ? std::optional(at + 60'000) : std::nullopt));
  }
  void prompt(const std::string& session, int number, const std::string& text, std::int64_t at) {
    must(
        db.run("INSERT INTO user_prompts(content_session_id, prompt_number, prompt_text, created_at, "
               "created_at_epoch) VALUES(?,?,?,'',?)",
               session, number, text, at));
  }
  void observation(const std::string& session, const std::string& project, const std::string& title,
                   const std::string& narrative, std::int64_t at, const std::string& file = "parser.c") {
    must(
        db.run("INSERT INTO observations(memory_session_id, project, type, title, narrative, facts, "
               "concepts, files_modified, prompt_number, created_at, created_at_epoch) VALUES('m-' || ?, ?, "
               "'bugfix', ?, ?, '[\"three tables were rebuilt\"]', '[\"problem-solution\"]', json_array(?), "
               "1, '', ?)",
               session, project, title, narrative, file, at));
  }
  void summary(const std::string& session, const std::string& project, const std::string& done,
               std::int64_t at, std::optional<int> number = 1) {
    must(
        db.run("INSERT INTO session_summaries(memory_session_id, project, request, learned, completed, "
               "next_steps, files_edited, prompt_number, created_at, created_at_epoch) VALUES('m-' || ?, ?, "
               "'Make it fast', 'Tables are costly', ?, 'Measure the lexer', '[]', ?, '', ?)",
               session, project, done, number, at));
  }
};

}  // namespace cairn::test
