#include "archive/passages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "archive/redactor.h"
#include "archive/version_reader.h"
#include "base/text.h"
#include "host/host.h"
#include "host/own.h"

namespace cairn::archive {

// Indexing goes frame by frame. A Builder turns the lines of one frame into passages. Its state (the
// current prompt, calls of cairn that have no result yet) is stored with them and given to the Builder of
// the next frame. A passage never continues in the next frame, so passage_text() has to read only one.

namespace {

// After this much text a passage ends at the next line end: enough to show a match and its surroundings.
constexpr std::size_t kPassage = 6000;
// Bytes indexed of a tool's input and output. Measured: this is enough to find what was said only in the
// middle of the work, and the index has a twentieth of the transcript's size.
constexpr std::size_t kInput = 1500, kOutput = 2500;
// Bytes indexed of a prompt or an answer: a longer text is a pasted file.
constexpr std::size_t kSaid = 64u << 10;
constexpr std::size_t kMostOwn = 200;                   // calls whose results are awaited
constexpr std::int64_t kErrorPauseNs = 60'000'000'000;  // after an error

void add(std::string& to, std::string_view text, std::size_t most) {
  text = trim(text);
  if (text.empty() || text == kWithheld) return;
  if (!to.empty()) to += '\n';
  to += prefix(text, most);
}

// The strings of a tool's input, as they are.
void add_strings(const Json& value, std::string& to) {
  if (to.size() >= kInput) return;
  if (value.is_string()) add(to, value.as_string(), kInput - to.size());
  for (const Json& item : value.items()) add_strings(item, to);
  for (const Json::Member& member : value.members()) add_strings(member.second, to);
}

std::string text_of(const host::TranscriptRecord& record) {
  std::string text, said = record.said;
  host::remove_own_text(said);
  add(text, said, kSaid);
  for (const host::RecordCall& call : record.calls) {
    std::string input;
    add_strings(call.input, input);
    add(text, call.tool + " " + input, kInput);
  }
  for (const host::RecordResult& result : record.results) {
    // Longer than what is indexed: injected context at its beginning is removed first.
    std::string output = result.text.substr(0, 4 * kOutput);
    host::remove_own_text(output);
    add(text, output, kOutput);
  }
  return text;
}

// Reads lines one after another and joins them to passages.
class Builder {
 public:
  Builder(const host::Host& host, std::string_view state) : host_(host) {
    const Json known = Json::parse_partial(state).value;
    prompt_ = known["prompt"].as_string();
    for (const Json& id : known["own"].items()) own_.emplace(id.as_string());
  }

  void take(std::string_view line, std::int64_t number) {
    const Json value = Json::parse_partial(line).value;
    if (!value.is_object()) return;
    const host::TranscriptRecord record = host_.read_record(value);
    if (record.at) at_ = *record.at;
    if (!record.prompt_id.empty() && record.prompt_id != prompt_) {
      prompt_ = record.prompt_id;
      end();
    }
    // passage_text() reads every line from the first to the last, so a line that is left out ends the
    // passage.
    if (is_own(record)) return end();
    const std::string text = text_of(record);
    if (text.empty()) return;
    if (!open_) passages_.push_back({number, number, at_, prompt_, ""});
    open_ = true;
    store::NewPassage& passage = passages_.back();
    passage.last_line = number;
    passage.text.append(passage.text.empty() ? "" : "\n").append(text);
    if (passage.text.size() >= kPassage) end();
  }

  const std::vector<store::NewPassage>& passages() const { return passages_; }
  std::string state() const {
    Json own = Json::array();
    for (const std::string& id : own_) own.push(id);
    return Json::object({{"prompt", prompt_}, {"own", own}}).dump();
  }

 private:
  void end() { open_ = false; }
  bool is_own(const host::TranscriptRecord& record) {
    bool own = false;
    for (const host::RecordCall& call : record.calls) {
      if (!host_.is_own_call(call.tool, call.input)) continue;
      if (own_.size() < kMostOwn) own_.insert(call.id);
      own = true;
    }
    for (const host::RecordResult& result : record.results) own = own_.erase(result.call) > 0 || own;
    return own;
  }

  const host::Host& host_;
  std::string prompt_;
  std::set<std::string, std::less<>> own_;  // calls of cairn that have no result yet
  WallTime at_;
  bool open_ = false;
  std::vector<store::NewPassage> passages_;
};

// Every line of a frame with its number.
template <class Visit>
void each_line(const FrameText& frame, Visit visit) {
  std::string_view text = frame.text;
  for (std::int64_t number = frame.first_line; !text.empty(); ++number) {
    const std::size_t feed = std::min(text.find('\n'), text.size());
    visit(text.substr(0, feed), number);
    text.remove_prefix(std::min(feed + 1, text.size()));
  }
}

}  // namespace

Result<PassageText> passage_text(store::Db& db, os::Disk& disk, const std::string& directory,
                                 const store::Passage& passage) {
  const host::Host& host = host::find_host(passage.base.key.platform);
  PassageText out;
  const auto frame = TRY(frame_with(db, disk, directory, passage.base, passage.first_line));
  if (!frame || frame->fault)
    return Error{Code::corrupt, frame ? *frame->fault : "the archive does not have these lines any more"};
  each_line(*frame, [&](std::string_view line, std::int64_t number) {
    if (number < passage.first_line || number > passage.last_line) return;
    const Json value = Json::parse_partial(line).value;
    if (!value.is_object()) return;
    const host::TranscriptRecord record = host.read_record(value);
    const std::string one = text_of(record);
    if (!one.empty()) out.text.append(out.text.empty() ? "" : "\n\n").append(one);
    for (const host::RecordCall& call : record.calls)
      if (const auto origin = host.origin_of(call.tool)) out.origins.insert(*origin);
    if (!record.results.empty()) out.origins.insert(Origin::output);
  });
  return out;
}

bool PassageIndexer::step() {
  if (!due_ || clock_.boot_ns() < not_before_ns_) return false;
  auto more = index_frame();
  if (more) {
    due_ = *more;
    return *more;
  }
  log_.error("archive: index: " + more.error().message);
  not_before_ns_ = clock_.boot_ns() + kErrorPauseNs;
  return false;
}

Result<bool> PassageIndexer::index_frame() {
  const auto work = TRY(store::next_unindexed(db_));
  if (!work) return false;
  const auto frame = TRY(frame_with(db_, disk_, directory_, work->base, work->lines + 1));
  if (!frame) return Error{Code::corrupt, fmt::format("no frame has line {}", work->lines + 1)};
  // A damaged frame has no text, so nothing of it is indexed until the transcript is copied again.
  Builder builder(host::find_host(work->base.key.platform), work->state);
  each_line(*frame, [&](std::string_view line, std::int64_t number) { builder.take(line, number); });
  // One transaction: after a crash the passages, the number of indexed lines and the state belong together.
  TRY(store::in_transaction(db_, [&] {
    return store::add_passages(db_, work->base.id, builder.passages(), frame->first_line + frame->lines - 1,
                               builder.state());
  }));
  return true;
}

}  // namespace cairn::archive
