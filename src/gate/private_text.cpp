#include "gate/private_text.h"

#include <algorithm>

#include "base/text.h"

namespace cairn::gate {

std::string& string_of(Json& value) {
  std::string* found = nullptr;
  value.for_each_string([&](std::string& s) { found = &s; });
  CAIRN_ASSERT(found != nullptr);
  return *found;
}

namespace {

constexpr std::size_t kMaxEdits =
    200;  // of one call on a file with private parts; each is looked for in the file

struct Tag {
  enum class Kind { none, open, close } kind = Kind::none;
  std::size_t bytes = 1;
};

bool ends_name(char c) {
  return c == '>' || c == ' ' || (c >= '\t' && c <= '\r');
}

// The tag at text[0] == '<'. One whose '>' is missing because the text ends counts: what follows elsewhere is
// not ours to show. One that runs into another '<' is prose.
Tag tag_at(std::string_view text) {
  const bool closing = text.size() > 1 && text[1] == '/';
  const std::size_t name = closing ? 2 : 1;
  constexpr std::string_view kName = "private";
  if (!starts_with_nocase(text.substr(std::min(name, text.size())), kName)) return {};
  const std::size_t after = name + kName.size();
  if (after < text.size() && !ends_name(text[after])) return {};
  const std::size_t end = text.find_first_of("<>", after);
  if (end != std::string_view::npos && text[end] == '<') return {};
  const bool empty = end != std::string_view::npos && text[end - 1] == '/';
  if (empty && !closing) return {};
  return {closing ? Tag::Kind::close : Tag::Kind::open,
          end == std::string_view::npos ? text.size() : end + 1};
}

}  // namespace

PrivateScan remove_private(std::string_view text, int depth) {
  PrivateScan scan;
  scan.depth = depth;
  scan.text.reserve(text.size());
  if (depth > 0 && !text.empty()) {
    scan.text = kPrivateMark;
    scan.removed = true;
  }
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t next = std::min(text.find('<', at), text.size());
    if (scan.depth == 0) scan.text.append(text, at, next - at);
    at = next;
    if (at == text.size()) break;
    const Tag tag = tag_at(text.substr(at));
    if (tag.kind == Tag::Kind::open) {
      if (scan.depth++ == 0) scan.text.append(kPrivateMark);
    } else if (tag.kind == Tag::Kind::close && scan.depth > 0) {
      --scan.depth;
    } else if (tag.kind == Tag::Kind::close) {
      scan.text = kPrivateMark;
      scan.began_inside = true;
    } else if (scan.depth == 0) {
      scan.text.push_back('<');
    }
    scan.removed = scan.removed || tag.kind != Tag::Kind::none;
    at += tag.bytes;
  }
  return scan;
}

namespace {

bool clean_string(std::string& text, int depth = 0) {
  PrivateScan scan = remove_private(text, depth);
  if (scan.removed) text = std::move(scan.text);
  return scan.removed;
}

// A patch's line keeps its sign, so that added and removed lines can still be counted.
void hide(std::string& line) {
  const std::string sign = !line.empty() && (line[0] == '+' || line[0] == '-') ? line.substr(0, 1) : "";
  line = sign + std::string(kPrivateMark);
}

// Cleans consecutive strings as one text that starts at `depth`.
bool clean_run(Json* first, Json* last, int depth) {
  bool removed = false;
  Json* shown = first;  // what stands before it is hidden already
  for (Json* item = first; item != last; ++item) {
    std::string& line = string_of(*item);
    const bool inside = depth > 0;
    PrivateScan scan = remove_private(line, depth);
    depth = scan.depth;
    if (!scan.removed) continue;
    removed = true;
    if (inside && scan.text == kPrivateMark)
      hide(line);
    else
      line = std::move(scan.text);
    if (scan.began_inside) {
      std::for_each(shown, item, [](Json& before) { hide(string_of(before)); });
      shown = item;
    }
  }
  return removed;
}

bool clean_array(Json::Array& items) {
  bool removed = false;
  for (std::size_t i = 0; i < items.size();) {
    std::size_t end = i;
    while (end < items.size() && items[end].is_string()) ++end;
    if (end > i) {
      removed = clean_run(items.data() + i, items.data() + end, 0) || removed;
      i = end;
    } else {
      removed = remove_private(items[i++]) || removed;
    }
  }
  return removed;
}

int depth_at(std::string_view text, std::size_t at) {
  return remove_private(text.substr(0, at)).depth;
}

// The depth at the start of each line.
std::vector<int> line_depths(std::string_view text) {
  std::vector<int> depths;
  int depth = 0;
  std::ptrdiff_t began_inside = 0;
  for (const std::string_view line : lines(text)) {
    depths.push_back(depth);
    const PrivateScan scan = remove_private(line, depth);
    depth = scan.depth;
    if (scan.began_inside) began_inside = std::ssize(depths);
  }
  std::fill(depths.begin(), depths.begin() + began_inside, 1);
  return depths;
}

Json* member(Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  for (Json::Member& m : object.mutable_members())
    if (m.first == key) return &m.second;
  return nullptr;
}

// Cleans `replaced` and `replacement` of one edit by where the first stands in the original file.
bool clean_replacement(Json& edit, std::string_view original, const char* replaced, const char* replacement) {
  Json* old_text = member(edit, replaced);
  if (old_text == nullptr || !old_text->is_string() || old_text->as_string().empty()) return false;
  const std::size_t at = original.find(old_text->as_string());
  const int depth = at == std::string_view::npos ? 0 : depth_at(original, at);
  if (depth == 0) return false;
  clean_string(string_of(*old_text), depth);
  if (Json* new_text = member(edit, replacement); new_text != nullptr && new_text->is_string())
    clean_string(string_of(*new_text), depth);
  return true;
}

bool clean_hunks(Json& hunks, std::string_view original) {
  const std::vector<int> depths = line_depths(original);
  bool removed = false;
  for (Json& hunk : hunks.mutable_items()) {
    const auto line = static_cast<std::size_t>(std::max<std::int64_t>(hunk["oldStart"].as_int(1), 1) - 1);
    const int depth = line < depths.size() ? depths[line] : 0;
    Json* list = member(hunk, "lines");
    if (depth == 0 || list == nullptr || !list->is_array()) continue;
    Json::Array& items = list->mutable_items();
    if (!std::all_of(items.begin(), items.end(), [](const Json& j) { return j.is_string(); })) continue;
    removed = clean_run(items.data(), items.data() + items.size(), depth) || removed;
  }
  return removed;
}

}  // namespace

bool remove_private(Json& value) {
  if (value.is_string()) return clean_string(string_of(value));
  if (value.is_array()) return clean_array(value.mutable_items());
  if (!value.is_object()) return false;
  bool removed = false;
  for (Json::Member& m : value.mutable_members()) {
    removed = clean_string(m.first) || removed;
    removed = remove_private(m.second) || removed;
  }
  return removed;
}

bool remove_private(Json& tool_input, Json& tool_response) {
  bool removed = false;
  const std::string original(tool_response["originalFile"].as_string());
  if (remove_private(original).removed) {
    removed = clean_replacement(tool_input, original, "old_string", "new_string");
    Json* edits = member(tool_input, "edits");
    if (edits != nullptr && edits->is_array() && edits->items().size() > kMaxEdits)
      *edits = Json(std::string(kPrivateMark));
    if (edits != nullptr && edits->is_array())
      for (Json& edit : edits->mutable_items())
        removed = clean_replacement(edit, original, "old_string", "new_string") || removed;
    removed = clean_replacement(tool_response, original, "oldString", "newString") || removed;
    if (Json* hunks = member(tool_response, "structuredPatch"); hunks != nullptr && hunks->is_array())
      removed = clean_hunks(*hunks, original) || removed;
  }
  removed = remove_private(tool_input) || removed;
  return remove_private(tool_response) || removed;
}

}  // namespace cairn::gate
