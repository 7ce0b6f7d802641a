// The finders: each knows one form of secrets in a text. The search (search.cpp) calls a finder wherever one
// of its signs (literal texts) occurs. A finder appends what it found and returns its cost, as a number of
// characters that it examined. The search skips a candidate when those before it without a result cost more
// than its position in the text, so its time is linear for any text.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/secrets/chars.h"
#include "gate/secrets/names.h"
#include "gate/secrets/rules.h"

namespace cairn::gate {

// A secret in a text.
struct FoundSecret {
  std::size_t begin = 0, end = 0;
  std::string_view kind;  // lives as long as the program
};

// The position of a sign in a text: text[begin, end).
struct Hit {
  std::string_view text;
  std::size_t begin = 0, end = 0;
  Runs& runs;  // of the text
  std::vector<FoundSecret>& found;
  std::size_t from = 0;  // text before this was searched already

  void add(std::size_t first, std::size_t last, std::string_view kind) const {
    found.push_back({first, last, kind});
  }
};

// Finders that are called for the signs of a section of rules.txt, which says how the text goes on there.
//
// Private keys between -----BEGIN and -----END, even if one end was cut off; the private lines of PuTTY.
std::size_t find_key_block(const Hit& hit, const Sign& sign);
// The password of an address, whose "://" is the hit.
std::size_t find_in_address(const Hit& hit, const Sign& sign);
// -u name:password
std::size_t find_user(const Hit& hit, const Sign& sign);
// A random part in the path of an address: a webhook, a link that resets a password.
std::size_t find_in_path(const Hit& hit, const Sign& sign);
// Members of an object that are secrets because of another member: "kty": "oct", "k": "..."
std::size_t find_members(const Hit& hit, const Sign& sign);
// Passwords on command lines: in an option; among the arguments, piped, as name/password@host.
std::size_t find_option(const Hit& hit, const Sign& sign);
std::size_t find_argument(const Hit& hit, const Sign& sign);
// Secrets among the arguments of a call whose name suggests them: login("name", "..."), Client("...").
std::size_t find_in_call(const Hit& hit, const Sign& sign);
// A user's name and password: admin / ..., log in as ops:...
std::size_t find_login_pair(const Hit& hit, const Sign& sign);

// The value after the hit, which is the name of a secret: a separator in any notation, then the value.
inline constexpr std::size_t kMaxName = 64;
inline constexpr std::size_t kMaxValue = 1024;  // bytes of a value that are judged; all of it is removed
inline constexpr std::size_t kReadingName = 4;  // the cost of reading any name
std::size_t find_value_of(const Hit& name, Strength strength);

// Secrets that are recognised by the name beside them: `DB_PASSWORD=...`, `"apiKey": "..."`, `--token ...`, a
// cookie.
struct NameRead {
  std::size_t name_end = 0;  // where the name ends
  std::size_t judged = 0;    // what it cost
  std::size_t begin = 0;     // where it begins; `name_end` when it is not the name of a secret
};
// Reads the name around hit.begin and its value.
NameRead find_named(const Hit& hit);
// The same when the hit itself is the name: a word for "password" in another language, in its own letters.
std::size_t find_after(const Hit& hit);

// When the hit, the name of a secret, is the heading of a column: the values below it, in a few dozen rows.
// No row is read when it cannot be a heading.
std::size_t find_column(const Hit& hit);

// A secret in the sentence that contains the hit, the name of a secret.
std::size_t find_said(const Hit& hit);

// Whether cookies may follow a name.
bool is_cookie_name(std::string_view name);
// Cookies after a name that ends at hit.end: `Cookie: a=b; c=d`. Returns where they end.
std::size_t find_cookies(const Hit& hit);

// Lines NAME=value of .env files. `whole`: the text is such a file. Else only lines that the text marks as
// part of one: after the head of a patch (`+++ b/.env`) or a listing (`==> .env <==`), and
// `.env:3:NAME=value`.
void find_env_lines(std::string_view text, bool whole, std::vector<FoundSecret>& found);

// Tokens of services without a rule (acme_...), except where `found`, which is in order, has a secret
// already.
void find_prefixed(std::string_view text, std::vector<FoundSecret>& found);

// Base64 of a text that contains secrets or begins with the name of one, on one line or wrapped. `depth`: how
// often that text may itself be base64.
void find_coded(std::string_view text, int depth, std::vector<FoundSecret>& found);

// Runs all finders: appends what the built-in rules find. Places may overlap and are in no order. `depth`:
// how many levels of base64 may still be decoded.
void search_secrets(std::string_view text, int depth, std::vector<FoundSecret>& found);

// By where they begin. Those that begin alike stay in their order.
void sort_places(std::vector<FoundSecret>& places);

// The end of the marker of ours that begins at text[at]; 0: there is none.
std::size_t marker_at(std::string_view text, std::size_t at);

}  // namespace cairn::gate
