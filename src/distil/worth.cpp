#include "distil/worth.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "distil/mode.h"

namespace cairn::distil {

namespace {

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
  // A longer request says something, even in such words.
  if (request.size() > 90) return false;
  if (request.starts_with('/')) return request.find(' ') == std::string_view::npos;
  const std::vector<std::string> words = words_of(request);
  const Cues& chores = code_mode().routine_requests;
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(chores.begin(), chores.end(), word) != chores.end();
  });
}

}  // namespace cairn::distil
