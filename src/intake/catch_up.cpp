#include "intake/catch_up.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "git/repository.h"
#include "git/worktrees.h"
#include "host/host.h"
#include "store/events.h"
#include "store/evidence.h"
#include "store/forget.h"
#include "store/lost.h"
#include "store/texts.h"
#include "store/turns.h"

namespace cairn::intake {

using event::Event;
using event::Kind;
using host::TranscriptPiece;
using store::CallOutcome;
using store::Session;
using Item = host::TranscriptItem;

// An event needs at most seconds from the host to the store. Later than this, its hook has failed.
static constexpr Millis kOnItsWay = std::chrono::seconds(60);
static constexpr std::int64_t kOnItsWayNs = 60'000'000'000;
// A host waits for all results before it continues: a call that is followed by this many bytes of other lines
// will have no result.
static constexpr std::uint64_t kGivenUp = 1u << 20;
// Files of an ended session that could not be read are tried again for this long.
static constexpr Millis kTriedFor = std::chrono::hours(24);
// How long before its first event a session may have begun, when its start and process are unknown.
static constexpr Millis kUnseenStart = std::chrono::minutes(10);

// How far the end of one line is searched for. A transcript never comes near this; a sparse file does.
static constexpr std::uint64_t kLongestLook = 512u << 20;
// The first line of a session may be a little older than the hook that could not write.
static constexpr Millis kBeforeItsHook = std::chrono::seconds(10);

// A check of one session, in look_at(), in one transaction per piece: read_file() continues each transcript
// where the last check stopped, read_piece() passes every item to its recover_ function, and finish() ends
// the check of a session that has ended. An item whose hook may still arrive holds the progress at its line,
// so that the next check reads it again. Items after it are handled all the same: storing one twice changes
// nothing.
struct CatchUp::Check {
  Session session;
  bool ended = false;
  WallTime since;  // lines that are older are not recovered
  WallTime now;
  // Whether a hook for something that happened at `at` can no longer arrive.
  // A time far in the future means that the clock was set back: waiting for it would take too long.
  bool is_late(WallTime at) const { return ended || now - at >= kOnItsWay || at > now + kOnItsWay; }
  bool unreadable = false;  // one of its files exists and could not be read
  void failed(const Error& error) { unreadable = unreadable || error.code != Code::not_found; }
};

void CatchUp::configure(gate::Gate gate, std::size_t max_field) {
  gate_ = std::move(gate);
  max_field_ = max_field;
}

Result<bool> CatchUp::step() {
  if (lost_due_) TRY(find_lost());
  lost_due_ = false;
  // Ended sessions are due as soon as they are known, active ones once a minute (look_again).
  if (due_.empty()) {
    for (const SessionId id : TRY(store::sessions_to_read(db_, false))) {
      const auto later = later_.find(id);
      if (later == later_.end() || later->second <= clock_.boot_ns()) due_.push_back(id);
    }
    if (active_due_)
      for (const SessionId id : TRY(store::sessions_to_read(db_, true))) due_.push_back(id);
    active_due_ = false;
  }
  if (due_.empty()) return false;
  const SessionId id = due_.front();
  due_.pop_front();
  // One piece a step, so that hooks are answered in between.
  if (TRY(look_at(id))) due_.push_front(id);
  return true;
}

Status CatchUp::recover_project(const std::string& project, std::int64_t deadline) {
  for (const SessionId id : TRY(store::sessions_to_read(db_, project))) {
    const auto later = later_.find(id);
    if (later != later_.end() && later->second > clock_.boot_ns()) continue;
    for (bool more = true; more;) {
      if (clock_.boot_ns() >= deadline) return {};
      more = TRY(look_at(id));
    }
  }
  return {};
}

Status CatchUp::find_lost() {
  // Most of the time nothing is lost: then no transaction is opened.
  if (!TRY(store::find_lost(db_))) return {};
  Status found = look_for_lost();
  if (!found) recorder_.discard();
  return found;
}

Status CatchUp::look_for_lost() {
  auto transaction = TRY(store::Transaction::begin(db_));
  TRY(store::give_up_lost(db_, clock_.now() - kTriedFor));
  const store::Lost lost = TRY(store::find_lost(db_)).value_or(store::Lost{});
  const auto folders = TRY(store::transcript_folders(db_));
  // A hook that could not write knows its session but not the transcript: try every known folder.
  for (const auto& [session, events] : lost.events)
    for (const store::TranscriptFolder& folder : folders) {
      const host::Host& host = host::find_host(folder.platform);
      const std::string path = fmt::format("{}/{}", folder.path, host.transcript_name(ContentId{session}));
      if (!TRY(recover_session(path, folder.platform, session, lost.since))) continue;
      TRY(store::set_found(db_, session));
      break;
    }
  TRY(recorder_.finish());
  return transaction.commit();
}

Result<std::string> CatchUp::import_session(const std::string& path, const std::string& platform,
                                            const std::string& session, const std::function<Status()>& note) {
  const auto made = [&]() -> Result<std::string> {
    auto transaction = TRY(store::Transaction::begin(db_));
    const ContentId id{gate_.id(session)};
    // Each reason is returned before the commit, so the transaction is rolled back and leaves no half
    // session.
    if (TRY(store::find_session(db_, platform, id))) return std::string("its session is remembered");
    if (!TRY(recover_session(path, platform, session, WallTime(), true))) return std::string("nothing in it");
    if (!TRY(store::find_session(db_, platform, id))) return std::string("a rule keeps it out");
    TRY(recorder_.finish());
    TRY(note());
    TRY(transaction.commit());
    return std::string();
  }();
  if (!made) recorder_.discard();
  return made;
}

// The start event is made from the first line. The session counts as ended, so that all of it is read at
// once. If it continues, its next hook reopens it.
Result<bool> CatchUp::recover_session(const std::string& path, const std::string& platform,
                                      const std::string& session, WallTime since, bool imported) {
  const auto stat = disk_.stat(path);
  if (!stat || stat->is_dir || stat->size == 0) return false;
  const ContentId id{gate_.id(session)};
  // Some of its hooks did write: only the reading is due again.
  if (const auto known = TRY(store::find_session(db_, platform, id))) {
    TRY(store::note_transcript(db_, known->id, path));
    TRY(store::set_transcript_due(db_, known->id));
    return true;
  }
  auto file = disk_.open(path, os::Open::read);
  if (!file) return false;
  const host::Host& host = host::find_host(platform);
  const auto lines = host.transcript_lines(id, "", imported);
  const auto piece = host::read_transcript(**file, 0, *lines);
  if (!piece || piece->items.empty()) return false;
  Event start;
  start.id = store::transcript_event_id(platform, id, "", Kind::session_start);
  start.source = event::Source::transcript;
  start.host = platform;
  start.name = host.name_of(Kind::session_start);
  start.kind = Kind::session_start;
  start.session = id;
  // Older lines are not read: see set_watched_since below.
  start.at = std::max(piece->items.front().at, since);
  start.cwd = piece->items.front().cwd;
  // A session in a worktree that was deleted belongs to its repository.
  if (!start.cwd.empty() && !git::find_repository(disk_, start.cwd))
    start.project_dir = git::repository_of_deleted_worktree(disk_, start.cwd, piece->items.front().branch);
  start.transcript_path = path;
  auto verdict = TRY(recorder_.pass(gate_, std::move(start), max_field_));
  if (!std::holds_alternative<gate::Gate::Passed>(verdict)) return true;  // a rule keeps it out
  TRY(recorder_.record(std::get<gate::Gate::Passed>(verdict)));
  const auto made = TRY(store::find_session(db_, platform, id));
  if (!made) return true;
  if (imported) {
    TRY(store::set_imported(db_, made->id, true));
    TRY(store::set_watched_since(db_, made->id, since));
    const std::string& branch = piece->items.front().branch;
    TRY(store::set_branch(db_, made->id, branch.empty() ? std::nullopt : std::optional(branch)));
    TRY(recorder_.end(*made, "other", made->started_at));
    return true;
  }
  ++recovered_;
  log_.info(fmt::format("session found in its transcript session={}", id.value));
  TRY(store::set_watched_since(db_, made->id, since - kBeforeItsHook));
  const WallTime last = from_epoch_ms(stat->modified_ns / 1'000'000);
  TRY(recorder_.end(*made, "other", std::max(made->started_at, last)));
  return true;
}

// Reads one piece of one session, in one transaction. True: there is more.
Result<bool> CatchUp::look_at(SessionId id) {
  auto transaction = TRY(store::Transaction::begin(db_));
  const auto session = TRY(store::find_session(db_, id));
  if (!session) return false;
  Check check{*session, session->status != store::SessionStatus::active, {}, clock_.now()};
  auto done = [&]() -> Result<bool> {
    check.since = TRY(watched_since(check.session));
    if (TRY(read_session(check))) return true;
    TRY(finish(check));
    return false;
  }();
  if (done)
    if (auto summed = recorder_.finish(); !summed) done = std::move(summed).error();
  if (!done) {
    recorder_.discard();
    // The store failed: try this session again in a minute and let the others go on.
    later_[id] = clock_.boot_ns() + kOnItsWayNs;
    return std::move(done).error().in("transcript of " + session->content_id.value);
  }
  TRY(transaction.commit());
  return done;
}

Result<std::vector<std::string>> CatchUp::files_of(Check& check) {
  std::vector<std::string> files;
  const host::Host& host = host::find_host(check.session.platform);
  for (const std::string& main : TRY(store::transcripts_of(db_, check.session.id))) {
    Status failed;
    for (std::string& file : host.transcript_files(disk_, main, failed)) files.push_back(std::move(file));
    if (!failed.ok()) check.failed(failed.error());
  }
  return files;
}

Result<bool> CatchUp::read_session(Check& check) {
  for (const std::string& path : TRY(files_of(check)))
    if (TRY(read_file(check, path))) return true;
  return false;
}

// The hash of the bytes before `offset`. Empty when they cannot be read.
static std::string mark_of(os::File& file, std::uint64_t offset) {
  std::string bytes(std::min<std::uint64_t>(offset, 4096), '\0');
  const auto got = file.read_at(offset - bytes.size(), bytes.data(), bytes.size());
  return got && *got == bytes.size() ? content_hash(bytes) : "";
}

// Reads a piece of the file if it has grown. True: there is more. Only regular files are opened.
Result<bool> CatchUp::read_file(Check& check, const std::string& path) {
  const auto stat = disk_.stat(path);
  if (!stat) return check.failed(stat.error()), false;
  if (stat->is_dir || stat->size == 0) return false;
  auto known = TRY(store::find_progress(db_, check.session.id, path));
  const store::TranscriptProgress unread{.path = path, .inode = stat->inode};
  store::TranscriptProgress progress = known.value_or(unread);
  if (progress.inode != stat->inode || progress.offset > stat->size)
    progress = unread;  // the file was replaced: read it again; each call counts once
  auto file = disk_.open(path, os::Open::read);
  if (!file) return check.failed(file.error()), false;
  // After a power cut the file may have other lines before this offset than those that were read.
  if (progress.offset > 0 && progress.mark != mark_of(**file, progress.offset)) progress = unread;
  if (progress.offset == stat->size) return false;
  const std::uint64_t before = progress.offset;
  Unended& line = unended_[check.session.id][path];
  // Continue the search for this line's end where the last one stopped, but only in a long line: for a short
  // one it is cheap to begin again.
  const bool same = line.inode == stat->inode && line.offset == before && line.looked <= stat->size &&
                    line.looked > before + host::kTranscriptPiece;
  // No host writes such a long line: the file is sparse, or not a transcript. Give up.
  if (same && line.looked - before >= kLongestLook) return false;
  const auto lines =
      host::find_host(check.session.platform)
          .transcript_lines(check.session.content_id, progress.prompt_id, check.session.imported);
  auto piece =
      host::read_transcript(**file, before, *lines, host::kMaxTranscriptLine, same ? line.looked : 0);
  if (!piece) return check.failed(piece.error()), false;
  line = {stat->inode, piece->end, piece->looked};
  // Ids pass the gate as those from hooks do: both must be equal to be recognised as the same call.
  for (Item& item : piece->items) {
    for (std::string* id : {&item.prompt_id, &item.tool_use_id}) *id = gate_.id(*id);
    if (item.agent_id) item.agent_id = gate_.id(*item.agent_id);
  }
  TRY(read_piece(check, *piece, progress));
  // An idle session costs no write.
  if (!known || progress.offset != before) {
    progress.mark = mark_of(**file, progress.offset);
    TRY(store::put_progress(db_, check.session.id, progress));
  }
  // More: the piece made progress, or is inside a line whose end is not found yet. Otherwise a young item
  // holds the progress, and reading on now would only find the same item.
  return !piece->at_end && (progress.offset > before || piece->end == before);
}

Status CatchUp::read_piece(Check& check, const TranscriptPiece& piece, store::TranscriptProgress& progress) {
  const std::uint64_t before = progress.offset;
  progress.offset = piece.end;
  if (!piece.items.empty()) progress.prompt_id = piece.items.back().prompt_id;
  bool all = true;
  for (const Item& item : piece.items) {
    // The first item that must wait is where the next check begins.
    const bool done = TRY(recover_item(check, item, piece.end - item.end > kGivenUp));
    if (done || !all) continue;
    all = false;
    progress.offset = item.begin;
    progress.prompt_id = item.prompt_id;
  }
  if (progress.offset == before) return {};
  // Lines that will be read again are counted then.
  if (all) {
    progress.lines += piece.lines;
    progress.malformed += piece.malformed;
    progress.too_long += piece.too_long;
  }
  return {};
}

// Ends the check of an ended session. Closes what a late prompt opened. The session is not checked again once
// its host is gone and all was read.
Status CatchUp::finish(Check& check) {
  if (!check.ended) return {};
  const Session& was = check.session;
  const auto latest = TRY(store::latest_turn(db_, was.id));
  const auto now = TRY(store::find_session(db_, was.id));
  const bool open = (now && now->status == store::SessionStatus::active) || (latest && latest->open());
  if (now && now->imported) {  // it ended with its last line
    TRY(store::reopen_session(db_, was.id));
    TRY(recorder_.end(was, "other", now->last_event_at));
  } else if (open) {
    TRY(recorder_.end(was, was.end_reason.value_or("other"), was.completed_at.value_or(was.last_event_at)));
  }
  const bool gone = was.host.pid != 0 && !processes_.alive(was.host);
  const Millis past = check.now - was.completed_at.value_or(check.now);
  // A host may write its last lines after the event that ended the session: wait a minute unless it is gone.
  if (check.unreadable ? past >= kTriedFor : gone || past >= kOnItsWay || was.transcript_path.empty()) {
    later_.erase(was.id);
    unended_.erase(was.id);
    TRY(store::give_up_calls(db_, was.id));
    return store::set_transcript_read(db_, was.id);
  }
  later_[was.id] = clock_.boot_ns() + kOnItsWayNs;
  return {};
}

// The time of the oldest lines to read: all of them if we saw the session begin; from the resume on if it was
// resumed when we first saw it; else from the start of its host process, or from ten minutes before its first
// event.
Result<WallTime> CatchUp::watched_since(const Session& session) {
  if (const auto known = TRY(store::watched_since(db_, session.id))) return *known;
  WallTime since = session.started_at - kUnseenStart;
  // first_start() may be a later resume: only one at the session's beginning says how it began.
  const auto seen = TRY(store::first_start(db_, session.id));
  if (seen && seen->at <= session.started_at) {
    const auto start = TRY(store::kept_event(db_, seen->seq));
    const Json extra = start && start->texts.extra ? Json::parse_partial(*start->texts.extra).value : Json();
    since = event::start_reason(extra["reason"].as_string()) == event::StartReason::resume
                ? session.started_at
                : WallTime();
  } else if (session.host.pid != 0 && session.host_boot_id == clock_.boot_id()) {
    const auto ticks = static_cast<std::int64_t>(session.host.start);
    // The host's start is in clock ticks since boot. The boot id tells whether it was this boot.
    const std::int64_t age_ms =
        clock_.boot_ns() / 1'000'000 - ticks * 1000 / std::max(1L, sysconf(_SC_CLK_TCK));
    const WallTime born = clock_.now() - Millis(age_ms);
    if (born <= session.started_at) since = born;
  }
  TRY(store::set_watched_since(db_, session.id, since));
  return since;
}

Result<bool> CatchUp::recover_item(Check& check, const Item& item, bool given_up) {
  switch (item.kind) {
    case Item::Kind::prompt: return recover_prompt(check, item);
    case Item::Kind::call: return recover_call(check, item, given_up);
    case Item::Kind::stop: return recover_stop(check, item);
    case Item::Kind::text: TRY(recover_text(check, item)); return true;
  }
  return true;
}

// Why a line that no hook delivered is not stored; empty: it is stored.
Result<std::string> CatchUp::reason_to_skip(const Check& check, const Item& item) {
  const WallTime until = item.result ? item.result->at : item.at;
  if (TRY(store::capture_was_off(db_, item.at, until))) return std::string("capture was off");
  if (TRY(store::is_inherited(db_, check.session.id, check.session.project, item.tool_use_id,
                              item.prompt_id)))
    return std::string("of the session this one was forked from");
  if (item.at < check.since) return std::string("before this session was watched");
  // Without a prompt id its turn is a guess, and a private turn must not be stored by a wrong guess.
  if (item.prompt_id.empty() && TRY(store::has_private_turn(db_, check.session.id)))
    return std::string("its prompt may be a private one");
  // The model named a tool that does not exist: nothing ran, and no hook is due for it.
  if (item.result && item.result->error.starts_with("No such tool available"))
    return std::string("the host has no such tool");
  return std::string("");
}

Result<bool> CatchUp::recover_call(Check& check, const Item& item, bool given_up) {
  const SessionId session = check.session.id;
  const auto known = TRY(store::call_outcome(db_, session, item.tool_use_id));
  if (known && known != CallOutcome::waiting) return true;
  const auto note = [&](CallOutcome outcome, std::string_view reason = "") {
    return store::note_call(db_, session, item.tool_use_id, outcome, reason, item.at);
  };
  const store::ToolRows rows = TRY(store::tool_rows(db_, session, item.tool_use_id));
  // No end will come: the user stopped it, the session is over, or much text follows it without a result.
  const bool cut_off = item.result ? item.result->rejected : check.ended || given_up;
  // Hooks of a host with `hides_failures` deliver a failed call as a success; only the transcript shows the
  // failure.
  if (rows.end && item.result && item.result->failed &&
      host::find_host(check.session.platform).traits().hides_failures)
    TRY(recorder_.correct_to_failure(session, item.tool_use_id,
                                     cut(gate_.clean(item.result->error, gate::Way::hook), max_field_)));
  if (rows.end || (rows.start && cut_off)) {
    TRY(note(CallOutcome::stored));
    return true;
  }
  // A call that is still running, or whose hook may be on its way, is checked again.
  const bool over = item.result ? check.is_late(item.result->at) : cut_off;
  if (!over) {
    if (!rows.start) TRY(note(CallOutcome::waiting));
    return false;
  }
  std::string reason = TRY(reason_to_skip(check, item));
  if (reason.empty()) {
    const Kind kind = cut_off ? Kind::tool_start : item.result->failed ? Kind::tool_failure : Kind::tool;
    reason = TRY(store_event(check, event_of(check, item, kind)));
  }
  TRY(note(reason.empty() ? CallOutcome::recovered : CallOutcome::counted, reason));
  return true;
}

Result<bool> CatchUp::recover_prompt(Check& check, const Item& item) {
  const auto number = TRY(store::turn_of_prompt(db_, check.session.id, item.prompt_id));
  if (number) {
    const auto turn = TRY(store::find_turn(db_, check.session.id, *number));
    if (!turn || turn->is_private || TRY(store::has_prompt(db_, check.session.id, *number))) return true;
  }
  if (!check.is_late(item.at)) return false;
  if (!TRY(reason_to_skip(check, item)).empty()) return true;
  TRY(store_event(check, event_of(check, item, Kind::prompt)));
  return true;
}

// An answer that ended its turn, when no hook delivered that end. The turn must not have an answer already,
// nor events long after this one: then the line is not the turn's end.
Result<bool> CatchUp::recover_stop(Check& check, const Item& item) {
  const auto number = TRY(store::turn_of_prompt(db_, check.session.id, item.prompt_id));
  if (!number) return true;
  const auto turn = TRY(store::find_turn(db_, check.session.id, *number));
  if (!turn || turn->is_private || turn->end_reason == store::TurnEnd::stop ||
      turn->end_reason == store::TurnEnd::stop_failure || !turn->last_assistant_message.empty() ||
      turn->last_event_at > item.at + kOnItsWay)
    return true;
  if (!check.is_late(item.at)) return false;
  if (!TRY(reason_to_skip(check, item)).empty()) return true;
  TRY(store_event(check, event_of(check, item, Kind::stop)));
  return true;
}

// Texts between events: the assistant's, and what the person said when they refused a call. No hook delivers
// them, so there is nothing to wait for.
Status CatchUp::recover_text(Check& check, const Item& item) {
  const SessionId session = check.session.id;
  const WallTime at = item.at == WallTime() ? check.session.last_event_at : item.at;
  if (at < check.since || TRY(store::capture_was_off(db_, at, at))) return {};
  const auto number = item.prompt_id.empty() ? TRY(store::turn_at(db_, session, at))
                                             : TRY(store::turn_of_prompt(db_, session, item.prompt_id));
  if (!number) return {};  // its prompt was not stored
  const auto turn = TRY(store::find_turn(db_, session, *number));
  if (!turn || turn->is_private) return {};
  store::Text text;
  text.session = session;
  text.prompt_number = *number;
  text.kind = item.said;
  text.source = store::TextSource::transcript;
  text.text = cut(gate_.clean(item.text, gate::Way::hook), max_field_);
  text.at = at;
  if (trim(text.text).empty()) return {};  // all of it was private
  const bool added = TRY(store::add_text(db_, text));
  return added && text.kind == event::TextKind::objection ? recorder_.text_added(*turn) : Status();
}

Event CatchUp::event_of(const Check& check, const Item& item, Kind kind) const {
  Event e;
  const ContentId& session = check.session.content_id;
  e.id = store::transcript_event_id(check.session.platform, session,
                                    item.kind == Item::Kind::call ? item.tool_use_id : item.prompt_id, kind);
  e.source = event::Source::transcript;
  e.host = check.session.platform;
  e.name = host::find_host(e.host).name_of(kind);
  e.kind = kind;
  e.session = session;
  e.at = item.result && kind != Kind::tool_start ? item.result->at : item.at;
  e.cwd = item.cwd;
  if (!item.prompt_id.empty()) e.prompt_id = item.prompt_id;
  e.agent_id = item.agent_id;
  if (kind == Kind::prompt) e.prompt = item.text;
  if (kind == Kind::stop) e.last_assistant_message = item.text;
  if (item.kind != Item::Kind::call) return e;
  e.tool_name = item.tool_name;
  e.tool_use_id = item.tool_use_id;
  e.tool_input = item.input;
  if (kind == Kind::tool) e.tool_response = item.result->response;
  if (kind == Kind::tool_failure) e.error = item.result->error;
  e.interrupted = host::was_interrupted(e.tool_response);
  return e;
}

Result<std::string> CatchUp::store_event(Check& check, Event event) {
  const EventId id = event.id;
  const std::string what = event.name;
  if (!TRY(store::is_recorded(db_, id))) {
    const std::optional<std::string> use = event.tool_use_id;
    auto verdict = TRY(recorder_.pass(gate_, std::move(event), max_field_));
    if (const auto* refusal = std::get_if<gate::Refusal>(&verdict)) {
      // Alone, the start would look like a call that was interrupted.
      if (use) TRY(store::forget_start(db_, check.session.id, *use, refusal->reason));
      if (use) recorder_.read_again(check.session.id);
      return refusal->reason;
    }
    auto savepoint = TRY(store::Savepoint::begin(db_));
    if (auto recorded = recorder_.record(std::get<gate::Gate::Passed>(verdict)); !recorded) {
      if (recorded.error().code != Code::invalid) return std::move(recorded).error();
      recorder_.read_again(check.session.id);  // the savepoint is rolled back
      return recorded.error().message;         // caused by this event: it must not block the others
    }
    TRY(savepoint.commit());
  }
  const auto row = TRY(store::find_event(db_, id));
  if (row && !row->stored()) return row->reason.value_or(std::string(name_of(row->outcome)));
  if (check.session.imported) return std::string();
  ++recovered_;
  log_.info(
      fmt::format("recovered from the transcript session={} event={}", check.session.content_id.value, what));
  return std::string();
}

}  // namespace cairn::intake
