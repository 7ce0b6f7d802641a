#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/completions.h"
#include "host/host.h"
#include "os/process.h"

namespace cairn::cli {

namespace {

// Escapes a text so that roff prints it unchanged. A dot or an apostrophe at the start of a line would begin
// a request, and a plain "-" would be printed as a hyphen, which cannot be pasted into a shell.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : lines(text)) out += trim(line).empty() ? ".PP\n" : roff(line) + "\n";
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

std::string option_entry(const ops::Argument& option) {
  std::string name = option.short_name.empty() ? "" : fmt::format("\\fB{}\\fR, ", roff(option.short_name));
  name += fmt::format("\\fB{}\\fR", roff(option.option()));
  if (!option.label.empty()) name += fmt::format(" \\fI{}\\fR", roff(option.label));
  return fmt::format(".TP\n{}\n{}\n", name, roff(option_meaning(option)));
}

std::string command_entry(const Command& command) {
  const ops::Operation& operation = *command.operation;
  const std::string words = command.words();
  std::string out =
      fmt::format(".SS cairn {}{}{}\n", roff(command.name), words.empty() ? "" : " ", roff(words));
  out += roff(upper(operation.summary.substr(0, 1))) + roff(operation.summary.substr(1)) + ".\n";
  if (!operation.help.empty()) out += ".PP\n" + paragraphs(operation.help);
  for (const ops::Argument& option : command.options()) out += option_entry(option);
  return out;
}

}  // namespace

std::string man_page() {
  std::string out = fmt::format(
      ".\\\" made by `cairn completions`: run it again after an update\n"
      ".TH CAIRN 1 \"\" \"cairn {}\" \"User Commands\"\n"
      ".SH NAME\ncairn \\- a memory for coding agents\n"
      ".SH SYNOPSIS\n\\fBcairn\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n"
      "Cairn watches a coding session through the agent's own hooks, keeps every event, and gives the next "
      "session\n"
      "of that project what it needs to go on. There is nothing to do day to day; these commands are for "
      "looking,\n"
      "searching and fixing.\n",
      CAIRN_VERSION);
  ops::Group group = ops::Group::none;
  for (const Command& command : all_commands()) {
    if (command.operation->group != group) {
      group = command.operation->group;
      out += fmt::format(".SH {}\n", roff(upper(ops::group_title(group))));
    }
    out += command_entry(command);
  }
  out += ".SH OPTIONS OF EVERY COMMAND\n";
  for (const ops::Argument& option : global_options()) out += option_entry(option);
  return out +
         ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nfailed, or found problems\n.TP\n2\nbad usage or bad input\n"
         ".TP\n3\nnothing found\n"
         ".SH ENVIRONMENT\n.TP\n\\fBCAIRN_HOME\\fR\none directory for everything, the settings too\n"
         ".TP\n\\fBCAIRN_DISABLE\\fR\n1: hooks do nothing\n.TP\n\\fBNO_COLOR\\fR\nno colours\n"
         ".SH FILES\n.TP\n\\fI~/.local/share/cairn\\fR\nwhat is remembered\n"
         ".TP\n\\fI~/.config/cairn/config.toml\\fR\nthe settings\n" +
         fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", host::default_host().hooks().command());
}

Result<int> completions_command(Shell& shell) {
  if (!shell.flag("install")) {
    if (!shell.args().has("shell"))
      return Error{Code::invalid,
                   "completions: SHELL is missing: bash, zsh or fish, or --install for those you use"};
    shell.print(completion_script(shell.args()["shell"].as_string()));
    return 0;
  }
  const char* home = std::getenv("HOME");
  if (!home || *home != '/')
    return Error{Code::invalid, "completions: HOME is not set: set it to your directory"};
  const auto files = generated_files(shell.disk(), home, os::executable_path());
  const auto written = TRY(install_generated(shell.disk(), files).in("completions"));
  for (const std::string& path : written) shell.print(fmt::format("wrote {}\n", shown_line(path)));
  if (written.empty()) shell.print("completions and manual page are up to date\n");
  return 0;
}

Result<int> man_command(Shell& shell) {
  shell.print(man_page());
  return 0;
}

}  // namespace cairn::cli
