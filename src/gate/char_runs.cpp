#include "gate/char_runs.h"

namespace cairn::gate {

namespace {

constexpr std::uint32_t bits(std::initializer_list<Chars> list) {
  std::uint32_t out = 0;
  for (const Chars chars : list) out |= 1u << static_cast<unsigned>(chars);
  return out;
}

constexpr std::array<std::uint32_t, 256> make_kinds() {
  using enum Chars;
  std::array<std::uint32_t, 256> kinds{};
  const auto add = [&](std::string_view characters, std::initializer_list<Chars> list) {
    for (const char c : characters) kinds[static_cast<unsigned char>(c)] |= bits(list);
  };
  constexpr std::string_view kDigits = "0123456789", kLower = "abcdefghijklmnopqrstuvwxyz",
                             kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const std::string_view letters : {kDigits, kLower, kUpper})
    add(letters,
        {alnum, word, url, name, dotted, tilde, base64, any_base64, coded, crypt, salt, Chars::token});
  for (const std::string_view letters : {kLower, kUpper}) add(letters, {letter});
  add(kDigits, {digit, hex, any_hex, upper, lower});
  add("abcdef", {hex, any_hex});
  add("ABCDEF", {any_hex});
  add(kLower, {lower});
  add(kUpper, {upper});
  add("_", {word, url, name, dotted, tilde, any_base64, salt});
  add("-", {url, name, dotted, tilde, any_base64, coded, salt});
  add(".", {name, dotted, tilde, crypt, salt});
  add("=", {dotted, any_base64, coded, salt, padding});
  add("~", {tilde});
  add("+/", {base64, any_base64, coded});
  add("/", {crypt, salt});
  add("%", {coded});
  add(",", {salt});
  add("._-/+=~:$%@", {Chars::token});
  add(" \t", {blank});
  add(" \t\r\n\"'`+\\.>|&", {gap});
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    kinds[c] |= bits({visible, field, user_info, plain_value, in_double, in_single, in_back});
    const auto without = [&](std::string_view characters, Chars chars) {
      if (characters.find(static_cast<char>(c)) != std::string_view::npos) kinds[c] &= ~bits({chars});
    };
    without(" \t\r\n\"'`", visible);
    without(" \t\r\n\"'`:", field);
    without(" \t\r\n\"'`,;&<|", plain_value);
    without(" \t\r\n\"'`<>/\\|,", user_info);
    without("\"\n", in_double);
    without("'\n", in_single);
    without("`\n", in_back);
  }
  return kinds;
}

}  // namespace

constexpr std::array<std::uint32_t, 256> detail::kKinds = make_kinds();

std::size_t Runs::read_end(Chars chars, std::size_t at) {
  const std::uint32_t bit = 1u << static_cast<unsigned>(chars);
  const auto kinds = [&](std::size_t i) { return detail::kKinds[static_cast<unsigned char>(text_[i])]; };
  std::size_t end = at;
  while (end + 4 <= text_.size() &&
         (kinds(end) & kinds(end + 1) & kinds(end + 2) & kinds(end + 3) & bit) != 0)
    end += 4;
  while (end < text_.size() && (kinds(end) & bit) != 0) ++end;
  if (end > at) ahead_[static_cast<std::size_t>(chars)] = {at, end};
  return end;
}

std::size_t Runs::begin(Chars chars, std::size_t at) {
  Run& known = behind_[static_cast<std::size_t>(chars)];
  if (at > known.begin && at <= known.end) return known.begin;
  const std::size_t read = at > known.end ? known.end : 0;
  std::size_t begin = at;
  while (begin > read && is(chars, text_[begin - 1])) --begin;
  if (read > 0 && begin == read && is(chars, text_[begin - 1])) begin = known.begin;
  if (begin < at) known = {begin, at};
  return begin;
}

}  // namespace cairn::gate
