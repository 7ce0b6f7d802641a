#include "gate/named_paths.h"

#include <algorithm>

#include "base/text.h"
#include "gate/plain_view.h"
#include "gate/secrets/chars.h"
#include "host/call_fields.h"
#include "host/host.h"

namespace cairn::gate {

namespace {

using event::Event;
using event::Kind;

constexpr std::size_t kLongestPath = 4096;  // the system's own limit
constexpr std::size_t kMaxBases = 16;       // directories that are considered for one event

constexpr CharSet kBorders(" \t\r\n'\"`=<>|&;(){},:@");
constexpr CharSet kOperators("\n;|&<>()");
constexpr CharSet kWildcards("*?[");

// Addresses with these schemes are not local files.
bool is_remote(std::string_view scheme) {
  return any_of(scheme, {"http", "https", "ws", "wss", "ftp", "ssh", "git"});
}

bool is_name_char(char c) {
  return is(Chars::word, c);
}

// Replaces `[ab]` by `?`, which matches at least as much.
std::string as_glob(std::string_view word) {
  std::string out;
  for (std::size_t at = 0; at < word.size(); ++at) {
    const std::size_t close = word[at] == '[' ? word.find(']', at) : std::string_view::npos;
    if (close != std::string_view::npos) at = close;
    out += close != std::string_view::npos ? '?' : word[at];
  }
  return out;
}

// Expands `a{b,c}d` to `abd` and `acd`; returns any other word as it is.
std::vector<std::string> without_braces(std::string_view word) {
  const std::size_t open = std::min(word.find('{'), word.size());
  const std::size_t close = word.find('}', open);
  constexpr std::ptrdiff_t kMost = 16;
  const bool is_list = close != std::string_view::npos && word.size() <= kLongestPath;
  if (!is_list || std::count(word.begin(), word.end(), ',') >= kMost) return {std::string(word)};
  std::vector<std::string> out;
  for (const std::string_view part : split(word.substr(open + 1, close - open - 1), ','))
    out.push_back(std::string(word.substr(0, open)).append(part).append(word.substr(close + 1)));
  return out;
}

}  // namespace

bool is_tool(Kind kind) {
  return kind == Kind::tool_start || kind == Kind::tool || kind == Kind::tool_failure;
}

std::string absolute_path(std::string_view path, std::string_view cwd) {
  std::vector<std::string_view> parts;
  const auto walk = [&parts](std::string_view text) {
    for (const std::string_view part : split(text, '/')) {
      if (part == "..") {
        if (!parts.empty()) parts.pop_back();
      } else if (!part.empty() && part != ".") {
        parts.push_back(part);
      }
    }
  };
  if (!path.starts_with('/')) walk(cwd);
  walk(path);
  std::string out;
  for (const std::string_view part : parts) out.append("/").append(part);
  return out.empty() ? "/" : out;
}

std::vector<std::string_view> command_words(std::string_view command) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t begin = at;
    while (at < command.size() && !kBorders.has(command[at])) ++at;
    if (at > begin) words.push_back(command.substr(begin, at - begin));
    ++at;
  }
  return words;
}

PathRule::PathRule(std::string_view glob, std::string_view home, std::string reason)
    : glob_(glob), reason_(std::move(reason)) {
  for (const std::string_view alias : {"~/", "$HOME/", "${HOME}/"})
    if (!home.empty() && glob_.starts_with(alias)) glob_ = std::string(home) + glob_.substr(alias.size() - 1);
  const bool matches_anywhere =
      glob_.find('/') != std::string::npos && glob_[0] != '/' && !glob_.starts_with("**");
  if (matches_anywhere) glob_ = "**/" + glob_;
  while (glob_.size() > 3 && (glob_.ends_with("/**") || glob_.ends_with('/')))
    glob_.resize(glob_.size() - (glob_.ends_with('/') ? 1 : 3));  // it covers all below anyway
  if (glob_.starts_with('/')) fixed_ = glob_.substr(0, glob_.find_first_of("*?"));
  std::string_view last = std::string_view(glob_).substr(glob_.rfind('/') + 1);
  for (std::size_t at = 0; at < last.size();) {
    const std::size_t end = std::min(last.find_first_of("*?", at), last.size());
    if (end - at > needed_text_.size()) needed_text_ = last.substr(at, end - at);
    at = end + 1;
  }
}

bool PathRule::covers(std::string_view path) const {
  return path.starts_with(fixed_) && glob_covers(glob_, path);
}

bool PathRule::may_be_meant_by(std::string_view pattern) const {
  if (fixed_.empty()) return false;
  std::string_view meant = fixed_;  // up to its first wildcard: the directories; without one: the whole path
  if (fixed_.size() < glob_.size()) meant = meant.substr(0, meant.rfind('/'));
  if (!meant.starts_with(pattern.substr(0, pattern.find_first_of("*?")))) return false;
  std::size_t end = 0;  // the end of as many components as `meant` has
  for (auto left = std::count(meant.begin(), meant.end(), '/'); left > 0 && end < pattern.size(); --left)
    end = std::min(pattern.find('/', end + 1), pattern.size());
  const std::string_view part = pattern.substr(0, end);
  const bool any_name = part.find_first_not_of("*?.", part.rfind('/') + 1) == std::string_view::npos;
  return !any_name && glob_match(part, meant);
}

namespace {

// Searches an event for a path that one of the rules covers.
//
// bases_ are the directories that a relative path may refer to: the event's own, those that the tool's input
// names, and each one that a `cd` in a command leads to. Every word is tried in all of them, and in doubt
// counts as a path: a word that is covered by chance costs one event, a path that is missed stores what was
// excluded. The first rule that covers a path ends the search.
class PathSearch {
 public:
  PathSearch(const std::vector<PathRule>& rules, std::string_view home) : rules_(rules), home_(home) {}

  const PathRule* found() const { return found_; }

  void search_event(const Event& e) {
    variables_ = {{"HOME", home_},
                  {"PWD", e.cwd},
                  {"pwd", e.cwd},
                  {std::string(host::find_host(e.host).project_variable()), e.project_dir}};
    // From an excluded directory nothing is kept: no prompt, no answer, no session.
    for (const std::string& directory : {e.cwd, e.project_dir})
      if (!directory.empty()) go_to(directory, "");
    for (const Json* file : host::files_beside_input(e)) check_word(file->as_string());
    if (!is_tool(e.kind) && e.kind != Kind::other) return;
    for (const Json::Member& m : e.tool_input.members())
      if (host::names_a_directory(m.first) && m.second.is_string())
        go_to(expanded(m.second.as_string()), e.cwd);
    search_value(e.tool_input, true, &PathSearch::search_command);
    search_value(e.tool_response, false, &PathSearch::search_result);
    search_value(e.extra, false, &PathSearch::search_result);
    search_result(e.error);
  }

 private:
  using Read = void (PathSearch::*)(std::string_view);

  void search_value(const Json& json, bool in_file, Read read) {
    if (found_) return;
    if (json.is_string()) (this->*read)(json.as_string());
    for (const Json& item : json.items()) search_value(item, in_file, read);
    const Json::Object& members = json.members();
    in_file = in_file || std::any_of(members.begin(), members.end(),
                                     [](const Json::Member& m) { return host::names_a_file(m.first); });
    for (const Json::Member& m : members) {
      if (in_file && host::holds_file_text(m.first)) continue;
      check_word(m.first);
      search_value(m.second, in_file, read);
    }
  }

  // Reads an input of a tool: a command line, a query, a path, a patch.
  void search_command(std::string_view text) {
    follows_wildcards_ = true;
    const std::string plain = expanded(text);
    check_lines(plain);
    check_shell_words(plain);
    check_plain_words(plain);
  }

  // Reads an output of a tool.
  void search_result(std::string_view text) {
    follows_wildcards_ = false;
    // Outputs are long: this quick check skips most of them.
    if (std::none_of(rules_.begin(), rules_.end(), [&](const PathRule& r) { return r.may_be_in(text); }))
      return;
    check_lines(text);
    check_plain_words(text);
  }

  // A file name may contain blanks: try each whole line, and the part before its first colon.
  void check_lines(std::string_view text) {
    for (const std::string_view line : lines(text)) {
      std::string_view all = trim(line);
      if (all.starts_with("file://")) all.remove_prefix(7);
      if (all.find("://") != std::string_view::npos) continue;
      check_word(all);
      if (const std::size_t colon = all.find(':'); colon != std::string_view::npos)
        check_word(all.substr(0, colon));
    }
  }

  void check_plain_words(std::string_view text) {
    Steps steps;
    for (std::size_t at = 0; at < text.size() && !found_;) {
      const std::size_t begin = at;
      while (at < text.size() && !kBorders.has(text[at])) ++at;
      const std::string_view piece = text.substr(begin, at - begin);
      if (text.substr(at).starts_with("://") && is_remote(piece))
        at = std::min(text.find_first_of(" \t\r\n'\"`<>", at), text.size());
      else if (!piece.empty())
        step(piece, steps);
      if (at < text.size() && kOperators.has(text[at])) end_command(steps);
      ++at;
    }
    end_command(steps);
  }

  // Splits into words as a shell does, with quotes and backslashes.
  void check_shell_words(std::string_view text) {
    Steps steps;
    std::string made;
    char quote = '\0';
    std::size_t opened = 0;
    const auto end_word = [&] {
      for (const std::string& meant : without_braces(made)) step(meant, steps);
      const std::string_view given = std::string_view(made).substr(made.find('=') + 1);
      if (given.size() < made.size()) check_word(given);
      // `D=/a; cat $D/b`: home_path() removes `$D/`, and `b` is then tried in /a.
      if (given.size() < made.size() && !given.empty() && CharSet("/~.$").has(given[0]))
        go_to(given, steps.at);
      made.clear();
    };
    for (std::size_t at = 0; at <= text.size() && !found_; ++at) {
      const char c = at < text.size() ? text[at] : '\n';
      if (at == text.size() && quote != '\0') {  // not a quote: an apostrophe
        at = opened;
        quote = '\0';
        made.clear();
      } else if (c == '\\' && quote != '\'' && at + 1 < text.size()) {
        if (text[++at] != '\n') made += text[at];
      } else if (quote != '\0' ? c == quote : c == '\'' || c == '"') {
        quote = quote == '\0' ? c : '\0';
        opened = at;
      } else if (quote == '\0' && (is(Chars::blank, c) || c == '\r' || kOperators.has(c))) {
        end_word();
        if (kOperators.has(c)) end_command(steps);
      } else {
        made += c;
      }
    }
  }

  // The state while a command line is read word by word.
  struct Steps {
    std::string before;  // the word before
    std::string at;      // the directory of the last `cd`
  };

  void step(std::string_view piece, Steps& steps) {
    if (piece.empty()) return;
    check_word(piece);
    const bool goes = any_of(steps.before, {"cd", "pushd", "-C", "--directory", "--cwd"});
    // The `cd` may be relative to the event's directory, or to the `cd` before it: add both.
    if (goes && bases_.size() < kMaxBases) {
      go_to(piece, "");
      steps.at = absolute_path(home_path(piece), steps.at.empty() ? first_base() : steps.at);
      go_to(steps.at, "");
    }
    steps.before = piece;
  }

  void end_command(Steps& steps) {
    if (steps.before == "cd" && !home_.empty()) go_to(steps.at = home_, "");
    steps.before.clear();
  }

  std::string first_base() const { return bases_.empty() ? "" : bases_[0]; }

  // Checks `directory` against the rules, and adds it to those that relative paths may refer to.
  void go_to(std::string_view directory, std::string_view from) {
    if (directory.size() > kLongestPath || bases_.size() >= kMaxBases) return;
    std::string path = absolute_path(home_path(directory), from.empty() ? first_base() : std::string(from));
    if (std::find(bases_.begin(), bases_.end(), path) != bases_.end()) return;
    for (const PathRule& rule : rules_)
      if (!found_ && rule.covers(path)) found_ = &rule;
    bases_.push_back(std::move(path));
  }

  // Expands `~` and `~name`. Removes an unknown variable at the beginning, so that the rest is tried in every
  // known directory.
  std::string home_path(std::string_view path) const {
    if (path.starts_with('$'))
      return std::string(path.substr(std::min(path.find('/', 1), path.size() - 1) + 1));
    if (!path.starts_with('~') || home_.empty()) return std::string(path);
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(1, slash - 1);
    const std::string home = name.empty() ? home_ : home_.substr(0, home_.rfind('/') + 1) + std::string(name);
    return home + std::string(path.substr(slash));
  }

  // Replaces known variables by their values, and decodes per cent codes.
  std::string expanded(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      const std::size_t dollar = std::min(text.find('$'), text.size());
      out.append(text, 0, dollar);
      text.remove_prefix(dollar);
      const bool braced = text.starts_with("${") || text.starts_with("$(");
      const std::size_t begin = braced ? 2 : 1;
      std::size_t end = begin;
      while (end < text.size() && is_name_char(text[end])) ++end;
      const std::string_view name = text.substr(std::min(begin, text.size()), end - begin);
      const auto known = std::find_if(variables_.begin(), variables_.end(),
                                      [&](const auto& variable) { return variable.first == name; });
      const bool use = known != variables_.end() && !known->second.empty();
      out.append(use ? std::string_view(known->second) : text.substr(0, end));
      text.remove_prefix(std::min(end + (use && braced ? 1 : 0), text.size()));
    }
    return out.find('%') == std::string::npos ? out : std::string(PlainView(out).text());
  }

  void check_word(std::string_view text) {
    if (found_ || text.empty() || text.size() > kLongestPath) return;
    std::string made;
    if (text[0] == '~' || text[0] == '$') text = made = home_path(text);
    const bool wild =
        follows_wildcards_ && std::any_of(text.begin(), text.end(), [](char c) { return kWildcards.has(c); });
    for (const PathRule& rule : rules_)
      if (!found_ && (wild || rule.may_be_in(text)) && is_covered(text, wild, rule)) found_ = &rule;
  }

  bool is_covered(std::string_view path, bool wild, const PathRule& rule) const {
    const bool climbs = path.find("..") != std::string_view::npos;
    const auto is_meant = [&](std::string_view base) {
      if (!climbs && !rule.may_be_below(base)) return false;
      if (rule.may_be_in(path) && rule.covers(absolute_path(path, base))) return true;
      return wild && rule.may_be_meant_by(absolute_path(as_glob(path), base));
    };
    if (path.starts_with('/') || bases_.empty()) return is_meant("");
    return std::any_of(bases_.begin(), bases_.end(), is_meant);
  }

  const std::vector<PathRule>& rules_;
  const std::string home_;
  std::vector<std::pair<std::string, std::string>> variables_;
  std::vector<std::string> bases_;  // directories for relative paths; the first is the event's own
  bool follows_wildcards_ = false;
  const PathRule* found_ = nullptr;
};

}  // namespace

std::optional<std::string> excluded_by(const std::vector<PathRule>& rules, const Event& event,
                                       std::string_view home) {
  PathSearch search(rules, home);
  search.search_event(event);
  return search.found() ? std::optional(search.found()->reason()) : std::nullopt;
}

}  // namespace cairn::gate
