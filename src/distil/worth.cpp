#include "distil/worth.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace cairn::distil {

namespace {

// Words that a request may be made of without asking for any work.
bool is_chore_word(std::string_view word) {
  return any_of(
      word, {"commit", "commits",  "committed", "push",     "pushed",  "and",    "then",   "it",     "this",
             "these",  "that",     "the",       "all",      "changes", "change", "please", "pls",    "yes",
             "yep",    "yeah",     "y",         "ok",       "okay",    "k",      "sure",   "go",     "ahead",
             "on",     "continue", "proceed",   "resume",   "do",      "so",     "thanks", "thank",  "you",
             "great",  "good",     "nice",      "perfect",  "cool",    "done",   "now",    "again",  "try",
             "retry",  "looks",    "lgtm",      "fine",     "next",    "a",      "pr",     "create", "open",
             "make",   "to",       "origin",    "main",     "master",  "branch", "remote", "merge",  "rebase",
             "pull",   "request",  "message",   "git",      "status",  "what",   "is",     "are",    "we",
             "no",     "stop",     "wait",      "approved", "approve", "with",   "work",   "your",   "my",
             "our",    "let's",    "lets",      "can",      "i",       "ja",     "weiter", "bitte",  "oui",
             "si"});
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : ascii_lower(text) + " ") {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '\'' ||
        static_cast<unsigned char>(c) >= 0x80)
      word += c;
    else if (!word.empty())
      out.push_back(std::move(word)), word.clear();
  }
  return out;
}

}  // namespace

bool is_chore(std::string_view request) {
  request = trim(request);
  if (request.size() > 90) return false;
  if (request.starts_with('/')) return request.find(' ') == std::string_view::npos;
  const std::vector<std::string> words = words_of(request);
  return std::all_of(words.begin(), words.end(), [](const std::string& w) { return is_chore_word(w); });
}

}  // namespace cairn::distil
