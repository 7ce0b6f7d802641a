#include "store/fts.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <climits>

namespace cairn::store {

namespace {

using Visit = int (*)(void*, int, const char*, int, int, int);

// The tokenizer has no state: any address serves as its handle.
int create(void*, const char**, int, Fts5Tokenizer** out) {
  static char kNoState;
  *out = reinterpret_cast<Fts5Tokenizer*>(&kNoState);
  return SQLITE_OK;
}

void destroy(Fts5Tokenizer*) {}

int tokenize(Fts5Tokenizer*, void* context, int flags, const char* text, int bytes, Visit visit) {
  if (!text || bytes <= 0) return SQLITE_OK;
  TermReader reader({text, static_cast<std::size_t>(bytes)},
                    flags & FTS5_TOKENIZE_QUERY ? TermsOf::query : TermsOf::document);
  Term term;
  while (reader.next(term)) {
    const int rc =
        visit(context, term.whole ? FTS5_TOKEN_COLOCATED : 0, term.text.data(),
              static_cast<int>(term.text.size()), static_cast<int>(term.start), static_cast<int>(term.end));
    if (rc != SQLITE_OK) return rc;
  }
  return SQLITE_OK;
}

// FTS5 gives its functions only in this way: a statement writes their address to a bound pointer.
fts5_api* api_of(sqlite3* db) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  return api;
}

Error no_fts() {
  return {Code::unsupported, "this SQLite has no FTS5: build cairn with the SQLite it fetches"};
}

}  // namespace

Status register_tokenizer(Db& db) {
  // Read the schema first, so that a failing disk is not reported as a missing FTS5.
  TRY(db.integer("SELECT 1 FROM sqlite_schema LIMIT 1"));
  fts5_api* api = api_of(db.raw());
  if (!api) return no_fts();
  fts5_tokenizer ours{create, destroy, tokenize};
  if (api->xCreateTokenizer(api, "cairn", nullptr, &ours, nullptr) != SQLITE_OK) return no_fts();
  return {};
}

Result<IndexTerms> IndexTerms::open(Db& db) {
  fts5_api* api = api_of(db.raw());
  fts5_tokenizer porter{};
  void* user = nullptr;
  std::array<const char*, 1> base = {"cairn"};
  Fts5Tokenizer* made = nullptr;
  if (!api || api->xFindTokenizer(api, "porter", &user, &porter) != SQLITE_OK ||
      porter.xCreate(user, base.data(), static_cast<int>(base.size()), &made) != SQLITE_OK)
    return no_fts();
  return IndexTerms(made, Deleter{porter.xDelete}, porter.xTokenize);
}

std::vector<Term> IndexTerms::of(std::string_view text, TermsOf mode) const {
  std::vector<Term> terms;
  const auto keep = [](void* to, int flags, const char* token, int bytes, int start, int end) {
    static_cast<std::vector<Term>*>(to)->push_back(
        {std::string(token, static_cast<std::size_t>(bytes)), static_cast<std::size_t>(start),
         static_cast<std::size_t>(end), (flags & FTS5_TOKEN_COLOCATED) != 0});
    return SQLITE_OK;
  };
  const int flags = mode == TermsOf::query ? FTS5_TOKENIZE_QUERY : FTS5_TOKENIZE_AUX;
  const auto size = static_cast<int>(std::min<std::size_t>(text.size(), INT_MAX));
  tokenize_(tokenizer_.get(), &terms, flags, text.data(), size, keep);
  return terms;
}

}  // namespace cairn::store
