// What an export has of each kind of row.
#include <array>

#include "store/exchange.h"

namespace cairn::store {

namespace {

using RowField = ExchangeColumn;
using RowIs = ExchangeColumn::Is;

#define NAMES "(SELECT value FROM json_each(?1))"

constexpr std::string_view kOfProject = "t.project IN " NAMES;
constexpr std::string_view kOfSession =
    "t.session_db_id IN (SELECT id FROM sdk_sessions WHERE project IN " NAMES ")";
constexpr std::string_view kOfObservation =
    "t.observation_id IN (SELECT id FROM observations WHERE project IN " NAMES ")";

constexpr std::array kProjectColumns = {RowField{"uuid"},
                                        RowField{"key", RowIs::word},
                                        RowField{"name", RowIs::word},
                                        RowField{"root", RowIs::word},
                                        RowField{"root_commit"},
                                        RowField{"remote", RowIs::word},
                                        RowField{"created_at"},
                                        RowField{"created_at_epoch", RowIs::number}};

constexpr std::array kSessionColumns = {RowField{"uuid"},
                                        RowField{"origin", RowIs::word},
                                        RowField{"platform"},
                                        RowField{"content_session_id", RowIs::fixed, "id"},
                                        RowField{"project", RowIs::project},
                                        RowField{"branch", RowIs::word},
                                        RowField{"worktree", RowIs::word},
                                        RowField{"cwd", RowIs::word},
                                        RowField{"transcript_path", RowIs::word},
                                        RowField{"user_prompt", RowIs::text},
                                        RowField{"prompt_count", RowIs::number},
                                        RowField{"started_at"},
                                        RowField{"started_at_epoch", RowIs::number},
                                        RowField{"last_event_at_epoch", RowIs::number},
                                        RowField{"completed_at"},
                                        RowField{"completed_at_epoch", RowIs::number},
                                        RowField{"captured_at_epoch", RowIs::number},
                                        RowField{"status"},
                                        RowField{"end_reason", RowIs::word},
                                        RowField{"hidden", RowIs::number},
                                        RowField{"imported", RowIs::number},
                                        RowField{"deleted_at"}};

constexpr std::array kTurnColumns = {RowField{"session_db_id", RowIs::session, "session"},
                                     RowField{"prompt_number", RowIs::number},
                                     RowField{"started_at_epoch", RowIs::number},
                                     RowField{"last_event_at_epoch", RowIs::number},
                                     RowField{"ended_at_epoch", RowIs::number},
                                     RowField{"end_reason"},
                                     RowField{"failure", RowIs::text},
                                     RowField{"last_assistant_message", RowIs::text},
                                     RowField{"muted", RowIs::number},
                                     RowField{"expired", RowIs::number}};

constexpr std::array kPromptColumns = {RowField{"uuid"},
                                       RowField{"origin", RowIs::word},
                                       RowField{"session_db_id", RowIs::session, "session"},
                                       RowField{"project", RowIs::project},
                                       RowField{"prompt_number", RowIs::number},
                                       RowField{"prompt_text", RowIs::text, "text"},
                                       RowField{"created_at"},
                                       RowField{"created_at_epoch", RowIs::number},
                                       RowField{"deleted_at"}};

constexpr std::array kTextColumns = {RowField{"session_db_id", RowIs::session, "session"},
                                     RowField{"project", RowIs::project},
                                     RowField{"prompt_number", RowIs::number},
                                     RowField{"kind"},
                                     RowField{"source"},
                                     RowField{"text", RowIs::text},
                                     RowField{"hash", RowIs::word},
                                     RowField{"created_at_epoch", RowIs::number},
                                     RowField{"deleted_at"}};

constexpr std::array kObservationColumns = {RowField{"uuid"},
                                            RowField{"origin", RowIs::word},
                                            RowField{"memory_session_id", RowIs::memory, "session"},
                                            RowField{"project", RowIs::project},
                                            RowField{"type", RowIs::word},
                                            RowField{"title", RowIs::text},
                                            RowField{"subtitle", RowIs::text},
                                            RowField{"facts", RowIs::list},
                                            RowField{"narrative", RowIs::text},
                                            RowField{"concepts", RowIs::list},
                                            RowField{"files_read", RowIs::list},
                                            RowField{"files_modified", RowIs::list},
                                            RowField{"prompt_number", RowIs::number},
                                            RowField{"discovery_tokens", RowIs::number},
                                            RowField{"batch_id", RowIs::word},
                                            RowField{"position", RowIs::number},
                                            RowField{"same_as", RowIs::observation},
                                            RowField{"created_at"},
                                            RowField{"created_at_epoch", RowIs::number},
                                            RowField{"deleted_at"}};

constexpr std::array kFileColumns = {RowField{"observation_id", RowIs::observation, "observation"},
                                     RowField{"path", RowIs::word}, RowField{"modified", RowIs::number},
                                     RowField{"blob"}};

constexpr std::array kNoteColumns = {RowField{"observation_id", RowIs::observation, "observation"},
                                     RowField{"project", RowIs::project}, RowField{"for_all", RowIs::number},
                                     RowField{"done_at_epoch", RowIs::number}};

constexpr std::array kSummaryColumns = {RowField{"uuid"},
                                        RowField{"origin", RowIs::word},
                                        RowField{"memory_session_id", RowIs::memory, "session"},
                                        RowField{"project", RowIs::project},
                                        RowField{"provider", RowIs::word},
                                        RowField{"interim", RowIs::number},
                                        RowField{"request", RowIs::text},
                                        RowField{"investigated", RowIs::text},
                                        RowField{"learned", RowIs::text},
                                        RowField{"completed", RowIs::text},
                                        RowField{"next_steps", RowIs::text},
                                        RowField{"notes", RowIs::text},
                                        RowField{"rules", RowIs::list},
                                        RowField{"files_read", RowIs::list},
                                        RowField{"files_edited", RowIs::list},
                                        RowField{"prompt_number", RowIs::number},
                                        RowField{"discovery_tokens", RowIs::number},
                                        RowField{"created_at"},
                                        RowField{"created_at_epoch", RowIs::number},
                                        RowField{"updated_at_epoch", RowIs::number},
                                        RowField{"deleted_at"}};

constexpr std::array kOpenColumns = {RowField{"uuid"},
                                     RowField{"origin", RowIs::word},
                                     RowField{"project", RowIs::project},
                                     RowField{"branch", RowIs::word},
                                     RowField{"session_db_id", RowIs::session, "session"},
                                     RowField{"prompt_number", RowIs::number},
                                     RowField{"seen_prompt", RowIs::number},
                                     RowField{"source"},
                                     RowField{"state", RowIs::word},
                                     RowField{"key", RowIs::text},
                                     RowField{"text", RowIs::text},
                                     RowField{"detail", RowIs::text},
                                     RowField{"opened_at"},
                                     RowField{"opened_at_epoch", RowIs::number},
                                     RowField{"last_seen_at_epoch", RowIs::number},
                                     RowField{"closed_at"},
                                     RowField{"closed_at_epoch", RowIs::number},
                                     RowField{"closed_by", RowIs::word},
                                     RowField{"closed_session", RowIs::session},
                                     RowField{"closed_prompt", RowIs::number},
                                     RowField{"deleted_at"}};

constexpr std::array kOrderColumns = {
    RowField{"project", RowIs::project},      RowField{"session_db_id", RowIs::session, "session"},
    RowField{"prompt_number", RowIs::number}, RowField{"text", RowIs::text},
    RowField{"said_at_epoch", RowIs::number}, RowField{"done_at_epoch", RowIs::number}};

constexpr std::array kDocumentColumns = {RowField{"uuid"},
                                         RowField{"origin", RowIs::word},
                                         RowField{"platform"},
                                         RowField{"content_session_id", RowIs::fixed, "session_id"},
                                         RowField{"project", RowIs::project},
                                         RowField{"branch", RowIs::word},
                                         RowField{"title", RowIs::text},
                                         RowField{"status", RowIs::word},
                                         RowField{"tags", RowIs::list},
                                         RowField{"body", RowIs::text},
                                         RowField{"name", RowIs::word},
                                         RowField{"source"},
                                         RowField{"previous_id", RowIs::document, "previous"},
                                         RowField{"previous_name", RowIs::word},
                                         RowField{"head_commit"},
                                         RowField{"anchor_uuid"},
                                         RowField{"anchor_lines", RowIs::number},
                                         RowField{"anchor_sha256"},
                                         RowField{"anchor_at_epoch", RowIs::number},
                                         RowField{"behind_uuid", RowIs::number},
                                         RowField{"behind_at", RowIs::number},
                                         RowField{"same_time", RowIs::number},
                                         RowField{"created_at"},
                                         RowField{"created_at_epoch", RowIs::number},
                                         RowField{"updated_at_epoch", RowIs::number},
                                         RowField{"deleted_at"}};

constexpr std::array kVersionColumns = {RowField{"document_id", RowIs::document, "document"},
                                        RowField{"version", RowIs::number},
                                        RowField{"title", RowIs::text},
                                        RowField{"status", RowIs::word},
                                        RowField{"tags", RowIs::list},
                                        RowField{"body", RowIs::text},
                                        RowField{"anchor_uuid"},
                                        RowField{"anchor_lines", RowIs::number},
                                        RowField{"anchor_sha256"},
                                        RowField{"anchor_at_epoch", RowIs::number},
                                        RowField{"behind_uuid", RowIs::number},
                                        RowField{"behind_at", RowIs::number},
                                        RowField{"same_time", RowIs::number},
                                        RowField{"updated_at_epoch", RowIs::number},
                                        RowField{"replaced_at_epoch", RowIs::number}};

constexpr std::array kAliasColumns = {
    RowField{"source", RowIs::word}, RowField{"key", RowIs::word},          RowField{"kind"},
    RowField{"old_id", RowIs::word}, RowField{"row_id", RowIs::row, "row"}, RowField{"hash"}};

constexpr std::array kStandingColumns = {RowField{"trust"},
                                         RowField{"pinned", RowIs::number},
                                         RowField{"edited", RowIs::number},
                                         RowField{"valid_until_epoch", RowIs::number},
                                         RowField{"hidden_by"},
                                         RowField{"reason", RowIs::text},
                                         RowField{"text_hash"},
                                         RowField{"changed_at_epoch", RowIs::number}};

constexpr std::array kRequestColumns = {RowField{"record", RowIs::record, "of"},
                                        RowField{"project", RowIs::project}, RowField{"reason", RowIs::text},
                                        RowField{"at_epoch", RowIs::number}};

constexpr std::array kLinkColumns = {RowField{"a", RowIs::number},
                                     RowField{"b", RowIs::number},
                                     RowField{"state"},
                                     RowField{"made_by"},
                                     RowField{"reason", RowIs::word},
                                     RowField{"created_at_epoch", RowIs::number}};

// In the order of Exchanged.
const std::array kExchangeKinds = {
    ExchangeKind{Exchanged::project, "projects", "t.name IN " NAMES, kProjectColumns},
    ExchangeKind{.what = Exchanged::link,
                 .table = "project_links",
                 .scope = "t.a IN (SELECT id FROM projects WHERE name IN " NAMES
                          ") AND t.b IN (SELECT id FROM projects WHERE name IN " NAMES ")",
                 .columns = kLinkColumns,
                 .has_number = false},
    ExchangeKind{.what = Exchanged::session,
                 .table = "sdk_sessions",
                 .scope = kOfProject,
                 .columns = kSessionColumns,
                 .identity = "platform content_session_id"},
    ExchangeKind{.what = Exchanged::turn,
                 .table = "turns",
                 .scope = kOfSession,
                 .columns = kTurnColumns,
                 .identity = "session_db_id prompt_number",
                 .has_number = false},
    ExchangeKind{Exchanged::prompt, "user_prompts", kOfProject, kPromptColumns, "prompt_text", 'P',
                 "session_db_id prompt_number"},
    ExchangeKind{Exchanged::text, "texts", kOfProject, kTextColumns, "text", 'T', "session_db_id hash"},
    ExchangeKind{Exchanged::observation, "observations", kOfProject, kObservationColumns, "title", 'O'},
    ExchangeKind{.what = Exchanged::file,
                 .table = "observation_files",
                 .scope = kOfObservation,
                 .columns = kFileColumns,
                 .identity = "observation_id path modified",
                 .has_number = false},
    ExchangeKind{.what = Exchanged::note,
                 .table = "notes",
                 .scope = kOfProject,
                 .columns = kNoteColumns,
                 .identity = "observation_id"},
    ExchangeKind{Exchanged::summary, "session_summaries", kOfProject, kSummaryColumns,
                 "request investigated learned completed next_steps notes", 'S',
                 "memory_session_id prompt_number"},
    ExchangeKind{Exchanged::open_item, "open_items", kOfProject, kOpenColumns, "text", 'W'},
    ExchangeKind{.what = Exchanged::order,
                 .table = "standing_orders",
                 .scope = kOfProject,
                 .columns = kOrderColumns,
                 .main = "text",
                 .identity = "session_db_id prompt_number text"},
    ExchangeKind{Exchanged::document, "session_documents", kOfProject, kDocumentColumns, "body", 'D'},
    ExchangeKind{.what = Exchanged::version,
                 .table = "document_versions",
                 .scope = "t.document_id IN (SELECT id FROM session_documents WHERE project IN " NAMES ")",
                 .columns = kVersionColumns,
                 .identity = "document_id version",
                 .has_number = false},
    ExchangeKind{.what = Exchanged::alias,
                 .table = "import_aliases",
                 .columns = kAliasColumns,
                 .identity = "source key",
                 .has_number = false},
    ExchangeKind{.what = Exchanged::request,
                 .table = "forget_requests",
                 .scope = kOfProject,
                 .columns = kRequestColumns,
                 .identity = "record"},
};

}  // namespace

std::span<const ExchangeKind> exchange_kinds() {
  return kExchangeKinds;
}

std::span<const ExchangeColumn> exchange_standing() {
  return kStandingColumns;
}

const ExchangeKind& exchange_kind(Exchanged what) {
  return kExchangeKinds[static_cast<std::size_t>(what)];
}

const ExchangeKind* exchange_kind(std::string_view name) {
  const auto what = named<Exchanged>(name);
  return what ? &exchange_kind(*what) : nullptr;
}

}  // namespace cairn::store
