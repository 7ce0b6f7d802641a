// The tokenizer of the search index: makes store/terms.h known to SQLite's FTS5, which also stems the terms
// ("porter cairn"). IndexTerms gives the same terms to callers that must know what matches.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sql.h"
#include "store/terms.h"

struct Fts5Tokenizer;

namespace cairn::store {

// Registers the tokenizer with a connection; every connection that uses the index needs it. Fails with
// `unsupported` when SQLite has no FTS5.
Status register_tokenizer(Db& db);

// The terms of a text as the index holds them. Borrows the connection; belongs to its thread.
class IndexTerms {
 public:
  static Result<IndexTerms> open(Db& db);

  // In the order of the text; terms at the same position follow each other.
  std::vector<Term> of(std::string_view text, TermsOf mode) const;

 private:
  struct Deleter {
    void (*xdelete)(Fts5Tokenizer*) = nullptr;
    void operator()(Fts5Tokenizer* tokenizer) const { xdelete(tokenizer); }
  };
  using Tokenize = int (*)(Fts5Tokenizer*, void*, int, const char*, int,
                           int (*)(void*, int, const char*, int, int, int));
  IndexTerms(Fts5Tokenizer* tokenizer, Deleter deleter, Tokenize tokenize)
      : tokenizer_(tokenizer, deleter), tokenize_(tokenize) {}

  std::unique_ptr<Fts5Tokenizer, Deleter> tokenizer_;
  Tokenize tokenize_;
};

}  // namespace cairn::store
