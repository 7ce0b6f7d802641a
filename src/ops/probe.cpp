#include "ops/operation.h"

namespace cairn::ops {

// Never committed: the transaction is undone when it goes out of scope.
Status write_probe(store::Db& db) {
  auto transaction = TRY(store::Transaction::begin(db));
  return db.run("INSERT INTO meta(key, value) VALUES('probe', '1') ON CONFLICT DO UPDATE SET value = '1'");
}

Result<Json> probe(World& world, const Json&) {
  TRY(write_probe(world.db));
  return Json::object({{"written", true}});
}

}  // namespace cairn::ops
