#include "gate/secrets.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "gate/named_secrets.h"
#include "gate/pattern.h"
#include "gate/plain_view.h"
#include "gate/secret_search.h"
#include "gate/telling_names.h"

namespace cairn::gate {

namespace {

constexpr int kBase64Depth = 2;
constexpr std::size_t kFingerprint = 8;

// A name is nearer to the truth than what stands beside it only when nothing else is known.
bool is_general(std::string_view kind) {
  return kind == "password" || kind == "token" || kind == "key" || kind == "env-value";
}

// What is the same in all spellings of one secret.
std::string bare(std::string_view secret) {
  std::string out;
  for (const char c : secret)
    if (std::string_view(" \t\r\n\"'`\\").find(c) == std::string_view::npos) out += c;
  return out;
}

std::pair<std::string_view, std::string_view> name_and_pattern(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool is_kind(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

std::string wrong_pattern(std::string_view pattern, bool named) {
  if (named) {
    const auto [name, rest] = name_and_pattern(pattern);
    if (!is_kind(name)) return "must be name=PATTERN, the name of a-z, 0-9 and -";
    pattern = rest;
  }
  const auto compiled = Pattern::compile(pattern);
  if (!compiled) return compiled.error().message;
  return compiled->matches_all("") ? "matches the empty text" : "";
}

struct Secrets::Compiled {
  std::vector<std::pair<std::string, Pattern>> patterns;
  std::vector<Pattern> allow;
};

Secrets::Secrets(SecretOptions options) : key_(std::move(options.key)) {
  if (options.patterns.empty() && options.allow.empty()) return;
  auto compiled = std::make_shared<Compiled>();
  for (const std::string& text : options.patterns) {
    if (!wrong_pattern(text, true).empty()) continue;
    const auto [name, pattern] = name_and_pattern(text);
    compiled->patterns.emplace_back(name, *Pattern::compile(pattern, true));
  }
  for (const std::string& text : options.allow)
    if (auto pattern = Pattern::compile(text)) compiled->allow.push_back(*std::move(pattern));
  own_ = std::move(compiled);
}

static void find_own(std::string_view text, const std::vector<std::pair<std::string, Pattern>>& patterns,
                     std::vector<Place>& places) {
  for (const auto& [name, pattern] : patterns)
    for (std::size_t at = 0; at <= text.size();) {
      const auto match = pattern.find(text, at);
      if (!match) break;
      if (match->inner_end > match->inner_begin)
        places.push_back({match->inner_begin, match->inner_end, name});
      at = std::max(match->end, at + 1);
    }
}

// In order, overlapping ones as one.
static std::vector<Place> merged(std::vector<Place> places) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  std::vector<Place> out;
  for (const Place& place : places) {
    if (out.empty() || place.begin >= out.back().end) {
      out.push_back(place);
      continue;
    }
    out.back().end = std::max(out.back().end, place.end);
    if (is_general(out.back().kind)) out.back().kind = place.kind;
  }
  return out;
}

std::vector<Finding> Secrets::find(std::string_view text, bool env_file) const {
  std::vector<Finding> findings;
  if (text.size() < 6) return findings;
  const PlainView view(text);
  std::vector<Place> places;
  search_secrets(view.text(), kBase64Depth, places);
  if (env_file) find_env_lines(view.text(), places);
  if (own_) find_own(view.text(), own_->patterns, places);
  for (const Place& place : merged(std::move(places))) {
    const std::string_view secret = view.text().substr(place.begin, place.end - place.begin);
    const bool allowed = own_ && std::any_of(own_->allow.begin(), own_->allow.end(),
                                             [&](const Pattern& p) { return p.matches_all(secret); });
    if (allowed) continue;
    const auto [begin, end] = view.raw(place.begin, place.end);
    findings.push_back({begin, end, std::string(place.kind), fingerprint(secret)});
  }
  return findings;
}

std::string Secrets::fingerprint(std::string_view secret) const {
  return keyed_hash(key_, bare(secret)).substr(0, kFingerprint);
}

static std::string marker(const Finding& finding) {
  return "[secret:" + finding.kind + ":" + finding.fingerprint + "]";
}

std::size_t Secrets::remove(std::string& text, bool env_file) const {
  const std::vector<Finding> findings = find(text, env_file);
  if (findings.empty()) return 0;
  std::string out;
  std::size_t at = 0;
  for (const Finding& finding : findings) {
    out.append(text, at, finding.begin - at).append(marker(finding));
    at = finding.end;
  }
  text = out.append(text, at);
  return findings.size();
}

static std::string& string_of(Json& value) {
  std::string* found = nullptr;
  value.for_each_string([&](std::string& s) { found = &s; });
  CAIRN_ASSERT(found != nullptr);
  return *found;
}

// Strings one after the other are the lines of one text.
std::size_t Secrets::remove_run(Json* first, Json* last, bool env_file) const {
  if (last - first == 1) return remove(string_of(*first), env_file);
  std::string joined;
  for (Json* item = first; item != last; ++item) joined.append(item->as_string()).append("\n");
  const std::vector<Finding> findings = find(joined, env_file);
  auto finding = findings.begin();
  std::size_t start = 0;
  for (Json* item = first; item != last && finding != findings.end(); ++item) {
    std::string& line = string_of(*item);
    const std::size_t end = start + line.size();
    std::string out;
    std::size_t at = start;
    for (; finding != findings.end() && finding->begin < end; ++finding) {
      if (finding->begin > at) out.append(line, at - start, finding->begin - at);
      // A line of a patch keeps its sign.
      if (finding->begin < at && !line.empty() && (line[0] == '+' || line[0] == '-')) out += line[0];
      out += marker(*finding);
      at = std::min(finding->end, end);
      if (finding->end > end) break;  // it goes on in the next line
    }
    if (at > start || !out.empty()) line = out.append(line, at - start);
    while (finding != findings.end() && finding->end <= end + 1) ++finding;
    start = end + 1;
  }
  return findings.size();
}

std::size_t Secrets::remove_member(std::string_view name, Json& value, bool env_file) const {
  if (!value.is_string()) return remove(value, env_file);
  std::string& text = string_of(value);
  const std::size_t removed = remove(text, env_file);
  if (removed > 0 || !is_secret_under(name, text)) return removed;
  text = marker({0, text.size(), std::string(kind_name(strength_of(name))), fingerprint(text)});
  return 1;
}

std::size_t Secrets::remove(Json& value, bool env_file) const {
  if (value.is_string()) return remove(string_of(value), env_file);
  std::size_t removed = 0;
  if (value.is_array()) {
    Json::Array& items = value.mutable_items();
    for (std::size_t i = 0; i < items.size();) {
      std::size_t end = i;
      while (end < items.size() && items[end].is_string()) ++end;
      removed +=
          end > i ? remove_run(items.data() + i, items.data() + end, env_file) : remove(items[i], env_file);
      i = std::max(end, i + 1);
    }
  } else if (value.is_object()) {
    for (Json::Member& member : value.mutable_members()) {
      removed += remove(member.first);
      removed += remove_member(member.first, member.second, env_file);
    }
  }
  return removed;
}

}  // namespace cairn::gate
