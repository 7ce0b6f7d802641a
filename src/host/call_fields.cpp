#include "host/call_fields.h"

#include <algorithm>

#include "base/text.h"

namespace cairn::host {

bool names_a_file(std::string_view member) {
  return any_of(member, {"file_path", "filePath", "notebook_path"});
}

bool names_a_path(std::string_view member) {
  return names_a_file(member) || any_of(member, {"path", "paths"});
}

bool names_a_directory(std::string_view member) {
  return any_of(member, {"cwd", "path", "dir", "directory", "workdir", "working_directory", "root"});
}

bool holds_file_text(std::string_view member) {
  return any_of(member, {"content", "old_string", "new_string", "oldString", "newString", "originalFile",
                         "structuredPatch", "new_source", "original_file", "updated_file"});
}

std::vector<const Json*> files_beside_input(const event::Event& event) {
  std::vector<const Json*> files;
  for (const Json* source : {&event.extra, &event.tool_response, &event.tool_response["file"]})
    for (const char* key : {"file_path", "filePath"}) files.push_back(&(*source)[key]);
  return files;
}

std::string_view original_text(const Json& response) {
  return response["originalFile"].as_string();
}

static Json* member(Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  for (Json::Member& m : object.mutable_members())
    if (m.first == key) return &m.second;
  return nullptr;
}

static void add_texts(Json& edit, std::string_view before, std::string_view after, CallEdits& out) {
  Json* old_text = member(edit, before);
  if (old_text == nullptr || !old_text->is_string() || old_text->as_string().empty()) return;
  Json* new_text = member(edit, after);
  out.texts.push_back({old_text, new_text != nullptr && new_text->is_string() ? new_text : nullptr});
}

Json* edit_list(Json& input) {
  Json* edits = member(input, "edits");
  return edits != nullptr && edits->is_array() ? edits : nullptr;
}

CallEdits edits_of(Json& input, Json& response) {
  CallEdits change;
  add_texts(input, "old_string", "new_string", change);
  if (Json* edits = edit_list(input))
    for (Json& edit : edits->mutable_items()) add_texts(edit, "old_string", "new_string", change);
  add_texts(response, "oldString", "newString", change);
  if (Json* hunks = member(response, "structuredPatch"); hunks != nullptr && hunks->is_array())
    for (Json& hunk : hunks->mutable_items())
      if (Json* lines = member(hunk, "lines"); lines != nullptr && lines->is_array())
        change.hunks.push_back({std::max<std::int64_t>(hunk["oldStart"].as_int(1), 1), lines});
  return change;
}

bool is_host_id(std::string_view id) {
  constexpr std::string_view kHex = "0123456789abcdef-";
  for (const std::string_view start : {"toolu_", "call_", "call-", "ses_", "msg_"})
    if (id.starts_with(start))
      return id.size() <= 40 && id.find_first_of("_-.:", start.size()) == std::string_view::npos;
  return id.size() <= 36 && id.find_first_not_of(kHex) == std::string_view::npos;
}

}  // namespace cairn::host
