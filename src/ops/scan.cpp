#include "ops/scan.h"

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "archive/version_reader.h"
#include "base/text.h"
#include "forget/job.h"
#include "host/host.h"
#include "ops/operation.h"
#include "ops/policy.h"
#include "store/walk.h"

namespace cairn::ops {

namespace {

constexpr std::size_t kMaxScanned = 256u << 20;  // bytes of a log or a quarantined file

// Counts findings by place, kind and fingerprint. The secrets themselves are kept only if `found` wants
// them.
class Report {
 public:
  // `found`: takes the secrets themselves; may be null.
  explicit Report(const gate::Secrets& secrets, std::set<std::string>* found)
      : secrets_(secrets), found_(found) {}

  void look(const std::string& place, const std::string& column, std::int64_t row, std::string_view text) {
    ++texts_;
    bytes_ += text.size();
    for (const gate::Finding& finding : secrets_.find(text)) {
      ++counts_[{place, row, column, finding.kind, finding.fingerprint}];
      if (found_) found_->emplace(text.substr(finding.begin, finding.end - finding.begin));
    }
  }

  Json json() const {
    Json findings = Json::array();
    for (const auto& [where, count] : counts_) {
      const auto& [place, row, column, kind, fingerprint] = where;
      findings.push(Json::object({{"place", place},
                                  {"column", column},
                                  {"row", row},
                                  {"kind", kind},
                                  {"fingerprint", fingerprint},
                                  {"count", count}}));
    }
    return Json::object({{"findings", findings}, {"texts", texts_}, {"bytes", bytes_}});
  }

 private:
  using Where = std::tuple<std::string, std::int64_t, std::string, std::string, std::string>;
  const gate::Secrets& secrets_;
  std::set<std::string>* found_;
  std::map<Where, int> counts_;
  std::size_t texts_ = 0, bytes_ = 0;
};

// Finds the texts of a transcript line. Leaves out what the host needs as it is: ids and signatures look like
// secrets. A line that is not a JSON object is one text.
class LineTexts {
 public:
  LineTexts(const host::Host& host, std::function<void(std::string_view)> look)
      : host_(host), look_(std::move(look)) {}

  void read(std::string_view line) {
    const Json::Parsed parsed = Json::parse_partial(line);
    parsed.complete&& parsed.value.is_object() ? walk(parsed.value) : look_(line);
  }

 private:
  void walk(const Json& value) {
    if (value.is_string() && !host_.is_structure(keys_)) look_(value.as_string());
    for (const Json& item : value.items()) walk(item);
    for (const Json::Member& member : value.members()) {
      keys_.push_back(member.first);
      walk(member.second);
      keys_.pop_back();
    }
  }

  const host::Host& host_;
  std::function<void(std::string_view)> look_;
  std::vector<std::string_view> keys_;
};

Status scan_archive(store::Db& db, os::Disk& disk, const hook::Home& home, const std::atomic<bool>* stopping,
                    Report& report) {
  // By base: versions of a transcript share files, and each is read once.
  std::set<std::int64_t> bases;
  for (const store::ArchiveFile& file : TRY(store::archive_files(db))) bases.insert(file.base);
  for (const std::int64_t id : bases) {
    const auto base = TRY(store::find_base(db, id));
    if (!base) continue;
    archive::VersionReader reader(disk, home.data + "/archive", base->name,
                                  TRY(store::segments_of(db, id, std::numeric_limits<std::int64_t>::max())));
    archive::FrameText frame;
    while (reader.next(frame)) {
      if (stopping && *stopping) return {};
      const std::string place = "archive/" + store::segment_file(base->name, frame.segment);
      std::int64_t number = frame.first_line;
      LineTexts texts(host::find_host(base->key.platform),
                      [&](std::string_view text) { report.look(place, "line", number, text); });
      for (const std::string_view line : split(frame.text, '\n')) {
        if (!line.empty()) texts.read(line);
        ++number;
      }
    }
  }
  return {};
}

}  // namespace

Result<Json> scan(store::Db& db, os::Disk& disk, const hook::Home& home, const gate::Secrets& secrets,
                  const std::atomic<bool>* stopping, std::set<std::string>* found) {
  Report report(secrets, found);
  const auto stopped = [&] { return stopping && *stopping; };
  // Only the search takes long: after `stopping` the rest of the walk is quick.
  TRY(store::walk_texts(db, [&](const store::StoredText& stored) {
    if (!stopped()) report.look(stored.table, stored.column, stored.row, stored.text);
  }));
  TRY(scan_archive(db, disk, home, stopping, report));
  if (stopped()) return Error{Code::canceled, "scan: the daemon is ending: run it again"};
  for (const std::string& directory : {home.logs(), home.inbox() + "/bad"}) {
    const auto names = disk.list(directory);
    if (!names) continue;
    for (const std::string& name : *names)
      if (const auto text = os::read_file(disk, directory + "/" + name, kMaxScanned))
        report.look(directory.substr(home.data.size() + 1) + "/" + name, "", 0, *text);
  }
  return report.json();
}

// The writer forgets what was found, within a minute.
static void forget_found(World& world, const gate::Secrets& secrets, const std::set<std::string>& found) {
  forget::Request request;
  request.secrets.assign(found.begin(), found.end());
  // Where the gate removed one of them, its marker goes too.
  std::vector<std::string> prints;
  for (const std::string& secret : found) prints.push_back(secrets.fingerprint(secret));
  world.write_later([key = world.key, request, prints, now = world.clock.now()](store::Db& db) -> Status {
    const forget::Selection selection = TRY(forget::select(db, key, request));
    TRY(forget::begin(db, key, selection, prints, now));
    return {};
  });
}

static Result<Json> scan_all(World& world, const Args& args) {
  const gate::Secrets secrets(gate_rules(world.disk, world.settings, world.key).secrets);
  std::set<std::string> found;
  const bool forget = args.flag("forget");
  Json report =
      TRY(scan(world.db, world.disk, world.home, secrets, world.stopping, forget ? &found : nullptr));
  if (!forget) return report;
  if (!found.empty() && world.write_later) forget_found(world, secrets, found);
  return report.set("forgetting", found.size());
}

std::vector<Operation> scan_operations() {
  return {{.name = "scan",
           .access = Access::read_slowly,
           .group = Group::privacy,
           .summary = "look for secrets in what is stored",
           .help =
               "Searches every row, the archive, the log and the quarantined files, with the current rules. "
               "Reports the place, never the secret. The exit code is 1 when something was found.\n\n"
               "--forget removes what is found, everywhere and for good, as `cairn forget --secret` does. "
               "Asks first.",
           .arguments = {flag("forget", "remove what is found, for good")},
           .body = scan_all}};
}

}  // namespace cairn::ops
