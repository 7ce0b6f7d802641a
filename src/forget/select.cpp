#include "forget/select.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/squeeze.h"
#include "base/text.h"
#include "forget/tombstones.h"
#include "store/observations.h"
#include "store/scrub.h"
#include "store/sessions.h"

namespace cairn::forget {

// 1. The request becomes records and sessions.
// 2. read_texts() makes tombstones of each text of these records, and finds the events that they came from.
// 3. drop_common() drops the tombstones of texts that records which stay have too: to remove those would
// damage them.
// 4. drop_own() drops the tombstones of texts that cairn itself writes, such as the name of a state.
// Tombstones of what is left are `lasting`: the gate keeps the text out from then on. A phrase that was
// only searched for is `temporary`: it is removed once and may be said again.

namespace {

using store::ForgetWay;
using store::RecordName;
using store::RecordText;

// The least letters and digits of a text that is searched for inside of others. A shorter one may occur by
// chance: it is forgotten only where it is a whole text.
constexpr std::size_t kByHand = 12, kDistilled = 32;

// The texts of a field: a list is several.
std::vector<std::string> pieces_of(const std::string& part) {
  if (part.starts_with('[')) {
    const Json::Parsed list = Json::parse_partial(part);
    if (list.complete && list.value.is_array()) {
      std::vector<std::string> items;
      for (const Json& item : list.value.items())
        if (item.is_string()) items.emplace_back(item.as_string());
      return items;
    }
  }
  std::vector<std::string> pieces;
  for (const std::string_view line : lines(part))
    if (!trim(line).empty()) pieces.emplace_back(trim(line));
  return pieces;
}

// Somebody entered it on purpose: it is forgotten even where others say the same.
bool is_by_hand(const store::Standing& standing) {
  return standing.actor == store::Actor::person || standing.actor == store::Actor::agent;
}

// The tombstones of one text of a record that is to be forgotten.
struct Candidate {
  std::vector<gate::Tombstone> tombstones;
  bool always = false;  // even if other records say the same
};

class Selector {
 public:
  Selector(store::Db& db, const std::string& key) : db_(db), hasher_(tombstone_key(key)) {}

  Result<Selection> run(const Request& request);

 private:
  Status by_phrase(const Request& request, std::string_view phrase, bool by_words);
  Status add_records(const std::vector<RecordName>& records);
  Status add_sessions(const store::SessionScope& scope);
  Status add_session(SessionId session);
  Status read_texts();
  Status drop_common();
  Status drop_own();
  bool is_of_going_turn(const RecordText& text) const;

  store::Db& db_;
  gate::Forgotten hasher_;
  Selection out_;
  std::set<std::pair<std::int64_t, std::int64_t>> turns_;  // of the records that go
  std::vector<Candidate> candidates_;
};

// All words of the query occur, in any order.
bool has_words(const std::vector<std::string>& words, const RecordText& text) {
  std::string all;
  for (const std::string& part : text.parts) all += squeezed(part) + " ";
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return all.find(word) != std::string::npos; });
}

Status Selector::add_records(const std::vector<RecordName>& records) {
  for (const RecordName& record : records)
    for (const RecordName& equal : TRY(store::equal_records(db_, record)))
      if (std::find(out_.records.begin(), out_.records.end(), equal) == out_.records.end())
        out_.records.push_back(equal);
  return {};
}

// The phrase itself is removed everywhere, unless records outside of the scope have it.
Status Selector::by_phrase(const Request& request, std::string_view phrase, bool by_words) {
  gate::Forgotten finder = hasher_;
  // A phrase may be short, since the user typed it: four letters are enough.
  const auto tombstones = hasher_.of_text(phrase, 4);
  for (const gate::Tombstone& tombstone : tombstones) finder.add(tombstone);
  std::vector<std::string> words;
  for (const std::string_view word : split(phrase, ' '))
    if (std::string plain = squeezed(word); !plain.empty()) words.push_back(std::move(plain));
  std::vector<RecordName> found;
  std::set<std::string> inside;
  const auto has_phrase = [&](const RecordText& text) {
    return std::any_of(text.parts.begin(), text.parts.end(),
                       [&](const std::string& part) { return !finder.find(part).empty(); });
  };
  TRY(store::for_each_record_text(db_, request.project, [&](const RecordText& text) {
    if (!has_phrase(text) && !(by_words && words.size() > 1 && has_words(words, text))) return;
    found.push_back(text.record);
    inside.insert(text.record.text());
  }));
  TRY(add_records(found));
  bool elsewhere = false;
  // Only a search within one project can leave the phrase to others.
  if (request.project)
    TRY(store::for_each_record_text(db_, std::nullopt, [&](const RecordText& text) {
      elsewhere = elsewhere || (!inside.contains(text.record.text()) && has_phrase(text));
    }));
  if (!elsewhere)
    for (const gate::Tombstone& tombstone : tombstones)
      // A `whole` tombstone finds records alone, and those were found above.
      if (tombstone.kind == gate::Tombstone::Kind::text) out_.temporary.push_back(tombstone);
  return {};
}

Status Selector::add_session(SessionId id) {
  const auto session = TRY(store::find_session(db_, id));
  if (!session) return {};
  out_.sessions.push_back(id);
  if (session->platform == "cairn") return {};  // of notes by hand: there may be new ones
  out_.lasting.push_back(hasher_.of_session(session->platform, session->content_id.value));
  // The id itself is removed from the log and from other texts. A shorter one could be a word.
  if (session->content_id.value.size() >= 8)
    for (const gate::Tombstone& tombstone : hasher_.of_secret(session->content_id.value))
      out_.temporary.push_back(tombstone);
  return {};
}

Status Selector::add_sessions(const store::SessionScope& scope) {
  for (const SessionId id : TRY(store::sessions_in(db_, scope))) TRY(add_session(id));
  TRY(add_records(TRY(store::hand_records_in(db_, scope))));
  return {};
}

Status Selector::read_texts() {
  for (const RecordName& record : out_.records) {
    const auto text = TRY(store::record_text(db_, record));
    const auto standing = TRY(store::standing_of(db_, record));
    if (!text || !standing) continue;
    // An old export may have the record with other words.
    if (const auto uuid = TRY(store::uuid_of_record(db_, record)))
      out_.lasting.push_back(hasher_.of_record(*uuid));
    // Other records of the turn repeat the text: that does not make it common.
    if (text->session != 0 && text->prompt_number != 0) turns_.emplace(text->session, text->prompt_number);
    // A document quotes what others say, so it does not count here.
    const bool by_hand = is_by_hand(*standing) && (record.letter == 'O' || record.letter == 'W');
    std::string all;
    // Only the title, subtitle, narrative and facts of an observation, and the six texts of a summary: files
    // and concepts say nothing by themselves.
    const std::size_t said = record.letter == 'O' ? 4 : record.letter == 'S' ? 6 : text->parts.size();
    for (std::size_t i = 0; i < said; ++i) {
      for (const std::string& piece : pieces_of(text->parts[i])) {
        all += piece + "\n";
        candidates_.push_back({hasher_.of_text(piece, by_hand ? kByHand : kDistilled), by_hand});
      }
    }
    // As the gate and an import compose the whole text of an observation, or the hashes would differ.
    if (record.letter == 'O') {
      store::Observation o;
      o.title = text->parts[0];
      o.subtitle = text->parts[1];
      o.narrative = text->parts[2];
      o.facts = pieces_of(text->parts[3]);
      all = store::whole_text(o);
    }
    // The whole text names only this record, so it is kept out even if parts of it are common.
    candidates_.push_back({{hasher_.of_whole(all)}, true});
    for (store::GoneEvent& event : TRY(store::events_to_forget(db_, record, out_.records)))
      out_.events.push_back(std::move(event));
  }
  return {};
}

bool Selector::is_of_going_turn(const RecordText& text) const {
  return text.prompt_number != 0 && turns_.contains({text.session, text.prompt_number});
}

// Text that another record also has is kept there and may be stored again.
Status Selector::drop_common() {
  gate::Forgotten finder = hasher_;
  for (const Candidate& candidate : candidates_)
    if (!candidate.always)
      for (const gate::Tombstone& tombstone : candidate.tombstones) finder.add(tombstone);
  std::set<std::string> going;
  for (const RecordName& record : out_.records) going.insert(record.text());
  std::set<std::int64_t> sessions;
  for (const SessionId id : out_.sessions) sessions.insert(id.value);
  std::unordered_set<std::uint64_t> common;
  TRY(store::for_each_record_text(db_, std::nullopt, [&](const RecordText& text) {
    // Records that go, too, do not count.
    if (going.contains(text.record.text()) || is_of_going_turn(text) || sessions.contains(text.session))
      return;
    for (const std::string& part : text.parts) finder.matches(part, common);
  }));
  for (const Candidate& candidate : candidates_) {
    const bool is_common =
        !candidate.always &&
        std::any_of(candidate.tombstones.begin(), candidate.tombstones.end(),
                    [&](const gate::Tombstone& tombstone) { return common.contains(tombstone.hash); });
    if (is_common)
      ++out_.common;
    else
      out_.lasting.insert(out_.lasting.end(), candidate.tombstones.begin(), candidate.tombstones.end());
  }
  return {};
}

// A word that cairn itself writes cannot be removed everywhere: it is in the schema and in states, and hosts
// use many of them as keys of their transcripts. The records that say it go all the same, with their texts.
// A secret is removed in any case, and the proof says where it is left.
Status Selector::drop_own() {
  const auto is_text = [](const gate::Tombstone& one) { return one.kind == gate::Tombstone::Kind::text; };
  gate::Forgotten finder = hasher_;
  for (const auto* list : {&out_.lasting, &out_.temporary})
    for (const gate::Tombstone& tombstone : *list)
      if (is_text(tombstone)) finder.add(tombstone);
  std::unordered_set<std::uint64_t> own;
  finder.matches(TRY(store::own_words(db_)), own);
  const auto is_own = [&](const gate::Tombstone& one) { return is_text(one) && own.contains(one.hash); };
  out_.common += static_cast<std::int64_t>(std::erase_if(out_.lasting, is_own));
  out_.own_word = std::erase_if(out_.temporary, is_own) > 0;
  return {};
}

Result<Selection> Selector::run(const Request& request) {
  if (!request.records.empty()) {
    out_.way = ForgetWay::ids;
    TRY(add_records(request.records));
  } else if (request.query) {
    out_.way = ForgetWay::query;
    TRY(by_phrase(request, *request.query, true));
  } else if (request.file) {
    out_.way = ForgetWay::file;
    TRY(add_records(TRY(store::records_about_file(db_, request.project, *request.file))));
    TRY(by_phrase(request, *request.file, false));
  } else if (request.secret || !request.secrets.empty()) {
    out_.way = request.secret ? ForgetWay::secret : ForgetWay::scan;
    std::vector<std::string> all = request.secrets;
    if (request.secret) all.push_back(*request.secret);
    for (const std::string& secret : all)
      for (const gate::Tombstone& tombstone : hasher_.of_secret(secret)) out_.lasting.push_back(tombstone);
  } else if (request.session) {
    out_.way = ForgetWay::session;
    TRY(add_session(*request.session));
  } else if (request.before) {
    out_.way = ForgetWay::before;
    TRY(add_sessions({request.project, request.before, false}));
  } else {
    out_.way = ForgetWay::project;
    out_.project = request.project;
    TRY(add_sessions({request.project, std::nullopt, true}));
  }
  TRY(read_texts());
  TRY(drop_common());
  TRY(drop_own());
  if (out_.records.empty() && out_.sessions.empty() && out_.lasting.empty() && out_.temporary.empty())
    return Error{Code::not_found,
                 out_.own_word ? "forget: no record says that, and cairn itself uses the word: it stays in "
                                 "what tools printed and in transcripts"
                               : "forget: there is nothing like that"};
  return std::move(out_);
}

}  // namespace

Result<Selection> select(store::Db& db, const std::string& key, const Request& request) {
  return Selector(db, key).run(request);
}

Result<Selection> select_named(store::Db& db, const std::string& key, ForgetWay way,
                               std::vector<gate::Tombstone> tombstones) {
  Selection out;
  out.way = way;
  gate::Forgotten named(tombstone_key(key));
  for (const gate::Tombstone& tombstone : tombstones) named.add(tombstone);
  TRY(store::for_each_uuid(db, [&](const RecordName& record, std::string_view uuid) {
    if (named.has_record(uuid)) out.records.push_back(record);
  }));
  TRY(store::for_each_session(db, [&](SessionId session, std::string_view platform, std::string_view id) {
    if (named.has_session(platform, id)) out.sessions.push_back(session);
  }));
  for (const RecordName& record : out.records)
    for (store::GoneEvent& event : TRY(store::events_to_forget(db, record, out.records)))
      out.events.push_back(std::move(event));
  out.lasting = std::move(tombstones);
  return out;
}

}  // namespace cairn::forget
