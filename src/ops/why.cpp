#include "archive/call.h"
#include "base/text.h"
#include "ops/records.h"
#include "recall/freshness.h"
#include "store/evidence.h"
#include "store/retention.h"
#include "store/sessions.h"
#include "store/standing.h"
#include "store/turns.h"

namespace cairn::ops {

static constexpr std::size_t kShort = 2000;        // bytes of a text, unless all of it is asked for
static constexpr std::int64_t kMostEvents = 1000;  // a summary has those of its whole turn

static Json text_json(const std::optional<std::string>& text, bool full) {
  if (!text) return {};
  return full ? Json(*text) : Json(cut(valid_utf8(*text), kShort));
}

// The texts of a call whose evidence was removed, as far as the archive has them.
static Status read_archived(World& world, store::KeptEvent& event) {
  const auto session = TRY(store::find_session(world.db, event.session));
  if (!session) return {};
  archive::ArchivedCall call =
      TRY(archive::find_call(world.db, world.disk, world.home.data + "/archive",
                             {session->platform, session->content_id.value, ""}, event.tool_use_id));
  event.texts.input = std::move(call.input);
  event.texts.response = std::move(call.response);
  return {};
}

Result<Json> event_json(World& world, std::int64_t seq, bool full) {
  store::Db& db = world.db;
  auto event = TRY(store::kept_event(db, seq));
  if (!event) return Json();
  if (!event->texts.input && !event->texts.response && !event->tool_use_id.empty())
    TRY(read_archived(world, *event));
  // The text of a prompt is in the table of prompts.
  if (event->kind == event::Kind::prompt && !event->texts.input)
    if (auto text = TRY(store::prompt_text(db, event->session, event->prompt_number)); !text.empty())
      event->texts.input = std::move(text);
  // Retention removed its texts, and no archive has them.
  Json expired;
  const bool has_texts = event->texts.input || event->texts.response || event->texts.extra;
  if (!has_texts && TRY(store::has_expired(db, event->session, event->prompt_number)))
    expired =
        Json(iso8601(event->at + std::chrono::hours(24 * world.settings.integer("evidence.keep_days"))));
  return Json::object({{"seq", seq},
                       {"expired_at", expired},
                       {"event_id", event->id.value},
                       {"event", event->name},
                       {"kind", event::kind_name(event->kind)},
                       {"tool_name", event->tool_name.empty() ? Json() : Json(event->tool_name)},
                       {"tool_use_id", event->tool_use_id.empty() ? Json() : Json(event->tool_use_id)},
                       {"origin", origins_json(event->tool_name)},
                       {"source", store::name_of(event->source)},
                       {"time", iso8601(event->at)},
                       {"input", text_json(event->texts.input, full)},
                       {"response", text_json(event->texts.response, full)},
                       {"extra", text_json(event->texts.extra, full)}});
}

Result<Json> why(World& world, const Args& args) {
  const recall::Record record = TRY(find_record(world, args.record("id")));
  Json events = Json::array();
  for (const std::int64_t seq : TRY(store::evidence_of(world.db, record.id, kMostEvents))) {
    Json event = TRY(event_json(world, seq, args.flag("full")));
    if (!event.is_null()) events.push(std::move(event));
  }
  Json out = record_json(record).set("events", events);
  const auto name = store::read_record_name(recall::text_of(record.id));
  if (!name) return out;
  const std::string from = TRY(store::imported_from(world.db, *name));
  out.set("imported_from", from.empty() ? Json() : Json(from));
  const auto standing = TRY(store::standing_of(world.db, *name));
  if (!standing) return out;
  Json changed = Json::array();
  if (name->letter == 'O') {
    recall::Freshness freshness(world.db, world.disk);
    for (std::string& path : TRY(freshness.changed(name->row))) changed.push(std::move(path));
  }
  // What a person confirmed stays so: only the person knows whether the change matters.
  const bool is_stale = !changed.items().empty();
  const auto trust =
      is_stale && standing->trust == store::Trust::candidate ? store::Trust::stale : standing->trust;
  // What a person wrote has no event: the person is its source.
  return out.set("actor", store::name_of(standing->actor))
      .set("trust", store::name_of(trust))
      .set("changed_files", changed)
      .set("pinned", standing->pinned)
      .set("edited", standing->edited)
      .set("valid_until", time_or_null(standing->valid_until));
}

}  // namespace cairn::ops
