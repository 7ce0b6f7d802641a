#include <algorithm>
#include <string>

#include "base/text.h"
#include "gate/secrets.h"
#include "gate/secrets/finders.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxEnvLine = 64u << 10;
constexpr std::size_t kMaxHead = 400;  // of a line that names a file

// The NAME before the '=' at `equals`: what a patch, a listing or a shell puts before it does not belong to
// it.
std::string_view name_before(std::string_view line, std::size_t equals) {
  const auto is_part = [&](std::size_t i) { return is(Chars::word, line[i]) || line[i] == '.'; };
  while (equals > 0 && is(Chars::blank, line[equals - 1])) --equals;
  std::size_t begin = equals;
  while (begin > 0 && is_part(begin - 1)) --begin;
  static constexpr CharSet kInAddresses("?&/%");
  return begin > 0 && kInAddresses.has(line[begin - 1]) ? "" : line.substr(begin, equals - begin);
}

std::string_view value_of(std::string_view text) {
  text = trim(text);
  if (const std::size_t end =
          !text.empty() && is_quote(text[0]) ? text.find(text[0], 1) : std::string_view::npos;
      end != std::string_view::npos)
    return text.substr(1, end - 1);
  return text.substr(0, text.find(" #"));
}

void find_in_line(std::string_view line, std::size_t at, std::vector<FoundSecret>& found) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos || line.size() > kMaxEnvLine) return;
  const std::string_view name = name_before(line, equals), value = value_of(line.substr(equals + 1));
  if (name.empty() || value.size() < 4 || is_placeholder(value)) return;
  const bool telling = strength_of(name) >= Strength::token;
  // Small and capital letters that form no words: xVCNprMlkC
  const bool jumble = mixture(value) == 2 && is_all(Chars::letter, value);
  if (!telling && (is_words(value) || is_path(value) || !(is_password_like(value) || jumble))) return;
  const std::size_t begin = at + static_cast<std::size_t>(value.data() - line.data());
  found.push_back({begin, begin + value.size(), telling ? kind_name(strength_of(name)) : "env-value"});
}

// The head of a file's part in a patch or a listing, or a command at a prompt.
bool is_head(std::string_view line) {
  static const WordList kHeads("heads-of-files");
  return kHeads.begins(line) > 0;
}

bool names_env_file(std::string_view line) {
  const auto words = split(line.substr(0, kMaxHead), ' ');
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return is_env_file(trim(word)); });
}

// `config/.env:3:NAME=value`
bool is_listed(std::string_view line) {
  const std::size_t end = line.substr(0, kMaxHead).find_first_of(": \t");
  return end != std::string_view::npos && line[end] == ':' && is_env_file(line.substr(0, end));
}

}  // namespace

bool is_env_file(std::string_view path) {
  std::string name = ascii_lower(path.substr(path.rfind('/') + 1));
  while (name.ends_with('*') || name.ends_with('?')) name.pop_back();
  const bool is_one = name == ".env" || name.starts_with(".env.") || name == ".envrc" ||
                      (name.size() > 4 && name.ends_with(".env"));
  if (!is_one) return false;
  static const WordList kSamples("samples");
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '_'; }, '.');
  const auto parts = split(name, '.');
  return std::none_of(parts.begin(), parts.end(), [](std::string_view part) { return kSamples.has(part); });
}

void find_env_lines(std::string_view text, bool whole, std::vector<FoundSecret>& found) {
  bool inside = whole;
  for (std::size_t at = 0; at < text.size();) {
    if (!inside) {  // to the next line that may name such a file
      const std::size_t name = text.find(".env", at);
      if (name == std::string_view::npos) return;
      const std::size_t before = text.substr(0, name).rfind('\n');
      at = before == std::string_view::npos || before < at ? at : before + 1;
    }
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!whole && is_head(line))
      inside = names_env_file(line);
    else if (inside || is_listed(line))
      find_in_line(line, at, found);
    at = end + 1;
  }
}

}  // namespace cairn::gate
