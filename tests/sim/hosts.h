// The coding agents of a simulation: conversations that begin, work, break off and come back, as a seed
// decides.
//
// They write transcripts to the simulated disk as the real host does, and put the hooks they fire on their
// way. Who delivers those, when and in which order is the schedule's business.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/dice.h"
#include "support/engine_fixture.h"

namespace cairn::sim {

// What a hook call says, in the model's words.
struct Meaning {
  std::string session;  // the content id
  std::string event;    // as the host names it
  std::string key;      // the same whenever this call is delivered
  std::string prompt_id;
  std::string tool_use;  // of tool events
  std::string word;      // stands in its text and in no other call's; empty: it has none
  std::string project;
  bool secret = false;    // of a prompt that is private as a whole
  bool noted = false;     // of what a notification started
  bool no_ids = false;    // its host sends no prompt ids: it belongs to the prompt before it
  std::int64_t turn = 0;  // which prompt of its conversation it belongs to
};

struct Call {
  test::HookCall hook;
  os::ProcessKey process;
  Meaning meaning;
};

// A tool call in a transcript.
struct TranscriptCall {
  std::string session, tool_use, word;
  std::string path;         // of the transcript
  std::string use, result;  // its lines; no result: it never came
  bool secret = false, noted = false, no_ids = false;
  bool rejected = false;       // stopped by the user
  std::size_t deliveries = 0;  // that were acknowledged when it was written
  bool resumed = false;        // its session had ended before
  std::int64_t at_ms = 0;      // when it was written
};

struct Conversation {
  test::Chat chat;
  os::ProcessKey process;
  bool running = false;
  bool in_turn = false;
  bool secret = false;  // the turn is private
  bool noted = false;   // a notification began what runs now
  bool no_ids = false;  // neither hooks nor transcript have prompt ids
  std::int64_t turn = 0;
  bool resumed = false;
  std::string open_tool;   // a call that has not ended
  std::string transcript;  // all its lines
};

class Hosts {
 public:
  Hosts(test::Machine& machine, Dice& dice) : m_(machine), dice_(dice) {}

  // Somebody does the next thing. Returns what it was.
  std::string act();
  // The machine stops: nobody runs any more, and what was on its way is gone.
  void all_die();

  std::deque<Call> on_their_way;
  std::vector<TranscriptCall> transcript_calls;
  const std::vector<Conversation>& conversations() const { return conversations_; }

 private:
  using Index = std::size_t;
  std::string begin(std::string_view source, os::ProcessKey process);
  std::string work(Conversation& c);
  std::string idle(Index at);
  std::string prompt(Conversation& c);
  std::string notified(Conversation& c);
  std::string start_tool(Conversation& c);
  std::string end_tool(Conversation& c);
  std::string subagent(Conversation& c);
  std::string stop(Conversation& c);
  std::string escape(Conversation& c);
  std::string compact(Conversation& c);
  std::string end(Conversation& c, std::string_view reason);
  std::string resume(Conversation& c);
  std::string fork(Index parent);
  std::string die(Conversation& c);

  void say(Conversation& c, test::HookCall call, std::string_view word = "", std::string_view tool_use = "");
  // One line of the transcript, written at once; gives it back.
  std::string write(Conversation& c, std::string_view type, Json message,
                    std::initializer_list<Json::Member> more = {}, std::string_view agent = "");
  // The line of a tool call.
  TranscriptCall write_call(Conversation& c, const std::string& id, const std::string& word,
                            std::string_view agent = "");
  std::string write_result(Conversation& c, std::string_view id, Json response, bool failed,
                           std::string_view text, std::string_view agent = "");
  void append(const std::string& path, std::string_view bytes);
  static std::string path_of(const Conversation& c, std::string_view agent = "");
  std::string new_word(std::string_view what) { return std::string(what) + std::to_string(++words_) + "x"; }
  os::ProcessKey new_process();

  test::Machine& m_;
  Dice& dice_;
  std::vector<Conversation> conversations_;
  std::int64_t words_ = 0;
  std::int64_t processes_ = 0;
};

}  // namespace cairn::sim
