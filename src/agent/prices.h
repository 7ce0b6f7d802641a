// What a model costs. A table of list prices is compiled in (prices.txt, with its date); the setting
// agent.prices comes first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/provider.h"

namespace cairn::agent {

// US dollars for a million tokens.
struct Price {
  double input = 0, output = 0, cached = 0;

  // What a call cost. Cached tokens are part of the input.
  double of(const Usage& usage) const;
  // The most that a call can cost: nothing is cached.
  double most(std::int64_t input_tokens, std::int64_t output_tokens) const;
};

// `own`: entries "MODEL=INPUT/OUTPUT[/CACHED]" of agent.prices; MODEL is the beginning of a name. Nothing: no
// price is known.
std::optional<Price> price_of(std::string_view model, const std::vector<std::string>& own);

// What is wrong with an entry of agent.prices; empty when it is right.
std::string wrong_price(std::string_view entry);

// The day of the compiled-in table: 2025-12-01.
std::string_view prices_date();

}  // namespace cairn::agent
