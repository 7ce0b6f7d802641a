#include "distil/mode.h"

#include <algorithm>

#include "base/text.h"
#include "base/toml.h"

namespace cairn::distil {

namespace {

// Letters of scripts with spaces between words. Beyond U+2E7F (Chinese, Japanese, Korean) a word may end
// anywhere.
bool is_letter(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80)
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_';
  // `at` may be inside a character: go back to its first byte.
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  const auto lead = static_cast<unsigned char>(text[at]);
  // U+2000 to U+2E7F are punctuation and signs.
  return lead >= 0xc3 && lead < 0xe2;
}

struct Found {
  std::size_t at = std::string_view::npos;
  std::size_t size = 0;
};

// Whether `cue`, without its `*`, is at text[at], with word borders where it needs them. `open`: it had a
// `*`, so the word may go on after it.
bool stands_at(std::string_view text, std::size_t at, std::string_view cue, bool open) {
  if (text.substr(at, cue.size()) != cue) return false;
  const std::size_t end = at + cue.size();
  if (at > 0 && is_letter(cue, 0) && is_letter(text, at - 1)) return false;
  return open || end == text.size() || !is_letter(cue, cue.size() - 1) || !is_letter(text, end);
}

Found find_cue(std::string_view text, std::string_view cue, std::size_t from) {
  const bool open = cue.ends_with('*');
  if (open) cue.remove_suffix(1);
  if (cue.empty()) return {};
  for (std::size_t at = text.find(cue, from); at != std::string_view::npos; at = text.find(cue, at + 1)) {
    if (!stands_at(text, at, cue, open)) continue;
    std::size_t last = at + cue.size();
    while (open && last < text.size() && is_letter(text, last)) ++last;
    return {at, last - at};
  }
  return {};
}

// The first two bytes of a text.
std::uint16_t start_of(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = static_cast<unsigned char>(text.size() > 1 ? text[1] : ' ');
  return static_cast<std::uint16_t>(first << 8 | second);
}

// The lists of a language's section.
struct List {
  std::string_view key;
  Cues Mode::*cues;
  bool plain = true;  // plain language: a mode without this list uses the list of `code`
};
// The keys are part of the format of mode files, which people write: they do not change with the members'
// names.
constexpr List kLists[] = {{"finding", &Mode::findings, false},
                           {"decision", &Mode::decisions, false},
                           {"remains", &Mode::remains, false},
                           {"settled", &Mode::resolved, false},
                           {"heading", &Mode::headings, false},
                           {"offer", &Mode::offers, false},
                           {"agree", &Mode::agrees, false},
                           {"over", &Mode::rejected_alternative},
                           {"beside", &Mode::allowed_in_heading},
                           {"nothing", &Mode::nothing_left},
                           {"invite", &Mode::offers_without_question},
                           {"vague", &Mode::offer_fillers},
                           {"order", &Mode::rule_words},
                           {"order_start", &Mode::rule_starts},
                           {"no_order", &Mode::not_rules},
                           {"chore", &Mode::routine_requests},
                           {"announce", &Mode::announces},
                           {"back", &Mode::points_back},
                           {"aside", &Mode::sections_without_steps},
                           {"rerun", &Mode::done_by_running},
                           {"abbreviation", &Mode::abbreviations},
                           {"empty", &Mode::empty},
                           {"duty", &Mode::obligation_words}};

Error wrong(std::string_view mode, std::string_view what) {
  return Error{Code::invalid, "modes/" + std::string(mode) + ".toml: " + std::string(what)};
}

bool is_texts(const Json& value) {
  return value.is_array() && std::all_of(value.items().begin(), value.items().end(), [](const Json& item) {
           return item.is_string() && !trim(item.as_string()).empty();
         });
}

// The names of a list of types or concepts, without cues yet.
Result<std::vector<Mode::Named>> read_names(const Json& file, std::string_view key, std::string_view mode) {
  if (!is_texts(file[key]) || file[key].items().empty())
    return wrong(mode, std::string(key) + " is not a list of names");
  std::vector<Mode::Named> list;
  for (const Json& name : file[key].items()) list.push_back({one_line(visible(name.as_string()), 40), {}});
  return list;
}

Status add_cues(const Json& value, Cues& to, const std::string& key, std::string_view mode) {
  if (!is_texts(value)) return wrong(mode, key + " is not a list of words");
  for (const Json& cue : value.items()) to.push_back(fold(trim(cue.as_string())));
  return {};
}

Status add_named(const Json& table, std::vector<Mode::Named>& list, const std::string& key,
                 std::string_view mode) {
  if (!table.is_object()) return wrong(mode, key + " is not a table of words");
  for (const Json::Member& member : table.members()) {  // clang 14 captures no structured binding
    const auto& [name, value] = member;
    const auto known =
        std::find_if(list.begin(), list.end(), [&](const auto& n) { return n.name == member.first; });
    if (known == list.end()) return wrong(mode, key + "." + name + " is not in the list of names");
    TRY(add_cues(value, known->cues, key + "." + name, mode));
  }
  return {};
}

Status add_language(const std::string& language, const Json& table, Mode& mode) {
  for (const auto& [key, value] : table.members()) {
    const std::string where = language + "." + key;
    const std::string_view name = key;  // clang 14 captures no structured binding
    if (key == "types" || key == "concepts") {
      TRY(add_named(value, key == "types" ? mode.types : mode.concepts, where, mode.name));
      continue;
    }
    const auto* list =
        std::find_if(std::begin(kLists), std::end(kLists), [&](const List& l) { return l.key == name; });
    if (list == std::end(kLists)) return wrong(mode.name, where + " is not known");
    TRY(add_cues(value, mode.*list->cues, where, mode.name));
  }
  return {};
}

// The texts for a model: [prompt].
Status read_prompt(const Json& table, Mode& mode) {
  if (!table.is_object()) return wrong(mode.name, "prompt is not a table of texts");
  for (const auto& [key, value] : table.members()) {
    std::string* to = key == "role"       ? &mode.prompt.role
                      : key == "focus"    ? &mode.prompt.focus
                      : key == "language" ? &mode.prompt.language
                                          : nullptr;
    if (!to) return wrong(mode.name, "prompt." + key + " is not known: role, focus and language are");
    if (!value.is_string()) return wrong(mode.name, "prompt." + key + " is not a text");
    *to = visible(trim(value.as_string()));
  }
  return {};
}

Result<Mode> read_file(std::string_view toml, std::string_view name) {
  const Json file = TRY(read_toml(toml, "modes/" + std::string(name) + ".toml"));
  Mode mode;
  mode.name = name;
  mode.types = TRY(read_names(file, "types", name));
  mode.concepts = TRY(read_names(file, "concepts", name));
  for (const auto& [key, value] : file.members()) {
    if (key == "types" || key == "concepts") continue;
    if (key == "prompt") {
      TRY(read_prompt(value, mode));
      continue;
    }
    if (!value.is_object()) return wrong(name, key + " is not the section of a language");
    TRY(add_language(key, value, mode));
  }
  return mode;
}

}  // namespace

Result<Mode> read_mode(std::string_view toml, std::string_view name) {
  Mode mode = TRY(read_file(toml, name));
  for (const List& list : kLists)
    if (list.plain && (mode.*list.cues).empty()) mode.*list.cues = code_mode().*list.cues;
  return mode;
}

namespace {

// Replaces `to`, the parent's list, by the list of {"id", "description"}. A name that the parent has keeps
// its cues.
Status read_described(const Json& list, std::vector<Mode::Named>& to, std::string_view mode) {
  if (list.is_null()) return {};
  std::vector<Mode::Named> read;
  for (const Json& item : list.items()) {
    const std::string id =
        one_line(visible(item.is_string() ? item.as_string() : item["id"].as_string()), 40);
    if (id.empty()) continue;
    Mode::Named named{id, {}, one_line(visible(item["description"].as_string()), 300)};
    for (const Mode::Named& known : to)
      if (known.name == id) named.cues = known.cues;
    read.push_back(std::move(named));
  }
  if (read.empty())
    return Error{Code::invalid, "modes/" + std::string(mode) + ".json: a list of types or concepts is empty"};
  to = std::move(read);
  return {};
}

// The texts of these keys, one after the other.
std::string joined_texts(const Json& prompts, std::initializer_list<std::string_view> keys) {
  std::string out;
  for (const std::string_view key : keys) {
    const std::string text = visible(trim(prompts[key].as_string()));
    if (!text.empty()) out.append(out.empty() ? "" : "\n\n").append(text);
  }
  return out;
}

}  // namespace

Result<Mode> read_json_mode(std::string_view json, std::string_view name, const Mode& parent) {
  const auto file = Json::parse(json);
  if (!file || !file->is_object())
    return Error{Code::invalid, "modes/" + std::string(name) + ".json is not a JSON object"};
  Mode mode = parent;
  mode.name = name;
  TRY(read_described((*file)["observation_types"], mode.types, name));
  TRY(read_described((*file)["observation_concepts"], mode.concepts, name));
  const Json& prompts = (*file)["prompts"];
  const auto put = [](std::string& to, std::string text) {
    if (!text.empty()) to = std::move(text);
  };
  put(mode.prompt.role, joined_texts(prompts, {"system_identity", "observer_role"}));
  put(mode.prompt.focus, joined_texts(prompts, {"recording_focus", "skip_guidance", "type_guidance",
                                                "concept_guidance", "field_guidance"}));
  put(mode.prompt.language, joined_texts(prompts, {"language_instruction", "footer"}));
  return mode;
}

const Mode& code_mode() {
  static const Mode mode = [] {
    auto read = read_file(code_mode_text(), "code");
    CAIRN_ASSERT(read.ok());  // it is compiled in, and a test parses it
    return *std::move(read);
  }();
  return mode;
}

std::string fold(std::string_view text) {
  std::string out = ascii_lower(text);
  // U+00C0 to U+00DE: the capitals of Latin-1, but the multiplication sign.
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const auto next = static_cast<unsigned char>(out[i + 1]);
    if (out[i] == '\xc3' && next >= 0x80 && next <= 0x9e && next != 0x97)
      out[i + 1] = static_cast<char>(next + 0x20);
  }
  return out;
}

bool has_cue(std::string_view folded, const Cues& cues) {
  return std::any_of(cues.begin(), cues.end(), [&](const std::string& cue) {
    return find_cue(folded, cue, 0).at != std::string_view::npos;
  });
}

bool begins_with_cue(std::string_view folded, const Cues& cues) {
  return std::any_of(cues.begin(), cues.end(), [&](const std::string& cue) {
    return folded.size() > cue.size() && folded[cue.size()] == ' ' && folded.starts_with(cue);
  });
}

CueFinder::CueFinder(std::initializer_list<const Cues*> lists) {
  for (const Cues* cues : lists)
    for (const std::string_view cue : *cues)
      if (cue.size() - cue.ends_with('*') >= 2) by_start_[start_of(cue)].push_back(cue);
}

bool CueFinder::in(std::string_view folded) const {
  for (std::size_t at = 0; at < folded.size(); ++at) {
    const auto cues = by_start_.find(start_of(folded.substr(at, 2)));
    if (cues == by_start_.end()) continue;
    for (std::string_view cue : cues->second) {
      const bool open = cue.ends_with('*');
      if (open) cue.remove_suffix(1);
      if (stands_at(folded, at, cue, open)) return true;
    }
  }
  return false;
}

std::string without_cues(std::string folded, const Cues& cues) {
  for (const std::string& cue : cues)
    for (Found found = find_cue(folded, cue, 0); found.at != std::string_view::npos;
         found = find_cue(folded, cue, found.at + found.size))
      // Blanks instead of nothing: words around the cue must not grow together.
      std::fill_n(folded.begin() + static_cast<std::ptrdiff_t>(found.at), found.size, ' ');
  return folded;
}

const Mode::Named* first_named(std::string_view folded, const std::vector<Mode::Named>& list) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& named) { return has_cue(folded, named.cues); });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace cairn::distil
