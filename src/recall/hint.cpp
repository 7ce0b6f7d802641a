#include "recall/hint.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "recall/excerpt.h"
#include "recall/match.h"
#include "recall/rank.h"
#include "store/projects.h"

namespace cairn::recall {

namespace {

constexpr std::size_t kReadPrompt = 4000;  // bytes
constexpr std::size_t kTurnsOfHint = 3;
constexpr std::size_t kRankedForHint = 12;
constexpr std::size_t kShownOfOne = 600;     // characters of one record
constexpr double kBar = 0.6;                 // the share of the words' weight that a record must have
constexpr double kFew = 6, kFewShare = 0.1;  // a word in at most so many entries names something
constexpr std::size_t kSpecific = 2;         // such words that a record must have

// Words of requests and small talk: they say nothing about the past even where they are rare.
bool is_talk(std::string_view word) {
  // As stems: "chang" is change, changes and changing.
  static const std::set<std::string_view> kTalk = {
      "add",     "again", "all",    "also",  "and",     "ani",      "but",       "chang", "check", "commit",
      "continu", "could", "do",     "done",  "explain", "fine",     "first",     "fix",   "get",   "give",
      "go",      "good",  "great",  "hello", "help",    "hi",       "implement", "just",  "keep",  "let",
      "like",    "look",  "make",   "mayb",  "more",    "much",     "need",      "next",  "nice",  "no",
      "not",     "now",   "ok",     "okai",  "pleas",   "proceed",  "push",      "put",   "read",  "realli",
      "run",     "see",   "should", "show",  "sorri",   "sound",    "start",     "still", "stop",  "sure",
      "take",    "test",  "thank",  "thing", "think",   "time",     "todai",     "tri",   "try",   "updat",
      "us",      "use",   "veri",   "wait",  "want",    "well",     "work",      "write", "ye",    "yes",
      "file",    "code",  "someth", "right", "thi",     "ll",       "re",        "ve",    "don",   "doe",
      "here",    "out",   "up",     "down",  "one",     "two",      "some",      "ani",   "remov", "new",
      "old",     "same",  "other",  "line",  "name",    "function", "call",      "mean",  "know",  "way"};
  return kTalk.contains(word);
}

// The words of a prompt that name something.
std::vector<QueryWord> naming_words(const store::IndexTerms& index, std::string_view prompt) {
  std::vector<QueryWord> words = query_words(index, prompt);
  std::erase_if(words, [](const QueryWord& word) {
    return word.stem.size() < 2 || is_stop_word(word.text) || is_talk(word.stem);
  });
  return words;
}

// How many of the words that few records have are in this one.
std::size_t specific_words(const Asked& asked, const RankedRecord& record, double few) {
  return static_cast<std::size_t>(
      std::count_if(asked.words.begin(), asked.words.end(), [&](const QueryWord& word) {
        return word.frequency > 0 && word.frequency <= few &&
               std::any_of(record.shares.begin(), record.shares.end(),
                           [&](const Share& share) { return share.term == in_quotes(word.text); });
      }));
}

// The record and the piece of it that matches, on one line.
std::string shown(const store::IndexTerms& index, const Record& record, const std::set<std::string>& stems) {
  std::string text = text_of(record.id) + " " + record.title;
  const Marked piece = excerpt(index, record.body, stems, kShownOfOne - 200);
  if (!piece.text.empty() && record.title.find(piece.text) == std::string::npos) text += " | " + piece.text;
  return one_line(text, kShownOfOne);
}

}  // namespace

Result<std::optional<Hint>> hint_for(store::Db& db, const std::string& project, std::string_view prompt,
                                     std::string_view own_session) {
  const store::IndexTerms index = TRY(store::IndexTerms::open(db));
  Asked asked;
  asked.words = naming_words(index, prefix(prompt, kReadPrompt));
  if (asked.words.size() < kSpecific) return std::optional<Hint>();
  const store::Snapshot snapshot = TRY(store::Snapshot::begin(db));
  asked.scope = TRY(store::scope_of(db, project));
  TRY(weigh(db, asked));
  // What counts as few grows with the store: six entries at least, else a tenth of all.
  const double few = std::max(kFew, kFewShare * TRY(store::estimated_entries(db)));
  const std::set<std::string> stems = stems_of(asked.words);
  Hint hint;
  std::set<std::pair<std::string, std::int64_t>> turns;
  for (const RankedRecord& ranked : TRY(rank(db, index, asked, kRankedForHint, true))) {
    if (ranked.covered < kBar || specific_words(asked, ranked, few) < kSpecific) continue;
    auto record = TRY(load_record(db, ranked.id));
    // The session that asks has its own records in its conversation.
    if (!record || (!own_session.empty() && record->session == own_session)) continue;
    if (!turns.emplace(record->session, record->prompt_number.value_or(0)).second) continue;
    // Show the summary of the turn: it says most.
    if (auto summary = TRY(summary_of(db, *record))) record->id = summary->id, record->title = summary->title;
    const std::string line = shown(index, *record, stems);
    if (turns.size() > kTurnsOfHint || utf16_length(hint.text) + utf16_length(line) + 1 > kLongestHint) break;
    hint.text += (hint.text.empty() ? "" : "\n") + line;
    hint.records.push_back(record->id);
    hint.confidence = std::max(hint.confidence, ranked.covered);
  }
  return hint.records.empty() ? std::nullopt : std::optional(std::move(hint));
}

}  // namespace cairn::recall
