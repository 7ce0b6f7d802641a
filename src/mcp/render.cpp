#include "mcp/render.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "context/inert.h"

namespace cairn::mcp {

namespace {

// A result of `search` shows at most this much of the passage that matched.
constexpr std::size_t kExcerpt = 400;

// The parts of a record, in the order in which they are shown. Other members are not for the model.
constexpr auto kParts =
    std::to_array<std::string_view>({"subtitle", "text", "request", "objections", "answer", "investigated",
                                     "learned", "completed", "next_steps", "commits", "narrative", "facts",
                                     "notes", "files_edited", "files_modified", "files_read", "remarks"});

std::string line_of(std::string_view text, std::size_t most = 200) {
  return harmless(one_line(visible(text), most));
}

std::string day_of(const Json& record) {
  return std::string(record["time"].as_string().substr(0, 10));
}

// " [from web, output]": the sources of its text outside the project; empty when there are none.
std::string origins_of(const Json& record) {
  std::string text;
  for (const Json& origin : record["origin"].items())
    text.append(text.empty() ? " [from " : ", ").append(origin.as_string());
  return text.empty() ? text : text + "]";
}

// "O12 bugfix 2026-11-16, 84 tokens: the lexer rounds down"
std::string head_of(const Json& record) {
  const std::string_view type = record["type"].as_string(record["kind"].as_string());
  std::string head = fmt::format("{} {} {}", record["id"].as_string(), type, day_of(record));
  if (record.has("tokens")) head += fmt::format(", {} tokens", record["tokens"].as_int());
  std::string title = line_of(record["title"].as_string());
  if (title.empty()) title = fmt::format("prompt {}", record["prompt_number"].as_int());  // has no title
  if (record["stale"].as_bool()) head += ", file changed since";
  return head + origins_of(record) + ": " + title + "\n";
}

std::string indented(std::string_view text) {
  std::string out;
  for (const std::string_view line : lines(text)) out.append("  ").append(line).append("\n");
  return out;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string label_of(std::string_view part) {
  std::string label(part);
  for (char& c : label)
    if (c == '_') c = ' ';
  return label;
}

// A label and the indented text; a list has a line an item. Empty when the record has no such part.
std::string part_text(const Json& record, std::string_view part) {
  const Json& value = record[part];
  std::string body;
  for (const Json& item : value.items()) body += "- " + one_line(visible(item.as_string()), 1000) + "\n";
  if (value.is_string()) body = visible(value.as_string());
  if (trim(body).empty()) return {};
  return label_of(part) + ":\n" + indented(harmless(trim(body)));
}

std::string record_text(const Json& record) {
  std::string text = head_of(record);
  for (const std::string_view part : kParts) text += part_text(record, part);
  return text;
}

// With its own size in front, which is what the agent pays for it.
std::string with_size(std::string_view what, const std::string& body) {
  return fmt::format("{}, {} tokens\n{}", what, estimate_tokens(body), body);
}

// At most `tokens` of `text`, cut at a line where that is possible.
std::string within(const std::string& text, std::size_t tokens, std::string_view how_to_go_on) {
  if (estimate_tokens(text) <= tokens) return text;
  const std::string note = fmt::format("[cut: {} tokens in all; {}]\n", estimate_tokens(text), how_to_go_on);
  const std::size_t room = tokens - std::min(tokens, estimate_tokens(note));
  // The longest beginning that fits. How many tokens a text has depends on its characters, so its length is
  // searched for, not computed.
  std::size_t low = 0, high = text.size();
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (estimate_tokens(std::string_view(text).substr(0, middle)) <= room)
      low = middle;
    else
      high = middle - 1;
  }
  std::string_view kept = prefix(text, low);
  if (const std::size_t end = kept.rfind('\n'); end != std::string_view::npos && end > kept.size() / 2)
    kept = kept.substr(0, end);  // not when that would lose half of it, as in a text of one long line
  return std::string(kept) + "\n" + note;
}

}  // namespace

std::string harmless(std::string_view text) {
  const std::string clean = context::without_tags(visible(text));
  std::string out;
  const auto all = lines(clean);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out += '\n';
    if (context::is_speaker(all[i])) out += "| ";  // such as "Human: ...": quoted, it begins no turn
    out += all[i];
  }
  return out;
}

std::string render_search(const Json& result, std::size_t) {
  std::string body;
  for (const Json& absent : result["absent"].items())
    body += line_of(absent.as_string(), 100) + " occurs nowhere; these have parts of it or other words\n";
  for (const Json& hit : result["results"].items()) {
    body += head_of(hit);
    if (const std::string excerpt = line_of(hit["excerpt"].as_string(), kExcerpt); !excerpt.empty())
      body += "  " + excerpt + "\n";
    std::string also;
    for (const Json& id : hit["also"].items())
      also.append(also.empty() ? "  also " : ", ").append(id.as_string());
    if (!also.empty()) body += also + "\n";
  }
  const std::size_t count = result["results"].items().size();
  if (count == 0) {
    const std::string_view since = result["remembered_since"].as_string();
    return since.empty() ? "nothing is remembered of this project yet\n"
                         : body + fmt::format("nothing found; remembered since {}\n", since.substr(0, 10));
  }
  if (result["more"].as_bool()) body += "there is more: raise limit, or narrow the query\n";
  return with_size(counted(count, "result", "results"), body);
}

std::string render_timeline(const Json& result, std::size_t) {
  std::string body;
  for (const Json& record : result["records"].items())
    body += (record["id"] == result["anchor"] ? "> " : "  ") + head_of(record);
  return with_size(counted(result["records"].items().size(), "record", "records"), body);
}

std::string render_records(const Json& result, std::size_t tokens) {
  std::string body;
  for (const Json& record : result["records"].items()) body += record_text(record);
  for (const Json& id : result["missing"].items())
    body += "there is no " + line_of(id.as_string(), 40) + "\n";
  return with_size(counted(result["records"].items().size(), "record", "records"),
                   within(body, tokens, "give tokens, or fewer ids"));
}

std::string render_remembered(const Json& result, std::size_t) {
  return fmt::format("{} remembered as a candidate: {}\n", result["id"].as_string(),
                     line_of(result["title"].as_string()));
}

std::string render_forgotten(const Json& result, std::size_t) {
  std::string ids;
  // An id that the agent gave twice is in both lists.
  for (const char* key : {"hidden", "already_hidden"})
    for (const Json& id : result[key].items())
      if (ids.find(id.as_string()) == std::string::npos)
        ids.append(ids.empty() ? "" : ", ").append(line_of(id.as_string(), 40));
  return fmt::format("{} hidden: the user confirms with `cairn forget --pending`\n",
                     ids.empty() ? "the records are" : ids);
}

std::string render_resumed(const Json& result, std::size_t tokens) {
  const Json& document = result["document"];
  const std::string what = document.is_object() ? fmt::format("document {}", document["id"].as_string())
                                                : std::string("no document: from the last session");
  return with_size(what, within(harmless(result["text"].as_string()), tokens, "give tokens"));
}

}  // namespace cairn::mcp
