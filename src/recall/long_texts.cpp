#include "recall/long_texts.h"

#include <algorithm>
#include <map>
#include <set>

#include "archive/passages.h"
#include "base/json.h"
#include "base/text.h"
#include "host/own.h"
#include "recall/match.h"
#include "store/evidence.h"
#include "store/forget_requests.h"

namespace cairn::recall {

namespace {

constexpr std::size_t kScan = 20'000;  // the newest entries that are searched
constexpr std::size_t kLooked = 24;    // the best of them, whose words are looked up
constexpr std::size_t kOfSession = 3;  // shown of one session
constexpr double kLeastCovered = 0.5;  // a long text has some of the words by chance
constexpr std::size_t kTitleBytes = 200;
// What is indexed of a call: its input, and the beginning and the end of its output.
constexpr std::size_t kInputBytes = 1500, kHead = 2500, kTail = 1000;

// Passages and calls have only a field or two, so the query names no field.
std::string any_of_words(const Asked& asked, const Query& query) {
  std::vector<const QueryWord*> words;
  for (const QueryWord& word : asked.words) words.push_back(&word);
  // The frequency among records is a hint of that among long texts.
  std::stable_sort(words.begin(), words.end(),
                   [](const auto* a, const auto* b) { return a->frequency < b->frequency; });
  std::string any, must;
  for (const QueryWord* word : words) any += (any.empty() ? "" : " OR ") + word->match();
  for (const std::string& text : query.phrases)
    if (const std::string phrase = phrase_of(text); !phrase.empty())
      must += (must.empty() ? "" : " AND ") + phrase;
  std::string out = must.empty() ? "(" + any + ")" : must + " AND (" + any + ")";
  for (const std::string& text : query.without)
    if (const std::string phrase = phrase_of(text); !phrase.empty()) out += " NOT " + phrase;
  return out;
}

// Which words each of them has.
Result<std::map<std::int64_t, std::vector<bool>>> words_in(store::Db& db, Kind kind, const Asked& asked,
                                                           const std::vector<std::int64_t>& rows) {
  std::map<std::int64_t, std::vector<bool>> has;
  for (const std::int64_t row : rows) has[row].resize(asked.words.size());
  for (std::size_t w = 0; w < asked.words.size(); ++w)
    for (const std::int64_t row : TRY(store::rows_that_match(db, kind, asked.words[w].match(), rows)))
      has[row][w] = true;
  return has;
}

Status add_scored(store::Db& db, Kind kind, const Asked& asked, std::vector<store::LongMatch> matches,
                  std::vector<LongText>& to) {
  std::vector<std::int64_t> rows;
  for (const store::LongMatch& match : matches) rows.push_back(match.id.row);
  const auto has = TRY(words_in(db, kind, asked, rows));
  const double whole = asked.weight();
  for (store::LongMatch& match : matches) {
    LongText text;
    const std::vector<bool>& words = has.at(match.id.row);
    text.score = score_of_long_text(asked, words);
    for (std::size_t w = 0; w < words.size(); ++w)
      if (words[w]) text.covered += asked.words[w].weight / std::max(whole, 1e-9);
    text.shares = {{kind == Kind::event ? "words of a tool call" : "words of a transcript", text.score}};
    text.match = std::move(match);
    to.push_back(std::move(text));
  }
  return {};
}

void add_strings(const Json& value, std::string& to, std::size_t most) {
  if (to.size() >= most) return;
  if (value.is_string()) to.append(to.empty() ? "" : "\n").append(prefix(value.as_string(), most));
  for (const Json& item : value.items()) add_strings(item, to, most);
  for (const Json::Member& member : value.members()) add_strings(member.second, to, most);
}

// The strings of a JSON text, or the text itself.
std::string strings_of(const std::optional<std::string>& text, std::size_t most) {
  if (!text) return {};
  const Json value = Json::parse_partial(*text).value;
  if (!value.is_object() && !value.is_array() && !value.is_string()) return std::string(prefix(*text, most));
  std::string out;
  add_strings(value, out, most);
  return out;
}

}  // namespace

CallText call_text(std::string_view tool, const std::optional<std::string>& input,
                   const std::optional<std::string>& response) {
  CallText text;
  text.input = std::string(tool) + "\n" + std::string(prefix(strings_of(input, kInputBytes), kInputBytes));
  std::string output = strings_of(response, 256u << 10);
  host::remove_own_text(output);
  // The end of an output says how it went.
  text.output = output.size() <= kHead + kTail
                    ? std::move(output)
                    : std::string(prefix(output, kHead)) + "\n" + std::string(suffix(output, kTail));
  return text;
}

// Without the turns that an agent asked to forget.
static Status drop_requested(store::Db& db, std::vector<LongText>& found) {
  std::vector<LongText> shown;
  for (LongText& text : found) {
    const store::LongMatch& match = text.match;
    if (match.prompt_number && TRY(store::is_turn_requested(db, match.session, *match.prompt_number)))
      continue;
    shown.push_back(std::move(text));
  }
  found = std::move(shown);
  return {};
}

Result<std::vector<LongText>> find_long_texts(store::Db& db, bool archive, const Asked& asked,
                                              const Query& query) {
  std::vector<LongText> found;
  const std::string match = any_of_words(asked, query);
  TRY(add_scored(db, Kind::event, asked,
                 TRY(store::best_events(db, match, asked.scope, asked.period, kScan, kLooked)), found));
  if (archive)
    TRY(add_scored(db, Kind::passage, asked,
                   TRY(store::best_passages(db, match, asked.scope, asked.period, kScan, kLooked)), found));
  std::stable_sort(found.begin(), found.end(), [](const LongText& a, const LongText& b) {
    if (a.score != b.score) return a.score > b.score;
    // Prefer the transcript: it has more context and can be restored.
    if (a.match.id.kind != b.match.id.kind) return a.match.id.kind == Kind::passage;
    return a.match.score > b.match.score;
  });
  // Before the limits below: what is not shown must not take the place of something else.
  TRY(drop_requested(db, found));
  std::set<std::pair<std::string, std::int64_t>> turns;
  std::map<std::string, std::size_t> sessions;
  std::erase_if(found, [&](const LongText& text) {
    if (text.covered < kLeastCovered) return true;
    const bool second =
        text.match.prompt_number && !turns.emplace(text.match.session, *text.match.prompt_number).second;
    return second || ++sessions[text.match.session] > kOfSession;
  });
  return found;
}

Result<bool> is_in_long_texts(store::Db& db, bool archive, const Asked& asked, const QueryWord& word) {
  // Without the period of the query: whether the word occurs at all.
  if (!TRY(store::best_events(db, word.match(), asked.scope, {}, kScan, 1)).empty()) return true;
  return archive && !TRY(store::best_passages(db, word.match(), asked.scope, {}, kScan, 1)).empty();
}

Result<std::optional<store::Passage>> load_long_text(store::Db& db, os::Disk* disk,
                                                     const std::string& archive, Record& record) {
  const RecordId id = record.id;
  if (id.kind == Kind::event) {
    if (auto known = TRY(load_record(db, id))) record = *std::move(known);
    const auto event = TRY(store::kept_event(db, id.row));
    if (!event) return std::optional<store::Passage>();
    CallText text = call_text(event->tool_name, event->texts.input, event->texts.response);
    record.body = text.input + "\n" + text.output;
    record.origins.insert(Origin::output);
    record.title = one_line(visible(record.body), kTitleBytes);
    return std::optional<store::Passage>();
  }
  auto passage = TRY(store::find_passage(db, id.row));
  if (!passage || !disk) return std::optional<store::Passage>();
  record.project = passage->project;
  record.prompt_number = passage->prompt_number;
  record.type = name_of(Kind::text);
  record.time = passage->at;
  // A damaged file of the archive must not make the whole search fail.
  auto text = archive::passage_text(db, *disk, archive, *passage);
  if (text) {
    record.body = std::move(text->text);
    record.origins = std::move(text->origins);
  } else {
    record.body = "The archive cannot be read here (" + text.error().message + "): `cairn backup verify`";
  }
  record.title = one_line(visible(record.body), kTitleBytes);
  return passage;
}

}  // namespace cairn::recall
