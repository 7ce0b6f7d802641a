#include "gate/address_secrets.h"

#include <algorithm>
#include <array>

#include "gate/secret_value.h"
#include "gate/secrets/rules.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxAddress = 160;  // characters that are read of one
constexpr std::size_t kMaxKey = 4096;     // of a key in JSON

struct Part {
  // The host is there for webhooks; a path to one; a path to something that is
  // sent by mail; a parameter; a JSON web key; the same in XML; what a tool
  // made by lot; the key of an account
  enum How { host, hook, link, parameter, key, xml, result, account } how;
  std::string_view text;
};
const std::vector<Part>& address_parts() {
  static const std::vector<Part> kParts = [] {
    std::vector<Part> out;
    for (const RuleEntry& entry : rule_entries("addresses"))
      for (const std::string_view text : texts_of(entry.columns[1]))
        out.push_back({one_of<Part::How>(entry.columns[0], {"host", "hook", "link", "parameter", "key", "xml",
                                                            "result", "account"}),
                       text});
    return out;
  }();
  return kParts;
}

bool is_uuid_text(std::string_view value) {
  return value.size() == 36 && value[8] == '-' && value[13] == '-' && value[18] == '-' && value[23] == '-';
}

// Drawn by lot: letters and digits, mixed.
bool is_drawn_part(std::string_view part, std::size_t least) {
  const auto digits = std::count_if(part.begin(), part.end(), is_digit);
  return part.size() >= least && digits >= 2 && run_end(Chars::url, part, 0) == part.size() &&
         mixture(part) >= 2 && is_random(part) && !is_placeholder(part);
}

// Whether text[at] stands within an address.
bool is_within_address(std::string_view text, std::size_t at) {
  const std::size_t limit = at - std::min(at, kMaxAddress);
  std::size_t begin = at;
  while (begin > limit && is(Chars::visible, text[begin - 1])) --begin;
  return text.substr(begin, at - begin).find("://") != std::string_view::npos;
}

// The secret part of the path that goes on at `at`, and all behind it. Short
// ones count where the whole host is there for them.
void find_path(std::string_view text, std::size_t at, Part::How how, std::vector<Place>& found) {
  text = text.substr(0, at + kMaxAddress);
  for (int parts = 0; parts < 6; ++parts) {
    const std::size_t end = run_end(Chars::url, text, at);
    const std::string_view part = text.substr(at, end - at);
    const auto digits = std::count_if(part.begin(), part.end(), is_digit);
    const bool last = end >= text.size() || text[end] != '/';
    if (how == Part::host ? part.size() >= 5 && digits > 0
                          : is_uuid_text(part) || is_drawn_part(part, how == Part::hook ? 16 : 20)) {
      std::size_t stop = end;
      while (how != Part::link && stop + 1 < text.size() && text[stop] == '/' &&
             is(Chars::url, text[stop + 1]))
        stop = run_end(Chars::url, text, stop + 1);
      const std::string_view all = text.substr(at, stop - at);
      const bool letters = std::any_of(all.begin(), all.end(), [](char c) { return is(Chars::letter, c); });
      if (letters && !is_placeholder(all) && !is_words(all)) found.push_back({at, stop, "webhook"});
      return;
    }
    if (last) return;
    at = end + 1;
  }
}

// "d": "..."
void find_members(std::string_view text, std::size_t begin, std::size_t end, std::vector<Place>& found) {
  static constexpr auto kPrivate = std::to_array<std::string_view>({"d", "p", "q", "dp", "dq", "qi", "k"});
  for (std::size_t quote = text.find('"', begin); quote < end; quote = text.find('"', quote + 1)) {
    const std::size_t close = run_end(Chars::word, text, quote + 1);
    if (close >= end || text[close] != '"' ||
        std::find(kPrivate.begin(), kPrivate.end(), text.substr(quote + 1, close - quote - 1)) ==
            kPrivate.end())
      continue;
    std::size_t value = close + 1;
    while (value < end && (text[value] == ' ' || text[value] == ':')) ++value;
    if (value >= end || text[value] != '"') continue;
    const std::size_t stop = run_end(Chars::any_base64, text.substr(0, end), value + 1);
    if (stop < end && text[stop] == '"' && stop - value > 16)
      found.push_back({value + 1, stop, "private-key"});
    quote = stop;
  }
}

// The object around text[at]: what a private key has more than a public one.
std::size_t find_json_key(std::string_view text, std::size_t at, std::vector<Place>& found) {
  const std::size_t from = at - std::min(at, kMaxKey);
  const std::size_t open = text.substr(from, at - from).rfind('{');
  const std::size_t close = text.substr(at, kMaxKey).find('}');
  if (open != std::string_view::npos && close != std::string_view::npos)
    find_members(text, from + open, at + close, found);
  return open == std::string_view::npos || close == std::string_view::npos ? kMaxKey
                                                                           : at - from - open + close;
}

}  // namespace

const std::vector<std::string_view>& address_literals() {
  static const std::vector<std::string_view> kTexts = [] {
    std::vector<std::string_view> out;
    for (const Part& part : address_parts()) out.push_back(part.text);
    return out;
  }();
  return kTexts;
}

std::size_t find_in_address(std::string_view text, std::size_t index, std::size_t begin, std::size_t end,
                            std::vector<Place>& found) {
  constexpr std::size_t kReading = 64, kLooking = 12;
  switch (const Part::How how = address_parts()[index].how) {
    case Part::host: {
      const std::size_t host = run_end(Chars::name, text.substr(0, end + 80), end);
      if (host < text.size() && text[host] == '/') find_path(text, host + 1, how, found);
      return kReading;
    }
    case Part::hook:
    case Part::link:
      if (end >= text.size() || !is(Chars::alnum, text[end])) return kLooking;
      if (is_within_address(text, begin)) find_path(text, end, how, found);
      return kReading;
    case Part::parameter: {
      const std::size_t stop = run_end(Chars::url, text.substr(0, end + kMaxAddress), end);
      const std::string_view value = text.substr(end, stop - end);
      if (!is_uuid_text(value) && is_drawn_part(value, 20)) found.push_back({end, stop, "token"});
      return kLooking + value.size();
    }
    case Part::account: {
      const std::size_t stop = run_end(Chars::base64, text.substr(0, end + 88), end);
      if (stop - end == 86 && text.substr(stop, 3) == "==\"") found.push_back({end, stop + 2, "azure-key"});
      return kLooking;
    }
    case Part::result: {
      // random_password.db.result = "...", and the same in a file of states
      const std::string_view rest = text.substr(end, kMaxAddress);
      const std::size_t word = rest.find("result");
      if (word == std::string_view::npos) return kReading;
      static constexpr CharSet kBetween("\" :=");
      std::size_t at = word + 6;
      while (at < rest.size() && kBetween.has(rest[at])) ++at;
      const std::size_t stop = rest.find('"', at);
      if (at > word + 7 && rest[at - 1] == '"' && stop != std::string_view::npos && stop >= at + 8)
        found.push_back({end + at, end + stop, "password"});
      return kReading + word;
    }
    case Part::key: return find_json_key(text, begin, found);
    case Part::xml: {
      const std::string_view key = text.substr(end, kMaxKey);
      const std::size_t first = key.find("<P>"), last = key.find("</RSAKeyValue>");
      if (first < last && last != std::string_view::npos)
        found.push_back({end + first + 3, end + last, "private-key"});
      return kReading + std::min(last, key.size());
    }
  }
  return kLooking;
}

}  // namespace cairn::gate
