// What a turn says so far, kept while the turn goes on, so that an event is read once and not at every
// summary.
//
// Recorder keeps the digests of the turns that were at work last. A digest is only a shortcut: without it the
// turn is read from its first event, with the same result.
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

// The events of one turn, added in their order.
class TurnDigest {
 public:
  // As distil::Turn has them.
  TurnDigest(std::string_view host, std::string root);

  void add(const store::KeptEvent& event);

  // The turn as it stands: calls that began and have not ended are its last steps. Adding events can go on
  // afterwards.
  distil::TurnReader as_it_stands() const;

  std::int64_t last_event() const { return last_event_; }      // its number; 0: none
  std::int64_t answer_event() const { return answer_event_; }  // of the last answer; 0: none
  const std::string& root() const { return root_; }
  // About how many tokens its events have, and one of them.
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
  // Stored events of the turn were changed: it has to be read again.
  void drop(SessionId session, std::int64_t number);
  void drop(SessionId session);  // all turns of the session
  // The same for all turns. After a rollback too: numbers of events are given again.
  void clear();

 private:
  static constexpr std::size_t kMost = 32;  // about 100 KB each; a long turn has up to 1 MB
  using Key = std::pair<SessionId, std::int64_t>;
  TurnDigest& digest_of(const Key& key, std::string_view host, const std::string& root);

  std::list<std::pair<Key, TurnDigest>> digests_;  // the last one used comes first
};

}  // namespace cairn::intake
