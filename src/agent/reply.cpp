#include "agent/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/reply_tags.h"
#include "base/text.h"

namespace cairn::agent {

namespace {

using namespace tags;

// The prompt asks for none to three observations; a model that repeats itself without end stops here.
constexpr std::size_t kMostFindings = 60, kMostItems = 40, kMostSummaries = 40;

// How it works:
// 1. find_tags() lists the known tags; any other '<' is text.
// 2. link_tags() links each tag to the next end tag and the next start tag of its name.
// 3. next_block() walks over the list. at_ is the index of the tag that is read next; every step moves it
// forward.
// The time is linear: the links are made in one pass, and no step looks at a tag that an earlier step has
// passed.
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

  // For each tag: the index of the next end tag, and of the next start tag, with the same name.
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
    if (tag.name == think) {  // a draft: skipped up to its end tag; without one only the tag itself
      at_ = next_close_[at_] == kNone ? at_ + 1 : next_close_[at_] + 1;
    } else if (tag.name == skip) {
      read_skip();
    } else if (tag.name == observation || tag.name == summary) {
      ++at_;
      if (!tag.empty) read_block(tag.name, tag.attributes, false);
    } else if (is_field_of(observation, tag.name)) {  // some models write fields without their block
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
    // Only text up to the end tag is the reason: a skip without an end must not take the blocks behind it.
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
        // The end tag of another block ends this one too; next_block() skips it.
        if (tag.name == block && !bare) ++at_;
        break;
      }
      if (is_block(tag.name)) break;
      // A field of the other kind begins the next bare block; tags from `fact` on are items of lists.
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
    // The end tag counts only if it comes before the field opens again and before the block ends: otherwise
    // it belongs to a later field, and this one has none.
    if (close != kNone && close < again && close < block_end) return close;
    std::size_t i = at_ + 1;
    while (i < tags_.size() && i < block_end && !ends_open_field(tags_[i], block)) ++i;
    return i;
  }

  static bool ends_open_field(const Tag& tag, Name block) {
    return is_block(tag.name) || (!tag.closes && is_field_of(block, tag.name));
  }

  // The next end tag of a block with that name. The search goes on where the last one ended: at_ only
  // grows.
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
      leave_out(fmt::format("<{}> where it does not belong", word_of(tag.name)));
    } else if (auto* list = list_of(tag.name, finding, text)) {
      read_items(at_ + 1, end, raw, *list, tag.name);
    } else if (tag.name == events) {
      const auto named = numbers_in(raw);
      finding.events.insert(finding.events.end(), named.begin(), named.end());
    } else if (std::string* field = field_of(tag.name, finding, text)) {
      std::string value = tag.name == next_steps ? steps_in(at_ + 1, end, raw) : plain(raw);
      // Only the field in which the reply ended is incomplete.
      if (!closed && cut_ && end >= tags_.size()) value += "\u2026";
      if (field->empty()) *field = std::move(value);  // the first one counts
    }
    at_ = closed ? end + 1 : std::max(end, at_ + 1);
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

  // A <file> without its list may be of either kind; rows.cpp takes files from the events anyway.
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
      // An item ends at the next tag of an item, its own end tag or the next start: "<fact>one<fact>two".
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
    read_items(from, to, raw, items, rules);  // as a list whose items are tagged
    std::string out;
    for (const std::string& item : items) out.append(out.empty() ? "" : "\n").append(item);
    return out;
  }

  void add(Finding finding) {
    if (finding.title.empty() && finding.narrative.empty() && finding.facts.empty())
      return leave_out("an empty observation");
    if (out_.findings.size() >= kMostFindings) return leave_out("more observations than are kept");
    // A row needs a title: the beginning of the text serves.
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

// Whether the text contains one of the cues.
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
  // The order matters: "rate limit reached" also contains "limit reached", a cue of a quota.
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
