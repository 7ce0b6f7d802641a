#include "archive/redactor.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "gate/named_paths.h"
#include "gate/private_text.h"
#include "host/vocabulary.h"

namespace cairn::archive {

namespace {

// Limits for parsing a line: strings up to 64 MB are kept whole; deeper or wider lines are cleaned as plain
// text.
constexpr Json::Limits kLimits{256, 200'000, 64u << 20};
// The ids are stored with the base, so their number is bounded.
constexpr std::size_t kMostState = 2000;  // ids that are remembered

// Rewrites `line`: `before` is its parsed value, `after` the cleaned one. Strings that differ are replaced,
// all other bytes are copied: after.dump() would also change numbers, escapes and blanks elsewhere in the
// line. Walks through the values and the bytes of the line at the same time; the line was parsed without an
// error.
class Rewrite {
 public:
  Rewrite(std::string_view line, const host::Host& host) : line_(line), host_(host) {}

  std::string run(const Json& before, const Json& after) {
    walk(before, after);
    out_ += line_.substr(at_);
    return std::move(out_);
  }

 private:
  void copy_blank() {
    while (at_ < line_.size() && std::string_view(" \t\r\n").find(line_[at_]) != std::string_view::npos)
      out_ += line_[at_++];
  }
  // One character of punctuation.
  void copy_one() {
    copy_blank();
    if (at_ < line_.size()) out_ += line_[at_++];
  }
  // The token at `at_`: a string, a number or a word.
  std::string_view token() {
    const std::size_t begin = at_;
    if (at_ < line_.size() && line_[at_] == '"') {
      for (++at_; at_ < line_.size() && line_[at_] != '"'; ++at_)
        if (line_[at_] == '\\') ++at_;
      ++at_;
    } else {
      while (at_ < line_.size() && std::string_view(",]} \t\r\n").find(line_[at_]) == std::string_view::npos)
        ++at_;
    }
    at_ = std::min(at_, line_.size());
    return line_.substr(begin, at_ - begin);
  }

  void walk(const Json& before, const Json& after) {
    copy_blank();
    if (before.is_object()) return walk_object(before, after);
    if (before.is_array()) return walk_array(before, after);
    const std::string_view raw = token();
    const bool keep = before == after || host_.is_structure(keys_);
    keep ? out_.append(raw) : out_.append(after.dump());
  }

  void walk_object(const Json& before, const Json& after) {
    copy_one();
    const auto& members = before.members();
    // If cleaning removed a member, the others cannot be matched by their place: withhold them all.
    const bool same_shape = after.members().size() == members.size();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) copy_one();
      copy_blank();
      const std::string_view raw = token();
      const bool renamed = same_shape && after.members()[i].first != members[i].first;
      renamed ? out_.append(Json(after.members()[i].first).dump()) : out_.append(raw);
      copy_one();
      keys_.push_back(members[i].first);
      walk(members[i].second, same_shape ? after.members()[i].second : Json(kWithheld));
      keys_.pop_back();
    }
    copy_one();
  }

  void walk_array(const Json& before, const Json& after) {
    copy_one();
    const auto& items = before.items();
    const bool same_shape = after.items().size() == items.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) copy_one();
      walk(items[i], same_shape ? after.items()[i] : Json(kWithheld));
    }
    copy_one();
  }

  std::string_view line_;
  const host::Host& host_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<std::string_view> keys_;
};

Json list_of(const NewestIds& ids) {
  Json list = Json::array();
  for (const std::string& id : ids.oldest_first()) list.push(id);
  return list;
}

NewestIds ids_of(const Json& list) {
  NewestIds ids;
  for (const Json& id : list.items()) ids.add(std::string(id.as_string()));
  return ids;
}

// The call as an event, because the rules of the gate are written for events.
event::Event event_of(const host::RecordCall& call, const std::string& cwd) {
  event::Event event;
  event.kind = event::Kind::tool;
  event.cwd = cwd;
  event.tool_name = call.tool;
  event.tool_use_id = call.id;
  event.tool_input = call.input;
  return event;
}

}  // namespace

void NewestIds::add(std::string id) {
  if (!known_.insert(id).second) return;
  order_.push_back(std::move(id));
  if (order_.size() <= kMostState) return;
  known_.erase(order_.front());
  order_.pop_front();
}

Redactor::Redactor(const gate::Gate& gate, const host::Host& host, Rules rules, std::string_view state)
    : gate_(gate), host_(host), rules_(std::move(rules)) {
  const Json known = Json::parse_partial(state).value;
  prompt_ = known["prompt"].as_string();
  at_ = known["at"].as_int();
  excluded_ = ids_of(known["excluded"]);
  env_files_ = ids_of(known["env"]);
}

std::string Redactor::state() const {
  if (prompt_.empty() && at_ == 0 && excluded_.empty() && env_files_.empty()) return {};
  return Json::object({{"prompt", gate_.id(prompt_)},
                       {"at", at_},
                       {"excluded", list_of(excluded_)},
                       {"env", list_of(env_files_)}})
      .dump();
}

// Whether a call or a result of the line is one of `calls`.
bool Redactor::names_one_of(const host::TranscriptRecord& record, const NewestIds& calls) const {
  if (calls.empty()) return false;
  const auto known = [&](const std::string& id) { return calls.contains(gate_.id(id)); };
  return std::any_of(record.calls.begin(), record.calls.end(),
                     [&](const host::RecordCall& call) { return known(call.id); }) ||
         std::any_of(record.results.begin(), record.results.end(),
                     [&](const host::RecordResult& result) { return known(result.call); });
}

// A line belongs to the last prompt and the last time that this line or an earlier one names.
bool Redactor::is_withheld(const host::TranscriptRecord& record) {
  if (!record.prompt_id.empty()) prompt_ = record.prompt_id;
  if (record.at) at_ = epoch_ms(*record.at);
  bool is_excluded = false;
  // A call and its result are on different lines: remember the call, so that its result is withheld too.
  for (const host::RecordCall& call : record.calls)
    if (gate_.refuse(event_of(call, record.cwd))) {
      excluded_.add(gate_.id(call.id));
      is_excluded = true;
    }
  if (is_excluded || names_one_of(record, excluded_)) return true;
  if (!prompt_.empty() && rules_.private_prompts.contains(gate_.id(prompt_))) return true;
  return std::any_of(rules_.pauses.begin(), rules_.pauses.end(),
                     [&](const auto& pause) { return pause.first <= at_ && at_ <= pause.second; });
}

bool Redactor::reads_env_file(const host::TranscriptRecord& record) {
  for (const host::RecordCall& call : record.calls) {
    const event::Event event = event_of(call, record.cwd);
    const auto paths = gate::touched_paths(event);
    const auto words = gate::command_words(host::command_of(call.input));
    if (std::any_of(paths.begin(), paths.end(), gate::is_env_file) ||
        std::any_of(words.begin(), words.end(), gate::is_env_file))
      env_files_.add(gate_.id(call.id));
  }
  return names_one_of(record, env_files_);
}

// Finds only the values that this session is known to have as secrets, not new ones.
gate::Secrets::Reading Redactor::known_only() {
  gate::Secrets::Reading reading{false, &rules_.known};
  reading.known_only = true;
  return reading;
}

// Cleans, as plain text, a line that is not JSON or too large to parse.
bool Redactor::clean_text(std::string_view line, std::string& out) {
  std::string clean = gate_.clean(line, gate::Way::archive);
  gate_.secrets().remove(clean, known_only());
  if (clean == line) return false;
  out = std::move(clean);
  return true;
}

bool Redactor::pass(std::string_view line, std::string& out) {
  if (trim(line).empty()) return false;
  const Json::Parsed parsed = Json::parse_partial(line, kLimits);
  const Json& before = parsed.value;
  const host::TranscriptRecord record = host_.read_record(before);
  if (!parsed.complete || parsed.limited || !before.is_object()) {
    // Nothing of its structure is known for sure, so all of it is one text.
    if (!is_withheld(record)) return clean_text(line, out);
    out = Json(kWithheld).dump();
    return true;
  }
  Json after = before;
  if (is_withheld(record)) {
    after.for_each_string([](std::string& text) { text = kWithheld; });
  } else {
    const gate::Secrets::Reading reading{reads_env_file(record), &rules_.known};
    const std::size_t fresh = rules_.known.fresh().size();
    const bool is_private = gate::remove_private(after);
    std::size_t secrets = gate_.secrets().remove(after, reading);
    // A secret that was found late in the line may also occur earlier in it.
    if (rules_.known.fresh().size() > fresh) secrets += gate_.secrets().remove(after, known_only());
    std::size_t forgotten = 0;
    if (const gate::Forgotten* gone = gate_.forgotten())
      after.for_each_string([&](std::string& text) { forgotten += gone->remove(text); });
    if (!is_private && secrets == 0 && forgotten == 0) return false;
  }
  std::string rewritten = Rewrite(line, host_).run(before, after);
  if (rewritten == line) return false;
  // Never store a line that the host could not read.
  out = Json::parse_partial(rewritten, kLimits).complete ? std::move(rewritten) : after.dump();
  return true;
}

// The line with each of its texts replaced: for a forgotten call, or when removing the forgotten parts
// failed.
static std::string without_texts(std::string_view line, const Json& before, const host::Host& host) {
  Json after = before;
  after.for_each_string([](std::string& text) { text = gate::kForgottenText; });
  return Rewrite(line, host).run(before, after);
}

bool forget_in_line(std::string_view line, const gate::Forgotten& forgotten,
                    const std::set<std::string, std::less<>>& calls, const host::Host& host,
                    std::string& out) {
  // Compares bytes without parsing: a line that only mentions the id loses its texts too.
  const bool of_call = std::any_of(calls.begin(), calls.end(), [&](const std::string& id) {
    return line.find(id) != std::string_view::npos;
  });
  if (!of_call && forgotten.find(line).empty()) return false;
  const Json::Parsed parsed = Json::parse_partial(line, kLimits);
  if (parsed.complete && !parsed.limited && parsed.value.is_object()) {
    if (of_call) {
      out = without_texts(line, parsed.value, host);
    } else {
      Json after = parsed.value;
      after.for_each_string([&](std::string& text) { forgotten.remove(text); });
      out = Rewrite(line, host).run(parsed.value, after);
      if (!forgotten.find(out).empty()) out = without_texts(line, parsed.value, host);
    }
  } else {
    out = line;
  }
  // Forgotten text is left in a key or an id, or the line cannot be parsed. Removing it matters more than a
  // valid line.
  if (!forgotten.find(out).empty()) forgotten.remove(out);
  return out != line;
}

}  // namespace cairn::archive
