#include "agent/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace cairn::agent {

namespace {

enum Name : std::uint8_t {
  // Blocks.
  observation,
  summary,
  skip,
  think,
  // Fields of an observation.
  type,
  title,
  subtitle,
  narrative,
  facts,
  concepts,
  files_read,
  files_modified,
  events,
  // Fields of a summary.
  request,
  investigated,
  learned,
  completed,
  next_steps,
  notes,
  rules,
  // Items of lists.
  fact,
  concept_item,
  file,
  rule,
  step,
  kNames
};

struct Word {
  std::string_view text;
  Name name;
};
constexpr Word kWords[] = {{"observation", observation},
                           {"summary", summary},
                           {"session_summary", summary},
                           {"skip", skip},
                           {"skip_summary", skip},
                           {"think", think},
                           {"thinking", think},
                           {"reasoning", think},
                           {"type", type},
                           {"title", title},
                           {"subtitle", subtitle},
                           {"narrative", narrative},
                           {"facts", facts},
                           {"concepts", concepts},
                           {"files_read", files_read},
                           {"files_modified", files_modified},
                           {"events", events},
                           {"request", request},
                           {"investigated", investigated},
                           {"learned", learned},
                           {"completed", completed},
                           {"next_steps", next_steps},
                           {"notes", notes},
                           {"rules", rules},
                           {"fact", fact},
                           {"concept", concept_item},
                           {"file", file},
                           {"rule", rule},
                           {"step", step}};

constexpr std::size_t kMostFindings = 60, kMostItems = 40, kMostSummaries = 40;
constexpr std::size_t kMaxTag = 300;  // bytes of a tag with its attributes; a longer one is text

bool is_block(Name name) {
  return name <= think;
}
bool is_field_of(Name block, Name name) {
  return block == observation ? name >= type && name <= events : name >= request && name <= rules;
}

struct Tag {
  Name name = kNames;
  bool closes = false;
  bool empty = false;  // <title/>
  std::size_t begin = 0, end = 0;
  std::string_view attributes;
};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The known tag that begins at text[at], a '<'.
std::optional<Tag> tag_at(std::string_view text, std::size_t at) {
  Tag tag;
  tag.begin = at;
  std::size_t i = at + 1;
  if (i < text.size() && text[i] == '/') {
    tag.closes = true;
    ++i;
  }
  const std::size_t name_at = i;
  while (i < text.size() && i - name_at < 16 && is_name_char(text[i])) ++i;
  const std::string_view name = text.substr(name_at, i - name_at);
  for (const Word& word : kWords)
    if (word.text.size() == name.size() && starts_with_nocase(name, word.text)) tag.name = word.name;
  if (tag.name == kNames) return std::nullopt;
  const std::size_t rest = i;
  while (i < text.size() && i - at < kMaxTag && text[i] != '>' && text[i] != '<') ++i;
  if (i >= text.size() || text[i] != '>') return std::nullopt;
  tag.attributes = text.substr(rest, i - rest);
  // After the name comes the end, white space or a slash; "<title:" is not our tag.
  if (!tag.attributes.empty() && !any_of(tag.attributes.substr(0, 1), {" ", "\t", "\n", "\r", "/"}))
    return std::nullopt;
  if (tag.attributes.ends_with('/')) {
    tag.empty = true;
    tag.attributes.remove_suffix(1);
  }
  tag.end = i + 1;
  return tag;
}

void put_character(std::string& out, std::uint32_t code) {
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

// The character of an entity without '&' and ';'.
bool put_entity(std::string& out, std::string_view name) {
  static constexpr std::pair<std::string_view, char> kNamed[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNamed)
    if (name == known) {
      out.push_back(character);
      return true;
    }
  if (name.size() < 2 || name[0] != '#') return false;
  const bool hex = name[1] == 'x' || name[1] == 'X';
  const std::string_view digits = name.substr(hex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  put_character(out, code);
  return true;
}

// Undoes entities once, and takes the text out of a CDATA section.
std::string plain(std::string_view raw) {
  raw = trim(raw);
  constexpr std::string_view kOpen = "<![CDATA[", kClose = "]]>";
  if (raw.starts_with(kOpen) && raw.ends_with(kClose) && raw.size() >= kOpen.size() + kClose.size())
    return std::string(trim(raw.substr(kOpen.size(), raw.size() - kOpen.size() - kClose.size())));
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '&') {
      const std::size_t end = raw.substr(i, 12).find(';');
      if (end != std::string_view::npos && put_entity(out, raw.substr(i + 1, end - 1))) {
        i += end;
        continue;
      }
    }
    out.push_back(raw[i]);
  }
  return out;
}

// A line of a list without its mark.
std::string_view unmarked(std::string_view line) {
  line = trim(line);
  for (const std::string_view mark : {"- [ ] ", "- ", "* ", "\u2022 "})
    if (line.starts_with(mark)) return trim(line.substr(mark.size()));
  return line;
}

// "12, 14-16": numbers and ranges.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> list;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  bool range = false;
  while (at < end && list.size() < 2000) {
    if (*at < '0' || *at > '9') {
      if (*at == '-' && !list.empty())
        range = true;
      else if (*at != ' ')
        range = false;
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    at = after;
    if (error != std::errc()) continue;
    if (range && number > list.back() && number - list.back() < 1000)
      for (std::int64_t n = list.back() + 1; n < number; ++n) list.push_back(n);
    range = false;
    list.push_back(number);
  }
  return list;
}

// The value of an attribute: name="value", name='value' or name=value.
std::string attribute(std::string_view attributes, std::string_view name) {
  const std::string lower = ascii_lower(attributes);
  const std::size_t at = lower.find(std::string(name) + "=");
  if (at == std::string::npos) return "";
  std::string_view rest = attributes.substr(at + name.size() + 1);
  if (!rest.empty() && (rest[0] == '"' || rest[0] == '\'')) {
    const std::size_t end = rest.find(rest[0], 1);
    return plain(rest.substr(1, end == std::string_view::npos ? end : end - 1));
  }
  return plain(rest.substr(0, rest.find_first_of(" \t\n")));
}

class ReplyScanner {
 public:
  ReplyScanner(std::string_view text, bool cut) : text_(text), cut_(cut) {}

  Scanned run() {
    find_tags();
    link_tags();
    while (at_ < tags_.size()) next_block();
    if (!out_.usable() && !trim(text_).empty()) leave_out("no tag of a reply");
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void find_tags() {
    for (std::size_t at = text_.find('<'); at != std::string_view::npos; at = text_.find('<', at)) {
      if (const auto tag = tag_at(text_, at)) {
        tags_.push_back(*tag);
        at = tag->end;
      } else {
        ++at;
      }
    }
  }

  // For each tag: the next one after it that closes, and the next one that opens the same name.
  void link_tags() {
    std::array<std::size_t, kNames> close{}, open{};
    close.fill(kNone);
    open.fill(kNone);
    next_close_.resize(tags_.size());
    next_open_.resize(tags_.size());
    for (std::size_t i = tags_.size(); i-- > 0;) {
      next_close_[i] = close[tags_[i].name];
      next_open_[i] = open[tags_[i].name];
      if (!tags_[i].empty) (tags_[i].closes ? close : open)[tags_[i].name] = i;
    }
  }

  void leave_out(std::string what) {
    if (out_.left_out.size() < 20) out_.left_out.push_back(std::move(what));
  }

  void next_block() {
    const Tag& tag = tags_[at_];
    if (tag.closes) {
      ++at_;
      return;
    }
    if (tag.name == think) {  // a draft: skipped up to its end
      at_ = next_close_[at_] == kNone ? at_ + 1 : next_close_[at_] + 1;
    } else if (tag.name == skip) {
      read_skip();
    } else if (tag.name == observation || tag.name == summary) {
      ++at_;
      if (!tag.empty) read_block(tag.name, tag.attributes, false);
    } else if (is_field_of(observation, tag.name)) {
      read_block(observation, {}, true);
    } else if (is_field_of(summary, tag.name)) {
      read_block(summary, {}, true);
    } else {
      ++at_;
    }
  }

  void read_skip() {
    const Tag& tag = tags_[at_];
    std::string reason = attribute(tag.attributes, "reason");
    const std::size_t close = next_close_[at_];
    if (!tag.empty && close == at_ + 1) {
      if (reason.empty()) reason = plain(text_.substr(tag.end, tags_[close].begin - tag.end));
      ++at_;
    }
    ++at_;
    out_.skip = reason.empty() ? "nothing to learn" : one_line(valid_utf8(reason), 300);
  }

  // Reads the fields from tags_[at_] on. `bare`: the block has no tag of its own, and ends where a title or a
  // request comes a second time.
  void read_block(Name block, std::string_view attributes, bool bare) {
    Finding finding;
    TurnText text;
    if (const auto turn = numbers_in(attribute(attributes, "turn")); !turn.empty()) text.turn = turn.front();
    const Name first = block == observation ? title : request;
    bool seen_first = false;
    while (at_ < tags_.size()) {
      const Tag& tag = tags_[at_];
      if (is_block(tag.name) && tag.closes) {
        if (tag.name == block && !bare) ++at_;
        break;
      }
      if (is_block(tag.name)) break;
      if (!tag.closes && bare && !is_field_of(block, tag.name) && tag.name < fact) break;
      if (!tag.closes && tag.name == first) {
        if (seen_first && bare) break;
        seen_first = true;
      }
      if (tag.closes || tag.empty) {
        ++at_;
      } else {
        read_field(block, finding, text);
      }
    }
    block == observation ? add(std::move(finding)) : add(std::move(text));
  }

  // Where the field that tags_[at_] opens ends: the index of its end tag, or of the tag that ends it.
  std::size_t end_of_field(Name block) const {
    const std::size_t close = next_close_[at_], again = next_open_[at_];
    const std::size_t block_end = next_end(block);
    if (close != kNone && close < again && close < block_end) return close;
    std::size_t i = at_ + 1;
    while (i < tags_.size() && i < block_end && !ends_open_field(tags_[i], block)) ++i;
    return i;
  }

  static bool ends_open_field(const Tag& tag, Name block) {
    return is_block(tag.name) || (!tag.closes && is_field_of(block, tag.name));
  }

  // The next end tag of a block with that name.
  std::size_t next_end(Name block) const {
    while (block_close_[block] < tags_.size() &&
           (block_close_[block] <= at_ || tags_[block_close_[block]].name != block ||
            !tags_[block_close_[block]].closes))
      ++block_close_[block];
    return block_close_[block];
  }

  void read_field(Name block, Finding& finding, TurnText& text) {
    const Tag& tag = tags_[at_];
    const std::size_t end = end_of_field(block);
    const bool closed = end < tags_.size() && tags_[end].closes && tags_[end].name == tag.name;
    const std::size_t text_end = end < tags_.size() ? tags_[end].begin : text_.size();
    const std::string_view raw = text_.substr(tag.end, text_end - tag.end);
    if (tag.name < fact && !is_field_of(block, tag.name)) {
      leave_out(fmt::format("<{}> where it does not belong", kWords[word_of(tag.name)].text));
    } else if (auto* list = list_of(tag.name, finding, text)) {
      read_items(at_ + 1, end, raw, *list, tag.name);
    } else if (tag.name == events) {
      const auto named = numbers_in(raw);
      finding.events.insert(finding.events.end(), named.begin(), named.end());
    } else if (std::string* field = field_of(tag.name, finding, text)) {
      std::string value = tag.name == next_steps ? steps_in(at_ + 1, end, raw) : plain(raw);
      if (!closed && cut_ && end >= tags_.size()) value += "\u2026";
      if (field->empty()) *field = std::move(value);
    }
    at_ = closed ? end + 1 : std::max(end, at_ + 1);
  }

  static std::size_t word_of(Name name) {
    std::size_t i = 0;
    while (kWords[i].name != name) ++i;
    return i;
  }

  static std::string* field_of(Name name, Finding& f, TurnText& t) {
    switch (name) {
      case type: return &f.type;
      case title: return &f.title;
      case subtitle: return &f.subtitle;
      case narrative: return &f.narrative;
      case request: return &t.request;
      case investigated: return &t.investigated;
      case learned: return &t.learned;
      case completed: return &t.completed;
      case next_steps: return &t.next_steps;
      case notes: return &t.notes;
      default: return nullptr;
    }
  }

  static std::vector<std::string>* list_of(Name name, Finding& f, TurnText& t) {
    switch (name) {
      case facts:
      case fact: return &f.facts;
      case concepts:
      case concept_item: return &f.concepts;
      case files_read:
      case file: return &f.files_read;
      case files_modified: return &f.files_modified;
      case rules:
      case rule: return &t.rules;
      default: return nullptr;
    }
  }

  // The items between two tags; without item tags, the lines of `raw`. An item alone is `raw`.
  void read_items(std::size_t from, std::size_t to, std::string_view raw, std::vector<std::string>& list,
                  Name of) {
    const auto add_item = [&](std::string_view item) {
      std::string value = plain(item);
      if (value.empty()) return;
      if (list.size() < kMostItems)
        list.push_back(std::move(value));
      else
        leave_out("more items of a list than are kept");
    };
    if (of >= fact) return add_item(raw);
    bool any = false;
    for (std::size_t i = from; i < to && i < tags_.size(); ++i) {
      if (tags_[i].closes || tags_[i].empty || tags_[i].name < fact) continue;
      any = true;
      std::size_t end = i + 1;
      while (end < to && end < tags_.size() && tags_[end].name < fact) ++end;
      const std::size_t text_end = end < tags_.size() ? std::min(tags_[end].begin, limit(to)) : limit(to);
      add_item(text_.substr(tags_[i].end, text_end - tags_[i].end));
      i = end - 1;
    }
    if (any) return;
    for (const std::string_view line : lines(raw)) {
      if (of == concepts && line.find(',') != std::string_view::npos)
        for (const std::string_view part : split(line, ',')) add_item(unmarked(part));
      else
        add_item(unmarked(line));
    }
  }

  std::size_t limit(std::size_t to) const { return to < tags_.size() ? tags_[to].begin : text_.size(); }

  // Next steps are lines; a model may tag each of them.
  std::string steps_in(std::size_t from, std::size_t to, std::string_view raw) {
    if (from >= to || from >= tags_.size() || tags_[from].name != step) return plain(raw);
    std::vector<std::string> items;
    read_items(from, to, raw, items, rules);
    std::string out;
    for (const std::string& item : items) out.append(out.empty() ? "" : "\n").append(item);
    return out;
  }

  void add(Finding finding) {
    if (finding.title.empty() && finding.narrative.empty() && finding.facts.empty())
      return leave_out("an empty observation");
    if (out_.findings.size() >= kMostFindings) return leave_out("more observations than are kept");
    if (finding.title.empty())
      finding.title = finding.narrative.empty() ? finding.facts.front() : finding.narrative;
    finding.title = one_line(valid_utf8(finding.title), 200);
    finding.type = one_line(ascii_lower(valid_utf8(finding.type)), 40);
    out_.findings.push_back(std::move(finding));
  }

  void add(TurnText text) {
    if (text.request.empty() && text.investigated.empty() && text.learned.empty() && text.completed.empty() &&
        text.next_steps.empty() && text.notes.empty())
      return leave_out("an empty summary");
    if (out_.summaries.size() >= kMostSummaries) return leave_out("more summaries than are kept");
    out_.summaries.push_back(std::move(text));
  }

  const std::string_view text_;
  const bool cut_;
  std::vector<Tag> tags_;
  std::vector<std::size_t> next_close_, next_open_;
  mutable std::array<std::size_t, kNames> block_close_{};
  std::size_t at_ = 0;
  Scanned out_;
};

bool says(std::string_view text, std::initializer_list<std::string_view> cues) {
  return std::any_of(cues.begin(), cues.end(),
                     [&](std::string_view cue) { return text.find(cue) != std::string_view::npos; });
}

}  // namespace

Scanned scan_reply(std::string_view text, bool cut) {
  return ReplyScanner(text, cut).run();
}

Trouble trouble_of_prose(std::string_view text) {
  constexpr std::size_t kShort = 600;  // a message of an error is short; longer prose is about the session
  const std::string shown = one_line(visible(valid_utf8(std::string(prefix(text, 1200)))), 200);
  Trouble trouble{Trouble::Kind::rejected,
                  shown.empty() ? "the reply is empty" : "the reply has nothing usable: " + shown,
                  {},
                  {}};
  const std::string lower = ascii_lower(trim(text).substr(0, 2000));
  if (lower.empty() || lower.size() > kShort) return trouble;
  using Kind = Trouble::Kind;
  if (says(lower, {"not logged in", "please run /login", "/login", "log in again", "invalid api key",
                   "invalid x-api-key", "authentication", "unauthorized", "oauth token", "token has expired",
                   "login expired", "no api key", "api key is missing"}))
    trouble.kind = Kind::auth;
  else if (says(lower, {"rate limit", "rate_limit", "too many requests", "overloaded"}))
    trouble.kind = Kind::rate_limited;
  else if (says(lower, {"credit balance", "out of credits", "insufficient credit", "insufficient_quota",
                        "quota", "billing", "usage limit", "limit reached", "limit will reset",
                        "hit your limit", "payment required", "spending limit"}))
    trouble.kind = Kind::quota;
  if (trouble.kind != Kind::rejected) trouble.reason = "the reply says: " + shown;
  return trouble;
}

}  // namespace cairn::agent
