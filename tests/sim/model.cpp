#include "sim/model.h"

namespace cairn::sim {

void Model::acknowledge(const std::string& id, const Meaning& meaning, bool durable, std::int64_t wall_ms,
                        const std::string& boot_id) {
  events[id] = {meaning, durable, false, wall_ms, boot_id, ++deliveries, true, "", 0};
  waiting.insert(id);
}

void Model::fail(const Meaning& meaning) {
  ++failed_deliveries;
  tried.insert(meaning.key);
}

void Model::power_cut() {
  for (const std::string& id : waiting)
    if (!events[id].durable) events[id].may_be_lost = true;
}

void Model::order_is_lost() {
  for (const std::string& id : waiting) events[id].in_order = false;
}

}  // namespace cairn::sim
