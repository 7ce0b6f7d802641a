// Documents as rows: order, names, versions, the trash.
#include <gtest/gtest.h>

#include "store/documents.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class StoreDocumentsTest : public ::testing::Test {
 protected:
  Machine m;
  void SetUp() override { must(m.open()); }

  std::int64_t add(std::string_view body, WallTime at, std::string_view name = "") {
    store::Document document;
    document.project = "shop";
    document.body = body;
    document.name = name;
    document.created_at = at;
    document.tags = {"Parser"};
    return must(store::add_document(m.db(), document));
  }
  WallTime at(int hour) { return from_epoch_ms(1'790'000'000'000) + std::chrono::hours(hour); }
};

TEST_F(StoreDocumentsTest, TheNewestIsByDateAndThenByNumberNotByWhenItWasStored) {
  const auto second = add("second", at(5));
  add("imported later, but older", at(1));
  EXPECT_EQ(must(store::newest_document(m.db(), "shop"))->id, second);
  const auto same_time = add("in the same millisecond", at(5));
  EXPECT_EQ(must(store::newest_document(m.db(), "shop"))->id, same_time);
  EXPECT_FALSE(must(store::newest_document(m.db(), "other")));
  EXPECT_EQ(must(store::list_documents(m.db(), {.project = "shop"})).size(), 3u);
  EXPECT_EQ(must(store::list_documents(m.db(), {.project = "shop", .tag = "parser"})).size(), 3u);
  EXPECT_EQ(must(store::list_documents(m.db(), {.project = "shop", .tag = "lexer"})).size(), 0u);
}

TEST_F(StoreDocumentsTest, OneIsFoundByNumberAndByNameWithAndWithoutItsPath) {
  const auto id = add("x", at(1), "session-2026-01-15-2045Z.md");
  for (const std::string& name :
       {store::document_label(id), std::to_string(id), "d" + std::to_string(id),
        std::string("session-2026-01-15-2045Z"), std::string("session-2026-01-15-2045Z.md"),
        std::string("/repo/.claude/memory/sessions/session-2026-01-15-2045Z.md")}) {
    const auto found = must(store::documents_named(m.db(), "shop", name));
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(found[0].id, id);
  }
  EXPECT_TRUE(must(store::documents_named(m.db(), "shop", "session-2026")).empty());
  EXPECT_TRUE(must(store::documents_named(m.db(), "other", "session-2026-01-15-2045Z")).empty());
}

TEST_F(StoreDocumentsTest, AnUpdateKeepsWhatStoodThereAndCanBeTakenBack) {
  const auto id = add("old text", at(1));
  store::Document changed = *must(store::find_document(m.db(), id));
  changed.body = "new text";
  changed.anchor = {"u-9", 12, "hash", at(2)};
  must(store::update_document(m.db(), changed, at(3)));
  const auto now = must(store::find_document(m.db(), id));
  EXPECT_EQ(now->body, "new text");
  EXPECT_EQ(now->anchor.lines, 12);
  EXPECT_EQ(now->updated_at, at(3));
  must(store::revert_document(m.db(), id));
  const auto then = must(store::find_document(m.db(), id));
  EXPECT_EQ(then->body, "old text");
  EXPECT_FALSE(then->anchor.lines);
  EXPECT_FALSE(then->updated_at);
  EXPECT_EQ(store::revert_document(m.db(), id).error().code, Code::not_found);
}

TEST_F(StoreDocumentsTest, WhoFollowsARemovedDocumentKeepsItsName) {
  const auto first = add("first", at(1));
  const auto second = add("second", at(2));
  must(store::set_previous(m.db(), second, first, ""));
  must(store::trash_document(m.db(), first, at(3)));
  EXPECT_TRUE(must(store::find_document(m.db(), first))->deleted);
  EXPECT_EQ(must(store::list_documents(m.db(), {.trash = true})).size(), 1u);
  must(store::remove_document(m.db(), first));
  const auto left = must(store::find_document(m.db(), second));
  EXPECT_FALSE(left->previous);
  EXPECT_EQ(left->previous_name, store::document_label(first));
}

TEST_F(StoreDocumentsTest, TheyFollowAProjectThatIsRenamed) {
  must(
      m.db().run("INSERT INTO projects(uuid, key, name, root, created_at, created_at_epoch) VALUES('u', "
                 "'/home/dev/shop', 'shop', '/home/dev/shop', '', 0)"));
  const auto id = add("x", at(1));
  must(m.db().run("UPDATE projects SET name = 'store' WHERE name = 'shop'"));
  EXPECT_EQ(must(store::find_document(m.db(), id))->project, "store");
}

// What every start of a session asks must not grow with the store.
TEST_F(StoreDocumentsTest, ListsAndStartsAreReadByIndex) {
  for (const char* sql :
       {"SELECT id FROM session_documents WHERE deleted_at IS NULL AND project = 'p' ORDER BY "
        "created_at_epoch "
        "DESC, id DESC LIMIT 100",
        "SELECT content_session_id, min(created_at_epoch) FROM user_prompts WHERE project = 'p' AND "
        "created_at_epoch > 1 AND deleted_at IS NULL AND session_db_id <> 1 GROUP BY session_db_id",
        "SELECT session_db_id FROM document_jobs WHERE not_before_epoch <= 1 ORDER BY not_before_epoch LIMIT "
        "1",
        "SELECT path FROM instruction_files WHERE session_db_id = 1 ORDER BY path",
        "SELECT max(updated_at_epoch) FROM session_summaries WHERE project = 'p' AND deleted_at IS NULL"})
    for (const std::string& row : m.rows("EXPLAIN QUERY PLAN " + std::string(sql)))
      EXPECT_EQ(row.find("SCAN"), std::string::npos) << sql << "\n" << row;
}

}  // namespace
}  // namespace cairn::test
