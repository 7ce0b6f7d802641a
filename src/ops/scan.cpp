#include "ops/scan.h"

#include <map>
#include <tuple>

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

}  // namespace

Result<Json> scan(store::Db& db, os::Disk& disk, const hook::Home& home, const gate::Secrets& secrets,
                  const std::atomic<bool>* stopping) {
  Report report(secrets);
  const auto stopped = [&] { return stopping && *stopping; };
  // Only the search takes long: after `stopping` the rest of the walk is quick.
  TRY(store::walk_texts(db, [&](const store::StoredText& stored) {
    if (!stopped()) report.look(stored.table, stored.column, stored.row, stored.text);
  }));
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
           .help = "Reads every row, the log and the quarantined files, with the rules of today. Says where, "
                   "never what. The exit code is 1 when something was found.",
           .body = scan_all}};
}

}  // namespace cairn::ops
