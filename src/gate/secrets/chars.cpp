#include "gate/secrets/chars.h"

namespace cairn::gate {

namespace {

constexpr Kinds bits(std::initializer_list<Chars> list) {
  Kinds out = 0;
  for (const Chars chars : list) out |= only(chars);
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
    add(letters, {alnum, word, url, name, dotted, tilde, base64, any_base64, Chars::code, coded, crypt, salt,
                  Chars::token});
  for (const std::string_view letters : {kLower, kUpper}) add(letters, {letter});
  add(kDigits, {digit, hex, any_hex, upper, lower});
  add("abcdef", {hex, any_hex});
  add("ABCDEF", {any_hex});
  add(kLower, {lower});
  add(kUpper, {upper});
  add("_", {word, url, name, dotted, tilde, any_base64, Chars::code, salt});
  add("-", {url, name, dotted, tilde, any_base64, Chars::code, coded, salt});
  add(".", {name, dotted, tilde, crypt, salt});
  add("=", {dotted, any_base64, coded, salt, padding});
  add("~", {tilde});
  add("+/", {base64, any_base64, Chars::code, coded});
  add("/", {crypt, salt});
  add("%", {coded});
  add(",", {salt});
  add("._-/+=~:$%@", {Chars::token});
  add(" \t", {blank});
  add(" \t\r\n\"'`+\\.>|&", {gap});
  add(" /:,;|\t\n\"'", {divider});
  // 0 ends every run: it separates the lines of /proc/PID/environ.
  for (std::size_t c = 1; c < kinds.size(); ++c) {
    kinds[c] |= bits({visible, Chars::bare, field, user_info, plain_value, in_double, in_single, in_back});
    const auto without = [&](std::string_view characters, Chars chars) {
      if (characters.find(static_cast<char>(c)) != std::string_view::npos) kinds[c] &= ~bits({chars});
    };
    without(" \t\r\n\"'`", visible);
    without(" \t\r\n\"'`\\", Chars::bare);
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
  if (at >= text_.size() || !is(chars, text_[at])) return at;
  const std::size_t end = run_end(chars, text_, at);
  ahead_[static_cast<std::size_t>(chars)] = {at, end};
  return end;
}

std::size_t Runs::begin(Chars chars, std::size_t at) {
  Run& known = behind_[static_cast<std::size_t>(chars)];
  const Run& ahead = ahead_[static_cast<std::size_t>(chars)];
  const auto is_known = [&](std::size_t place) { return place > known.begin && place <= known.end; };
  std::size_t begin = !is_known(at) && at > ahead.begin && at <= ahead.end ? ahead.begin : at;
  while (begin > 0 && !is_known(begin) && is(chars, text_[begin - 1])) --begin;
  if (is_known(begin)) begin = known.begin;
  if (begin < at && !is_known(at)) known = {begin, at};
  return begin;
}

}  // namespace cairn::gate
