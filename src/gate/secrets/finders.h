// The finders: each knows one way in which a text carries secrets. The search calls a finder where one of its
// signs stands (search.cpp). A finder appends what it found and gives what that cost, in characters that were
// judged: no more are judged in vain than the text has, so the time is linear whatever the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/secrets/chars.h"
#include "gate/secrets/names.h"
#include "gate/secrets/rules.h"

namespace cairn::gate {

// A secret in a text.
struct Place {
  std::size_t begin = 0, end = 0;
  std::string_view kind;  // lives as long as the program
};
using Span = std::optional<std::pair<std::size_t, std::size_t>>;

// The place of a sign in a text: text[begin, end).
struct Hit {
  std::string_view text;
  std::size_t begin = 0, end = 0;
  Runs& runs;  // of the text
  std::vector<Place>& found;

  void add(std::size_t from, std::size_t to, std::string_view kind) const {
    found.push_back({from, to, kind});
  }
};

// Passwords on command lines: in an option, among the arguments, piped, as name/password@host.
const std::vector<Sign>& command_signs();
std::size_t find_in_command(const Hit& hit, const Sign& sign);

// Secrets among the arguments of a call that tells by its name: login("name", "..."), Client("...").
const std::vector<Sign>& call_signs();
std::size_t find_in_call(const Hit& hit, const Sign& sign);

// Secrets in addresses that have no user (webhooks, links that reset a password, parameters), and the private
// members of a key that is written as JSON or XML.
const std::vector<Sign>& address_signs();
std::size_t find_in_address(const Hit& hit, const Sign& sign);

// The name of a user and his password: admin / ..., log in as ops:...
const std::vector<Sign>& login_signs();
std::size_t find_login_pair(const Hit& hit, const Sign& sign);

// What stands behind the hit, a telling name: a separator in whatever notation, and the value.
inline constexpr std::size_t kMaxName = 64;
inline constexpr std::size_t kMaxValue = 1024;  // of a value: its beginning tells, and all of it goes
inline constexpr std::size_t kReadingName = 4;  // what reading a name costs whatever it is
std::size_t find_value_of(const Hit& name, Strength strength);

// What is known by the name beside it: `DB_PASSWORD=...`, `"apiKey": "..."`, `--token ...`, a cookie.
struct NameRead {
  std::size_t name_end = 0;  // where the name ends
  std::size_t judged = 0;    // what it cost
  std::size_t begin = 0;     // where it begins; `name_end` when it does not tell
};
// Reads the name around hit.begin, and what it is given.
NameRead find_named(const Hit& hit);
// The same for the name of a password in other letters, which is the whole of the hit.
std::size_t find_behind(const Hit& hit);
// The same for a member of a JSON object.
bool is_secret_under(std::string_view name, std::string_view value);

// When the hit, a telling name, is the heading of a column: what stands below it, in a few dozen rows.
// None read: it is plainly no heading.
std::size_t find_column(const Hit& hit);

// What the sentence says in which the hit, a telling name, stands. What ends before `from` is known.
std::size_t find_said(const Hit& hit, std::size_t from);

// Cookies behind a name that ends at hit.end: `Cookie: a=b; c=d`. Gives where they end.
bool is_cookie_name(std::string_view name);
std::size_t find_cookies(const Hit& hit);

// Lines NAME=value of .env files. `whole`: all of the text is of one. Else those that the text itself says
// are of one: behind the head of a patch (`+++ b/.env`) or a listing (`==> .env <==`), and
// `.env:3:NAME=value`.
void find_env_lines(std::string_view text, bool whole, std::vector<Place>& found);

// The private key whose `-----BEGIN`, `-----END` or `Private-Lines:` stands at text[at]. One whose end or
// beginning was cut off counts. Does not look before `from`.
Span key_block(std::string_view text, std::size_t at, std::size_t from);

// The password of an address whose "://" stands at text[at].
Span address_password(std::string_view text, std::size_t at);

// The password of `-u name:password` whose value stands at text[at] or behind blanks there. Looks at no more
// than kMaxUser characters.
inline constexpr std::size_t kMaxUser = 160;
Span user_password(std::string_view text, std::size_t at);

// Tokens of services that no rule knows: acme_..., where nothing in `found`, which is in order, stands.
void find_prefixed(std::string_view text, std::vector<Place>& found);

// Base64 of a text that holds secrets, lines wrapped or not, or that begins with a telling name. `depth`: how
// often that text may be base64 of another one.
void find_coded(std::string_view text, int depth, std::vector<Place>& found);

// All of it: appends what the built-in rules find. Places may overlap and are in no order. `depth`: how often
// the text may still be base64 of something.
void search_secrets(std::string_view text, int depth, std::vector<Place>& found);

// The end of one of our markers that begins at text[at]; 0: none does.
std::size_t marker_at(std::string_view text, std::size_t at);

}  // namespace cairn::gate
