// Any file can be given to `cairn import cairn`: it is imported whole or refused, and the store stays
// undamaged.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "exchange/import.h"
#include "fuzz/require.h"
#include "os/clock.h"
#include "store/fts.h"
#include "store/migrate.h"
#include "store/schema.h"

namespace {

using namespace cairn;
using fuzz::require;

struct World {
  std::string directory = "/tmp/fuzz_import.XXXXXX";
  os::RealDisk disk;
  os::RealClock clock;
  std::optional<store::Db> db;
  gate::Gate gate{gate::Rules{}};

  World() {
    require(mkdtemp(directory.data()) != nullptr);
    db = store::Db::open({.path = directory + "/cairn.db"}).value();
    require(store::register_tokenizer(*db).ok());
    require(store::migrate(*db, store::schema(), clock.now()).ok());
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static World world;
  const std::string path = world.directory + "/export.json";
  require(
      os::replace_file(world.disk, path, std::string_view(reinterpret_cast<const char*>(data), size)).ok());
  auto transaction = store::Transaction::begin(*world.db).value();
  exchange::Import import(*world.db, world.disk, world.clock, world.gate, std::string(32, 'k'));
  const auto report = import.run(path);
  if (!report) {
    require(!report.error().message.empty());
    const bool is_refused = report.error().code == Code::invalid || report.error().code == Code::unsupported;
    if (!is_refused) fputs((report.error().message + "\n").c_str(), stderr);
    require(is_refused);
    return 0;  // and it is rolled back
  }
  require(world.db->integer("SELECT count(*) FROM pragma_foreign_key_check").value() == 0);
  return 0;
}
