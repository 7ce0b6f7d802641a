// What a host waits for, and what intake can do, beside what this machine can do at all.
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "growth.h"
#include "os/process.h"
#include "store/queue_admin.h"
#include "store/sql.h"

namespace cairn::bench {

namespace {

// From the start of the program to its end, as a host waits for it.
double run_us(const std::vector<std::string>& program, const std::string& input) {
  Child child;
  child.open_pipes();
  const double begin = now_us();
  child.start(program);
  child.put(input);
  close(child.in[1]);
  int status = 0;
  if (waitpid(child.pid, &status, 0) != child.pid || status != 0) die(program[0] + " failed");
  const double took = now_us() - begin;
  child.output();
  return took;
}

void answers(const std::string& root, const Scale&, Rows& rows) {
  const std::string me = os::executable_path(), bin = me.substr(0, me.find_last_of('/'));
  setenv("CAIRN_HOME", (root + "/home").c_str(), 1);
  if (std::system((bin + "/cairn daemon start > /dev/null").c_str()) != 0) die("cannot start the daemon");
  // Each event of a project of its own: a start beside a turn at work is measured by itself (turns.cpp).
  const auto run = [&](const char* event, const char* project, int n, std::string_view rest) {
    const std::string cwd = root + "/" + project;
    std::filesystem::create_directories(cwd);
    const double took = run_us({bin + "/cairn-hook", event},
                               fmt::format(R"({{"session_id":"{}{}","cwd":"{}"{}}})", project, n, cwd, rest));
    usleep(20'000);  // a session does not begin while the last one is being stored
    return took;
  };
  constexpr int kAnswers = 41;
  std::vector<double> plain, start, prompt;
  for (int i = 0; i < kAnswers; ++i) {
    start.push_back(run("SessionStart", "started", i, R"(,"source":"startup")"));
    prompt.push_back(run("UserPromptSubmit", "asked", i, R"(,"prompt":"go on")"));
    plain.push_back(run("PostToolUse", "worked", i,
                        R"(,"tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{})"));
  }
  const double least = at(plain, 0.5) + bare_sync_us(root);
  rows.push_back({"SessionStart, as the host waits", "us", "plain hook + bare sync", least, "answered",
                  at(start, 0.5), 2.0});
  rows.push_back({"UserPromptSubmit, as the host waits", "us", "plain hook + bare sync", least, "answered",
                  at(prompt, 0.5), 2.0});
  if (std::system((bin + "/cairn daemon stop > /dev/null").c_str()) != 0) die("cannot stop the daemon");
}

// Inserts of the same bytes in groups of the same size: what SQLite alone takes here.
double bare_insert_us(const std::string& root, int events, std::size_t bytes) {
  store::Db::Options options;
  options.path = root + "/bare.db";
  store::Db db = must(store::Db::open(options));
  must(db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)"));
  const std::string text(bytes, 'x');
  const double begin = now_us();
  for (int done = 0; done < events;) {
    auto transaction = must(store::Transaction::begin(db));
    for (int i = 0; i < 256 && done < events; ++i, ++done)
      must(db.run("INSERT INTO t(text) VALUES(?)", text));
    must(transaction.commit());
  }
  return (now_us() - begin) / events;
}

void intake(const std::string& root, const Scale& scale, Rows& rows) {
  constexpr std::size_t kBytes = 2048;
  const int turns = scale.of(20, 200), calls = 50, events = turns * calls;
  Home home(root + "/intake");
  for (int t = 0; t < turns; ++t) {
    home.prompt(fmt::format("s{}", t));
    for (int i = 0; i < calls; ++i) home.call(fmt::format("s{}", t), kBytes);
    home.stop(fmt::format("s{}", t));
  }
  // First events, turns and the queue; the index of their words comes when nothing else is to do.
  struct Used {
    double us = now_us(), processor = processor_seconds(), written = written_bytes();
  };
  const Used before;
  const auto is_busy = [&] {
    return must(home.engine().waiting()) > 0 || must(store::queue_counts(home.db())).work() > 0;
  };
  while (must(home.engine().step()) && is_busy()) {
  }
  const Used stored;
  home.drain();
  const Used indexed;
  const double bare = bare_insert_us(root + "/intake", events, kBytes);
  const std::string name = fmt::format("{} of 2 KB", events);
  const auto add = [&](const std::string& what, const Used& from, const Used& to) {
    rows.push_back({what, "us", "bare insert", bare, name, (to.us - from.us) / events, 0});
    rows.push_back({"... processor time", "us", "bare insert", bare, name,
                    1e6 * (to.processor - from.processor) / events, 0});
    rows.push_back({"... bytes written", "KB", "its bytes", kBytes / 1024.0, name,
                    (to.written - from.written) / events / 1024, 0});
  };
  add("intake of an event", before, stored);
  add("indexing it", stored, indexed);
  const auto pragma = [&](const char* what) {
    return static_cast<double>(must(home.db().integer(std::string("PRAGMA ") + what)).value_or(0));
  };
  const double pages = pragma("page_count"), unused = pragma("freelist_count");
  rows.push_back(
      {"... size of the store", "MB", "raw bytes", events * kBytes / 1e6, name, pages * 4096 / 1e6, 0});
  rows.push_back({"... unused pages", "%", "all", 100, name, 100 * unused / pages, 0});
}

}  // namespace

void measure_hooks(const std::string& root, const Scale& scale, Rows& rows) {
  signal(SIGPIPE, SIG_IGN);
  for (const char* name : {"CAIRN_DISABLE", "CAIRN_AGENT"}) unsetenv(name);
  std::filesystem::create_directories(root + "/intake");
  answers(root, scale, rows);
  intake(root, scale, rows);
}

}  // namespace cairn::bench
