// The coding agents of a simulation: conversations that begin, work, are interrupted and resumed, as a seed
// decides.
//
// They write transcripts to the simulated disk as the real host does, and put their hook calls into a list.
// The schedule decides when and in which order these are delivered.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/dice.h"
#include "support/engine_fixture.h"

namespace cairn::sim {

// The content of a hook call, as the model records it.
struct Meaning {
  std::string session;  // the content id
  std::string event;    // as the host names it
  std::string key;      // the same whenever this call is delivered
  std::string prompt_id;
  std::string tool_use;  // of tool events
  std::string word;      // a word that occurs only in the text of this call; empty: none
  std::string project;
  bool secret = false;    // it belongs to a prompt that is entirely private
  bool noted = false;     // it belongs to work that a notification started
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

  // Some conversation does its next action. Returns what it was.
  std::string act();
  // The machine stops: no host runs any more, and hook calls that were not delivered are lost.
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
