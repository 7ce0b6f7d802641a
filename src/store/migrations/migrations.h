// The texts of all migrations, in the order of their numbers (schema.cpp). A text never changes once it was
// applied somewhere, so these files keep the words of their time. schema.sql has the tables as they are now.
#pragma once

#include <string_view>

namespace cairn::store {

extern const std::string_view kSpine;
extern const std::string_view kTranscripts;
extern const std::string_view kQueue;
extern const std::string_view kObservations;
extern const std::string_view kSearchIndex;
extern const std::string_view kSearchLists;
extern const std::string_view kOutside;
extern const std::string_view kMarks;
extern const std::string_view kOpenItems;
extern const std::string_view kSessionSecrets;
extern const std::string_view kTexts;
extern const std::string_view kProjectIdentity;
extern const std::string_view kArchive;
extern const std::string_view kImports;
extern const std::string_view kDocuments;
extern const std::string_view kImportJobs;
extern const std::string_view kPassages;
extern const std::string_view kRetention;
extern const std::string_view kDocumentPlaces;
extern const std::string_view kContinuity;
extern const std::string_view kModelCalls;
extern const std::string_view kRecall;
extern const std::string_view kHelpReceipts;
extern const std::string_view kForgetting;
extern const std::string_view kOutsideOfAgents;
extern const std::string_view kExchange;
extern const std::string_view kBoundFiles;
extern const std::string_view kChangedTurns;
extern const std::string_view kReadyMessages;
extern const std::string_view kTallies;
extern const std::string_view kCountTallies;
extern const std::string_view kTextsAtOnce;
extern const std::string_view kProjectMoves;
extern const std::string_view kSavedTokens;
extern const std::string_view kCountSavedTokens;

}  // namespace cairn::store
