#include "ops/scan.h"

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "archive/version_reader.h"
#include "base/text.h"
#include "host/host.h"
#include "ops/operation.h"
#include "ops/policy.h"
#include "store/walk.h"

namespace cairn::ops {

namespace {

constexpr std::size_t kMaxFile = 256u << 20;

class Report {
 public:
  explicit Report(const gate::Secrets& secrets) : secrets_(secrets) {}

  void look(const std::string& place, const std::string& column, std::int64_t row, std::string_view text) {
    ++texts_;
    bytes_ += text.size();
    for (const gate::Finding& finding : secrets_.find(text))
      ++counts_[{place, row, column, finding.kind, finding.fingerprint}];
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
  std::map<Where, int> counts_;
  std::size_t texts_ = 0, bytes_ = 0;
};

// The texts of a line, without what the host needs as it is: ids and signatures look like secrets.
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
                  const std::atomic<bool>* stopping) {
  Report report(secrets);
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
      if (const auto text = os::read_file(disk, directory + "/" + name, kMaxFile))
        report.look(directory.substr(home.data.size() + 1) + "/" + name, "", 0, *text);
  }
  return report.json();
}

static Result<Json> scan_all(World& world, const Args&) {
  const gate::Secrets secrets(gate_rules(world.disk, world.settings, world.key).secrets);
  return scan(world.db, world.disk, world.home, secrets, world.stopping);
}

std::vector<Operation> scan_operations() {
  return {{.name = "scan",
           .access = Access::read_slowly,
           .group = Group::privacy,
           .summary = "look for secrets in what is stored",
           .help =
               "Searches every row, the archive, the log and the quarantined files, with the current rules. "
               "Reports the place, never the secret. The exit code is 1 when something was found.",
           .body = scan_all}};
}

}  // namespace cairn::ops
