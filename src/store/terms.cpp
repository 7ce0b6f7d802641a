#include "store/terms.h"

#include <utf8proc.h>

#include <algorithm>

// TermReader reads the text once from left to right. A word is given in parts, one for each call of next():
// `parseHeader` gives "parse", then the whole identifier, then "header". The whole one comes right after the
// first part because FTS5 gives a colocated term the position of the term before it.

namespace cairn::store {

namespace {

// In bytes. Longer terms are cut: they are no real words, and their beginning is enough to find them.
constexpr std::size_t kLongest = 96;

// Characters that are indexed in pairs: kana, Chinese characters with their extensions, Hangul, and the
// compatibility and half-width forms.
bool is_ideograph(char32_t c) {
  return (c >= 0x3041 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF66 && c <= 0xFF9D) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

bool is_accent(char32_t c) {
  return c >= 0x0300 && c <= 0x036F;
}

void append(std::string& to, char32_t code) {
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  to.append(reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(std::max<utf8proc_ssize_t>(size, 0)));
}

// Appends the character in lower case, without accents and in its usual form (E with an acute accent gives
// "e"). It may become several. Ideographs have neither case nor accents, but for the compatibility forms from
// U+F900 on.
void append_folded(std::string& to, char32_t code) {
  if (is_ideograph(code) && code < 0xF900) return append(to, code);
  if (code < 0x80) {
    to += static_cast<char>(code >= 'A' && code <= 'Z' ? code | 0x20 : code);
    return;
  }
  utf8proc_int32_t folded[8];
  int last_class = 0;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD);
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), folded, std::size(folded),
                                             options, &last_class);
  for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(count, std::size(folded)); ++i)
    if (!is_accent(static_cast<char32_t>(folded[i]))) append(to, static_cast<char32_t>(folded[i]));
}

}  // namespace

TermReader::Char TermReader::at(std::size_t place) const {
  if (place >= text_.size()) return {0, 0, Char::separator};
  const auto first = static_cast<unsigned char>(text_[place]);
  if (first < 0x80) {
    if (first >= 'a' && first <= 'z') return {first, 1, Char::lower};
    if (first >= 'A' && first <= 'Z') return {first, 1, Char::upper};
    if (first >= '0' && first <= '9') return {first, 1, Char::other};
    return {first, 1, first == '_' ? Char::joiner : Char::separator};
  }
  utf8proc_int32_t code = 0;
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text_.data()) + place,
                                     static_cast<utf8proc_ssize_t>(text_.size() - place), &code);
  if (size <= 0) return {0, 1, Char::separator};
  Char found{static_cast<char32_t>(code), static_cast<std::size_t>(size), Char::separator};
  if (is_ideograph(found.code)) {
    found.kind = Char::ideograph;
    return found;
  }
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: found.kind = Char::upper; break;
    case UTF8PROC_CATEGORY_LL: found.kind = Char::lower; break;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
    case UTF8PROC_CATEGORY_CO: found.kind = Char::other; break;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: found.kind = Char::mark; break;
    default: break;
  }
  return found;
}

bool TermReader::fill(Term& term, std::size_t start, std::size_t end, bool whole) const {
  term.text.clear();
  term.start = start;
  term.end = end;
  term.whole = whole;
  for (std::size_t i = start; i < end && term.text.size() < kLongest;) {
    const Char c = at(i);
    if (c.kind != Char::joiner) append_folded(term.text, c.code);
    i += c.bytes;
  }
  return !term.text.empty();
}

// The word at at_: letters, digits and what joins them.
void TermReader::read_word() {
  word_start_ = word_end_ = at_;
  for (std::size_t i = at_;;) {
    const Char c = at(i);
    if (c.kind == Char::separator || c.kind == Char::ideograph) break;
    i += c.bytes;
    if (c.kind != Char::joiner) word_end_ = i;
  }
}

// The end of the part that begins at `from`: before a joiner, before a capital that follows a small letter or
// a digit, and before the last of several capitals when a small letter follows (HTTPServer is HTTP and
// Server).
std::size_t TermReader::part_end(std::size_t from) const {
  std::size_t i = from;
  Char before;
  while (i < word_end_) {
    const Char c = at(i);
    if (c.kind == Char::joiner) break;
    if (i > from && c.kind == Char::upper) {
      if (before.kind != Char::upper) break;
      if (i + c.bytes < word_end_ && at(i + c.bytes).kind == Char::lower) break;
    }
    if (c.kind != Char::mark) before = c;
    i += c.bytes;
  }
  return i;
}

// A run of ideographs ABC gives the pairs AB and BC and, in a document, the last one, C, alone.
bool TermReader::next_pair(Term& term) {
  const Char first = at(at_), second = at(at_ + first.bytes);
  const std::size_t start = at_;
  const bool alone = run_end_ != start;
  at_ += first.bytes;
  run_end_ = at_;
  if (second.kind == Char::ideograph) return fill(term, start, at_ + second.bytes, false);
  if (mode_ == TermsOf::query && !alone) return false;
  return fill(term, start, at_, false);
}

// Most words are plain letters between separators: reads one without looking at each letter several times.
// False: it is something else, nothing was read.
bool TermReader::next_plain(Term& term) {
  std::size_t end = at_ + 1;
  while (end < text_.size() && text_[end] >= 'a' && text_[end] <= 'z') ++end;
  if (end < text_.size() &&
      (static_cast<unsigned char>(text_[end]) >= 0x80 || at(end).kind != Char::separator))
    return false;
  term.text.assign(text_, at_, std::min(end - at_, kLongest));
  term.text.front() = static_cast<char>(term.text.front() | 0x20);
  term.start = at_;
  term.end = at_ = word_end_ = end;
  term.whole = false;
  return true;
}

bool TermReader::next(Term& term) {
  for (;;) {
    if (give_whole_) {
      give_whole_ = false;
      if (fill(term, word_start_, word_end_, true)) return true;
    }
    const Char c = at(at_);
    if (c.bytes == 0) return false;
    if (c.kind == Char::separator || c.kind == Char::joiner || c.kind == Char::mark) {
      at_ += c.bytes;
      continue;
    }
    if (c.kind == Char::ideograph) {
      if (next_pair(term)) return true;
      continue;
    }
    const bool begins = at_ >= word_end_;  // else the next part of the word
    if (begins && c.code < 0x80 && c.kind != Char::other && next_plain(term)) return true;
    if (begins) read_word();
    const std::size_t start = at_;
    at_ = part_end(at_);
    give_whole_ = begins && at_ < word_end_;  // a word of one part is not given twice
    if (fill(term, start, at_, false)) return true;
  }
}

}  // namespace cairn::store
