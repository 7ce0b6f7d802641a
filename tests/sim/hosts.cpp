#include "sim/hosts.h"

#include <fmt/format.h>

#include "os/disk.h"

namespace cairn::sim {

using test::HookCall;
using test::must;

os::ProcessKey Hosts::new_process() {
  ++processes_;
  // The process starts now; its start time is in ticks since boot.
  return {1000 + processes_, static_cast<std::uint64_t>(m_.clock.boot_ns() / 10'000'000)};
}

std::string Hosts::act() {
  std::vector<Index> running, gone;
  for (Index i = 0; i < conversations_.size(); ++i) (conversations_[i].running ? running : gone).push_back(i);
  if (running.empty() || (conversations_.size() < 4 && dice_.percent(8)))
    if (gone.empty() || dice_.percent(60)) return begin("startup", new_process());
  if (!gone.empty() && (running.empty() || dice_.percent(6))) {
    const Index at = dice_.one_of(gone);
    return dice_.percent(70) || conversations_.size() >= 6 ? resume(conversations_[at]) : fork(at);
  }
  const Index at = dice_.one_of(running);
  return conversations_[at].in_turn ? work(conversations_[at]) : idle(at);
}

std::string Hosts::work(Conversation& c) {
  const auto roll = dice_.below(100);
  if (!c.open_tool.empty()) {
    if (roll < 80) return end_tool(c);
    return roll < 88 ? escape(c) : roll < 95 ? die(c) : end(c, "other");
  }
  if (roll < 50) return start_tool(c);
  if (roll < 80) return stop(c);
  if (roll < 86) return subagent(c);
  if (roll < 90) return compact(c);
  if (roll < 94) return die(c);
  if (roll < 97) return prompt(c);  // the user continued without waiting
  return end(c, "other");
}

std::string Hosts::idle(Index at) {
  Conversation& c = conversations_[at];
  const auto roll = dice_.below(100);
  if (roll < 65) return prompt(c);
  if (roll < 70) return notified(c);
  if (roll < 75) return compact(c);
  if (roll < 90) return end(c, "prompt_input_exit");
  if (roll < 94) return die(c);
  const os::ProcessKey process = c.process;
  end(c, "clear");
  return begin("clear", process);
}

std::string Hosts::begin(std::string_view source, os::ProcessKey process) {
  Conversation c;
  c.chat.session =
      fmt::format("{:08x}-aaaa-4bbb-8ccc-{:012x}", dice_.next() & 0xffffffff, conversations_.size());
  c.chat.cwd = dice_.percent(70) ? "/home/dev/code/proj" : "/home/dev/code/other";
  c.process = process;
  c.running = true;
  c.no_ids = dice_.percent(25);
  conversations_.push_back(std::move(c));
  say(conversations_.back(), conversations_.back().chat.start(source));
  return fmt::format("host begins {} ({})", conversations_.back().chat.session.substr(0, 8), source);
}

void Hosts::say(Conversation& c, HookCall call, std::string_view word, std::string_view tool_use) {
  Meaning meaning;
  meaning.session = c.chat.session;
  meaning.event = call.event;
  meaning.key = fmt::format("{} {}", call.event, ++words_);
  meaning.prompt_id = c.chat.prompt_id;
  meaning.tool_use = tool_use;
  meaning.word = word;
  meaning.project = c.chat.cwd;
  meaning.secret = c.secret;
  meaning.noted = c.noted;
  meaning.no_ids = c.no_ids;
  meaning.turn = c.turn;
  on_their_way.push_back({std::move(call), c.process, std::move(meaning)});
}

std::string Hosts::prompt(Conversation& c) {
  const std::string word = new_word("request");
  c.secret = dice_.percent(6);
  c.noted = false;
  c.in_turn = true;
  c.open_tool.clear();
  const std::string text =
      c.secret ? "<private>" + word + " of nobody else</private>" : word + ": change the colours";
  ++c.turn;
  HookCall call = c.chat.prompt(text, fmt::format("prompt-{:016x}", dice_.next()));
  if (c.no_ids) {
    c.chat.prompt_id.clear();
    call = c.chat.call("UserPromptSubmit", {{"permission_mode", "default"}, {"prompt", text}});
  }
  write(c, "user", Json::object({{"role", "user"}, {"content", text}}));
  say(c, std::move(call), word);
  return fmt::format("host prompts {} {}{}", c.chat.session.substr(0, 8), word,
                     c.secret ? " in private" : "");
}

std::string Hosts::notified(Conversation& c) {
  if (c.chat.prompt_id.empty() || c.secret) return prompt(c);
  const std::string word = new_word("note");
  c.in_turn = c.noted = true;
  say(c,
      c.chat.prompt("<task-notification>" + word + "</task-notification>",
                    fmt::format("prompt-{:016x}", dice_.next())),
      word);
  return fmt::format("host notifies {} {}", c.chat.session.substr(0, 8), word);
}

std::string Hosts::start_tool(Conversation& c) {
  const std::string word = new_word("file");
  c.open_tool = fmt::format("toolu_{}_{:08x}", word, dice_.next() & 0xffffffff);
  TranscriptCall call = write_call(c, c.open_tool, word);
  transcript_calls.push_back(std::move(call));
  const Json input = Json::object({{"file_path", c.chat.cwd + "/" + word}, {"content", word}});
  if (dice_.percent(60)) say(c, c.chat.before_tool("Write", c.open_tool, input), word, c.open_tool);
  return fmt::format("host starts {} in {}", word, c.chat.session.substr(0, 8));
}

std::string Hosts::end_tool(Conversation& c) {
  TranscriptCall* call = nullptr;
  for (TranscriptCall& one : transcript_calls)
    if (one.tool_use == c.open_tool && one.session == c.chat.session) call = &one;
  const std::string use = std::exchange(c.open_tool, "");
  if (!call) return "host has forgotten its tool";
  const Json input = Json::object({{"file_path", c.chat.cwd + "/" + call->word}, {"content", call->word}});
  if (dice_.percent(25)) {
    call->result = write_result(c, use, Json("Error: no room for " + call->word), true, "no room");
    say(c, c.chat.tool_failure("Write", use, input, "no room for " + call->word), call->word, use);
    return fmt::format("host fails {}", call->word);
  }
  const Json response = Json::object({{"type", "create"}, {"filePath", c.chat.cwd + "/" + call->word}});
  call->result = write_result(c, use, response, false, "done");
  say(c, c.chat.tool("Write", use, input, response), call->word, use);
  return fmt::format("host ends {}", call->word);
}

std::string Hosts::subagent(Conversation& c) {
  const std::string word = new_word("agent");
  const std::string outer = "toolu_outer_" + word, inner = "toolu_inner_" + word, inside = new_word("inside");
  const auto in_agent = [&](HookCall call) {
    call.payload.set("agent_id", word).set("agent_type", "general-purpose");
    return call;
  };
  const Json task = Json::object({{"prompt", word}});
  TranscriptCall outer_call = write_call(c, outer, word);
  say(c, c.chat.before_tool("Agent", outer, task), word, outer);
  say(c, in_agent(c.chat.call("SubagentStart")));
  TranscriptCall inner_call = write_call(c, inner, inside, word);
  const Json done = Json::object({{"type", "create"}, {"filePath", c.chat.cwd + "/" + inside}});
  inner_call.result = write_result(c, inner, done, false, "done", word);
  const Json input = Json::object({{"file_path", c.chat.cwd + "/" + inside}, {"content", inside}});
  say(c, in_agent(c.chat.tool("Write", inner, input, done)), inside, inner);
  say(c, in_agent(c.chat.call("SubagentStop", {{"last_assistant_message", word}})), word);
  outer_call.result = write_result(c, outer, Json::object({{"result", word}}), false, "done");
  say(c, c.chat.tool("Agent", outer, task, Json::object({{"result", word}})), word, outer);
  transcript_calls.push_back(std::move(outer_call));
  transcript_calls.push_back(std::move(inner_call));
  return fmt::format("host runs {} in {}", word, c.chat.session.substr(0, 8));
}

std::string Hosts::stop(Conversation& c) {
  const std::string word = new_word("answer");
  c.in_turn = false;
  if (dice_.percent(15)) {
    say(c, c.chat.stop_failure(word), word);
    return fmt::format("host fails to stop {}", c.chat.session.substr(0, 8));
  }
  const Json block = Json::object({{"type", "text"}, {"text", word}});
  write(c, "assistant", Json::object({{"content", Json::array({block})}, {"stop_reason", "end_turn"}}));
  say(c, c.chat.stop(word), word);
  return fmt::format("host stops {} with {}", c.chat.session.substr(0, 8), word);
}

// No hook reports it.
std::string Hosts::escape(Conversation& c) {
  for (TranscriptCall& call : transcript_calls)
    if (call.tool_use == c.open_tool && call.session == c.chat.session) {
      call.rejected = true;
      call.result = write_result(c, c.open_tool, Json("User rejected tool use"), true,
                                 "The user doesn't want to proceed with this tool use.");
    }
  c.open_tool.clear();
  c.in_turn = false;
  return fmt::format("user stops {}", c.chat.session.substr(0, 8));
}

std::string Hosts::compact(Conversation& c) {
  say(c, c.chat.call("PreCompact", {{"trigger", "auto"}, {"custom_instructions", new_word("keep")}}));
  say(c, c.chat.call("SubagentStop", {{"agent_id", "compact"}, {"agent_type", ""}}));
  say(c, c.chat.start("compact"));
  say(c, c.chat.call("PostCompact", {{"trigger", "auto"}, {"compact_summary", new_word("compact")}}));
  return fmt::format("host compacts {}", c.chat.session.substr(0, 8));
}

std::string Hosts::end(Conversation& c, std::string_view reason) {
  say(c, c.chat.end(reason));
  c.running = c.in_turn = false;
  c.open_tool.clear();
  if (reason != "clear") m_.processes.kill(c.process.pid);
  return fmt::format("host ends {} ({})", c.chat.session.substr(0, 8), reason);
}

std::string Hosts::die(Conversation& c) {
  c.running = c.in_turn = false;
  c.open_tool.clear();
  m_.processes.kill(c.process.pid);
  // A hook that it had started may outlive it.
  const bool takes_hooks = dice_.percent(50);
  std::erase_if(on_their_way, [&](const Call& call) { return takes_hooks && call.process == c.process; });
  return fmt::format("host dies {}{}", c.chat.session.substr(0, 8), takes_hooks ? " with its hooks" : "");
}

std::string Hosts::resume(Conversation& c) {
  c.process = new_process();
  c.running = c.resumed = true;
  c.secret = c.noted = false;
  c.chat.prompt_id.clear();
  say(c, c.chat.start("resume"));
  return fmt::format("host resumes {}", c.chat.session.substr(0, 8));
}

// The start carries the old id, all later events the new one; the transcript begins as a copy.
std::string Hosts::fork(Index parent) {
  Conversation c = conversations_[parent];
  c.process = new_process();
  c.running = true;
  c.resumed = false;
  c.secret = c.noted = false;
  c.chat.prompt_id.clear();
  say(c, c.chat.start("resume"));
  const std::string old = std::exchange(
      c.chat.session,
      fmt::format("{:08x}-ffff-4bbb-8ccc-{:012x}", dice_.next() & 0xffffffff, conversations_.size()));
  for (std::size_t at = c.transcript.find(old); at != std::string::npos; at = c.transcript.find(old, at))
    c.transcript.replace(at, old.size(), c.chat.session);
  append(path_of(c), c.transcript);
  conversations_.push_back(std::move(c));
  return fmt::format("host forks {} as {}", old.substr(0, 8),
                     conversations_.back().chat.session.substr(0, 8));
}

void Hosts::all_die() {
  for (Conversation& c : conversations_) {
    if (c.running) m_.processes.kill(c.process.pid);
    c.running = c.in_turn = false;
    c.open_tool.clear();
  }
  on_their_way.clear();
}

std::string Hosts::path_of(const Conversation& c, std::string_view agent) {
  const std::string base = "/home/dev/.claude/projects/-proj/" + c.chat.session;
  return agent.empty() ? base + ".jsonl" : fmt::format("{}/subagents/agent-{}.jsonl", base, agent);
}

std::string Hosts::write(Conversation& c, std::string_view type, Json message,
                         std::initializer_list<Json::Member> more, std::string_view agent) {
  Json line = Json::object({{"isSidechain", !agent.empty()},
                            {"type", type},
                            {"message", std::move(message)},
                            {"timestamp", iso8601(m_.clock.now())},
                            {"cwd", c.chat.cwd},
                            {"sessionId", c.chat.session}});
  if (type == "user" && !c.no_ids) line.set("promptId", c.chat.prompt_id);
  if (!agent.empty()) line.set("agentId", agent);
  for (const Json::Member& member : more) line.set(member.first, member.second);
  std::string text = line.dump() + "\n";
  append(path_of(c, agent), text);
  if (agent.empty()) c.transcript += text;
  return text;
}

TranscriptCall Hosts::write_call(Conversation& c, const std::string& id, const std::string& word,
                                 std::string_view agent) {
  const Json input = Json::object({{"file_path", c.chat.cwd + "/" + word}, {"content", word}});
  const Json block = Json::object({{"type", "tool_use"}, {"id", id}, {"name", "Write"}, {"input", input}});
  TranscriptCall call;
  call.session = c.chat.session;
  call.tool_use = id;
  call.word = word;
  call.path = path_of(c, agent);
  call.use = write(c, "assistant",
                   Json::object({{"content", Json::array({block})}, {"stop_reason", "tool_use"}}), {}, agent);
  call.secret = c.secret;
  call.noted = c.noted;
  call.no_ids = c.no_ids;
  call.deliveries = m_.delivered.size();
  call.resumed = c.resumed;
  call.at_ms = epoch_ms(m_.clock.now());
  return call;
}

std::string Hosts::write_result(Conversation& c, std::string_view id, Json response, bool failed,
                                std::string_view text, std::string_view agent) {
  const Json block =
      Json::object({{"type", "tool_result"}, {"tool_use_id", id}, {"content", text}, {"is_error", failed}});
  return write(c, "user", Json::object({{"content", Json::array({block})}}),
               {{"toolUseResult", std::move(response)}}, agent);
}

// The host's own disk calls are not the daemon's: they do not fail here, and they are never synced.
void Hosts::append(const std::string& path, std::string_view bytes) {
  const test::SimDisk::Onlooker host(m_.disk);
  must(os::make_dirs(m_.disk, path.substr(0, path.rfind('/'))));
  auto file = must(m_.disk.open(path, os::Open::read_write));
  ignore(file->write_at(must(file->size()), bytes));  // on a full disk a part of it
}

}  // namespace cairn::sim
