#include "cli/doctor.h"

#include <fmt/format.h>

#include <array>

#include "cli/commands.h"
#include "os/lock.h"
#include "store/migrate.h"

namespace cairn::cli {

namespace {

constexpr std::size_t kWidest = 4096;  // lines are not broken in a pipe
constexpr std::size_t kNameColumns = 17;
constexpr std::size_t kIndent = 2 + 4 + 2 + kNameColumns + 2;  // "  PASS  NAME  ": where the text begins

struct VerdictName {
  std::string_view shown;
  std::string_view key;
  Style style;
};
// In the order of the enumeration.
constexpr std::array kVerdicts = {
    VerdictName{"PASS", "pass", Style::good}, VerdictName{"WARN", "warn", Style::warn},
    VerdictName{"FAIL", "fail", Style::bad}, VerdictName{"SKIP", "skip", Style::dim}};

const VerdictName& name_of(Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

using Counts = std::array<int, kVerdicts.size()>;

// "  PASS  hooks  17 events...", wrapped on a terminal, then what fixes it.
std::string line_of(const Screen& screen, std::string_view name, const Finding& finding,
                    const std::string& note = {}) {
  const std::size_t width = screen.terminal ? screen.width : kWidest;
  const VerdictName& verdict = name_of(finding.verdict);
  const std::string text = wrap(note + shown_line(finding.found), width, kIndent);
  std::string out = fmt::format("  {}  {}  {}", screen.paint(verdict.style, verdict.shown),
                                pad(name, kNameColumns), text.substr(kIndent));
  if (!finding.fix.empty()) {
    const std::string fix = wrap("fix: " + shown_line(finding.fix), width, kIndent);
    out += std::string(kIndent, ' ') +
           screen.paint(Style::accent, fix.substr(kIndent, fix.size() - kIndent - 1)) + "\n";
  }
  return out;
}

Json json_of(std::string_view name, const Finding& finding) {
  return Json::object({{"name", name},
                       {"verdict", name_of(finding.verdict).key},
                       {"found", finding.found},
                       {"fix", finding.fix.empty() ? Json() : Json(finding.fix)},
                       {"mend", finding.fix.empty() ? Json() : Json(finding.fix)}});  // the old name of `fix`
}

// Prints each finding at once; with --json collects them.
class Report {
 public:
  explicit Report(Shell& shell) : shell_(shell) {
    if (!shell.json())
      shell.print(fmt::format("{}  {}\n", shell.screen().paint(Style::bold, "cairn " CAIRN_VERSION " doctor"),
                              shell.screen().paint(Style::dim, shown_line(shell.home().data))));
  }

  void repairs(const std::vector<Repair>& list) {
    head("Fixed");
    if (list.empty() && !shell_.json()) shell_.print("  nothing to fix\n");
    for (const Repair& repair : list) {
      repairs_.push(Json::object({{"text", repair.text}, {"done", repair.done}}));
      if (!shell_.json())
        shell_.print(fmt::format("  {}  {}\n",
                                 repair.done ? shell_.screen().paint(Style::good, "done")
                                             : shell_.screen().paint(Style::bad, "FAIL"),
                                 shown_line(repair.text)));
    }
  }

  void check(const Check& check, const Finding& finding) {
    ++counts_[static_cast<std::size_t>(finding.verdict)];
    Json entry = json_of(check.name, finding);
    entry.set("group", check.group);
    checks_.push(std::move(entry));
    head(check.group);
    if (!shell_.json()) shell_.print(line_of(shell_.screen(), check.name, finding));
  }

  void stage(const TraceLine& line) {
    ++counts_[static_cast<std::size_t>(line.finding.verdict)];
    Json entry = json_of(line.stage, line.finding);
    entry.set("ms", line.ms);
    stages_.push(std::move(entry));
    head("Trace");
    if (!shell_.json())
      shell_.print(line_of(shell_.screen(), line.stage, line.finding, fmt::format("{:>7.1f} ms  ", line.ms)));
  }

  // The exit code.
  int end() {
    const int failures = counts_[static_cast<std::size_t>(Verdict::fail)];
    if (shell_.json())
      shell_.print_json(Json::object({{"ok", failures == 0},
                                      {"version", CAIRN_VERSION},
                                      {"home", shell_.home().data},
                                      {"passed", counts_[0]},
                                      {"warnings", counts_[1]},
                                      {"failed", counts_[2]},
                                      {"skipped", counts_[3]},
                                      {"repairs", repairs_},
                                      {"checks", checks_},
                                      {"trace", stages_}}));
    else
      shell_.print(fmt::format(
          "\n{}: {} passed, {}, {} skipped\n",
          failures == 0 ? shell_.screen().paint(Style::good, "OK")
                        : shell_.screen().paint(Style::bad, count_text(failures, "failure", "failures")),
          counts_[0], count_text(counts_[1], "warning", "warnings"), counts_[3]));
    return failures == 0 ? 0 : 1;
  }

 private:
  void head(std::string_view group) {
    if (group == group_) return;
    group_ = group;
    if (!shell_.json()) shell_.print("\n" + shell_.screen().paint(Style::bold, group) + "\n");
  }

  Shell& shell_;
  std::string group_;
  Counts counts_{};
  Json checks_ = Json::array(), stages_ = Json::array(), repairs_ = Json::array();
};

}  // namespace

Finding passed(std::string found) {
  return {Verdict::pass, std::move(found), {}};
}
Finding skipped(std::string found) {
  return {Verdict::skip, std::move(found), {}};
}
Finding warned(std::string found, std::string fix) {
  return {Verdict::warn, std::move(found), std::move(fix)};
}
Finding failed(std::string found, std::string fix) {
  return {Verdict::fail, std::move(found), std::move(fix)};
}

Installation::Installation(Shell& the_shell)
    : shell(the_shell),
      settings(ops::Settings::load(the_shell.disk(), the_shell.home())),
      host(look_at_host(the_shell)),
      obstacles(obstacles_of(the_shell.home())) {
  if (auto client = Client::connect(shell.home(), shell.clock()))
    daemon = *std::move(client);
  else
    no_daemon = client.error().message;
  // Check after the attempt: a daemon may just have ended.
  lock_held = os::FileLock::is_held(shell.home().lock());
  store::Db::Options options;
  options.path = shell.home().database();
  options.mode = store::Db::Mode::read_only;
  if (!shell.home().check().ok())
    return;  // check_owner() reports it; opening another user's store would write beside it
  if (auto opened = store::Db::open(options))
    db = *std::move(opened);
  else if (shell.disk().stat(options.path))
    no_db = opened.error().message;
  if (!db) return;
  // A daemon died while it created the store. A damaged store stays open: check_integrity() says what is
  // wrong with it.
  if (const auto version = store::schema_version(*db); !version && version.error().code != Code::corrupt) {
    half_made = true;
    db.reset();
    return;
  }
  auto known = with_world([](ops::World& world) { return ops::run_operation("status", world); });
  if (known) status = *std::move(known);
}

// In the order of the data: the host, the home, the daemon and the store, the memory. So the first failure is
// usually the cause of those below it.
Result<int> doctor_command(Shell& shell) {
  Report report(shell);
  if (shell.flag("fix")) report.repairs(fix_all(shell));
  Installation here(shell);
  for (const auto& checks :
       {host_checks(), agent_checks(shell), home_checks(), store_checks(), memory_checks()})
    for (const Check& check : checks) report.check(check, check.run(here));
  if (shell.flag("trace"))
    for (const TraceLine& line : trace(shell)) report.stage(line);
  return report.end();
}

}  // namespace cairn::cli
