// Lines NAME=value of .env files. Whatever stands there is a secret unless it is plainly harmless (a number,
// a switch, a word, a path), also in a patch or a listing of such a file.
#pragma once

#include <string_view>
#include <vector>

#include "gate/named_secrets.h"

namespace cairn::gate {

// .env, .env.local, production.env, .env*, but not the samples that are kept in a repository to be copied.
bool is_env_file(std::string_view path);

// `whole`: all of the text is of such a file. Else the lines are found that the text itself says are of one:
// behind the head of a patch (`+++ b/.env`) or of a listing (`==> .env <==`), and `.env:3:NAME=value`.
void find_env_lines(std::string_view text, bool whole, std::vector<Place>& found);

}  // namespace cairn::gate
