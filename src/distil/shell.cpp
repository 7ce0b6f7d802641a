#include "distil/shell.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "base/text.h"
#include "distil/check_command.h"
#include "distil/shell_parse.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxPrograms = 20;
constexpr int kMaxScripts = 4;  // sh -c "sh -c ..."

using ShellWords = std::vector<ShellWord>;

// How the arguments of a command that shows files are read.
struct Reader {
  std::string_view name;
  std::string_view with_value;  // one-letter options followed by a value
  int skip = 0;                 // leading operands that are no files: a pattern, a script
};

constexpr Reader kReaders[] = {
    {"cat", ""},          {"head", "nc"},       {"tail", "nc"},
    {"less", ""},         {"more", ""},         {"bat", "lr"},
    {"wc", ""},           {"nl", ""},           {"od", "tNj"},
    {"xxd", "lsc"},       {"file", ""},         {"stat", "cf"},
    {"md5sum", ""},       {"sha256sum", ""},    {"diff", "U"},
    {"cmp", ""},          {"sort", "kto"},      {"uniq", ""},
    {"cut", "dfc"},       {"source", ""},       {".", ""},
    {"strings", "n"},     {"jq", "", 1},        {"grep", "ABCm", 1},
    {"egrep", "ABCm", 1}, {"fgrep", "ABCm", 1}, {"awk", "Fv", 1},
    {"sed", "", 1},
};

bool only_shows(std::string_view name) {
  return any_of(name, {"ls",    "cd",       "pwd", "find", "fd",     "rg",       "tree",    "du",      "df",
                       "which", "type",     "env", "date", "whoami", "uname",    "tr",      "true",    "test",
                       "[",     "hostname", "ps",  "id",   "column", "basename", "dirname", "realpath"}) ||
         std::any_of(std::begin(kReaders), std::end(kReaders),
                     [name](const Reader& r) { return r.name == name; });
}

bool git_only_shows(std::string_view verb) {
  return any_of(verb, {"status", "log", "diff", "show", "branch", "remote", "blame", "rev-parse", "ls-files",
                       "grep", "describe", "shortlog", "reflog"});
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 && word.find_first_of("/-.") > equals;
}

// The words from the command's name on: without assignments, keywords and commands that run another.
std::span<const ShellWord> without_prefix(const ShellWords& words) {
  std::size_t from = 0;
  bool wrapped = false;
  for (; from < words.size(); ++from) {
    const std::string_view text = words[from].text;
    if (any_of(text, {"sudo", "env", "time", "nohup", "command", "exec", "!", "then", "do", "else", "if",
                      "elif", "while", "until", "{", "nice", "builtin"})) {
      wrapped = true;
    } else if (!is_assignment(text) && !(wrapped && text.starts_with('-'))) {
      break;
    }
  }
  return std::span(words).subspan(from);
}

// Goes through the commands of a line in order and keeps the current directory (`cd`, sub-shells), so that
// relative paths can be completed. simple() reads one command: its redirections, then by its name the files
// that it reads or writes, and whether it is a check.
class Interpreter {
 public:
  explicit Interpreter(ShellFiles& out) : out_(out) {}

  void script(std::string_view text, int nesting) {
    const std::vector<ShellCommand> commands = parse_shell(text);
    // From here to the end every command is joined to the one before by &&.
    std::size_t chain = commands.size();
    while (chain > 1 && commands[chain - 2].then == ShellCommand::Then::on_success) --chain;
    const char* guard = nullptr;  // where the conditions before it begin: `test -f x && make` is one check
    bool after_success = false;   // it runs only if the one before it did not fail
    for (const ShellCommand& command : commands) {
      if (command.kind == ShellCommand::Kind::enter)
        outer_.push_back(directory_);
      else if (command.kind == ShellCommand::Kind::leave)
        leave();
      else
        simple(command, guard ? guard : command.source.data(), nesting,
               static_cast<std::size_t>(&command - commands.data()) + 1 >= chain, after_success);
      after_success = command.then == ShellCommand::Then::on_success;
      const bool guards = command.then == ShellCommand::Then::on_success && is_condition(command);
      guard = !guards ? nullptr : guard ? guard : command.source.data();
    }
  }

  void end() {
    if (out_.program.empty()) out_.program = first_program_;
    out_.only_looks = commands_ > 0 && shown_ == commands_;
    out_.only_commits = out_.makes_commits && git_ + moves_ == commands_;
    for (auto* list : {&out_.read, &out_.written, &out_.commits}) {
      std::vector<std::string> unique;
      for (std::string& item : *list)
        if (std::find(unique.begin(), unique.end(), item) == unique.end()) unique.push_back(std::move(item));
      *list = std::move(unique);
    }
  }

 private:
  void leave() {
    if (outer_.empty()) return;
    directory_ = outer_.back();
    outer_.pop_back();
  }

  // Adds the word as a file, if it can be one.
  void add(std::vector<std::string>& list, const ShellWord& word) {
    const std::string& text = word.text;
    if (!word.plain || text.empty() || text == "-" || text == "." || text == ".." || text.ends_with('/'))
      return;
    if (text.starts_with("/dev/") || text.starts_with("/proc/") || text.find('\n') != std::string::npos)
      return;
    if (list.size() >= 1000) return;
    if (text[0] == '/' || text[0] == '~' || (directory_ && directory_->empty()))
      list.push_back(text);
    else if (directory_)
      list.push_back(*directory_ + "/" + text);
  }

  static bool is_condition(const ShellCommand& command) {
    return !command.words.empty() && any_of(command.words[0].text, {"test", "[", "[["});
  }

  // `from`: where in the text it begins, with the conditions that guard it. `after_success`: joined to the
  // one before it by &&.
  void simple(const ShellCommand& command, const char* from, int nesting, bool decides, bool after_success) {
    bool writes = false;
    for (const ShellRedirect& redirect : command.redirects) {
      const bool write = redirect.kind == ShellRedirect::Kind::write;
      add(write ? out_.written : out_.read, redirect.target);
      writes = writes || (write && !redirect.target.text.starts_with("/dev/"));
    }
    const auto words = without_prefix(command.words);
    const std::string name(words.empty() ? "" : base_name(words[0].text));
    if (any_of(name, {"", "}", "fi", "done", "esac"})) return;
    ++commands_;
    const auto rest = words.subspan(1);
    const int shown = shown_;
    // A line with several checks counts as its first one.
    if (out_.check.empty() && is_check(name, rest)) {
      out_.check.assign(from, command.source.data() + command.source.size());
      out_.program = name;
      out_.status_of_check = decides;
    }
    if (name == "cd") {
      change_directory(rest);
      ++moves_;
      ++shown_;
    } else if (name == "git") {
      ++git_;
      if (git(rest, command.document) && !writes) ++shown_;
    } else if (name == "gh") {
      pull_request(rest);
    } else if (any_of(name, {"sh", "bash", "zsh"}) && rest.size() >= 2 && rest[0].text.ends_with('c') &&
               rest[0].text.starts_with('-')) {
      if (nesting < kMaxScripts) script(rest[1].text, nesting + 1);
    } else if (!write_command(name, rest)) {
      read_command(name, rest);
      if (only_shows(name) && !writes && !deletes(name, rest)) ++shown_;
    }
    const bool shows = shown != shown_;
    // After && the line's status may be that of the command before it.
    out_.shows_last = shows && !after_success && commands_ > 1;
    if (shows) return;
    if (first_program_.empty()) first_program_ = name;
    if (out_.programs.size() < kMaxPrograms) out_.programs.push_back(name);
  }

  static bool deletes(std::string_view name, std::span<const ShellWord> words) {
    return name == "find" && std::any_of(words.begin(), words.end(), [](const ShellWord& w) {
             return any_of(w.text, {"-delete", "-exec", "-execdir", "-ok"});
           });
  }

  void change_directory(std::span<const ShellWord> words) {
    if (words.size() != 1 || !words[0].plain || words[0].text == "-" || words[0].text.empty()) {
      // `cd`, `cd -`, `cd $DIR`: relative paths are unknown from here on.
      directory_.reset();
    } else if (words[0].text[0] == '/' || words[0].text[0] == '~') {
      directory_ = words[0].text;
    } else if (directory_) {
      directory_ = directory_->empty() ? words[0].text : *directory_ + "/" + words[0].text;
    }
  }

  // The words that are neither options nor an option's value.
  static ShellWords operands(std::span<const ShellWord> words, std::string_view with_value = "") {
    ShellWords out;
    bool options = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& text = words[i].text;
      if (options && text == "--") {
        options = false;
      } else if (options && text.size() > 1 && text[0] == '-') {
        if (text.size() == 2 && with_value.find(text[1]) != std::string_view::npos) ++i;
      } else {
        out.push_back(words[i]);
      }
    }
    return out;
  }

  static bool has_option(std::span<const ShellWord> words, std::string_view letters, std::string_view name) {
    return std::any_of(words.begin(), words.end(), [&](const ShellWord& w) {
      if (w.text.starts_with("--")) return !name.empty() && w.text.substr(2).starts_with(name);
      return w.text.size() > 1 && w.text[0] == '-' && w.text.find_first_of(letters, 1) != std::string::npos;
    });
  }

  void read_command(std::string_view name, std::span<const ShellWord> words) {
    const auto* reader = std::find_if(std::begin(kReaders), std::end(kReaders),
                                      [&](const Reader& r) { return r.name == name; });
    if (reader == std::end(kReaders)) return;
    const bool search = name.ends_with("grep");
    // Its operands are directories.
    if (search && has_option(words, "rR", "recursive")) return;
    // `grep -e PATTERN file`: with an option for the pattern, every operand is a file.
    const bool explicit_script = reader->skip > 0 && has_option(words, "ef", "");
    const std::string with_value = std::string(reader->with_value) + (explicit_script ? "ef" : "");
    const ShellWords files = operands(words, with_value);
    for (std::size_t i = explicit_script ? 0 : static_cast<std::size_t>(reader->skip); i < files.size(); ++i)
      add(out_.read, files[i]);
  }

  void write_all(const ShellWords& files) {
    for (const ShellWord& file : files) add(out_.written, file);
  }

  // True: it was a command that changes files.
  bool write_command(std::string_view name, std::span<const ShellWord> words) {
    if (any_of(name, {"tee", "touch"})) {
      write_all(operands(words, name == "touch" ? "rtd" : ""));
    } else if (any_of(name, {"rm", "unlink"})) {
      // Of a directory tree only the root would be known: no file.
      if (!has_option(words, "rR", "recursive")) write_all(operands(words));
    } else if (any_of(name, {"cp", "mv", "ln", "install"})) {
      copy(name, operands(words, name == "install" ? "mog" : "t"));
    } else if (name == "sed" && has_option(words, "i", "in-place")) {
      const bool explicit_script = has_option(words, "e", "expression");
      ShellWords files = operands(words, "e");
      if (!explicit_script && !files.empty()) files.erase(files.begin());
      write_all(files);
    } else if (name == "perl" && has_option(words, "i", "")) {
      ShellWords files = operands(words);
      if (!files.empty()) files.erase(files.begin());
      write_all(files);
    } else if (name == "truncate") {
      write_all(operands(words, "sr"));
    } else if (name == "curl" || name == "wget") {
      for (std::size_t i = 0; i + 1 < words.size(); ++i)
        if (words[i].text == (name == "curl" ? "-o" : "-O")) add(out_.written, words[i + 1]);
    } else {
      return any_of(name, {"mkdir", "rmdir", "chmod", "chown", "dd", "patch"});
    }
    return true;
  }

  void copy(std::string_view name, ShellWords files) {
    if (files.size() < 2) return;
    ShellWord target = files.back();
    files.pop_back();
    for (const ShellWord& source : files) add(name == "mv" ? out_.written : out_.read, source);
    // Into a directory: the files keep their names there.
    const bool directory = target.text.ends_with('/') || files.size() > 1;
    if (directory)
      while (target.text.ends_with('/')) target.text.pop_back();
    if (!directory) {
      add(out_.written, target);
      return;
    }
    for (const ShellWord& source : files)
      add(out_.written,
          {target.text + "/" + std::string(base_name(source.text)), target.plain && source.plain, {}});
  }

  // True: it only shows something.
  bool git(std::span<const ShellWord> words, const std::string& document) {
    while (!words.empty() && words[0].text.starts_with('-'))
      words = words.subspan(std::min<std::size_t>(any_of(words[0].text, {"-C", "-c"}) ? 2 : 1, words.size()));
    if (words.empty()) return true;
    const std::string_view verb = words[0].text;
    const auto rest = words.subspan(1);
    // Files that are added were changed, whatever changed them. --cached and --staged change only the index.
    if (any_of(verb, {"add", "rm", "mv"}) && !has_option(rest, "r", "cached"))
      write_all(operands(rest));
    else if (verb == "restore" && !has_option(rest, "S", "staged"))
      write_all(operands(rest, "s"));
    else if (verb == "commit")
      commit(rest, document);
    if (any_of(verb, {"commit", "revert", "cherry-pick", "merge"})) out_.makes_commits = true;
    return git_only_shows(verb);
  }

  void commit(std::span<const ShellWord> words, const std::string& document) {
    std::string whole;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& text = words[i].text;
      const bool separate =
          text == "--message" || (text.size() > 1 && text[0] == '-' && text[1] != '-' && text.ends_with('m'));
      if (separate && i + 1 < words.size())
        add_paragraph(whole, words[++i]);
      else if (text.starts_with("--message="))
        add_paragraph(whole, {text.substr(10), words[i].plain, words[i].document});
      else if (text.starts_with("-m") && text.size() > 2)
        add_paragraph(whole, {text.substr(2), words[i].plain, words[i].document});
    }
    // `git commit -F - <<EOF`
    if (whole.empty()) whole = trim(document);
    if (!whole.empty()) out_.commits.push_back(std::move(whole));
  }

  // Every -m is a paragraph of the message.
  static void add_paragraph(std::string& whole, const ShellWord& word) {
    whole.append(whole.empty() ? "" : "\n\n").append(trim(word.document.empty() ? word.text : word.document));
  }

  void pull_request(std::span<const ShellWord> words) {
    if (words.size() < 2 || words[0].text != "pr") return;
    if (words[1].text == "merge") {
      out_.merged = words.size() > 2 && !words[2].text.starts_with('-') ? words[2].text : "";
      return;
    }
    if (words[1].text != "create") return;
    ShellFiles::Pull pull;
    for (std::size_t i = 2; i < words.size(); ++i)
      for (const auto& [name, letter, to] :
           {std::tuple("--title", "-t", &pull.title), std::tuple("--body", "-b", &pull.body)}) {
        const std::string equals = std::string(name) + "=";
        if ((words[i].text == name || words[i].text == letter) && i + 1 < words.size())
          add_paragraph(*to, words[i + 1]);
        else if (words[i].text.starts_with(equals))
          add_paragraph(*to, {words[i].text.substr(equals.size()), words[i].plain, words[i].document});
      }
    out_.pulls.push_back(std::move(pull));
  }

  ShellFiles& out_;
  std::optional<std::string> directory_ = "";  // the directory of relative paths; nothing: unknown
  std::vector<std::optional<std::string>> outer_;
  int commands_ = 0, shown_ = 0, git_ = 0, moves_ = 0;
  std::string first_program_;
};

}  // namespace

ShellFiles shell_files(std::string_view command) {
  ShellFiles out;
  Interpreter interpreter(out);
  interpreter.script(command, 0);
  interpreter.end();
  return out;
}

}  // namespace cairn::distil
