#include "exchange/export.h"

#include <utility>

#include "base/hash.h"
#include "forget/tombstones.h"
#include "store/exchange.h"
#include "store/tombstones.h"

namespace cairn::exchange {

namespace {

// Separates the lines of records.
class Lines {
 public:
  explicit Lines(const Sink& sink) : sink_(sink) {}

  Status add(const Json& record) {
    ++counts[std::string(record["record"].as_string())];
    const std::string line = (std::exchange(first_, false) ? "\n" : ",\n") + record.dump();
    return sink_(line);
  }
  RecordCounts counts;

 private:
  const Sink& sink_;
  bool first_ = true;
};

// A tombstone names its key by a number. 0 is this home's.
Status add_tombstones(store::Db& db, const std::string& home_key, Lines& lines) {
  const auto tombstones = TRY(store::lasting_tombstones(db));
  if (tombstones.empty()) return {};
  // A tombstone that came with another home's export has that home's key. An empty key is ours.
  std::map<std::string, std::int64_t> numbers = {{"", 0}};
  TRY(lines.add(Json::object({{"record", "key"}, {"number", 0}, {"key", forget::tombstone_key(home_key)}})));
  for (const store::TombstoneRow& tombstone : tombstones) {
    const auto [number, is_new] = numbers.emplace(tombstone.key, static_cast<std::int64_t>(numbers.size()));
    if (is_new)
      TRY(lines.add(Json::object({{"record", "key"}, {"number", number->second}, {"key", tombstone.key}})));
    TRY(lines.add(Json::object({{"record", "tombstone"},
                                {"key", number->second},
                                {"kind", name_of(tombstone.kind)},
                                {"hash", to_hex(tombstone.hash)},
                                {"start", std::int64_t{tombstone.start}},
                                {"length", std::int64_t{tombstone.length}}})));
  }
  return {};
}

}  // namespace

std::string home_name(std::string_view home_key) {
  constexpr std::size_t kDigits = 16;
  return keyed_hash(home_key, "home").substr(0, kDigits);
}

Result<RecordCounts> write_json(store::Db& db, const Export& what, const Sink& sink) {
  // All reads see the state of one moment.
  auto moment = TRY(store::Savepoint::begin(db));
  Json projects = Json::array();
  for (const std::string& name : what.projects) projects.push(name);
  std::string head = Json::object({{std::string(kVersionKey), kFormatVersion},
                                   {"made_by", what.program},
                                   {"made_at", iso8601(what.now)},
                                   {"home", home_name(what.home_key)},
                                   {"projects", projects}})
                         .dump();
  // The first line is the header without its closing brace: the records follow as its last members.
  head.pop_back();
  TRY(sink(head + ",\"records\":["));
  Lines lines(sink);
  // In the order of the kinds a record comes after those that it names.
  for (const store::ExchangeKind& kind : store::exchange_kinds())
    TRY(store::read_exchange(db, kind, what.projects, std::nullopt,
                             [&](Json record) { return lines.add(record); }));
  if (what.tombstones) TRY(add_tombstones(db, what.home_key, lines));
  Json counts = Json::object();
  for (const auto& [kind, count] : lines.counts) counts.set(kind, count);
  // The last line says how many there were: a file that was cut is found by it.
  TRY(sink("\n],\"counts\":" + counts.dump() + "}\n"));
  TRY(moment.commit());
  return std::move(lines.counts);
}

}  // namespace cairn::exchange
