// For any settings file, our hooks can be added and removed without any other change.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "host/json_edit.h"
#include "unit/install_fixture.h"

namespace cairn::cli {
namespace {

using host::JsonNode;
using host::JsonStyle;
using host::scan;

// Random settings of other people, written in random styles.
class Author {
 public:
  Author() {
    indent_ = pick({"", "", "  ", "    ", "\t", "   "});
    newline_ = pick({"\n", "\r\n"});
    colon_ = pick({":", ": ", " : "});
    loose_ = chance(3);
  }

  std::string document() {
    Json root = Json::object();
    const int members = number(0, 4);
    const int hooks_at = number(0, 5);
    for (int i = 0; i <= members; ++i) {
      if (i == hooks_at) root.set("hooks", hooks());
      if (i < members) root.set("key" + std::to_string(i), value(0));
    }
    std::string text = chance(8) ? "\xef\xbb\xbf" : "";
    text += write(root, "");
    return text + pick({"", "\n", "\r\n", " \n\n"});
  }

  Json value(int depth) {
    switch (number(0, depth > 2 ? 4 : 6)) {
      case 0: return Json(pick({"", "plain", "ü\"\\\n", "日本 / {[,]}", "\t"}));
      case 1: return Json(number(-5, 100000));
      case 2: return Json(2.5);
      case 3: return Json(chance(2));
      case 4: return Json();
      case 5: {
        Json list = Json::array();
        for (int i = number(0, 3); i > 0; --i) list.push(value(depth + 1));
        return list;
      }
      default: {
        Json object = Json::object();
        for (int i = number(0, 3); i > 0; --i)
          object.set(pick({"hooks", "a", "ß"}) + std::to_string(i), value(depth + 1));
        return object;
      }
    }
  }

  Json group() {
    Json group = Json::object();
    if (chance(2)) group.set("matcher", pick({"Bash", "*", "", "Edit|Write"}));
    Json hooks = Json::array();
    for (int i = number(0, 2); i > 0; --i)
      hooks.push(
          Json::object({{"type", "command"}, {"command", pick({"lint", "echo cairn-hook", "'a b' c"})}}));
    return group.set("hooks", hooks);
  }

  std::string event() { return pick({"Stop", "SessionStart", "PreToolUse", "SessionEnd", "TaskCompleted"}); }
  int number(int low, int high) { return *rc::gen::inRange(low, high + 1); }
  bool chance(int of) { return number(1, of) == 1; }

 private:
  std::string pick(std::vector<std::string> from) { return *rc::gen::elementOf(std::move(from)); }

  Json hooks() {
    Json hooks = Json::object();
    for (int i = number(0, 4); i > 0; --i) {
      Json groups = Json::array();
      for (int j = number(0, 2); j > 0; --j) groups.push(group());
      hooks.set(chance(4) ? "WorktreeCreate" : event(), groups);
    }
    return hooks;
  }

  // Some containers of a file with line breaks stand on one line, as people write them.
  std::string write(const Json& value, const std::string& indent) {
    const bool object = value.is_object();
    const std::size_t size = object ? value.members().size() : value.items().size();
    if (size == 0) return value.is_object() && chance(3) ? "{ }" : value.dump();
    const bool one_line = indent_.empty() || (loose_ && chance(3));
    const std::string inner = indent + indent_;
    std::string text = object ? "{" : "[";
    for (std::size_t i = 0; i < size; ++i) {
      if (i > 0) text += one_line && loose_ ? ", " : ",";
      if (!one_line) text += newline_ + inner;
      if (object) text += Json(value.members()[i].first).dump() + colon_;
      text += write(object ? value.members()[i].second : value.items()[i], inner);
    }
    if (!one_line) text += newline_ + indent;
    return text + (object ? "}" : "]");
  }

  std::string indent_, newline_, colon_;
  bool loose_ = false;
};

std::string_view after_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

Json sorted(const Json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value.items()) list.push(sorted(item));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, member] : value.members()) object.set(key, sorted(member));
  auto& members = object.mutable_members();
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return object;
}

Json parsed(std::string_view text) {
  auto value = Json::parse(after_mark(text));
  RC_ASSERT(value.ok());
  return sorted(*value);
}

RC_GTEST_PROP(InstallProperty, UninstallGivesTheOriginalBytesBack, ()) {
  MemoryDisk disk;
  Host host(disk, "/home/dev/.claude/settings.json");
  Author author;
  const std::string original = author.document();
  const bool exec_form = author.chance(2);
  host.write(original);
  RC_ASSERT(host.install(kHook, exec_form).ok());
  RC_ASSERT(count_ours(parsed(host.text())) == 17u);
  const std::string once = host.text();
  RC_ASSERT(host.install(kHook, exec_form).ok());
  RC_ASSERT(host.text() == once);
  RC_ASSERT(host.uninstall().ok());
  RC_ASSERT(host.text() == original);
}

RC_GTEST_PROP(InstallProperty, UninstallAfterAnotherChangeLeavesExactlyThatChange, ()) {
  MemoryDisk disk;
  Host host(disk, "/home/dev/.claude/settings.json");
  Author author;
  const std::string original = author.document();
  host.write(original);
  RC_ASSERT(host.install().ok());

  // The same change to the model of the original and, as text, to the installed file.
  Json expected = parsed(original);
  std::string text = host.text();
  const JsonNode root = *scan(text);
  const JsonStyle style = JsonStyle::of(text, root);
  if (author.chance(2)) {
    const Json value = author.value(0);
    expected.set("changed", value);
    text = insert_last(text, style, root, "changed", value);
  } else {
    const std::string event = author.event();
    const Json group = author.group();
    Json hooks = expected["hooks"];
    Json groups = hooks[event];
    if (groups.is_null()) groups = Json::array();
    hooks.set(event, groups.push(group));
    expected.set("hooks", hooks);
    text = insert_last(text, style, *root.find("hooks")->find(event), "", group);
  }
  host.write(text);
  RC_ASSERT(host.uninstall().ok());
  RC_ASSERT(parsed(host.text()) == sorted(expected));
}

}  // namespace
}  // namespace cairn::cli
