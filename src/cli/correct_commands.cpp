// Commands that correct: edit in the user's editor, reject, retract, pin.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/shell.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/install.h"

namespace cairn::cli {

namespace {

// `edit` without --set writes the record to a file, opens that in the user's editor, and sends the fields
// that changed. The file looks like this; what is above the first mark is ignored:
//   Edit O12 below, save and close. An unchanged text changes nothing.
//   #: title
//   the lexer rounds down
//   #: valid_until
constexpr std::string_view kFieldMark = "#: ";
constexpr std::size_t kMostText = 1u << 20;

std::string file_of(const Json& record) {
  std::string text = fmt::format("Edit {} below, save and close. An unchanged text changes nothing.\n",
                                 text_of(record["id"]));
  for (const auto& [name, value] : record["fields"].members())
    text += fmt::format("{}{}\n{}\n", kFieldMark, name, value.as_string());
  return text + fmt::format("{}valid_until\n{}\n", kFieldMark, record["valid_until"].as_string());
}

// The fields that differ from what they were, as FIELD=VALUE.
Json changes_in(const std::string& text, const Json& record) {
  std::string name, value;
  Json changes = Json::array();
  const auto end = [&] {
    const std::string before = name == "valid_until" ? std::string(record["valid_until"].as_string())
                                                     : std::string(record["fields"][name].as_string());
    if (!name.empty() && trim(value) != trim(before)) changes.push(name + "=" + std::string(trim(value)));
    value.clear();
  };
  for (const std::string_view line : lines(text)) {
    if (line.starts_with(kFieldMark)) {
      end();
      name = trim(line.substr(kFieldMark.size()));
    } else {
      value.append(line).append("\n");
    }
  }
  end();
  return changes;
}

Status run_editor(const std::string& path) {
  const char* editor = std::getenv("VISUAL");
  if (!editor || !*editor) editor = std::getenv("EDITOR");
  if (!editor || !*editor) editor = "vi";
  // Through a shell, because VISUAL may have arguments ("code --wait"). The path is an argument of the shell,
  // so that nothing in it is interpreted.
  const std::string command = std::string(editor) + " \"$1\"";
  const pid_t child = fork();
  if (child < 0) return Error{Code::internal, "edit: no process for the editor"};
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), "sh", path.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{Code::canceled,
               fmt::format("edit: the editor ({}) failed: nothing was changed; --set FIELD=VALUE "
                           "needs none",
                           editor)};
}

// Shows the record in an editor and stores what was changed there. Null: nothing was changed.
Result<Json> edit_in_editor(Shell& shell, Json args, const Json& record) {
  const std::string path = shell.home().data + "/edit-" + std::to_string(getpid()) + ".txt";
  TRY(os::replace_file(shell.disk(), path, file_of(record)));
  const Status edited = run_editor(path);
  const auto store = [&]() -> Result<Json> {
    TRY(edited);
    const Json changes = changes_in(TRY(os::read_file(shell.disk(), path, kMostText)), record);
    if (changes.items().empty()) return Json();
    return shell.ask("edit", args.set("set", changes));
  };
  auto result = store();
  // What a person typed exists only in this file until it is stored. In all other cases the file is removed:
  // it holds stored text.
  if (edited && !result)
    return Error{result.error().code,
                 fmt::format("{}; what you typed is kept in {}: copy it and remove the file",
                             result.error().message, path)};
  ignore(shell.disk().remove(path));
  return result;
}

}  // namespace

Page correct_page(Shell& shell, const Json&, const Json& result) {
  const std::string id = shell.screen().paint(Style::accent, text_of(result["id"]));
  const std::string_view what = result["what"].as_string();
  std::string out = id + "  ";
  if (result["hidden"].as_bool())
    out += fmt::format("{}: no search, context or timeline shows it",
                       what == "edit" ? "is over" : "is withdrawn");
  else if (what == "pin")
    out += result["pinned"].as_bool() ? "pinned" : "no longer pinned";
  else
    out += "changed; it is yours now";
  if (const auto until = result.text("valid_until")) out += ", valid until " + until->substr(0, 16);
  return {out + "\n", 0, "`cairn undo` takes it back"};
}

Result<int> edit_command(Shell& shell) {
  const Json& args = shell.args();
  Json result;
  if (args.has("set")) {
    result = TRY(shell.ask("edit", args));
  } else {
    // Without `set` the operation changes nothing and returns the fields that can be edited.
    const Json record = TRY(shell.ask("edit", args));
    if (record["fields"].members().empty())
      return Error{Code::unsupported,
                   "edit: " + text_of(record["id"]) + " is what was said: reject or forget it instead"};
    if (!shell.screen().terminal)
      return Error{Code::invalid, "edit: there is no terminal for an editor: pass --set FIELD=VALUE"};
    result = TRY(edit_in_editor(shell, args, record));
    if (result.is_null()) {
      shell.note("nothing was changed");
      return 0;
    }
  }
  return shell.show(correct_page(shell, args, result), result);
}

}  // namespace cairn::cli
