// The states and reasons that rows carry: each enum with the one table of its texts, as the database and
// results have them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/event.h"
#include "event/open_kind.h"
#include "event/text_kind.h"

namespace cairn::store {

// The outcome of a delivered event: it is stored, or only counted.
enum class EventOutcome {
  stored,
  duplicate,
  skipped,
  private_turn,  // its prompt is private
  own_agent,     // of a session of cairn's own agent
  bad,           // it could not be read
};
// The outcome of a tool call in a transcript.
enum class CallOutcome {
  stored,     // a hook delivered it
  recovered,  // read from the transcript
  counted,    // not stored, for a reason
  waiting,    // not decided yet
};
// Where a text of a session comes from.
enum class TextSource { hook, transcript, distiller };
enum class SessionStatus { active, completed, failed };
// Why a turn ended; `none`: it is open.
enum class TurnEnd {
  none,
  stop,
  stop_failure,
  next_prompt,
  session_end,
  session_start,
  idle,
  dead_host,
  process,
};
// What a forget selects by; `restore` and `imported`: what the tombstones of another copy name.
enum class ForgetWay { ids, query, file, secret, scan, session, before, project, restore, imported };
// What a forget does next, in this order; when the proof finds something left, it starts again with `texts`.
enum class ForgetPhase {
  rows,
  texts,
  archive,
  files,
  index,
  wal,
  prove_texts,
  prove_archive,
  prove_files,
  report,
  done,
};
// In the order of gate::Tombstone::Kind.
enum class TombstoneKind { text, whole, secret, session, record };
// The state of the store's file between two starts; `none`: there never was a store.
enum class StoreState { none, closed, open, damaged };
// How a call of a model ended: with a reply, or with a class of errors (the names of agent::Trouble::Kind).
enum class ModelCallOutcome {
  ok,
  skipped,   // the model found nothing to learn
  unusable,  // a reply that cannot be read
  transient,
  rate_limited,
  quota,
  auth,
  setup,
  rejected,
  canceled,
};
enum class MessageStatus { pending, processing, processed, failed };
// The relation of two projects. `apart`: the user unlinked them.
enum class LinkState { linked, suggested, apart };
enum class MadeBy { user, cairn };
// Why a record is hidden; `none`: it is shown.
enum class HiddenBy {
  none,
  request,  // an agent asked to forget it, and the user has not decided yet
  reject,
  retract,
  expired,  // its `valid_until` has passed
};
// Why a transcript is copied. `document`: one about its session is saved. `imported_pending`: another tool
// had copied it and not processed it yet.
enum class BackupCause { sweep, compaction, end, document, imported, imported_pending };
// Why a session's document is due.
enum class DocumentCause { end, compaction };
// Who wrote a document; `draft`: cairn did.
enum class DocumentSource { person, agent, draft, imported };
enum class ImportState { pending, reading, done, left_out };
// What a call of a model is for.
enum class CallPurpose { turn, backlog, redistil, test };
// What happened to a project, as its history says. `repository`: its directory became one. `suggested`: a
// link with another project was.
enum class ProjectStep { repository, moved, renamed, linked, unlinked, suggested };
// The numbers are stored in the search index: the rowid of an entry is the row's id times 8, plus its kind.
// Passages and events have indexes of their own.
enum class RecordKind {
  observation = 1,
  summary = 2,
  prompt = 3,
  text = 4,  // its stored name is "turn"
  passage = 5,
  open = 6,
  document = 7,
  event = 8,
};

template <class State>
inline constexpr std::array<std::string_view, 0> kStateTexts;
template <>
inline constexpr auto kStateTexts<event::Source> = std::to_array<std::string_view>({"hook", "transcript"});
template <>
inline constexpr auto kStateTexts<EventOutcome> =
    std::to_array<std::string_view>({"stored", "duplicate", "skipped", "private", "own_agent", "bad"});
template <>
inline constexpr auto kStateTexts<CallOutcome> = std::to_array<std::string_view>({"stored", "recovered",
                                                                                  "counted", "waiting"});
template <>
inline constexpr auto kStateTexts<TextSource> = std::to_array<std::string_view>({"hook", "transcript",
                                                                                 "distiller"});
template <>
inline constexpr auto kStateTexts<SessionStatus> = std::to_array<std::string_view>({"active", "completed",
                                                                                    "failed"});
template <>
inline constexpr auto kStateTexts<TurnEnd> = std::to_array<std::string_view>({"", "stop", "stop_failure",
                                                                              "next_prompt", "session_end",
                                                                              "session_start", "idle",
                                                                              "dead_host", "process"});
template <>
inline constexpr auto kStateTexts<ForgetWay> = std::to_array<std::string_view>(
    {"ids", "query", "file", "secret", "scan", "session", "before", "project", "restore", "import"});
template <>
inline constexpr auto kStateTexts<ForgetPhase> =
    std::to_array<std::string_view>({"rows", "texts", "archive", "files", "index", "wal", "prove texts",
                                     "prove archive", "prove files", "report", "done"});
template <>
inline constexpr auto kStateTexts<TombstoneKind> = std::to_array<std::string_view>({"text", "whole", "secret",
                                                                                    "session", "record"});
template <>
inline constexpr auto kStateTexts<StoreState> = std::to_array<std::string_view>({"", "closed", "open",
                                                                                 "damaged"});
template <>
inline constexpr auto kStateTexts<ModelCallOutcome> =
    std::to_array<std::string_view>({"ok", "skipped", "unusable", "transient", "rate_limited", "quota",
                                     "auth", "setup", "rejected", "canceled"});
template <>
inline constexpr auto kStateTexts<MessageStatus> = std::to_array<std::string_view>({"pending", "processing",
                                                                                    "processed", "failed"});
template <>
inline constexpr auto kStateTexts<LinkState> = std::to_array<std::string_view>({"linked", "suggested",
                                                                                "apart"});
template <>
inline constexpr auto kStateTexts<MadeBy> = std::to_array<std::string_view>({"user", "cairn"});
template <>
inline constexpr auto kStateTexts<HiddenBy> = std::to_array<std::string_view>({"", "request", "reject",
                                                                               "retract", "expired"});
template <>
inline constexpr auto kStateTexts<BackupCause> =
    std::to_array<std::string_view>({"sweep", "compaction", "end", "document", "import", "import, pending"});
template <>
inline constexpr auto kStateTexts<DocumentCause> = std::to_array<std::string_view>({"end", "compaction"});
template <>
inline constexpr auto kStateTexts<DocumentSource> = std::to_array<std::string_view>({"person", "agent",
                                                                                     "draft", "import"});
template <>
inline constexpr auto kStateTexts<ImportState> = std::to_array<std::string_view>({"pending", "reading",
                                                                                  "done", "left_out"});
template <>
inline constexpr auto kStateTexts<CallPurpose> = std::to_array<std::string_view>({"turn", "backlog",
                                                                                  "redistil", "test"});
template <>
inline constexpr auto kStateTexts<ProjectStep> =
    std::to_array<std::string_view>({"repository", "moved", "renamed", "linked", "unlinked", "suggested"});
template <>
inline constexpr auto kStateTexts<event::Kind> = event::kKindNames;
template <>
inline constexpr auto kStateTexts<event::TextKind> = std::to_array<std::string_view>(
    {"answer", "remark", "compaction", "title", "away", "commit", "pull", "objection"});
template <>
inline constexpr auto kStateTexts<event::OpenSource> =
    std::to_array<std::string_view>({"person", "task", "next_step", "question", "plan", "interruption"});
template <>
inline constexpr auto kStateTexts<event::OpenState> = std::to_array<std::string_view>(
    {"", "pending", "in_progress", "proposed", "rejected", "accepted", "offered", "plan"});
template <>
inline constexpr auto kStateTexts<RecordKind> = std::to_array<std::string_view>(
    {"", "observation", "summary", "prompt", "turn", "passage", "open", "document", "event"});

template <class State>
constexpr std::string_view name_of(State state) {
  return kStateTexts<State>[static_cast<std::size_t>(state)];
}

template <class State>
constexpr std::optional<State> named(std::string_view text) {
  const auto& texts = kStateTexts<State>;
  const auto found = std::find(texts.begin(), texts.end(), text);
  return found == texts.end() ? std::nullopt : std::optional(static_cast<State>(found - texts.begin()));
}

// Names with their counts, in the order of the query.
using Counts = std::vector<std::pair<std::string, std::int64_t>>;

}  // namespace cairn::store
