// Single values of the store, by their key in the table `meta`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

inline constexpr std::string_view kBadTriedBy = "bad_tried_by";  // the version that read inbox/bad again last
inline constexpr std::string_view kDamage = "damage", kDamageAt = "damage_at", kDamages = "damages";
inline constexpr std::string_view kFailedDeliveries =
    "failed_deliveries";  // events that hooks could not write
inline constexpr std::string_view kRecoveredDeliveries = "failed_deliveries_made_good";  // those found later
inline constexpr std::string_view kFlagsChanged = "flags_changed";
inline constexpr std::string_view kIntakeError = "intake_error";
inline constexpr std::string_view kLostSessions = "lost_sessions";
inline constexpr std::string_view kIndexToMerge = "index_to_merge";  // deleted entries left words in it
inline constexpr std::string_view kEvidenceExpiryLimit = "evidence_border";  // epoch ms
inline constexpr std::string_view kBackupsFailed = "backups_failed";         // copies that failed at first
inline constexpr std::string_view kSessionsNearLimit = "sessions_near_limit";
// Counts that the user was last warned about.
inline constexpr std::string_view kFailedDeliveriesReported = "failed_deliveries_told",
                                  kBadReported = "bad_told", kDamagesReported = "damages_told",
                                  kBackupsFailedReported = "backups_failed_told",
                                  kSessionsNearLimitReported = "sessions_near_limit_told";
inline constexpr std::string_view kProjectHistoryReported =
    "project_history_told ";  // followed by the project's number
inline constexpr std::string_view kDocumentAdviceReported = "document_advice_told ",  // the same
    kOverheadReported = "overhead_told ";                                             // the same

Result<std::optional<std::string>> meta_text(Db& db, std::string_view key);
Result<std::optional<std::int64_t>> meta_number(Db& db, std::string_view key);
Status put_meta(Db& db, std::string_view key, std::string_view value);
Status put_meta(Db& db, std::string_view key, std::int64_t value);
Status add_to_meta(Db& db, std::string_view key, std::int64_t more);
// Writes the number unless a larger one is there.
Status raise_meta(Db& db, std::string_view key, std::int64_t value);
Status delete_meta(Db& db, std::string_view key);

}  // namespace cairn::store
