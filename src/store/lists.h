// Lists of texts in a column: a JSON array.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace cairn::store {

inline std::string list_text(const std::vector<std::string>& items) {
  Json list = Json::array();
  for (const std::string& item : items) list.push(item);
  return list.dump();
}

// Empty for anything that is not a list.
inline std::vector<std::string> read_list(const std::string& text) {
  std::vector<std::string> items;
  if (const auto parsed = Json::parse(text))
    for (const Json& item : parsed->items()) items.emplace_back(item.as_string());
  return items;
}

}  // namespace cairn::store
