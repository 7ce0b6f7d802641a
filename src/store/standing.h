// The review state of a record: who it comes from, how far it is trusted, whether it is hidden.
//
// A record is named as people name it: "O12". Hiding is one mechanism for every reason (an agent asked to
// forget it, a person rejected or retracted it, it is no longer valid): `deleted_at` of its row is set, which
// every read and the search index honour; `hidden_by` says why. Who a record comes from follows from the way
// it came in, never from its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

// `imported`: another tool's memory.
enum class Actor { person, agent, distiller, model, imported };
enum class Trust { candidate, confirmed, disputed, rejected, stale };
template <>
inline constexpr auto kStateTexts<Actor> = std::to_array<std::string_view>({"person", "agent", "distiller",
                                                                            "model", "import"});
template <>
inline constexpr auto kStateTexts<Trust> = std::to_array<std::string_view>({"candidate", "confirmed",
                                                                            "disputed", "rejected", "stale"});

// The name of a record: its letter and its row.
struct RecordName {
  char letter = ' ';
  std::int64_t row = 0;
  std::string text() const { return letter + std::to_string(row); }
  bool operator==(const RecordName&) const = default;
};
// The letter, in upper case, and the row of a text such as "O12" or "x3", whether or not records have that
// letter. Nothing for any other text.
std::optional<RecordName> split_record_name(std::string_view text);
// Reads "O12", in either case; documents (D2) included. Nothing for any other text.
std::optional<RecordName> read_record_name(std::string_view text);

struct Standing {
  Actor actor = Actor::distiller;
  Trust trust = Trust::candidate;
  bool pinned = false;
  bool edited = false;
  std::optional<WallTime> valid_until;
  HiddenBy hidden_by = HiddenBy::none;
  std::string reason;
  std::string text_hash;  // of the text that was decided about; empty: no decision
  std::optional<WallTime> changed_at;
};

// Nothing when there is no such record, hidden or not.
Result<std::optional<Standing>> standing_of(Db& db, const RecordName& record);
// Writes all but the actor. In the caller's transaction.
Status put_standing(Db& db, const RecordName& record, const Standing& standing, WallTime now);
Status remove_standing(Db& db, const RecordName& record);

// The project of a record, hidden or not; nothing when there is no such record.
Result<std::optional<std::string>> project_of_record(Db& db, const RecordName& record);

// Its uuid; nothing for a kind of record that has none (answers, passages).
Result<std::optional<std::string>> uuid_of_record(Db& db, const RecordName& record);

// Where a record that was imported comes from: "cairn:HOME" for an export of another home, "TOOL ID" for
// what another tool remembered. Empty: it was made here.
Result<std::string> imported_from(Db& db, const RecordName& record);

// The title of a record, hidden or not, on one line; nothing when there is no such record.
Result<std::optional<std::string>> title_of_record(Db& db, const RecordName& record);

// Sets or clears deleted_at. Of an observation also that of the equal ones of its project, which are shown as
// one.
Status hide_record(Db& db, const RecordName& record, WallTime now);
Status show_record_again(Db& db, const RecordName& record);

// A person's decision about a text.
struct Ruling {
  RecordName record;
  bool hidden = false;  // rejected or retracted; else the record was edited
};
// The decision about an observation with that normalised text (text_hash_of()) in the project; nothing: there
// is none.
Result<std::optional<Ruling>> ruling_on(Db& db, const std::string& project, std::string_view text_hash);

// The records whose `valid_until` has passed and that are still shown.
Result<std::vector<RecordName>> records_over(Db& db, WallTime now, std::size_t limit);

}  // namespace cairn::store
