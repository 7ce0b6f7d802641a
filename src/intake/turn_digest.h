// What the events of a turn say, collected while the turn goes on, so that each event is read once and not
// for every summary.
//
// Recorder keeps the digests of the turns that were used last. A digest is only a cache: without it the turn
// is read from its first event, with the same result.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "distil/distil.h"
#include "store/evidence.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/turns.h"

namespace cairn::intake {

// The step that an event is for the distiller.
distil::Step step_of(const store::KeptEvent& event);
// The same of an event that was just stored under the number `seq`, without reading its texts again.
distil::Step step_of(const event::Event& event, std::int64_t seq);

// The bytes of the texts that count as tokens.
std::size_t bytes_of(const store::Texts& texts);

// The events of one turn, added in their order.
class TurnDigest {
 public:
  // `host` and `root`: as in distil::Turn.
  TurnDigest(std::string_view host, std::string root);

  void add(const store::KeptEvent& event);
  // `tool_use_id`: as it is stored. `bytes`: of the event's texts.
  void add(event::Kind kind, const std::string& tool_use_id, std::size_t bytes, distil::Step step);

  // The turn up to now: calls that began and have not ended are its last steps. More events can be added
  // afterwards.
  distil::TurnReader as_it_stands() const;

  std::int64_t last_event() const { return last_event_; }      // its number; 0: none
  std::int64_t answer_event() const { return answer_event_; }  // of the last answer; 0: none
  const std::string& root() const { return root_; }
  // About how many tokens all its events have, and one event.
  std::int64_t tokens() const { return all_tokens_; }
  std::int64_t tokens_of(std::int64_t event) const;

 private:
  using Begun = std::map<std::string, distil::Step>;
  static Begun::const_iterator oldest(const Begun& begun);

  std::string root_;
  distil::TurnReader reader_;
  Begun begun_;                                                // calls that have not ended, by tool use
  std::vector<std::pair<std::int64_t, std::int64_t>> tokens_;  // by event, in order
  std::int64_t all_tokens_ = 0, last_event_ = 0, answer_event_ = 0;
};

// How much of the store may be read at once.
struct ReadLimit {
  std::size_t events = SIZE_MAX;
  std::size_t bytes = SIZE_MAX;  // of texts
  bool reached() const { return events == 0 || bytes == 0; }
};

// The digests of the turns that were asked for last. Belongs to the writer's thread.
class TurnDigests {
 public:
  // Reads the turn's new events, as far as `limit` allows, and lowers `limit`. `whole` says whether the
  // digest then has all of them. The digest is valid until the next call.
  struct Read {
    const TurnDigest* digest = nullptr;
    bool whole = false;
  };
  Result<Read> read(store::Db& db, const store::Session& session, std::int64_t number,
                    const std::string& root, ReadLimit& limit);
  // A turn begins: it has no events yet.
  void begin(const store::Session& session, std::int64_t number, const std::string& root);
  // The digest of a turn, to which the event that was just stored is to be added; null when it lacks earlier
  // ones: then read() has to read them.
  TurnDigest* whole(SessionId session, std::int64_t number);
  // Stored events of the turn were changed: it has to be read again.
  void drop(SessionId session, std::int64_t number);
  void drop(SessionId session);  // all turns of the session
  // The same for all turns. Call it after a rollback too: its event numbers will belong to other events.
  void clear();

 private:
  static constexpr std::size_t kMost = 32;  // about 100 KB each; a long turn has up to 1 MB
  using Key = std::pair<SessionId, std::int64_t>;
  struct Entry {
    Entry(const Key& turn, std::string_view host, const std::string& root) : key(turn), digest(host, root) {}
    Key key;
    TurnDigest digest;
    bool is_whole = false;  // it has every event that is stored
  };
  std::list<Entry>::iterator find(const Key& key);
  Entry& entry_of(const Key& key, std::string_view host, const std::string& root);

  std::list<Entry> digests_;  // the last one used comes first
};

}  // namespace cairn::intake
