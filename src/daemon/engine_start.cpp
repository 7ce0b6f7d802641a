// The start of a session beside its context: what to do about documents, what is missing, how much is loaded,
// variables for the host; the warning before a context is full; and documents that cairn writes unasked.
#include <fmt/format.h>

#include <algorithm>

#include "base/shell.h"
#include "base/text.h"
#include "daemon/engine.h"
#include "documents/advice.h"
#include "hook/control.h"
#include "host/host.h"
#include "ops/automation.h"
#include "store/continuity.h"
#include "store/events.h"
#include "store/evidence.h"
#include "store/meta.h"
#include "store/projects.h"

namespace cairn::daemon {

namespace {

// Bytes read from the end of a transcript. The last line with a token count is used; a line longer than this
// is ignored.
constexpr std::size_t kTail = 512u << 10;
constexpr std::int64_t kMostAttempts = 8;   // to write a document unasked
constexpr std::int64_t kMostDoublings = 6;  // of the minute between two attempts: 64 minutes at most

// How full the context was after the last answer; nothing when the transcript does not say.
std::optional<host::Usage> last_usage(os::Disk& disk, const std::string& path, const host::Host& host) {
  const auto stat = disk.stat(path);
  if (!stat || stat->is_dir) return std::nullopt;
  auto file = disk.open(path, os::Open::read);
  if (!file) return std::nullopt;
  const std::size_t size = std::min<std::size_t>(kTail, stat->size);
  std::string text(size, '\0');
  const auto got = (*file)->read_at(stat->size - size, text.data(), size);
  if (!got) return std::nullopt;
  text.resize(*got);
  std::vector<std::string_view> all = split(text, '\n');
  if (size < stat->size && !all.empty()) all.erase(all.begin());  // it began earlier
  for (auto line = all.rbegin(); line != all.rend(); ++line) {
    const auto parsed = Json::parse(*line);
    if (!parsed || !parsed->is_object()) continue;
    if (auto usage = host.read_usage(*parsed)) return usage;
  }
  return std::nullopt;
}

// Rounded: "141,000" for 140,812.
std::string thousands(std::int64_t tokens) {
  return number_text((tokens + 500) / 1000 * 1000);
}

}  // namespace

context::AnswerOptions Engine::answer_options() const {
  context::AnswerOptions options;
  options.key = key_;
  options.disk = &seams_.disk;
  options.budget_tokens = static_cast<std::size_t>(settings_.integer("context.budget_tokens"));
  options.sources = settings_.list("context.sources");
  options.notice = settings_.text("context.notice") != "off";
  return options;
}

// add_document() comes first: add_advice() recommends no document when one is given.
Engine::Start Engine::begin_start(const store::Session& session, event::StartReason reason,
                                  context::AnswerOptions& options) {
  Start start;
  const auto attempt = [&](const Status& done) {
    if (!done) seams_.log.error("start of a session: " + done.error().message);
  };
  attempt(add_document(session, reason, options, start));
  attempt(add_advice(session, reason, options, start));
  attempt(add_staleness(session, start));
  attempt(add_instructions(session, options, start));
  return start;
}

Status Engine::add_advice(const store::Session& session, event::StartReason reason,
                          const context::AnswerOptions& options, Start& start) {
  if (const auto pending = TRY(store::newest_pending(db_, session.project, session.content_id.value)))
    start.pending = "B" + std::to_string(pending->id);
  // A document that is given already (options.lead) needs no recommendation.
  if (settings_.automation() == ops::Automation::manual || options.lead) return {};
  documents::AdviceQuery query;
  query.project = session.project;
  query.asking = session.id;
  query.asking_id = session.content_id.value;
  query.is_compacted = reason == event::StartReason::compact;
  query.now = seams_.clock.now();
  query.stale = std::chrono::hours(settings_.integer("context.stale_hours"));
  documents::Advice advice = TRY(documents::advise(db_, query));
  if (advice.line.empty()) return {};
  start.lines.push_back(std::move(advice.line));
  if (!advice.once.empty()) start.warned.emplace_back(advice.once, advice.number);
  return {};
}

Status Engine::add_staleness(const store::Session& session, Start& start) {
  const Millis stale = std::chrono::hours(settings_.integer("context.stale_hours"));
  if (stale == Millis::zero()) return {};
  const auto oldest = TRY(store::oldest_unsummarised(db_, session.project, session.id));
  const WallTime now = seams_.clock.now();
  if (!oldest || now - *oldest <= stale) return {};
  start.stale = true;
  start.lines.push_back(
      fmt::format("stale: work of {} is not summarised yet: see `cairn status`", ago(*oldest, now)));
  return {};
}

// With automation = "auto" a session is given the newest document about the work, up to half of the context's
// budget. A resumed one has its conversation and needs none.
Status Engine::add_document(const store::Session& session, event::StartReason reason,
                            context::AnswerOptions& options, Start& start) {
  if (settings_.automation() != ops::Automation::automatic || reason == event::StartReason::resume) return {};
  const auto settings = live_settings_.now();
  ops::World world = this->world(*settings);
  constexpr std::size_t kBytesOfToken = 4;
  const std::size_t half = options.budget_tokens * kBytesOfToken / 2;
  auto document = TRY(ops::document_to_start_from(world, session, half));
  if (!document) return {};
  start.lines.push_back("resumed from " + document->id);
  if (document->is_behind) {
    start.stale = true;
    start.lines.push_back(
        fmt::format("stale: {} has nothing of the work that came later: `cairn save`", document->id));
  }
  options.lead = context::StartDocument{std::move(document->id), std::move(document->text)};
  return {};
}

// The files are those of an earlier session: the host reports them after the start.
Status Engine::add_instructions(const store::Session& session, context::AnswerOptions& options,
                                Start& start) {
  const auto project = TRY(store::project_by_name(db_, session.project));
  if (!project) return {};
  start.overhead_key = fmt::format("{}{}", store::kOverheadReported, project->id);
  options.overhead_bytes = settings_.integer("context.overhead_kb") << 10;
  options.overhead_reported_kb = TRY(store::meta_number(db_, start.overhead_key)).value_or(0);
  for (const std::string& path : TRY(store::instruction_files(db_, session.project))) {
    const auto stat = seams_.disk.stat(path);
    if (!stat || stat->is_dir) continue;
    ++options.instruction_files;
    options.instruction_bytes += static_cast<std::int64_t>(stat->size);
  }
  return {};
}

// The host runs this file in the shell of its later commands, so every value is quoted for a shell.
void Engine::write_variables(const EventId& event, const store::Session& session, const Start& start) {
  // The path comes from a hook's environment. A relative one would be looked up in the daemon's directory.
  const std::string path = intake_.take_env_file(event);
  if (!path.starts_with('/') || path.find('\0') != std::string::npos) return;
  const std::string text = fmt::format(
      "CAIRN_SESSION_ID={}\nCAIRN_PENDING_BACKUP={}\nCAIRN_CONTEXT_STALE={}\n"
      "export CAIRN_SESSION_ID CAIRN_PENDING_BACKUP CAIRN_CONTEXT_STALE\n",
      shell_word(session.content_id.value), shell_word(start.pending), start.stale ? 1 : 0);
  if (auto written = os::append_to_own(seams_.disk, path, text); !written)
    seams_.log.warn("variables for the host: " + written.error().message);
}

Result<context::Answer> Engine::warn_of_full_context(const EventId& event) {
  const context::Answer nothing{std::string(hook::kFixedAnswer), std::nullopt, 0};
  const std::int64_t percent = settings_.integer("context.full_percent");
  if (percent == 0 || settings_.automation() == ops::Automation::manual) return nothing;
  const auto asking = TRY(store::find_event(db_, event));
  if (!asking || asking->kind != event::Kind::prompt || !asking->session) return nothing;
  const auto session = TRY(store::find_session(db_, *asking->session));
  if (!session || session->transcript_path.empty() || TRY(store::window_reported(db_, session->id)))
    return nothing;
  const host::Host& host = host::find_host(session->platform);
  const auto usage = last_usage(seams_.disk, session->transcript_path, host);
  if (!usage || usage->tokens == 0) return nothing;
  // The session's start names the model as the host does: that name can say more about the window than the
  // one in the transcript.
  std::string model = usage->model;
  if (const auto start = TRY(store::last_stored_start(db_, session->id)))
    if (const auto kept = TRY(store::kept_event(db_, start->seq)); kept && kept->texts.extra)
      if (const auto named = Json::parse_partial(*kept->texts.extra).value.text("model")) model = *named;
  // More tokens were used than the window should hold: it is larger than the model's name says. Windows of
  // 200,000 and of 1,000,000 tokens are usual.
  std::int64_t window = host.window_of(model);
  while (usage->tokens > window) window *= 5;
  const std::int64_t full = usage->tokens * 100 / window;
  if (full < percent) return nothing;
  TRY(in_transaction([&] { return store::set_window_reported(db_, session->id, true); }));
  const std::string message = fmt::format(
      "cairn: this session's context is {} % full ({} of {} tokens) and will be compacted: "
      "save its state with `cairn save`, or the command of that name",
      full, thousands(usage->tokens), thousands(window));
  return context::Answer{host.write_answer(asking->name, "", message).dump(), std::nullopt, 0};
}

// A job that succeeded is ended by keep_document(), in the document's transaction. Here a job is ended when
// documents are not wanted any more or it failed too often; another failure delays it.
Result<bool> Engine::write_document() {
  const WallTime now = seams_.clock.now();
  const auto job = TRY(store::next_document_job(db_, now));
  if (!job) return false;
  const auto settings = live_settings_.now();
  ops::World world = this->world(*settings);
  const bool wanted = settings->automation() == ops::Automation::automatic;
  const Status done = wanted ? ops::keep_document(world, *job) : Status();
  if (wanted && done) return true;
  if (!done) seams_.log.error("document: " + done.error().message);
  intake_.recorder().discard();
  const Millis wait = std::chrono::minutes(1) * (std::int64_t{1} << std::min(job->attempts, kMostDoublings));
  TRY(in_transaction([&] {
    return !wanted || job->attempts >= kMostAttempts
               ? store::end_document_job(db_, job->session)
               : store::fail_document_job(db_, job->session, now + wait);
  }));
  return true;
}

}  // namespace cairn::daemon
