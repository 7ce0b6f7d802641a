#include "recall/excerpt.h"

#include <algorithm>

#include "base/text.h"
#include "event/origin.h"

namespace cairn::recall {

namespace {

constexpr std::size_t kLookAt = 64u << 10;  // bytes at the beginning of a long text that are searched
constexpr std::string_view kCut = "…";

struct Occurrence {
  Mark mark;
  std::string term;
};

std::vector<Occurrence> matches(const store::IndexTerms& index, std::string_view text,
                                const std::set<std::string>& terms) {
  std::vector<Occurrence> found;
  for (const store::Term& term : index.of(text, store::TermsOf::document))
    if (terms.contains(term.text)) found.push_back({{term.start, term.end}, term.text});
  return found;
}

// The matches in [from, to), relative to `from`, with overlapping ones joined.
std::vector<Mark> marks_of(const std::vector<Occurrence>& found, std::size_t from, std::size_t to) {
  std::vector<Mark> marks;
  for (const Occurrence& match : found) {
    auto [start, end] = match.mark;
    if (start < from || end > to) continue;
    if (!marks.empty() && start - from <= marks.back().second)
      marks.back().second = std::max(marks.back().second, end - from);
    else
      marks.emplace_back(start - from, end - from);
  }
  return marks;
}

// The index of the match that begins the piece of `bytes` with the most different terms.
std::size_t densest(const std::vector<Occurrence>& found, std::size_t bytes) {
  std::size_t best = 0, most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::set<std::string_view> seen;
    for (std::size_t k = i; k < found.size() && found[k].mark.second - found[i].mark.first <= bytes; ++k)
      seen.insert(found[k].term);
    if (seen.size() > most) most = seen.size(), best = i;
    if (i > 2000) break;  // enough to choose from
  }
  return best;
}

}  // namespace

Marked mark(const store::IndexTerms& index, std::string text, const std::set<std::string>& terms) {
  auto marks = marks_of(matches(index, text, terms), 0, text.size());
  return {std::move(text), std::move(marks)};
}

Marked excerpt(const store::IndexTerms& index, std::string_view whole, const std::set<std::string>& terms,
               std::size_t bytes) {
  const std::string text = one_line(visible(prefix(whole, kLookAt)), kLookAt);
  const std::vector<Occurrence> found = matches(index, text, terms);
  if (found.empty()) return {};
  // Two thirds of the piece follow the first match.
  const std::size_t first = found[densest(found, bytes * 2 / 3)].mark.first;
  // The match begins after a third of the piece. Both ends are cut between words.
  std::size_t from = first > bytes / 3 ? text.find(' ', first - bytes / 3) : 0;
  // Without a blank before the match, the piece begins with the match.
  from = from == 0 ? 0 : from < first ? from + 1 : first;
  std::size_t to = from + prefix(std::string_view(text).substr(from), bytes).size();
  if (to < text.size())
    if (const std::size_t blank = text.rfind(' ', to);
        blank != std::string::npos && blank > first + bytes / 4)
      to = blank;
  Marked piece{text.substr(from, to - from), marks_of(found, from, to)};
  if (to < text.size()) piece.text += kCut;
  if (from > 0) {
    // Cut inside a quote, the piece must still begin with the label that says where the quote comes from.
    const std::string lead = std::string(open_label(text, from)).append(kCut);
    piece.text.insert(0, lead);
    for (auto& [start, end] : piece.marks) start += lead.size(), end += lead.size();
  }
  piece.text = closed(std::move(piece.text));
  return piece;
}

}  // namespace cairn::recall
