#include "documents/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace cairn::documents {

std::string name_of(const store::Document& document) {
  return document.name.empty() ? store::document_label(document.id) : document.name;
}

const Link* Chain::find(std::int64_t id) const {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.document.id == id; });
  return found == links.end() ? nullptr : &*found;
}

namespace {

// Follows predecessors from every document; those met twice on one walk are a cycle. Linear: what an earlier
// walk has seen ends a walk.
void mark_cycles(std::map<std::int64_t, Link*>& by_id) {
  std::map<std::int64_t, std::int64_t> walk_of;  // document -> the walk that met it first
  for (const auto& [start, unused] : by_id) {
    static_cast<void>(unused);
    std::int64_t at = start;
    while (by_id.contains(at) && !walk_of.contains(at)) {
      walk_of[at] = start;
      at = by_id[at]->document.previous.value_or(0);
    }
    // The walk ended at a document without predecessor, or on the path of an earlier walk: no new cycle.
    if (!by_id.contains(at) || walk_of[at] != start) continue;
    for (std::int64_t id = at; !by_id[id]->in_cycle; id = *by_id[id]->document.previous)
      by_id[id]->in_cycle = true;
  }
}

}  // namespace

Chain make_chain(std::vector<store::Document> documents) {
  std::sort(documents.begin(), documents.end(), [](const store::Document& a, const store::Document& b) {
    return std::pair(a.created_at, a.id) < std::pair(b.created_at, b.id);
  });
  Chain chain;
  for (store::Document& document : documents) chain.links.push_back({std::move(document), {}, {}, false});
  std::map<std::int64_t, Link*> by_id;
  for (Link& link : chain.links) by_id[link.document.id] = &link;
  for (Link& link : chain.links) {
    const auto& previous = link.document.previous;
    if (previous && by_id.contains(*previous))
      by_id[*previous]->next.push_back(link.document.id);
    else if (previous)
      link.missing = store::document_label(*previous);
    else
      // An imported document may name a predecessor that never was imported.
      link.missing = link.document.previous_name;
  }
  mark_cycles(by_id);
  return chain;
}

std::vector<std::string> Chain::problems() const {
  std::vector<std::string> out;
  std::string cycle;
  for (const Link& link : links) {
    const std::string name = one_line(visible(name_of(link.document)), 100);
    if (link.forks()) {
      std::string names;
      for (const std::int64_t id : link.next)
        names += (names.empty() ? "" : ", ") + one_line(visible(name_of(find(id)->document)), 100);
      out.push_back(fmt::format("fork: {} is followed by {}", name, names));
    }
    if (!link.missing.empty())
      out.push_back(fmt::format("gap: the predecessor of {}, {}, is missing", name,
                                one_line(visible(link.missing), 100)));
    if (link.in_cycle) cycle += (cycle.empty() ? "" : ", ") + name;
  }
  if (!cycle.empty()) out.push_back("cycle: each of these follows another of them: " + cycle);
  return out;
}

Result<Chain> read_chain(store::Db& db, const std::string& project) {
  store::DocumentQuery query;
  query.project = project;
  return make_chain(TRY(store::list_documents(db, query)));
}

Result<std::string> previous_name(store::Db& db, const store::Document& document) {
  if (!document.previous) return document.previous_name;
  const auto previous = TRY(store::find_document(db, *document.previous));
  return previous ? name_of(*previous) : store::document_label(*document.previous);
}

std::string mermaid(const Chain& chain) {
  // Replaces the characters that would end a label.
  const auto label = [](std::string_view text) {
    std::string out = one_line(visible(text), 60);
    for (char& c : out)
      if (std::string_view("\"[](){}<>#;`").find(c) != std::string_view::npos) c = ' ';
    return std::string(trim(out));
  };
  std::string out = "flowchart TD\n";
  for (const Link& link : chain.links) {
    const store::Document& d = link.document;
    out += fmt::format("  D{}[\"{} {}{}\"]\n", d.id, label(name_of(d)), iso8601(d.created_at).substr(0, 10),
                       d.title.empty() ? "" : " " + label(d.title));
    if (!link.missing.empty())
      out += fmt::format("  M{}[\"missing: {}\"] -.-> D{}\n", d.id, label(link.missing), d.id);
    if (d.previous && chain.find(*d.previous)) out += fmt::format("  D{} --> D{}\n", *d.previous, d.id);
  }
  return out;
}

}  // namespace cairn::documents
