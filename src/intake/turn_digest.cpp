#include "intake/turn_digest.h"

#include <algorithm>

#include "host/action.h"

namespace cairn::intake {

using distil::Step;

static constexpr std::size_t kMostBegun = 100;  // more calls never run at the same time

static Json read_json(const std::optional<std::string>& text) {
  if (!text) return {};
  return Json::parse_partial(*text).value;
}

Step step_of(const store::KeptEvent& event) {
  Step step;
  step.event = event.seq;
  step.tool = event.tool_name;
  step.input = read_json(event.texts.input);
  step.agent_type = event.agent_type;
  step.response = read_json(event.texts.response);
  if (event.kind == event::Kind::tool_failure) {
    step.outcome =
        step.response["is_interrupt"].as_bool() ? Step::Outcome::interrupted : Step::Outcome::failed;
    step.error = step.response["error"].as_string();
    step.response = {};
  } else if (event.kind == event::Kind::tool_start) {
    step.outcome = Step::Outcome::interrupted;
  } else if (host::was_interrupted(step.response)) {
    step.outcome = Step::Outcome::interrupted;
  }
  return step;
}

Step step_of(const event::Event& event, std::int64_t seq) {
  Step step;
  step.event = seq;
  step.tool = event.tool_name.value_or("");
  // Both step_of() must give the same step: an empty object is not stored (recorder.cpp), so it is left out
  // here.
  if (!event.tool_input.is_object() || !event.tool_input.members().empty()) step.input = event.tool_input;
  step.agent_type = event.agent_type.value_or("");
  if (event.kind == event::Kind::tool_failure) {
    step.outcome = event.interrupted ? Step::Outcome::interrupted : Step::Outcome::failed;
    step.error = event.error;
    return step;
  }
  step.response = event.tool_response;
  if (event.kind == event::Kind::tool_start || host::was_interrupted(step.response))
    step.outcome = Step::Outcome::interrupted;
  return step;
}

std::size_t bytes_of(const store::Texts& texts) {
  return texts.input.value_or("").size() + texts.response.value_or("").size();
}

TurnDigest::TurnDigest(std::string_view host, std::string root)
    : root_(root), reader_(host, std::move(root)) {}

TurnDigest::Begun::const_iterator TurnDigest::oldest(const Begun& begun) {
  return std::min_element(begun.begin(), begun.end(),
                          [](const auto& a, const auto& b) { return a.second.event < b.second.event; });
}

void TurnDigest::add(const store::KeptEvent& event) {
  add(event.kind, event.tool_use_id, bytes_of(event.texts), step_of(event));
}

void TurnDigest::add(event::Kind kind, const std::string& tool_use_id, std::size_t bytes, Step step) {
  last_event_ = step.event;
  if (kind == event::Kind::stop) answer_event_ = step.event;
  // About four bytes a token.
  const auto tokens = static_cast<std::int64_t>((bytes + 3) / 4);
  all_tokens_ += tokens;
  if (tokens > 0) tokens_.emplace_back(step.event, tokens);
  if (kind == event::Kind::tool || kind == event::Kind::tool_failure) {
    begun_.erase(tool_use_id);
    reader_.add(step);
  } else if (kind == event::Kind::tool_start) {
    // The start of a call becomes a step only when its end is missing.
    begun_.insert_or_assign(tool_use_id, std::move(step));
    if (begun_.size() > kMostBegun) begun_.erase(oldest(begun_));
  }
}

distil::TurnReader TurnDigest::as_it_stands() const {
  distil::TurnReader reader = reader_;
  // On a copy: these calls may still end, and then count as what they did.
  for (Begun left = begun_; !left.empty(); left.erase(oldest(left))) reader.add(oldest(left)->second);
  return reader;
}

std::int64_t TurnDigest::tokens_of(std::int64_t event) const {
  const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), std::pair(event, std::int64_t{0}));
  return found != tokens_.end() && found->first == event ? found->second : 0;
}

std::list<TurnDigests::Entry>::iterator TurnDigests::find(const Key& key) {
  return std::find_if(digests_.begin(), digests_.end(), [&](const Entry& one) { return one.key == key; });
}

TurnDigests::Entry& TurnDigests::entry_of(const Key& key, std::string_view host, const std::string& root) {
  const auto known = find(key);
  // Paths are shown relative to the root: with another root the digest is made again.
  if (known != digests_.end() && known->digest.root() == root) {
    digests_.splice(digests_.begin(), digests_, known);
    return digests_.front();
  }
  if (known != digests_.end()) digests_.erase(known);
  if (digests_.size() >= kMost) digests_.pop_back();
  return digests_.emplace_front(key, host, root);
}

void TurnDigests::begin(const store::Session& session, std::int64_t number, const std::string& root) {
  drop(session.id, number);
  entry_of({session.id, number}, session.platform, root).is_whole = true;
}

TurnDigest* TurnDigests::whole(SessionId session, std::int64_t number) {
  const auto known = find({session, number});
  if (known == digests_.end()) return nullptr;
  digests_.splice(digests_.begin(), digests_, known);
  return known->is_whole ? &known->digest : nullptr;
}

Result<TurnDigests::Read> TurnDigests::read(store::Db& db, const store::Session& session, std::int64_t number,
                                            const std::string& root, ReadLimit& limit) {
  Entry& entry = entry_of({session.id, number}, session.platform, root);
  TurnDigest& digest = entry.digest;
  // Each event was added when it was stored (Recorder::add_to_digest): nothing to read.
  if (entry.is_whole) return Read{&digest, true};
  Read read{&digest, true};
  TRY(store::for_each_turn_event_after(db, session.id, number, digest.last_event(),
                                       [&](const store::KeptEvent& event) {
                                         if (limit.reached()) return read.whole = false;
                                         --limit.events;
                                         limit.bytes -= std::min(limit.bytes, bytes_of(event.texts));
                                         digest.add(event);
                                         return true;
                                       }));
  entry.is_whole = read.whole;
  return read;
}

void TurnDigests::drop(SessionId session, std::int64_t number) {
  std::erase_if(digests_, [&](const Entry& one) { return one.key == Key{session, number}; });
}

void TurnDigests::drop(SessionId session) {
  std::erase_if(digests_, [&](const Entry& one) { return one.key.first == session; });
}

void TurnDigests::clear() {
  digests_.clear();
}

}  // namespace cairn::intake
