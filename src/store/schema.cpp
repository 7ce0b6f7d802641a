#include "store/schema.h"

#include <array>

#include "store/migrations/migrations.h"

namespace cairn::store {

std::span<const Migration> schema() {
  static const std::array kMigrations = {Migration{1, "spine", kSpine},
                                         Migration{2, "transcripts", kTranscripts},
                                         Migration{3, "queue", kQueue},
                                         Migration{4, "observations", kObservations},
                                         Migration{5, "search", kSearchIndex},
                                         Migration{6, "search lists", kSearchLists},
                                         Migration{7, "outside", kOutside},
                                         Migration{8, "marks", kMarks},
                                         Migration{10, "open items", kOpenItems},
                                         Migration{12, "session secrets", kSessionSecrets},
                                         Migration{13, "texts", kTexts},
                                         Migration{14, "identity", kProjectIdentity},
                                         Migration{15, "archive", kArchive},
                                         Migration{16, "imports", kImports},
                                         Migration{19, "documents", kDocuments},
                                         Migration{20, "import jobs", kImportJobs},
                                         Migration{21, "passages", kPassages},
                                         Migration{22, "retention", kRetention},
                                         Migration{23, "document places", kDocumentPlaces},
                                         Migration{30, "continuity", kContinuity},
                                         Migration{33, "model calls", kModelCalls},
                                         Migration{35, "recall", kRecall},
                                         Migration{38, "help receipts", kHelpReceipts},
                                         Migration{40, "forgetting", kForgetting},
                                         Migration{45, "outside of agents", kOutsideOfAgents},
                                         Migration{48, "exchange", kExchange},
                                         Migration{49, "bound files", kBoundFiles},
                                         Migration{50, "changed turns", kChangedTurns},
                                         Migration{51, "ready messages", kReadyMessages},
                                         Migration{52, "tallies", kTallies},
                                         Migration{53, "count tallies", kCountTallies},
                                         Migration{54, "texts at once", kTextsAtOnce},
                                         Migration{55, "project moves", kProjectMoves},
                                         Migration{56, "saved tokens", kSavedTokens},
                                         Migration{57, "count saved tokens", kCountSavedTokens, kSchemaNow}};
  return kMigrations;
}

}  // namespace cairn::store
