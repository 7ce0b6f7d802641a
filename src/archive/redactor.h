// The gate for lines of a transcript.
//
// A line without a finding stays byte for byte. In a line with one only the strings concerned are rewritten;
// ids, types, signatures and timestamps never are, so that the host can still resume. Lines that capture
// leaves out (it was off, the prompt was private, a rule excludes the tool call) keep their structure and
// lose every text.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "gate/gate.h"
#include "host/host.h"

namespace cairn::archive {

// Replaces a text that is left out.
inline constexpr std::string_view kWithheld = "[withheld]";

// Ids of tool calls, the newest ones: a result follows its call closely.
class NewestIds {
 public:
  void add(std::string id);
  bool contains(std::string_view id) const { return known_.contains(id); }
  bool empty() const { return order_.empty(); }
  const std::deque<std::string>& oldest_first() const { return order_; }

 private:
  std::deque<std::string> order_;
  std::set<std::string, std::less<>> known_;
};

// Reads the lines of one transcript in their order. Belongs to one thread.
class Redactor {
 public:
  struct Rules {
    std::vector<std::pair<std::int64_t, std::int64_t>> pauses;  // epoch ms
    std::set<std::string, std::less<>> private_prompts;         // prompt ids
    gate::KnownSecrets known;
  };
  // `state`: the state() of the redactor that read the lines before these; empty: start at the first line.
  // `gate` and `host` outlive this.
  Redactor(const gate::Gate& gate, const host::Host& host, Rules rules, std::string_view state);

  // The line as it may be stored, without a line feed. False: it stays as it is, and `out` is not touched.
  bool pass(std::string_view line, std::string& out);

  // The state that another redactor needs to continue after the last line.
  std::string state() const;

 private:
  bool is_withheld(const host::TranscriptRecord& record);
  bool names_one_of(const host::TranscriptRecord& record, const NewestIds& calls) const;
  bool reads_env_file(const host::TranscriptRecord& record);
  bool clean_text(std::string_view line, std::string& out);
  gate::Secrets::Reading known_only();

  const gate::Gate& gate_;
  const host::Host& host_;
  Rules rules_;
  std::string prompt_;   // of the last line that named one
  std::int64_t at_ = 0;  // epoch ms, of the last line that named a time; 0: none did
  NewestIds excluded_;   // tool calls that a rule excludes
  NewestIds env_files_;  // tool calls that read a file of environment variables
};

// Removes what was forgotten from a stored line, and all texts of a line that names one of `calls`. It stays
// one line, and keeps its structure unless that itself was forgotten. False: nothing to remove.
bool forget_in_line(std::string_view line, const gate::Forgotten& forgotten,
                    const std::set<std::string, std::less<>>& calls, const host::Host& host,
                    std::string& out);

}  // namespace cairn::archive
