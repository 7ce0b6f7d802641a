// The reply scanner: ugly replies with what must be read from them, and what holds for any text.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "agent/reply.h"
#include "base/text.h"
#include "os/disk.h"

namespace cairn::agent {
namespace {

struct Case {
  std::string name, reply, expected;
};

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// tests/agent/replies.txt: "=== name", the reply, "--- expected", lines.
std::vector<Case> corpus() {
  os::RealDisk disk;
  const std::string text = os::read_file(disk, CAIRN_REPLIES, 1 << 20).value();
  std::vector<Case> cases;
  for (std::size_t at = text.find("=== "); at != std::string::npos;) {
    const std::size_t next = text.find("\n=== ", at);
    const std::string part = text.substr(at + 4, next == std::string::npos ? next : next + 1 - at - 4);
    const std::size_t line = part.find('\n'), cut = part.find("\n--- expected\n");
    Case one{part.substr(0, line), part.substr(line + 1, cut > line ? cut - line - 1 : 0),
             part.substr(cut + 14)};
    replace_all(one.reply, "\\r", "\r");
    replace_all(one.reply, "\\t", "\t");
    replace_all(one.reply, "\\a", "\a");
    replace_all(one.reply, "\\e", "\x1b");
    cases.push_back(std::move(one));
    at = next == std::string::npos ? next : next + 1;
  }
  return cases;
}

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& item : list) out.append(out.empty() ? "" : "; ").append(item);
  return out;
}

void add_field(std::string& out, std::string_view name, const std::string& text) {
  if (!text.empty()) out += fmt::format("  {}: {}\n", name, one_line(text, 200));
}

// What was read, one field a line.
std::string shown(const std::string& reply) {
  const bool cut = !reply.ends_with('>') && reply.find("<") != std::string::npos;
  const Scanned read = scan_reply(reply, cut);
  std::string out;
  for (const Finding& f : read.findings) {
    out += fmt::format("observation {}: {}\n", f.type.empty() ? "-" : f.type, f.title);
    std::string events;
    for (const auto event : f.events) events += (events.empty() ? "" : ",") + std::to_string(event);
    add_field(out, "events", events.size() > 60 ? "many" : events);
    add_field(out, "facts", joined(f.facts));
    add_field(out, "narrative", f.narrative);
    add_field(out, "concepts", joined(f.concepts));
  }
  for (const TurnText& s : read.summaries) {
    out += fmt::format("summary {}\n", s.turn ? std::to_string(*s.turn) : "-");
    add_field(out, "request", s.request);
    add_field(out, "learned", s.learned);
    add_field(out, "completed", s.completed);
    add_field(out, "next", s.next_steps);
    add_field(out, "notes", s.notes);
    add_field(out, "rules", joined(s.rules));
  }
  if (read.skip) out += "skip: " + *read.skip + "\n";
  for (const std::string& what : read.left_out) out += "left out: " + what + "\n";
  if (!read.usable()) out += fmt::format("unusable: {}\n", kind_name(trouble_of_prose(reply).kind));
  return out;
}

TEST(ReplyCorpus, EveryUglyReplyIsReadAsItsFileSays) {
  const auto cases = corpus();
  EXPECT_GE(cases.size(), 60u);
  std::string all;
  for (const Case& one : cases) {
    EXPECT_EQ(shown(one.reply), one.expected) << one.name;
    all += "=== " + one.name + "\n" + shown(one.reply);
  }
  if (const char* path = std::getenv("CAIRN_SHOW_REPLIES")) {
    std::FILE* file = std::fopen(path, "w");
    std::fputs(all.c_str(), file);
    std::fclose(file);
  }
}

// Any order of tags and text, with text that looks like tags.
rc::Gen<std::string> reply_like() {
  const auto piece = rc::gen::element<std::string>(
      "<observation>", "</observation>", "<title>", "</title>", "<facts>", "</facts>", "<fact>", "</fact>",
      "<summary turn=\"2\">", "</summary>", "<request>", "</request>", "<skip/>", "<think>", "</think>",
      "<events>1,2</events>", "<narrative>", "</narrative>", "a < b", "&amp;", "&#65;", "text", "\n", "<",
      ">", "</", "\xff", "<next_steps>", "<step>", "<rules>");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const auto& pieces) {
    std::string out;
    for (const std::string& p : pieces) out += p;
    return out;
  });
}

TEST(ReplyProperty, AnyTextIsReadWithoutACrashAndWithinItsLimits) {
  EXPECT_TRUE(rc::check([] {
    const std::string text = *reply_like();
    const Scanned read = scan_reply(text, true);
    std::size_t bytes = 0;
    for (const Finding& f : read.findings) {
      RC_ASSERT(!f.title.empty());
      bytes += f.narrative.size() + f.subtitle.size();
      for (const std::string& fact : f.facts) bytes += fact.size();
    }
    RC_ASSERT(read.findings.size() <= 60u);
    RC_ASSERT(bytes <= text.size() + 3);  // nothing is invented but a mark of the cut
  }));
}

TEST(ReplyProperty, WellFormedBlocksAreReadBackExactly) {
  const auto word = rc::gen::container<std::string>(rc::gen::element('a', 'b', 'Z', '0', ' ', '.', '(', '/'));
  EXPECT_TRUE(rc::check([&] {
    std::string text;
    std::vector<std::string> titles;
    for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
      const std::string title = "t" + *word;
      text += *word + "<observation><title>" + title + "</title></observation>" + *word;
      titles.push_back(one_line(title, 200));
    }
    const Scanned read = scan_reply(text);
    std::vector<std::string> found;
    for (const Finding& f : read.findings) found.push_back(f.title);
    RC_ASSERT(found == titles);
  }));
}

// The time for a text of `bytes`, in ms.
double time_for(std::string_view piece, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += piece;
  const auto from = std::chrono::steady_clock::now();
  const Scanned read = scan_reply(text);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - from;
  EXPECT_LE(read.findings.size(), 60u);
  return took.count();
}

TEST(ReplyProperty, TakesLinearTimeUpTo10Megabytes) {
  EXPECT_LT(time_for("<observation><title>a < b<fact>x</title><facts><fact>y", 10'000'000), 60'000);
  for (const std::string_view piece :
       {"<observation>", "<title>", "<title>x</title>", "<", "<observation><title>x", "<fact>", "</title>",
        "<facts><fact>x", "<summary><request>x</request>", "<think>", "&amp;", "<skip>",
        "<observation><title>x</title></observation>", "<narrative>x <title> y"}) {
    const double small = time_for(piece, 50'000), large = time_for(piece, 500'000);
    EXPECT_LT(large, 40 * small + 300) << piece << " took " << small << " and " << large << " ms";
  }
}

}  // namespace
}  // namespace cairn::agent
