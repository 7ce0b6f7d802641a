#include "gate/private_text.h"

#include <algorithm>

#include "base/text.h"
#include "gate/plain_view.h"
#include "host/call_fields.h"

namespace cairn::gate {

std::string& string_of(Json& value) {
  std::string* found = nullptr;
  value.for_each_string([&](std::string& s) { found = &s; });
  CAIRN_ASSERT(found != nullptr);
  return *found;
}

namespace {

// Edits of one call on a file with private parts. Each is searched for in the file, so with more of them all
// are removed instead.
constexpr std::size_t kMaxEdits = 200;

struct Tag {
  enum class Kind { none, open, close } kind = Kind::none;
  std::size_t bytes = 1;
};

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::size_t over_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// The tag at text[0] == '<'. A tag without '>' counts when the text ends there: the rest may be private. A
// tag that meets another '<' first is prose, and so is `a < private` without '>'.
Tag tag_at(std::string_view text) {
  const std::size_t slash = over_blanks(text, 1);
  const bool closing = slash < text.size() && text[slash] == '/';
  const std::size_t name = closing ? over_blanks(text, slash + 1) : slash;
  const bool spaced = name != (closing ? 2u : 1u);
  constexpr std::string_view kName = "private";
  if (!starts_with_nocase(text.substr(std::min(name, text.size())), kName)) return {};
  const std::size_t after = name + kName.size();
  if (after < text.size() && text[after] != '>' && !is_blank(text[after])) return {};
  const std::size_t end = spaced ? over_blanks(text, after) : text.find_first_of("<>", after);
  if (spaced ? end >= text.size() || text[end] != '>' : end < text.size() && text[end] == '<') return {};
  if (end >= text.size()) return {closing ? Tag::Kind::close : Tag::Kind::open, text.size()};
  // `<private/>` encloses nothing.
  if (text[end - 1] == '/' && !closing) return {};
  return {closing ? Tag::Kind::close : Tag::Kind::open, end + 1};
}

}  // namespace

PrivateScan remove_private(std::string_view text, int depth) {
  PrivateScan scan;
  scan.depth = depth;
  if (depth > 0 && !text.empty()) {
    scan.text = kPrivateMark;
    scan.removed = true;
  }
  PlainView view(text);
  const std::string_view plain = view.text();
  std::size_t done = 0;  // the text up to here was handled
  for (std::size_t at = plain.find('<'); at != std::string_view::npos;) {
    const Tag tag = tag_at(plain.substr(at));
    if (tag.kind != Tag::Kind::none) {
      const auto [begin, end] = view.raw(at, at + tag.bytes);
      if (!scan.removed) scan.text.reserve(text.size());
      if (scan.depth == 0) scan.text.append(text, done, begin - done);
      done = end;
      scan.removed = true;
      if (tag.kind == Tag::Kind::open) {
        if (scan.depth++ == 0) scan.text.append(kPrivateMark);
      } else if (scan.depth > 0) {
        --scan.depth;
      } else {  // the text began inside a private part: drop all that was kept
        scan.text = kPrivateMark;
        scan.began_inside = true;
      }
    }
    at = plain.find('<', at + tag.bytes);
  }
  if (scan.removed && scan.depth == 0) scan.text.append(text, done);
  return scan;
}

bool only_private(std::string_view cleaned) {
  const auto unseen = [](std::string_view text) { return is_unseen(text) || is_unseen(visible(text)); };
  while (true) {
    const std::size_t mark = std::min(cleaned.find(kPrivateMark), cleaned.size());
    if (!unseen(cleaned.substr(0, mark))) return false;
    if (mark == cleaned.size()) return true;
    cleaned.remove_prefix(mark + kPrivateMark.size());
  }
}

namespace {

bool clean_string(std::string& text, int depth = 0) {
  PrivateScan scan = remove_private(text, depth);
  if (scan.removed) text = std::move(scan.text);
  return scan.removed;
}

// Cleans strings in document order as one text that starts at nesting `depth`. Two cases need more than a
// scan of each string: a value wholly inside a private part is covered with its keys and numbers (ends_ tells
// whether the part ended within the value), and after a closing tag without an opening one all values before
// it are covered, too (shown_).
class Flow {
 public:
  explicit Flow(int depth = 0) : depth_(depth) {}

  bool removed() const { return removed_; }

  void clean(Json& value) {
    const bool inside = depth_ > 0;
    const std::size_t ends = ends_;
    if (value.is_string()) {
      clean_text(value);
    } else if (value.is_array()) {
      for (Json& item : value.mutable_items()) clean(item);
    } else if (value.is_object()) {
      for (Json::Member& m : value.mutable_members()) {
        removed_ = clean_string(m.first) || removed_;
        clean(m.second);
      }
    } else if (!inside && !value.is_null()) {
      shown_.push_back(&value);
    }
    // The whole value is inside a private part, including keys and numbers.
    if (inside && ends == ends_ && !value.is_string() && !value.is_null()) cover(value);
  }

 private:
  void clean_text(Json& value) {
    std::string& line = string_of(value);
    if (line.empty()) return;
    const bool inside = depth_ > 0;
    PrivateScan scan = remove_private(line, depth_);
    depth_ = scan.depth;
    const bool all = inside && scan.text == kPrivateMark;
    if (inside && (!all || depth_ == 0)) ++ends_;
    if (scan.began_inside) {
      for (Json* before : shown_) cover(*before);
      shown_.clear();
    }
    if (all)
      cover(value);
    else if (scan.removed)
      line = std::move(scan.text);
    removed_ = removed_ || scan.removed;
    if (!all) shown_.push_back(&value);
  }

  // A patch's line keeps its sign, so that added and removed lines can still be counted.
  void cover(Json& value) {
    const std::string_view line = value.as_string();
    const bool is_signed = line.starts_with('+') || line.starts_with('-');
    value = Json(std::string(is_signed ? line.substr(0, 1) : "").append(kPrivateMark));
    removed_ = true;
  }

  int depth_;
  std::size_t ends_ = 0;      // private parts that ended so far
  std::vector<Json*> shown_;  // earlier strings that were not hidden
  bool removed_ = false;
};

int depth_at(std::string_view text, std::size_t at) {
  return remove_private(text.substr(0, at)).depth;
}

// The nesting of private parts at the start of each line. Lines before a closing tag without an opening one
// are private, too.
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

// Cleans both texts of one edit, according to the position of the old one in the original file.
bool clean_texts(const host::CallEdits::Texts& edit, std::string_view original) {
  const std::size_t at = original.find(edit.before->as_string());
  const int depth = at == std::string_view::npos ? 0 : depth_at(original, at);
  if (depth == 0) return false;
  clean_string(string_of(*edit.before), depth);
  if (edit.after != nullptr) clean_string(string_of(*edit.after), depth);
  return true;
}

bool clean_lines(const host::CallEdits::Lines& hunk, const std::vector<int>& depths) {
  const auto line = static_cast<std::size_t>(hunk.old_start - 1);
  const int depth = line < depths.size() ? depths[line] : 0;
  if (depth == 0) return false;
  Flow flow(depth);
  for (Json& item : hunk.lines->mutable_items()) flow.clean(item);
  return true;
}

// An edit of a file that has private parts.
bool clean_change(Json& tool_input, Json& tool_response, const std::string& original) {
  bool removed = false;
  if (Json* edits = host::edit_list(tool_input); edits != nullptr && edits->items().size() > kMaxEdits) {
    *edits = Json(std::string(kPrivateMark));
    removed = true;
  }
  const host::CallEdits change = host::edits_of(tool_input, tool_response);
  for (const host::CallEdits::Texts& edit : change.texts) removed = clean_texts(edit, original) || removed;
  const std::vector<int> depths = line_depths(original);
  for (const host::CallEdits::Lines& hunk : change.hunks) removed = clean_lines(hunk, depths) || removed;
  return removed;
}

}  // namespace

bool remove_private(Json& value) {
  if (value.is_string()) return clean_string(string_of(value));
  if (value.is_array()) {
    Flow flow;
    flow.clean(value);
    return flow.removed();
  }
  if (!value.is_object()) return false;
  bool removed = false;
  for (Json::Member& m : value.mutable_members()) {
    removed = clean_string(m.first) || removed;
    removed = remove_private(m.second) || removed;
  }
  return removed;
}

bool remove_private(Json& tool_input, Json& tool_response) {
  // Only a file with tags has private parts whose edits show no tag themselves.
  const std::string original(host::original_text(tool_response));
  bool removed = remove_private(original).removed && clean_change(tool_input, tool_response, original);
  removed = remove_private(tool_input) || removed;
  return remove_private(tool_response) || removed;
}

}  // namespace cairn::gate
