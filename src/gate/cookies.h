// Cookies in a header or a member: `Cookie: a=b; c=d`, `Set-Cookie: a=b; Path=/`.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "gate/named_secrets.h"

namespace cairn::gate {

// Whether cookies stand behind a name.
bool is_cookie_name(std::string_view name);

// Reads the cookies behind the name that ends at text[at] and appends those that are secrets. Says where they
// end.
std::size_t find_cookies(std::string_view text, std::size_t at, std::vector<Place>& found);

}  // namespace cairn::gate
