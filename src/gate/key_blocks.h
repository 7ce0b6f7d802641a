// What needs no list of services: blocks of a private key, passwords in addresses and on command lines,
// tokens with a prefix of whoever gave them out, and base64 of a text that itself holds secrets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::gate {

// The private key whose `-----BEGIN`, `-----END` or `Private-Lines:` stands at text[at]. One whose end or
// beginning was cut off counts. Does not look before `from`.
std::optional<std::pair<std::size_t, std::size_t>> key_block(std::string_view text, std::size_t at,
                                                             std::size_t from);

// The password of an address whose "://" stands at text[at].
std::optional<std::pair<std::size_t, std::size_t>> address_password(std::string_view text, std::size_t at);

// The password of `-u name:password` whose value stands at text[at] or behind blanks there. Looks at no more
// than kMaxUser characters.
inline constexpr std::size_t kMaxUser = 160;
std::optional<std::pair<std::size_t, std::size_t>> user_password(std::string_view text, std::size_t at);

// The next token at or after `at` that has the form of a prefix of small letters and a long rest: acme_... It
// is one when the rest is drawn by lot. Linear over all calls that go on at the end of the last one.
struct PrefixedToken {
  std::size_t begin = 0, rest = 0, end = 0;
};
std::optional<PrefixedToken> next_prefixed_token(std::string_view text, std::size_t at);
bool is_drawn(std::string_view rest);

// The next run of base64 at or after `at` that may code a text, lines wrapped or not, and that text; nothing
// when there is none. Linear over all calls that go on at the end of the last run.
struct CodedText {
  std::size_t begin = 0, end = 0;
  std::string text;
  bool telling = false;  // it begins with a telling name, whatever follows
};
std::optional<CodedText> next_coded_text(std::string_view text, std::size_t at);

}  // namespace cairn::gate
