#include "agent/prices.h"

#include <algorithm>
#include <cstdlib>

#include "agent/prompt_texts.h"
#include "base/text.h"

namespace cairn::agent {

namespace {

struct Entry {
  std::string name;
  Price price;
};

// A price. `!(value >= 0)` also refuses "nan"; the upper limit refuses "inf".
std::optional<double> number_in(std::string_view text) {
  const std::string copy(trim(text));
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0' || !(value >= 0) || value > 1e6) return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' '))
    if (!trim(word).empty()) words.push_back(trim(word));
  return words;
}

struct Table {
  std::vector<Entry> entries;
  std::string date;
};

const Table& table() {
  static const Table read = [] {
    Table out;
    for (const std::string_view line : lines(prices_text())) {
      const auto words = words_of(line);
      if (words.size() == 2 && words[0] == "date") out.date = words[1];
      if (words.size() != 4 || words[0] == "#") continue;
      const auto input = number_in(words[1]), output = number_in(words[2]), cached = number_in(words[3]);
      if (input && output && cached)
        out.entries.push_back({std::string(words[0]), {*input, *output, *cached}});
    }
    return out;
  }();
  return read;
}

// "MODEL=INPUT/OUTPUT[/CACHED]".
std::optional<Entry> read_entry(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || trim(text.substr(0, equals)).empty()) return std::nullopt;
  const auto parts = split(text.substr(equals + 1), '/');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const auto input = number_in(parts[0]), output = number_in(parts[1]);
  // Without a price for cached input it costs as much as other input: rather too much than too little.
  const auto cached = parts.size() == 3 ? number_in(parts[2]) : input;
  if (!input || !output || !cached) return std::nullopt;
  return Entry{std::string(trim(text.substr(0, equals))), {*input, *output, *cached}};
}

// The longest beginning wins: "gpt-5-mini" before "gpt-5".
void keep_longer(std::optional<Entry>& best, const Entry& entry, std::string_view model) {
  if (model.starts_with(entry.name) && (!best || entry.name.size() > best->name.size())) best = entry;
}

}  // namespace

double Price::of(const Usage& usage) const {
  const auto cached_tokens = static_cast<double>(std::min(usage.cached_tokens, usage.input_tokens));
  const double fresh = static_cast<double>(usage.input_tokens) - cached_tokens;
  return (fresh * input + cached_tokens * cached + static_cast<double>(usage.output_tokens) * output) / 1e6;
}

double Price::most(std::int64_t input_tokens, std::int64_t output_tokens) const {
  // Writing to a cache costs a quarter more with some vendors.
  return (1.25 * static_cast<double>(input_tokens) * input + static_cast<double>(output_tokens) * output) /
         1e6;
}

std::optional<Price> price_of(std::string_view model, const std::vector<std::string>& own) {
  std::optional<Entry> best;
  for (const std::string& text : own)
    if (const auto entry = read_entry(text)) keep_longer(best, *entry, model);
  if (best) return best->price;
  // Own entries may name a vendor ("vendor/model"); the table has none.
  if (const std::size_t slash = model.rfind('/'); slash != std::string_view::npos)
    model = model.substr(slash + 1);
  for (const Entry& entry : table().entries) keep_longer(best, entry, model);
  return best ? std::optional(best->price) : std::nullopt;
}

std::string wrong_price(std::string_view entry) {
  return read_entry(entry) ? ""
                           : "write it as MODEL=INPUT/OUTPUT or MODEL=INPUT/OUTPUT/CACHED, in dollars for a "
                             "million tokens";
}

std::string_view prices_date() {
  return table().date;
}

}  // namespace cairn::agent
