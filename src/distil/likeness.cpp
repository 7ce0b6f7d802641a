#include "distil/likeness.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "distil/mode.h"

namespace cairn::distil {

namespace {

// Words without meaning here: common words, and words of requests and obligations.
bool is_empty(std::string_view word) {
  static const std::unordered_set<std::string_view> kWords = [] {
    std::unordered_set<std::string_view> words;
    for (const Cues* list : {&code_mode().empty, &code_mode().obligation_words})
      words.insert(list->begin(), list->end());
    return words;
  }();
  return kWords.contains(word);
}

// Removes the endings of English plurals and verbs. The rest need not be a word.
std::string stem(std::string word) {
  const auto drop = [&](std::string_view end, std::size_t least) {
    if (word.size() < least + end.size() || !word.ends_with(end)) return false;
    word.erase(word.size() - end.size());
    return true;
  };
  if (drop("ies", 3)) return word + "y";
  if (drop("ing", 3) || drop("ed", 3)) {
    // "planning" becomes "plann", then "plan"; but "passing" stays "pass", and "calling" "call".
    const std::size_t n = word.size();
    if (n > 3 && word[n - 1] == word[n - 2] && word[n - 1] != 's' && word[n - 1] != 'l') word.pop_back();
  } else if (!word.ends_with("ss") && !drop("es", 4)) {
    drop("s", 2);
  }
  // "cache" and "caching" both become "cach".
  if (word.size() > 3 && word.ends_with('e')) word.pop_back();
  return word;
}

// Endings of files that people name: `os.Stdout` and "1.2" are no files.
bool is_ending(std::string_view ending) {
  return any_of(ending, {"c",   "cc",    "cpp",   "cxx", "h",    "hpp",   "go",   "rs",    "py",    "js",
                         "mjs", "cjs",   "ts",    "tsx", "jsx",  "rb",    "java", "kt",    "swift", "ex",
                         "exs", "heex",  "php",   "cs",  "sh",   "bash",  "zsh",  "sql",   "md",    "mdx",
                         "txt", "toml",  "yaml",  "yml", "json", "html",  "css",  "scss",  "vue",   "svelte",
                         "xml", "proto", "tf",    "ini", "cfg",  "cmake", "lua",  "scala", "dart",  "zig",
                         "nix", "lock",  "ipynb", "r",   "jl",   "clj",   "erl",  "hs",    "ml",    "tex"});
}

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_foreign(char c) {
  return (static_cast<unsigned char>(c) & 0x80) != 0;
}

// Scripts without blanks: their pairs of characters are words.
void add_pairs(std::string_view run, Words& to) {
  std::string_view before;
  while (!run.empty()) {
    std::size_t bytes = 1;
    while (bytes < run.size() && (static_cast<unsigned char>(run[bytes]) & 0xc0) == 0x80) ++bytes;
    const std::string_view c = run.substr(0, bytes);
    if (!before.empty()) to.insert(std::string(before) + std::string(c));
    before = c;
    run.remove_prefix(bytes);
  }
}

void add_word(std::string_view raw, Words& to) {
  if (raw.empty()) return;
  // 0xe3 and above begin the characters from U+3000 on: Chinese, Japanese, Korean.
  if (static_cast<unsigned char>(raw.front()) >= 0xe3) return add_pairs(raw, to);
  std::string word = fold(raw);
  if (is_empty(word)) return;
  if (word.size() == 1 && !is_digit(word.front())) return;
  to.insert(stem(std::move(word)));
}

}  // namespace

Words key_words(std::string_view text) {
  Words out;
  std::size_t from = 0;
  const auto end_at = [&](std::size_t at) {
    add_word(text.substr(from, at - from), out);
    from = at;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!is_lower(c) && !is_upper(c) && !is_digit(c) && !is_foreign(c)) {
      end_at(i);
      from = i + 1;
    } else if (is_upper(c) && i > from && is_lower(text[i - 1])) {  // parseHeader
      end_at(i);
    }
  }
  end_at(text.size());
  return out;
}

std::size_t shared(const Words& words, const Words& others) {
  return static_cast<std::size_t>(
      std::count_if(words.begin(), words.end(), [&](const std::string& w) { return others.contains(w); }));
}

bool mostly_in(const Words& words, const Words& others) {
  return !words.empty() && 10 * shared(words, others) >= 7 * words.size();
}

bool alike(const Words& a, const Words& b) {
  if (a.empty() || b.empty()) return false;
  return a == b || (std::min(a.size(), b.size()) > 1 && mostly_in(a, b) && mostly_in(b, a));
}

std::set<std::string> named_files(std::string_view text) {
  std::set<std::string> out;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool in =
        i < text.size() && (is_lower(text[i]) || is_upper(text[i]) || is_digit(text[i]) ||
                            is_foreign(text[i]) || any_of(text.substr(i, 1), {".", "_", "-", "/"}));
    if (in) continue;
    std::string_view word = text.substr(from, i - from);
    from = i + 1;
    // The full stop of the sentence: "Fix parser.cpp."
    while (word.ends_with('.')) word.remove_suffix(1);
    const std::size_t slash = word.rfind('/');
    if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
    const std::size_t dot = word.rfind('.');
    if (dot != std::string_view::npos && dot > 0 && is_ending(word.substr(dot + 1)))
      out.insert(std::string(word));
  }
  return out;
}

}  // namespace cairn::distil
