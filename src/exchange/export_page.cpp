// Exports for people: one page of Markdown or HTML.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "exchange/export.h"
#include "store/exchange.h"
#include "store/projects.h"
#include "store/sessions.h"

namespace cairn::exchange {

namespace {

// The two ways to write a page.
class Markup {
 public:
  explicit Markup(const Sink& sink) : sink_(sink) {}
  virtual ~Markup() = default;

  virtual Status begin(const std::string& title, const std::string& about) = 0;
  virtual Status heading(int level, const std::string& text) = 0;
  virtual Status entry(const std::string& label, const std::string& text) = 0;
  virtual Status items(const std::vector<std::string>& items) = 0;
  virtual Status end() = 0;

 protected:
  Status put(const std::string& text) { return sink_(text); }

 private:
  const Sink& sink_;
};

class Markdown final : public Markup {
 public:
  using Markup::Markup;
  Status begin(const std::string& title, const std::string& about) override {
    return put("# " + line(title) + "\n\n" + line(about) + "\n");
  }
  Status heading(int level, const std::string& text) override {
    return put("\n" + std::string(static_cast<std::size_t>(level), '#') + " " + line(text) + "\n");
  }
  // Quoted: a heading within a stored text must not look like one of the page.
  Status entry(const std::string& label, const std::string& text) override {
    std::string out = "\n**" + line(label) + "**\n\n";
    const std::string shown = visible(text);
    for (const std::string_view one : lines(shown)) out += "> " + escaped(one) + "\n";
    return put(out);
  }
  Status items(const std::vector<std::string>& items) override {
    std::string out = "\n";
    for (const std::string& item : items) out += "- " + line(item) + "\n";
    return put(out);
  }
  Status end() override { return {}; }

 private:
  // A viewer of Markdown passes HTML on and loads pictures.
  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '<')
        out += "&lt;";
      else if (c == '!' || c == '[' || c == ']')
        out.append("\\").push_back(c);
      else
        out.push_back(c);
    }
    return out;
  }
  static std::string line(std::string_view text) { return escaped(one_line(visible(text), text.size())); }
};

constexpr std::string_view kStyle =
    "body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em;color:#222}"
    "h1,h2,h3{line-height:1.2}h2{border-bottom:1px solid #ccc;margin-top:2em}"
    ".entry{margin:.6em 0;page-break-inside:avoid}.label{color:#666;font-size:.85em}"
    ".text{white-space:pre-wrap;overflow-wrap:anywhere}@media print{body{max-width:none}}";

class Html final : public Markup {
 public:
  using Markup::Markup;
  // The policy forbids every script, picture and connection, even if an escape were missed.
  Status begin(const std::string& title, const std::string& about) override {
    return put(fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"><title>{0}</title><style>{1}</style></head><body>\n<h1>{0}</h1>\n<p>{2}</p>\n",
        escaped(title), kStyle, escaped(about)));
  }
  Status heading(int level, const std::string& text) override {
    return put(fmt::format("<h{0}>{1}</h{0}>\n", level, escaped(text)));
  }
  Status entry(const std::string& label, const std::string& text) override {
    return put(
        fmt::format("<div class=\"entry\"><div class=\"label\">{}</div><div class=\"text\">{}</div></div>\n",
                    escaped(label), escaped(text)));
  }
  Status items(const std::vector<std::string>& items) override {
    std::string out = "<ul>\n";
    for (const std::string& item : items) out += "<li>" + escaped(item) + "</li>\n";
    return put(out + "</ul>\n");
  }
  Status end() override { return put("</body></html>\n"); }

 private:
  static std::string escaped(std::string_view text) {
    std::string out;
    const std::string shown = visible(text);
    for (const char c : shown) {
      switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default: out.push_back(c);
      }
    }
    return out;
  }
};

class Page {
 public:
  Page(store::Db& db, const Export& what, Markup& markup) : db_(db), what_(what), markup_(markup) {}
  Result<RecordCounts> write();

 private:
  using Rows = std::vector<Json>;
  Result<Rows> rows(std::string_view kind, const std::string& project,
                    const std::optional<std::int64_t>& session);
  Status project(const std::string& name);
  Status session(const std::string& project, const store::Session& session);
  Status notes(const std::string& project);
  Status observation(const Json& row);
  Status summary(const Json& row);

  store::Db& db_;
  const Export& what_;
  Markup& markup_;
  RecordCounts counts_;
};

// Of the texts of a session a page has the answers and the commits.
bool is_on_page(std::string_view kind, const Json& row) {
  return kind != "text" || any_of(row["kind"].as_string(), {"answer", "commit"});
}

// The rows of a kind that a page shows, and that are neither hidden nor in the trash. Counts them.
Result<Page::Rows> Page::rows(std::string_view kind, const std::string& project,
                              const std::optional<std::int64_t>& session) {
  Rows rows;
  // `deleted_at` is set for hidden records and for documents in the trash.
  TRY(store::read_exchange(db_, *store::exchange_kind(kind), {project}, session, [&](Json row) -> Status {
    if (!row.has("deleted_at") && is_on_page(kind, row)) rows.push_back(std::move(row));
    return {};
  }));
  counts_[std::string(kind)] += static_cast<std::int64_t>(rows.size());
  return rows;
}

std::string text_at(const Json& row, std::string_view key) {
  return std::string(row[key].as_string());
}

// Of an ISO time.
std::string minute_of(std::string_view time) {
  std::string text(time.substr(0, 16));
  if (const auto at = text.find('T'); at != std::string::npos) text[at] = ' ';
  return text;
}

std::string joined(const Json& list) {
  std::string text;
  for (const Json& item : list.items()) text.append(text.empty() ? "" : ", ").append(item.as_string());
  return text;
}

Status Page::observation(const Json& row) {
  std::string text = text_at(row, "title");
  for (const std::string_view key : {"subtitle", "narrative"})
    if (const std::string more = text_at(row, key); !more.empty()) text += "\n" + more;
  for (const Json& fact : row["facts"].items()) text.append("\n- ").append(fact.as_string());
  if (const std::string files = joined(row["files_modified"]); !files.empty()) text += "\nfiles: " + files;
  return markup_.entry(text_at(row, "type") + ", " + minute_of(row["created_at"].as_string()), text);
}

Status Page::summary(const Json& row) {
  std::string text;
  for (const std::string_view key :
       {"request", "investigated", "learned", "completed", "next_steps", "notes"}) {
    const std::string value = text_at(row, key);
    if (value.empty()) continue;
    std::string label(key);
    std::replace(label.begin(), label.end(), '_', ' ');
    text += (text.empty() ? "" : "\n") + label + ": " + value;
  }
  return text.empty() ? Status() : markup_.entry("summary", text);
}

Status Page::session(const std::string& project, const store::Session& session) {
  // What belongs to a turn, by its number; 0: to none.
  std::map<std::int64_t, std::map<std::string, Rows>> turns;
  for (const std::string_view kind : {"prompt", "text", "observation", "summary"})
    for (Json& row : TRY(rows(kind, project, session.id.value)))
      turns[row["prompt_number"].as_int()][std::string(kind)].push_back(std::move(row));
  if (turns.empty()) return {};
  TRY(markup_.heading(
      3, "Session of " + minute_of(iso8601(session.started_at)) + " (" + session.platform + ")"));
  for (auto& [number, parts] : turns) {
    for (const Json& row : parts["prompt"])
      TRY(markup_.entry("prompt, " + minute_of(row["created_at"].as_string()), text_at(row, "text")));
    // The summary first: it says what the turn was about.
    for (const Json& row : parts["summary"]) TRY(summary(row));
    for (const Json& row : parts["observation"]) TRY(observation(row));
    for (const Json& row : parts["text"]) TRY(markup_.entry(text_at(row, "kind"), text_at(row, "text")));
  }
  return {};
}

// What people and agents stored by hand is in sessions that no list shows.
Status Page::notes(const std::string& project) {
  bool is_first = true;
  for (const store::Session& hidden : TRY(store::sessions_by_hand(db_, project)))
    for (const Json& row : TRY(rows("observation", project, hidden.id.value))) {
      if (std::exchange(is_first, false)) TRY(markup_.heading(3, "Notes"));
      TRY(observation(row));
    }
  return {};
}

Status Page::project(const std::string& name) {
  ++counts_["project"];
  TRY(markup_.heading(2, name));
  TRY(notes(name));
  std::vector<std::string> open, done;
  for (const Json& row : TRY(rows("open item", name, std::nullopt)))
    (row.has("closed_at") ? done : open).push_back(text_at(row, "text"));
  if (!open.empty()) {
    TRY(markup_.heading(3, "Open"));
    TRY(markup_.items(open));
  }
  if (!done.empty()) {
    TRY(markup_.heading(3, "Done"));
    TRY(markup_.items(done));
  }
  for (const Json& row : TRY(rows("document", name, std::nullopt))) {
    TRY(markup_.heading(3, "Document: " + text_at(row, "title")));
    TRY(markup_.entry(text_at(row, "status") + ", " + minute_of(row["created_at"].as_string()),
                      text_at(row, "body")));
  }
  for (const store::Session& one :
       TRY(store::list_sessions(db_, name, std::numeric_limits<std::int32_t>::max()))) {
    if (one.project != name) continue;  // a linked project has a chapter of its own
    ++counts_["session"];
    TRY(session(name, one));
  }
  return {};
}

Result<RecordCounts> Page::write() {
  auto moment = TRY(store::Savepoint::begin(db_));
  TRY(markup_.begin("What cairn remembers",
                    "Written on " + minute_of(iso8601(what_.now)) + " UTC by " + what_.program + "."));
  for (const std::string& name : what_.projects) TRY(project(name));
  TRY(markup_.end());
  TRY(moment.commit());
  return std::move(counts_);
}

}  // namespace

Result<RecordCounts> write_markdown(store::Db& db, const Export& what, const Sink& sink) {
  Markdown markup(sink);
  return Page(db, what, markup).write();
}

Result<RecordCounts> write_html(store::Db& db, const Export& what, const Sink& sink) {
  Html markup(sink);
  return Page(db, what, markup).write();
}

}  // namespace cairn::exchange
