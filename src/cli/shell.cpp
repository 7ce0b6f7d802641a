#include "cli/shell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "base/text.h"
#include "hook/run.h"
#include "os/process.h"

namespace cairn::cli {

namespace {

// `cairn help` and docs list these codes.
int exit_code(const Error& error) {
  if (error.code == Code::invalid) return 2;
  if (error.code == Code::not_found) return 3;
  return 1;
}

void put(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
}

void complain(std::string_view message) {
  put(stderr, fmt::format("cairn: {}\n", shown_line(message)));
}

// `cairn hook EVENT` is cairn-hook: no argument of the host may be refused. So it is recognised before the
// arguments are parsed.
bool is_plain_hook(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "hook") return false;
  for (const std::string& text : arguments)
    if (text == "--dry-run" || text == "--help" || text == "-h") return false;
  return true;
}

// `printed_json`: the command has printed its JSON already.
Result<int> run_line(os::Disk& disk, const Line& line, bool& printed_json) {
  const Screen screen = Screen::of(STDOUT_FILENO, line.flag("no_color"));
  if (line.flag("version")) {
    put(stdout, "cairn " CAIRN_VERSION "\n");
    return 0;
  }
  if (line.flag("help") || line.path.empty()) {
    put(stdout, TRY(help_page(line.path, screen)));
    return 0;
  }
  Json args = TRY(checked_arguments(line, directory_of(line)));
  Shell shell(disk, line, TRY(hook::Home::from_environment()), std::move(args));
  if (!line.command->any_home) TRY(shell.home().check().in("home"));
  auto code = line.command->run(shell);
  // A command may print its JSON and fail afterwards: a second JSON value would make the output unreadable.
  if (code || shell.has_printed_json()) printed_json = true;
  return code;
}

// Whether the arguments contain --json, even if they cannot be parsed.
bool asks_for_json(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

// With --json errors are JSON too.
void print_error_json(const Error& error) {
  const Json value =
      Json::object({{"error", Json::object({{"code", code_name(error.code)}, {"message", error.message}})}});
  put(stdout, shown_json(value.dump(2)) + "\n");
}

int run_checked(os::Disk& disk, const std::vector<std::string>& arguments) {
  Result<int> code = 0;
  bool printed_json = false;
  auto line = read_arguments(arguments);
  if (line)
    code = run_line(disk, *line, printed_json);
  else
    code = std::move(line).error();
  if (!code && !printed_json && asks_for_json(arguments)) print_error_json(code.error());
  // A command whose output could not be written has failed, whatever it returned.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    complain("output: cannot be written: check the disk or the pipe");
    return 1;
  }
  if (code) return *code;
  complain(code.error().message);
  return exit_code(code.error());
}

}  // namespace

Shell::Shell(os::Disk& disk, const Line& line, hook::Home home, Json args)
    : disk_(disk),
      line_(line),
      args_(std::move(args)),
      home_(std::move(home)),
      screen_(Screen::of(STDOUT_FILENO, line.flag("no_color"))) {}

void Shell::print(std::string_view text) const {
  put(stdout, text);
}

void Shell::note(std::string_view text) const {
  std::fflush(stdout);  // else a terminal would show the note before the output that it follows
  complain(text);
}

void Shell::print_json(const Json& value) {
  print(shown_json(value.dump(2)) + "\n");
  printed_json_ = true;
}

int Shell::show(const Page& page, const Json& result) {
  json() ? print_json(result) : print(page.text);
  if (!page.note.empty() && (!json() || page.code != 0)) note(page.note);
  return page.code;
}

Result<Client*> Shell::daemon() {
  if (!client_) client_ = TRY(Client::reach(disk_, home_, clock_));
  return &*client_;
}

Result<Json> Shell::ask(std::string_view op, const Json& args) {
  using namespace std::chrono_literals;
  const ops::Operation* operation = ops::find_operation(op);
  // Slow operations have no limit of time: an export may read the whole store, and a large one is imported in
  // one transaction.
  const bool slow = operation && (operation->access == ops::Access::read_slowly || op.starts_with("import"));
  return TRY(daemon())->call(op, args, slow ? 24h * 365 : 60s);
}

// Without a slash at the end. "/" when the current directory was deleted.
std::string directory_of(const Line& line) {
  const std::string given = line.value("cwd").value_or("");
  std::error_code error;
  const auto path = std::filesystem::absolute(given.empty() ? "." : given, error).lexically_normal();
  std::string text = error ? "/" : path.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string Shell::age(const Json& time) {
  const auto at = parse_iso8601(time.as_string());
  return at ? ago(*at, clock_.now()) : "";
}

std::string text_of(const Json& value) {
  return std::string(value.as_string());
}

std::string label_of(const Json& result) {
  std::string text;
  for (const Json& origin : result["origin"].items())
    text.append(text.empty() ? " [" : ", ").append(origin.as_string());
  return text.empty() ? text : text + "]";
}

Result<bool> Shell::confirm(std::string_view question) const {
  if (line_.flag("yes")) return true;
  // The question goes to stderr: stdout may be a pipe.
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1)
    return Error{Code::invalid, fmt::format("{}: asks \"{}\": pass --yes to say yes without a terminal",
                                            line_.command->name, question)};
  std::fflush(stdout);
  put(stderr, fmt::format("{} [y/N] ", question));
  std::fflush(stderr);
  char answer[64] = "";
  if (!std::fgets(answer, sizeof answer, stdin)) return false;
  const std::string text = ascii_lower(trim(answer));
  return text == "y" || text == "yes";
}

int run(os::Disk& disk, int argc, char** argv) {
  os::open_standard_descriptors();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (is_plain_hook(arguments)) return hook::run(disk, argc - 1, argv + 1);
  // End silently when the reader is gone (`cairn ... | head`).
  signal(SIGPIPE, SIG_DFL);
  umask(077);
  // Libraries may throw (out of memory, a bad path).
  try {
    return run_checked(disk, arguments);
  } catch (const std::exception& error) {
    complain(fmt::format("failed: {}: please report this with the command you typed", error.what()));
    return 1;
  }
}

}  // namespace cairn::cli
