#include "gate/secrets.h"

#include <algorithm>

#include "base/text.h"
#include "gate/plain_view.h"
#include "gate/private_text.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/user_patterns.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr int kBase64Depth = 2;
constexpr std::size_t kFingerprint = 8;

// Whether the kind is a general one, such as "password": a more specific kind for the same place wins.
bool is_general(std::string_view kind) {
  static const WordList kGeneral("general-kinds");
  return kGeneral.has(kind);
}

bool begins_like_a_token(std::string_view word) {
  const auto& rules = secret_rules();
  return std::any_of(rules.begin(), rules.end(), [&](const SecretRule& rule) {
    return std::any_of(rule.literals.begin(), rule.literals.end(), [&](const std::string& literal) {
      return literal.size() >= 3 && word.starts_with(literal);
    });
  });
}

}  // namespace

std::vector<Finding> placeholders(std::string_view text) {
  // Goes word by word. `name` is the word before, when a sign and not only a blank stands between them.
  static constexpr CharSet kBetween(" \t\"'`=:");
  std::vector<Finding> out;
  std::string_view name;
  for (std::size_t at = 0; at < text.size();) {
    if (kBetween.has(text[at]) || text[at] == '\n' || text[at] == ',' || text[at] == '{') {
      if (text[at] == '\n') name = {};
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !kBetween.has(text[end]) && text[end] != '\n' && text[end] != ',') ++end;
    const std::string_view word = text.substr(at, std::min<std::size_t>(end - at, 200));
    const bool known = word.size() >= 12 && begins_like_a_token(word);
    if ((known || strength_of(name) >= Strength::token) && word.size() >= 4 && is_placeholder(word) &&
        marker_at(text, at) == 0)
      out.push_back({at, end, "placeholder", ""});
    name = end < text.size() && text[end] != ' ' ? word : std::string_view();
    at = end;
  }
  return out;
}

Secrets::Secrets(SecretOptions options) : hash_(options.key) {
  if (!options.patterns.empty() || !options.allow.empty())
    own_ = std::make_shared<UserPatterns>(options.patterns, options.allow);
}

// Patterns match bytes, so a match may end inside a character.
static FoundSecret widened(std::string_view text, FoundSecret place) {
  const auto is_inner = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  for (int i = 0; i < 3 && place.begin > 0 && is_inner(place.begin); ++i) --place.begin;
  for (int i = 0; i < 3 && place.end < text.size() && is_inner(place.end); ++i) ++place.end;
  return place;
}

// A rule may have matched only the beginning of a secret: extend the match to the end of the run of
// characters.
static std::size_t run_on(std::string_view text, std::size_t end) {
  if (end == 0 || end >= text.size() || !is(Chars::url, text[end - 1]) || !is(Chars::url, text[end]))
    return end;
  static constexpr CharSet kInside("+/=.~%");
  for (;;) {
    end = run_end(Chars::url, text, end);
    if (end + 1 >= text.size() || !kInside.has(text[end]) || !is(Chars::url, text[end + 1])) return end;
    ++end;
  }
}

// Calls `take` for each secret in order, with overlapping ones joined. Markers of an earlier run are not
// touched.
template <class Take>
static void each_merged(std::string_view text, std::vector<FoundSecret>& places, Take&& take) {
  sort_places(places);
  for (std::size_t i = 0; i < places.size();) {
    FoundSecret whole = widened(text, places[i++]);
    for (; i < places.size(); ++i) {
      const FoundSecret next = widened(text, places[i]);
      if (next.begin >= (whole.end = run_on(text, whole.end))) break;
      whole.end = std::max(whole.end, next.end);
      if (is_general(whole.kind)) whole.kind = next.kind;
    }
    whole.end = run_on(text, whole.end);
    const std::string_view inside = text.substr(whole.begin, whole.end - whole.begin);
    const std::size_t marker = inside.find("[secret:");
    if (marker == std::string_view::npos || marker_at(inside, marker) == 0) take(whole);
  }
}

template <class Take>
void Secrets::each(std::string_view text, Reading reading, Take&& take) const {
  if (text.size() < 6) return;
  PlainView view(text);
  std::vector<FoundSecret> places;
  if (!reading.known_only) {
    search_secrets(view.text(), kBase64Depth, places);
    find_env_lines(view.text(), reading.env_file, places);
    if (own_) own_->find(view.text(), places);
  }
  if (reading.known) reading.known->find(view.text(), hash_, places);
  each_merged(view.text(), places, [&](const FoundSecret& place) {
    const std::string_view secret = view.text().substr(place.begin, place.end - place.begin);
    if (own_ && own_->allow(secret)) return;
    const auto [begin, end] = view.raw(place.begin, place.end);
    if (reading.known && !reading.known_only) reading.known->learn(secret, hash_);
    take(begin, end, place.kind, fingerprint(secret));
  });
}

std::vector<Finding> Secrets::find(std::string_view text, Reading reading) const {
  std::vector<Finding> findings;
  each(text, reading, [&](std::size_t begin, std::size_t end, std::string_view kind, std::string print) {
    findings.push_back({begin, end, std::string(kind), std::move(print)});
  });
  return findings;
}

std::string Secrets::fingerprint(std::string_view secret) const {
  std::string room;
  return to_hex(hash_.of(bare(secret, room))).substr(0, kFingerprint);
}

static void append_marker(std::string_view kind, std::string_view print, std::string& out) {
  out.append("[secret:").append(kind).append(":").append(print).append("]");
}

std::size_t Secrets::copy_without(std::string_view text, Reading reading, std::string& out) const {
  std::size_t at = 0, count = 0;
  each(text, reading,
       [&](std::size_t begin, std::size_t end, std::string_view kind, const std::string& print) {
         if (count++ == 0) out.reserve(2 * text.size());  // a marker may be longer than what it stands for
         out.append(text, at, begin - at);
         append_marker(kind, print, out);
         at = end;
       });
  if (count > 0) out.append(text, at);
  return count;
}

std::string Secrets::without(std::string_view text) const {
  std::string out;
  if (copy_without(text, {}, out) == 0) out = text;
  return out;
}

std::size_t Secrets::remove(std::string& text, Reading reading) const {
  std::string out;
  const std::size_t count = copy_without(text, reading, out);
  if (count > 0) text = std::move(out);
  return count;
}

// Consecutive strings are the lines of one text: they are searched together, and a secret that goes over
// several lines gets its marker in each of them.
std::size_t Secrets::remove_run(Json* first, Json* last, Reading reading) const {
  if (last - first == 1) return remove(string_of(*first), reading);
  std::string joined;
  for (Json* item = first; item != last; ++item) joined.append(item->as_string()).append("\n");
  const std::vector<Finding> findings = find(joined, reading);
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
      append_marker(finding->kind, finding->fingerprint, out);
      at = std::min(finding->end, end);
      if (finding->end > end) break;  // it continues on the next line
    }
    if (at > start || !out.empty()) line = out.append(line, at - start);
    while (finding != findings.end() && finding->end <= end + 1) ++finding;
    start = end + 1;
  }
  return findings.size();
}

// A value that is a secret because of its name: taken alone, or read as `name: value`.
std::size_t Secrets::remove_named(std::string_view name, std::string& text, Reading reading) const {
  if (strength_of(name) == Strength::none && !is_cookie_name(name)) return 0;
  const Strength strength = strength_of(name);
  if (strength != Strength::none && is_secret(strength, Style::quoted, text.substr(0, kMaxValue)) &&
      !is_named_otherwise(name, text)) {
    const std::string print = fingerprint(text);
    if (reading.known) reading.known->learn(text, hash_);
    text.clear();
    append_marker(kind_name(strength), print, text);
    return 1;
  }
  const std::string before = std::string(name) + ": ";
  std::string line = before + text;
  if (remove(line, {false, reading.known}) == 0 || !line.starts_with(before)) return 0;
  text = line.substr(before.size());
  return 1;
}

// Members whose value is named by another member, or by the object around them.
static bool is_name_of_value(std::string_view member) {
  static const WordList kNames("members-with-values");
  return kNames.has(member);
}
static bool is_name_of_name(std::string_view member) {
  static const WordList kNames("members-with-names");
  return kNames.has(member);
}

std::size_t Secrets::remove_member(std::string_view name, Json& value, Reading reading) const {
  // A password of digits only is a number in JSON.
  if (value.is_int() && strength_of(name) == Strength::password && value.dump().size() >= 6) {
    std::string text;
    append_marker(kind_name(Strength::password), fingerprint(value.dump()), text);
    value = Json(std::move(text));
    return 1;
  }
  if (value.is_string()) {
    const std::size_t removed = remove(string_of(value), reading);
    return removed > 0 ? removed : remove_named(name, string_of(value), reading);
  }
  std::size_t removed = remove(value, reading);
  if (removed > 0 || strength_of(name) == Strength::none) return removed;
  // {"password": ["..."]}, {"password": {"value": "..."}}
  if (value.is_array())
    for (Json& item : value.mutable_items()) removed += remove_member(name, item, reading);
  if (value.is_object())
    for (Json::Member& member : value.mutable_members())
      if (is_name_of_value(member.first)) removed += remove_member(name, member.second, reading);
  return removed;
}

// {"name": "DB_PASSWORD", "value": "..."} in either order, and ["DB_PASSWORD", "..."].
std::size_t Secrets::remove_pair(Json& pair, Reading reading) const {
  std::string_view name;
  std::string* value = nullptr;
  if (pair.is_array() && pair.items().size() == 2 && pair.items()[1].is_string()) {
    name = pair.items()[0].as_string();
    value = &string_of(pair.mutable_items()[1]);
  }
  if (pair.is_object())
    for (Json::Member& member : pair.mutable_members()) {
      if (!member.second.is_string()) continue;
      if (is_name_of_name(member.first)) name = member.second.as_string();
      if (is_name_of_value(member.first)) value = &string_of(member.second);
    }
  if (name.empty() || name.size() > 64 || !value) return 0;
  const auto words = split(name, ' ');  // "Password input"
  const auto telling = std::find_if(words.begin(), words.end(), [](std::string_view word) {
    return strength_of(word) == Strength::password;
  });
  return remove_named(telling == words.end() ? name : *telling, *value, reading);
}

std::size_t Secrets::remove(Json& value, Reading reading) const {
  if (value.is_string()) return remove(string_of(value), reading);
  std::size_t removed = 0;
  if (value.is_array()) {
    removed += remove_pair(value, reading);
    Json::Array& items = value.mutable_items();
    for (std::size_t i = 0; i < items.size();) {
      std::size_t end = i;
      while (end < items.size() && items[end].is_string()) ++end;
      removed +=
          end > i ? remove_run(items.data() + i, items.data() + end, reading) : remove(items[i], reading);
      i = std::max(end, i + 1);
    }
  } else if (value.is_object()) {
    for (Json::Member& member : value.mutable_members()) {
      removed += remove(member.first, {false, reading.known});
      removed += remove_member(member.first, member.second, reading);
    }
    removed += remove_pair(value, reading);
  }
  return removed;
}

}  // namespace cairn::gate
