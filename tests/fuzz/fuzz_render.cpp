// For any stored text, the fence, headings and tags of the composed context are only ours.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "context/composer.h"

namespace {

using namespace cairn;

void require(bool holds) {
  if (!holds) std::abort();
}

// The input, cut at each byte 0x1f.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  std::string next() {
    const std::size_t end = std::min(rest_.find('\x1f'), rest_.size());
    std::string field = valid_utf8(std::string(rest_.substr(0, end)));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return field;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

store::Summary summary_of(Fields& fields, std::int64_t id) {
  store::Summary s;
  s.id = s.prompt_number = id;
  s.session = id % 2 ? "one" : "two";
  s.interim = id % 3 == 0;
  for (std::string* text : {&s.request, &s.completed, &s.next_steps, &s.learned, &s.investigated, &s.notes})
    *text = fields.next();
  s.branch = fields.next();
  s.worktree = fields.next();
  s.files_edited = {fields.next()};
  return s;
}

context::Story story_of(Fields& fields, std::int64_t id) {
  context::Story story;
  story.turns.push_back(summary_of(fields, id));
  story.session = story.turns.back().session;
  story.branch = story.turns.back().branch;
  story.worktree = story.turns.back().worktree;
  for (const store::TextKind kind :
       {store::TextKind::answer, store::TextKind::remark, store::TextKind::commit, store::TextKind::pull,
        store::TextKind::title}) {
    store::Text& text = story.texts.emplace_back();
    text.kind = kind;
    text.prompt_number = id;
    text.text = fields.next();
  }
  story.prompts[id] = fields.next();
  return story;
}

store::Note note_of(Fields& fields, std::int64_t id) {
  store::Note note;
  note.observation = id;
  note.title = fields.next();
  note.text = fields.next();
  return note;
}

// Each line that is not indented or quoted is one of ours.
void check_lines(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("## "))
      require(line.starts_with("## S"));
    else if (const std::size_t end = line.find_first_not_of('#');  // "#12" is no heading
             end != 0 && end != std::string_view::npos && line[end] == ' ')
      require(line == "# Open" || line == "# State" || line == "# Notes" ||
              line.starts_with("# Last session") || line.starts_with("# Earlier"));
    const std::string_view words = trim(line);
    for (const std::string_view speaker : {"human:", "assistant:", "system:", "user:"})
      require(!starts_with_nocase(words, speaker));
  }
}

void check_page(const context::Composed& composed) {
  const std::string& text = composed.text;
  if (text.empty()) return;
  require(visible(text) == text);
  require(composed.characters <= context::kMaxCharacters);
  const std::string lower = ascii_lower(text);
  require(lower.starts_with("<cairn-memory nonce=\""));
  require(lower.find("cairn-memory", 2) == lower.rfind("cairn-memory"));
  require(text.substr(text.rfind("</cairn-memory") + 2) == text.substr(1, text.find('>')));
  for (const std::string_view tag : {"<system", "</system", "<private", "<function_calls", "<command-name"})
    require(lower.find(tag) == std::string::npos);
  check_lines(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Fields fields({reinterpret_cast<const char*>(data), size});
  context::Request request;
  request.project = fields.next();
  request.key = std::string(32, 'k');
  context::ContextMaterial material;
  for (std::int64_t id = 1; id < 8 && (id == 1 || !fields.done()); ++id) {
    material.stories.push_back(story_of(fields, id));
    material.work.notes.push_back(note_of(fields, id));
  }
  material.uncommitted = {fields.next()};
  check_page(context::render(request, material));
  return 0;
}
