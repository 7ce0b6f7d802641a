// The texts of src/agent/prompts/, compiled in.
#pragma once

#include <string_view>

namespace cairn::agent {

std::string_view role_text();    // who the model is
std::string_view data_text();    // how data is marked
std::string_view focus_text();   // what to write down
std::string_view format_text();  // how to reply; has {types} and {concepts}

std::string_view prices_text();  // src/agent/prices.txt

}  // namespace cairn::agent
