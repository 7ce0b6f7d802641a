// The tables: schema.sql has them as they are now, the migrations say how older stores come to the same.
// Never edit an applied migration: add a new one, and change schema.sql to what it leads to.
#pragma once

#include <span>

#include "store/migrate.h"

namespace cairn::store {

std::span<const Migration> schema();

// schema.sql.
extern const std::string_view kSchemaNow;

// The texts of the migrations "search" and "search lists".
extern const std::string_view kSearchIndex;
extern const std::string_view kSearchLists;
// The text of the migration "open items".
extern const std::string_view kOpenItems;
extern const std::string_view kSessionSecrets;
// The text of "texts".
extern const std::string_view kTexts;
// The text of "identity".
extern const std::string_view kProjectIdentity;
// The text of "archive".
extern const std::string_view kArchive;
extern const std::string_view kPassages;
extern const std::string_view kRetention;
extern const std::string_view kImports;
extern const std::string_view kDocuments;
// The text of "import jobs".
extern const std::string_view kImportJobs;
extern const std::string_view kDocumentPlaces;
// The text of "forgetting".
extern const std::string_view kForgetting;
extern const std::string_view kExchange;
extern const std::string_view kBoundFiles;
// The text of "help receipts".
extern const std::string_view kHelpReceipts;
extern const std::string_view kContinuity;
extern const std::string_view kRecall;
// The text of "model calls".
extern const std::string_view kModelCalls;
// The texts of "changed turns" and "ready messages".
extern const std::string_view kChangedTurns;
extern const std::string_view kReadyMessages;
// The texts of "tallies" and "count tallies"; the second counts everything again and can be run at any time.
extern const std::string_view kTallies;
extern const std::string_view kCountTallies;
extern const std::string_view kSavedTokens;
extern const std::string_view kCountSavedTokens;
// The text of "texts at once".
extern const std::string_view kTextsAtOnce;
// The text of "project moves".
extern const std::string_view kProjectMoves;

}  // namespace cairn::store
