// Commands of documents: save, docs, resume, coalesce, chain, fresh-start, undo.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/diff.h"
#include "cli/install.h"
#include "host/environment.h"

namespace cairn::cli {

namespace {

std::string id_of(Shell& shell, const Json& document) {
  std::string text = shell.screen().paint(Style::accent, text_of(document["id"]));
  if (document["name"].is_string()) text += " " + shown_line(document["name"].as_string());
  return text;
}

void add_problems(std::string& out, const Json& problems) {
  for (const Json& problem : problems.items())
    out += fmt::format("  {}{}\n",
                       problem["line"].is_int() ? fmt::format("line {}: ", problem["line"].as_int()) : "",
                       shown_line(problem["what"].as_string()));
}

std::string parts_text(const Json& result) {
  std::string text =
      fmt::format("{}, {}, {}", count_text(result["documents"].as_int(), "document", "documents"),
                  count_text(result["pending"].as_int(), "pending backup", "pending backups"),
                  count_text(result["open"].as_int(), "open item", "open items"));
  if (const auto notes = result["notes"].as_int(); notes > 0)
    text += ", " + count_text(notes, "note", "notes");
  return text;
}

}  // namespace

// What `save` stores: `-` is stdin, one word that is the name of a file is that file, else the words
// themselves.
Status prepare_save(Shell& shell, Json& args) {
  if (host::agent_in_environment()) args.set("by", "agent");
  if (const auto session = host::session_in_environment()) args.set("from", *session);
  const std::string text(args["text"].as_string());
  if (text == "-") {
    args.set("text", TRY(all_of_stdin("save")));
  } else if (!text.empty() && shell.line().words.size() == 1) {
    const std::string path = text.starts_with('/') ? text : shell.directory() + "/" + text;
    // A text that was passed as one quoted word can be longer than any path.
    if (const auto stat = shell.disk().stat(path); text.size() < 1000 && stat && !stat->is_dir) {
      args.set("text", Json());
      args.set("file", path);
    }
  }
  return {};
}

Result<int> save_command(Shell& shell) {
  Json args = shell.args();
  TRY(prepare_save(shell, args));
  const Json result = TRY(shell.ask("save", args));
  const std::string to(args["to"].as_string());
  std::string out =
      fmt::format("{}  saved for {}: {}\n", id_of(shell, result), shown_line(result["project"].as_string()),
                  shown_line(result["title"].as_string()));
  if (result["previous"].is_string())
    out += "    follows " + shown_line(result["previous"].as_string()) + "\n";
  if (result["backup"].is_string())
    out +=
        fmt::format("    covers session {} up to line {} ({})\n", shown_line(result["session"].as_string()),
                    result["anchor_line"].as_int(), text_of(result["backup"]));
  if (!to.empty()) {
    if (auto written = write_file(shell.disk(), to, result["text"].as_string()); !written)
      return std::move(written).error().in(text_of(result["id"]) + " is saved, but not written to a file");
    out += "    written to " + shown_line(to) + "\n";
  }
  if (!result["problems"].items().empty()) {
    out += "    differs from the template:\n";
    add_problems(out, result["problems"]);
  }
  out += fmt::format("    `cairn resume` goes on from it; `cairn docs show {}` prints it\n",
                     text_of(result["id"]));
  return shell.show({out}, result);
}

Page docs_list_page(Shell& shell, const Json& args, const Json& result) {
  if (result["documents"].items().empty())
    return {args["trash"].as_bool() ? "nothing is in the trash\n"
                                    : "no documents: `cairn save` writes one\n"};
  Table table({{"id"}, {"saved"}, {"status"}, {"branch"}, {"tags"}, {"follows"}, {"title"}});
  for (const Json& one : result["documents"].items()) {
    std::string tags;
    for (const Json& tag : one["tags"].items()) tags += (tags.empty() ? "" : ",") + text_of(tag);
    table.add({{text_of(one["id"]), Style::accent},
               {shell.age(one["created_at"]), Style::dim},
               text_of(one["status"]),
               shown_line(one["branch"].as_string()),
               shown_line(tags),
               shown_line(one["previous"].as_string()),
               shown_line(one["title"].as_string())});
  }
  return {table.text(shell.screen())};
}

Page docs_show_page(Shell&, const Json&, const Json& result) {
  return {shown(result["text"].as_string())};
}

// A target with a slash, or an existing "*.md", is a file of the caller's directory; else it is a document.
Status prepare_docs_lint(Shell& shell, Json& args) {
  const std::string target(args["target"].as_string());
  if (target.empty() || target.starts_with('/')) return {};
  const std::string path = shell.directory() + "/" + target;
  if (target.find('/') != std::string::npos || target.ends_with(".md"))
    if (shell.disk().stat(path).ok() || target.find('/') != std::string::npos) args.set("target", path);
  return {};
}

Page docs_lint_page(Shell& shell, const Json&, const Json& result) {
  const std::string name = shown_line(result["document"].as_string());
  if (result["ok"].as_bool()) return {fmt::format("{}  {}\n", shell.screen().paint(Style::good, "ok"), name)};
  std::string out = fmt::format("{}  {}\n", shell.screen().paint(Style::bad, "bad"), name);
  add_problems(out, result["problems"]);
  return {out, 1};
}

Page docs_diff_page(Shell& shell, const Json&, const Json& result) {
  const std::string before = shown_line(result["before"].as_string()),
                    after = shown_line(result["after"].as_string());
  std::string out = fmt::format("{} -> {}\n", before, after);
  if (result["sections"].items().empty()) return {out + "no section differs\n"};
  for (const Json& section : result["sections"].items()) {
    const std::string name = shown_line(section["section"].as_string());
    out += fmt::format("\n{} {}\n", shell.screen().paint(Style::bold, name.empty() ? "(beginning)" : name),
                       text_of(section["change"]));
    const std::string text =
        diff_text(shown(section["before"].as_string()), shown(section["after"].as_string()), "");
    // Its first two lines name the documents again.
    const auto all = lines(text);
    for (std::size_t i = 2; i < all.size(); ++i) out += std::string(all[i]) + "\n";
  }
  return {out};
}

Page docs_template_page(Shell&, const Json&, const Json& result) {
  return {shown(result["text"].as_string()), 0,
          (result["built_in"].as_bool() ? "built in; your own would be " : "from ") +
              shown_line(result["path"].as_string())};
}

// On a terminal the user chooses what becomes of the records that came after the document: the first request
// finds them, and only if the user agrees a second one does what is recommended.
Result<int> resume_command(Shell& shell) {
  Json args = shell.args();
  if (const auto session = host::session_in_environment()) args.set("from", *session);
  const bool asks =
      shell.screen().terminal && !shell.json() && !args.has("pending") && !args["dry_run"].as_bool();
  Json result = TRY(shell.ask("resume", args));
  const Json& pending = result["pending"];
  if (asks && pending.is_object()) {
    shell.note(fmt::format("{} records came after the document ({}); {}.", pending["records"].as_int(),
                           text_of(pending["backup"]), shown_line(pending["why"].as_string())));
    const std::string recommended(pending["recommended"].as_string());
    const std::string question = recommended == "coalesce" ? "Add them to the document first?"
                                                           : "Discard them (`cairn undo` takes that back)?";
    if (TRY(shell.confirm(question))) {
      args.set("pending", recommended);
      result = TRY(shell.ask("resume", args));
    }
  }
  return shell.show(resume_page(shell, args, result), result);
}

Status prepare_handoff(Shell&, Json& args) {
  if (const auto session = host::session_in_environment()) args.set("from", *session);
  return {};
}

Page handoff_page(Shell&, const Json&, const Json& result) {
  return {shown(result["text"].as_string())};
}

Page resume_page(Shell&, const Json& args, const Json& result) {
  std::string note;
  const Json& pending = result["pending"];
  if (result["dry_run"].as_bool()) {
    note = fmt::format("dry run: {} bytes, about {} tokens; nothing is written", result["bytes"].as_int(),
                       result["tokens"].as_int());
    for (const Json& write : result["writes"].items()) note += "; would write: " + text_of(write);
  } else if (pending.is_object() && !args.has("pending")) {
    note = fmt::format(
        "{} records came after the document; {}. They are only shown: --pending coalesce adds them to it, "
        "--pending discard "
        "leaves them out (recommended: {})",
        pending["records"].as_int(), shown_line(pending["why"].as_string()), text_of(pending["recommended"]));
  }
  return {shown(result["text"].as_string()), 0, note};
}

Page coalesce_page(Shell& shell, const Json&, const Json& result) {
  if (!result["changed"].as_bool())
    return {fmt::format("{}  is up to date: nothing came after it\n", id_of(shell, result["document"]))};
  return {fmt::format("{}  brought up to date: {} of {} after {}\n", id_of(shell, result["document"]),
                      count_text(result["records"].as_int(), "record", "records"), text_of(result["backup"]),
                      shown_line(result["anchor"].as_string()))};
}

Page chain_page(Shell& shell, const Json& args, const Json& result) {
  const bool bad = !result["problems"].items().empty();
  const std::string_view format = args["format"].as_string();
  if (format == "mermaid") return {shown(result["mermaid"].as_string()), bad ? 1 : 0};
  if (format == "json") return {shown_json(result.dump()) + "\n", bad ? 1 : 0};
  if (result["documents"].items().empty()) return {"no documents: `cairn save` writes one\n"};
  std::string out;
  for (const Json& one : result["documents"].items()) {
    std::string marks;
    if (one["fork"].as_bool()) marks += "  fork";
    if (one["missing"].is_string())
      marks += "  its predecessor " + shown_line(one["missing"].as_string()) + " is missing";
    if (one["cycle"].as_bool()) marks += "  in a cycle";
    out += fmt::format(
        "{}  {}  {}{}{}\n", id_of(shell, one),
        shell.screen().paint(Style::dim, text_of(one["created_at"]).substr(0, 16) + "Z"),
        one["previous"].is_string() ? "<- " + shown_line(one["previous"].as_string()) + "  " : "(first)  ",
        shown_line(one["title"].as_string()), shell.screen().paint(Style::warn, marks));
  }
  if (bad) out += "\n";
  for (const Json& problem : result["problems"].items()) out += shown_line(problem.as_string()) + "\n";
  return {out, bad ? 1 : 0};
}

Status prepare_fresh_start(Shell& shell, Json& args) {
  if (args["dry_run"].as_bool()) return {};
  Json look = args;
  look.set("dry_run", true);
  const Json found = TRY(shell.ask("fresh-start", look));
  const bool agreed = TRY(shell.confirm(
      fmt::format("Put away {} of {}?", parts_text(found), shown_line(found["project"].as_string()))));
  if (!agreed) return Error{Code::canceled, "fresh-start: nothing was changed"};
  return {};
}

Page fresh_start_page(Shell&, const Json&, const Json& result) {
  if (result["dry_run"].as_bool()) return {"would put away " + parts_text(result) + "\n"};
  return {fmt::format("put away {}\n`cairn undo` takes it back until {}\n", parts_text(result),
                      text_of(result["undo_until"]).substr(0, 10))};
}

Status prepare_undo(Shell& shell, Json& args) {
  if (args["dry_run"].as_bool()) return {};
  Json look = args;
  look.set("dry_run", true);
  const Json found = TRY(shell.ask("undo", look));
  const bool agreed = TRY(
      shell.confirm(fmt::format("Take back the {} of {}?", text_of(found["what"]), shell.age(found["at"]))));
  if (!agreed) return Error{Code::canceled, "undo: nothing was changed"};
  return {};
}

Page undo_page(Shell& shell, const Json&, const Json& result) {
  return {fmt::format("{} the {} of {}\n", result["dry_run"].as_bool() ? "would take back" : "took back",
                      text_of(result["what"]), shell.age(result["at"]))};
}

}  // namespace cairn::cli
