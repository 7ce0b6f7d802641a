// A whole copy of the store, and the way back: what was forgotten in the meantime stays forgotten.
#include <gtest/gtest.h>

#include <filesystem>

#include "store/copy_store.h"
#include "store/fts.h"
#include "store/migrate.h"
#include "store/schema.h"
#include "support/engine_fixture.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

store::Db open_at(const std::string& path) {
  store::Db::Options options;
  options.path = path;
  store::Db db = must(store::Db::open(options));
  must(store::register_tokenizer(db));
  must(store::migrate(db, store::schema(), WallTime{}));
  return db;
}

TEST(StoreCopy, IsConsistentWhileTheStoreIsOpenAndBringsEverythingBack) {
  const TempDir dir;
  store::Db db = open_at(dir.path() + "/cairn.db");
  must(db.run("INSERT INTO meta(key, value) VALUES('quokka', 'kept')"));
  must(store::write_copy(db, dir.path() + "/copy.db"));
  must(store::check_copy(dir.path() + "/copy.db"));
  EXPECT_FALSE(std::filesystem::exists(dir.path() + "/copy.db-wal"));
  must(db.run("DELETE FROM meta WHERE key = 'quokka'"));
  must(db.run("INSERT INTO meta(key, value) VALUES('later', 'gone')"));
  must(store::restore_copy(db, dir.path() + "/copy.db", WallTime{}));
  EXPECT_EQ(must(db.text("SELECT value FROM meta WHERE key = 'quokka'")), "kept");
  EXPECT_FALSE(must(db.text("SELECT value FROM meta WHERE key = 'later'")));
}

TEST(StoreCopy, ADamagedOneIsRefused) {
  const TempDir dir;
  store::Db db = open_at(dir.path() + "/cairn.db");
  must(store::write_copy(db, dir.path() + "/copy.db"));
  {
    FILE* file = std::fopen((dir.path() + "/copy.db").c_str(), "r+");
    std::fseek(file, 5000, SEEK_SET);
    for (int i = 0; i < 20000; ++i) std::fputc('x', file);
    std::fclose(file);
  }
  EXPECT_FALSE(store::check_copy(dir.path() + "/copy.db").ok());
}

}  // namespace
}  // namespace cairn::test
