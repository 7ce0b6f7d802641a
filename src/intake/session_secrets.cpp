#include "intake/session_secrets.h"

#include "store/session_secrets.h"

namespace cairn::intake {

Result<const gate::KnownSecrets*> SessionSecrets::of(std::string_view session) {
  const std::string name(session);
  if (const auto known = sessions_.find(name); known != sessions_.end()) return &known->second;
  gate::KnownSecrets secrets;
  for (const store::SessionSecret& secret : TRY(store::session_secrets(db_, session)))
    secrets.add({secret.hash, secret.start, secret.length});
  return &sessions_.emplace(name, std::move(secrets)).first->second;
}

void SessionSecrets::add(std::string_view session, const std::vector<gate::KnownSecret>& learned) {
  // An entry without the stored secrets would hide them.
  const auto known = sessions_.find(std::string(session));
  if (known == sessions_.end()) return;
  for (const gate::KnownSecret& secret : learned) known->second.add(secret);
}

void SessionSecrets::all_stored() {
  constexpr std::size_t kMost = 64;  // sessions in the cache
  if (sessions_.size() > kMost) sessions_.clear();
}

}  // namespace cairn::intake
