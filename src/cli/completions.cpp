#include "cli/completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/text.h"
#include "cli/command.h"
#include "ops/settings.h"

// Each script works in the same way. It walks over the words before the one to be completed and finds the
// command that they name ("at"); values of options are skipped. Then it offers what may follow that command
// (choices_by_path). All of that is written into the script: completing does not run cairn.

namespace cairn::cli {

namespace {

// In every generated file: uninstall removes only files that have it.
constexpr std::string_view kMark = "made by `cairn completions`: run it again after an update";

// What may follow a path of words ("" is the beginning): the next words with their meanings, and the options.
struct Choices {
  std::map<std::string, std::string> words;
  std::vector<ops::Argument> options;
};

std::map<std::string, Choices> choices_by_path() {
  std::map<std::string, Choices> all;
  for (const Command& command : all_commands()) {
    const std::string& name = command.name;
    all[name].options = command.options();
    const std::size_t blank = name.rfind(' ');
    const std::string group = blank == std::string::npos ? "" : name.substr(0, blank);
    all[group].words[name.substr(blank == std::string::npos ? 0 : blank + 1)] = command.operation->summary;
    // emplace: a group that is a command too (`context`) keeps the summary of the command.
    if (!group.empty()) all[""].words.emplace(group, fmt::format("{} ...", group));
    for (const ops::Argument& argument : command.operation->arguments)
      if (argument.place == ops::Argument::Place::word && !argument.choices.empty())
        for (const std::string_view choice : split(argument.choices, '|'))
          all[name].words[std::string(choice)] = argument.meaning;
  }
  for (const ops::Setting& setting : ops::all_settings())
    for (const char* command : {"config get", "config set"})
      all[command].words[std::string(setting.key)] = setting.meaning;
  all["help"].words = all[""].words;
  return all;
}

// Every option with a value, once, whatever command it belongs to: a script knows from the option alone that
// the next word is its value.
std::map<std::string, ops::Argument> value_options() {
  std::map<std::string, ops::Argument> found;
  const auto add = [&](const std::vector<ops::Argument>& options) {
    for (const ops::Argument& option : options) {
      if (option.type == ops::Argument::Type::flag) continue;
      found.emplace(option.option(), option);
      if (!option.short_name.empty()) found.emplace(option.short_name, option);
    }
  };
  add(global_options());
  for (const Command& command : all_commands()) add(command.options());
  return found;
}

bool is_path(const ops::Argument& option) {
  return option.label == "PATH" || option.label == "DIR" || option.label == "FILE";
}

std::string joined(const auto& items, std::string_view between) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : std::string(between)) + std::string(item);
  return out;
}

std::string words_of(const Choices& place) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : place.words) words.push_back(word);
  return joined(words, " ");
}

std::string names_of(const std::vector<ops::Argument>& options) {
  std::vector<std::string> names;
  for (const ops::Argument& option : options) names.push_back(option.option());
  return joined(names, " ");
}

std::vector<std::string> paths_of(const std::map<std::string, Choices>& all, std::string_view quote) {
  std::vector<std::string> paths;
  for (const auto& [path, place] : all)
    if (!path.empty()) paths.push_back(std::string(quote) + path + std::string(quote));
  return paths;
}

std::vector<std::string> names_with_value(bool only_paths) {
  std::vector<std::string> names;
  for (const auto& [name, option] : value_options())
    if (!only_paths || is_path(option)) names.push_back(name);
  return names;
}

// Shared by bash and zsh: the body of the loop over the words. ((i++)) skips the value of an option.
constexpr std::string_view kFindPath = R"sh(
    case $word in
      %VALUES%) ((i++)) ;;
      -*) ;;
      *) case "${at:+$at }$word" in
           %PATHS%) at="${at:+$at }$word" ;;
         esac ;;
    esac)sh";

std::string replaced(std::string text, std::string_view mark, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += by.size())
    text.replace(at, mark.size(), by);
  return text;
}

std::string choices_of(const ops::Argument& option) {
  return replaced(std::string(option.choices), "|", " ");
}

std::string find_path(const std::map<std::string, Choices>& all) {
  return replaced(replaced(std::string(kFindPath), "%VALUES%", joined(names_with_value(false), "|")),
                  "%PATHS%", joined(paths_of(all, "\""), "|"));
}

std::string bash_script() {
  const auto all = choices_by_path();
  std::string out = fmt::format(
      "# bash completion of cairn, {}\n"
      "_cairn() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} at= word i words= "
      "options=\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n    word=${{COMP_WORDS[i]}}{}\n  done\n  case $prev in\n",
      kMark, find_path(all));
  for (const auto& [name, option] : value_options())
    if (!option.choices.empty())
      out += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", name,
                         choices_of(option));
  out += fmt::format("    {}) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
                     joined(names_with_value(true), "|"));
  out += fmt::format("    {}) return ;;\n  esac\n  case $at in\n", joined(names_with_value(false), "|"));
  for (const auto& [path, place] : all)
    out += fmt::format("    \"{}\") words=\"{}\" options=\"{}\" ;;\n", path, words_of(place),
                       names_of(place.options));
  return out + fmt::format(
                   "  esac\n"
                   "  if [[ $cur == -* ]]; then words=\"$options {}\"; fi\n"
                   "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}}\n"
                   "complete -F _cairn cairn\n",
                   names_of(global_options()));
}

// 'word:meaning' for zsh's _describe.
std::string described(std::string_view word, std::string_view meaning) {
  const std::string text = replaced(std::string(meaning), "'", "'\\''");
  return fmt::format("'{}:{}'", replaced(std::string(word), ":", "\\:"), text);
}

std::string described(const std::vector<ops::Argument>& options) {
  std::vector<std::string> items;
  for (const ops::Argument& option : options)
    items.push_back(described(option.option(), option_meaning(option)));
  return joined(items, " ");
}

std::string zsh_script() {
  const auto all = choices_by_path();
  std::string out = fmt::format(
      "#compdef cairn\n# zsh completion of cairn, {}\n"
      "_cairn() {{\n"
      "  local at= word previous=${{words[CURRENT-1]}}\n  local -a entries options\n  integer i\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n    word=${{words[i]}}{}\n  done\n  case $previous in\n",
      kMark, find_path(all));
  for (const auto& [name, option] : value_options())
    if (!option.choices.empty())
      out += fmt::format("    {}) compadd {}; return ;;\n", name, choices_of(option));
  out += fmt::format("    {}) _files; return ;;\n", joined(names_with_value(true), "|"));
  out += fmt::format("    {}) return ;;\n  esac\n  case $at in\n", joined(names_with_value(false), "|"));
  for (const auto& [path, place] : all) {
    std::vector<std::string> entries;
    for (const auto& [word, meaning] : place.words) entries.push_back(described(word, meaning));
    out += fmt::format("    \"{}\") entries=({}) options=({}) ;;\n", path, joined(entries, " "),
                       described(place.options));
  }
  return out + fmt::format(
                   "  esac\n  options+=({})\n"
                   "  if [[ $PREFIX == -* ]]; then _describe -o option options; else _describe command "
                   "entries; fi\n"
                   "}}\n_cairn \"$@\"\n",
                   described(global_options()));
}

std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(std::string(text), "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_option(const ops::Argument& option, std::string_view condition) {
  std::string line = fmt::format("complete -c cairn {}-l {} -d {}", condition, option.option().substr(2),
                                 fish_quoted(option_meaning(option)));
  if (!option.short_name.empty()) line += fmt::format(" -s {}", option.short_name.substr(1));
  if (!option.choices.empty())
    line += fmt::format(" -xa {}", fish_quoted(choices_of(option)));
  else if (!option.label.empty())
    line += is_path(option) ? " -rF" : " -x";
  return line + "\n";
}

std::string fish_script() {
  const auto all = choices_by_path();
  std::string out = fmt::format(
      "# fish completion of cairn, {}\n"
      "function __cairn_at\n"
      "    set -l at ''\n    set -l skip 0\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        if test $skip = 1\n            set skip 0\n            continue\n        end\n"
      "        switch $word\n            case {}\n                set skip 1\n            case '-*'\n"
      "            case '*'\n                set -l longer (string trim \"$at $word\")\n"
      "                if contains -- $longer {}\n                    set at $longer\n                end\n"
      "        end\n    end\n    test \"$at\" = \"$argv[1]\"\nend\ncomplete -c cairn -f\n",
      kMark, joined(names_with_value(false), " "), joined(paths_of(all, "'"), " "));
  for (const ops::Argument& option : global_options()) out += fish_option(option, "");
  for (const auto& [path, place] : all) {
    const std::string condition = fmt::format("-n \"__cairn_at '{}'\" ", path);
    for (const auto& [word, meaning] : place.words)
      out += fmt::format("complete -c cairn {}-a {} -d {}\n", condition, word, fish_quoted(meaning));
    for (const ops::Argument& option : place.options) out += fish_option(option, condition);
  }
  return out;
}

bool is_there(os::Disk& disk, const std::string& path) {
  return disk.stat(path).ok();
}

std::string directory_from(const char* variable, const std::string& otherwise) {
  const char* value = std::getenv(variable);
  return value && *value == '/' ? value : otherwise;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  return shell == "bash" ? bash_script() : shell == "zsh" ? zsh_script() : fish_script();
}

std::vector<GeneratedFile> generated_files(os::Disk& disk, const std::string& home,
                                           const std::string& program) {
  std::vector<GeneratedFile> files;
  const std::string data = directory_from("XDG_DATA_HOME", home + "/.local/share");
  const std::string config = directory_from("XDG_CONFIG_HOME", home + "/.config");
  if (is_there(disk, data + "/bash-completion") || is_there(disk, "/usr/share/bash-completion"))
    files.push_back({data + "/bash-completion/completions/cairn", bash_script()});
  if (is_there(disk, data + "/zsh/site-functions"))
    files.push_back({data + "/zsh/site-functions/_cairn", zsh_script()});
  if (is_there(disk, config + "/fish"))
    files.push_back({config + "/fish/completions/cairn.fish", fish_script()});
  // man searches share/man beside bin for programs on PATH.
  const std::string_view bin = std::string_view(program).substr(0, program.rfind('/'));
  if (bin.ends_with("/bin"))
    files.push_back({std::string(bin.substr(0, bin.size() - 4)) + "/share/man/man1/cairn.1", man_page()});
  return files;
}

Result<std::vector<std::string>> install_generated(os::Disk& disk, const std::vector<GeneratedFile>& files) {
  std::vector<std::string> written;
  for (const GeneratedFile& file : files) {
    const auto known = os::read_file(disk, file.path, 1u << 20);
    if (known && *known == file.text) continue;
    TRY(os::make_dirs(disk, file.path.substr(0, file.path.rfind('/'))));
    TRY(os::replace_file(disk, file.path, file.text));
    written.push_back(file.path);
  }
  return written;
}

// A file that cannot be read or removed is skipped: it does no harm without cairn.
std::vector<std::string> remove_generated(os::Disk& disk, const std::vector<GeneratedFile>& files) {
  std::vector<std::string> removed;
  for (const GeneratedFile& file : files) {
    const auto known = os::read_file(disk, file.path, 1u << 20);
    if (known && known->find(kMark) != std::string::npos && disk.remove(file.path))
      removed.push_back(file.path);
  }
  return removed;
}

}  // namespace cairn::cli
