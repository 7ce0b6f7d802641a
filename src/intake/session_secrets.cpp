#include "intake/session_secrets.h"

#include "store/session_secrets.h"

namespace cairn::intake {

Result<const gate::KnownSecrets*> SessionSecrets::of(std::string_view session) {
  constexpr std::size_t kMost = 64;  // sessions in the cache
  const std::string name(session);
  if (const auto known = sessions_.find(name); known != sessions_.end()) return &known->second;
  gate::KnownSecrets secrets;
  for (const store::SessionSecret& secret : TRY(store::session_secrets(db_, session)))
    secrets.add({secret.hash, secret.start, secret.length});
  // Only a cache: the next call for a session reads its committed secrets again.
  if (sessions_.size() >= kMost) sessions_.clear();
  return &sessions_.emplace(name, std::move(secrets)).first->second;
}

void SessionSecrets::add(std::string_view session, const std::vector<gate::KnownSecret>& learned) {
  if (learned.empty()) return;
  gate::KnownSecrets& known = sessions_[std::string(session)];
  for (const gate::KnownSecret& secret : learned) known.add(secret);
}

}  // namespace cairn::intake
