#include "support/engine_fixture.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hook/inbox.h"

namespace cairn::test {

void end_with(const Error& error) {
  std::fprintf(stderr, "a test cannot go on: %s\n", error.message.c_str());
  std::abort();
}

bool KeptLog::has(std::string_view part) const {
  return all_.find(part) != std::string::npos;
}

Machine::Machine() {
  disk.provide_dir("/home/dev");
}

Status Machine::open() {
  engine.reset();
  engine = TRY(daemon::Engine::open(
      home, {engine_disk ? *engine_disk : disk, clock, processes, log, vfs.name(), true, provider}));
  return {};
}

Result<EventId> Machine::try_deliver(const HookCall& call) {
  return try_deliver(call.event, call.payload.dump() + "\n");
}

Result<EventId> Machine::try_deliver(std::string_view event, std::string_view bytes) {
  clock.advance(Millis(1));
  hook::Envelope envelope;
  envelope.event = event;
  envelope.project_dir = project_dir;
  envelope.env_file = env_file;
  if (!platform.empty()) envelope.host = platform;
  envelope.host_process = host;
  hook::Inbox inbox(disk, clock, home.inbox());
  const auto source = [&bytes](char* to, std::size_t size) -> Result<std::size_t> {
    const std::size_t count = std::min(size, bytes.size());
    std::memcpy(to, bytes.data(), count);
    bytes.remove_prefix(count);
    return count;
  };
  EventId id = TRY(inbox.deliver(std::move(envelope), source, sync));
  delivered.push_back(id);
  return id;
}

Status Machine::drain() {
  while (TRY(engine->step())) {
  }
  return {};
}

EventId Machine::tell(const HookCall& call) {
  EventId id = deliver(call);
  must(drain());
  return id;
}

context::Answer Machine::ask(const HookCall& call, bool confirm) {
  const EventId id = deliver(call);
  context::Answer answer = must(engine->answer(id, clock.boot_ns() + 3'000'000'000));
  if (confirm && answer.receipt) must(engine->confirm(*answer.receipt));
  return answer;
}

std::string Machine::context_of(const context::Answer& answer) {
  const Json line = must(Json::parse(answer.line));
  return std::string(line["hookSpecificOutput"]["additionalContext"].as_string());
}

Result<Json> Machine::run(std::string_view operation, Json args) {
  const ops::Operation* found = ops::find_operation(operation);
  if (!found) return Error{Code::invalid, "no such operation"};
  return engine->run(*found, args);
}

std::string Machine::text(std::string_view sql) {
  return must(db().text(sql)).value_or("");
}

std::int64_t Machine::number(std::string_view sql) {
  return must(db().integer(sql)).value_or(-1);
}

std::vector<std::string> Machine::rows(std::string_view sql) {
  std::vector<std::string> out;
  sqlite3_stmt* row = nullptr;
  const int prepared =
      sqlite3_prepare_v2(db().raw(), sql.data(), static_cast<int>(sql.size()), &row, nullptr);
  if (prepared != SQLITE_OK) end_with({Code::internal, sqlite3_errmsg(db().raw())});
  while (sqlite3_step(row) == SQLITE_ROW) {
    std::string line;
    for (int i = 0; i < sqlite3_column_count(row); ++i) {
      const unsigned char* value = sqlite3_column_text(row, i);
      line.append(i > 0 ? "|" : "").append(value ? reinterpret_cast<const char*>(value) : "-");
    }
    out.push_back(std::move(line));
  }
  sqlite3_finalize(row);
  return out;
}

std::vector<std::string> Machine::files(const std::string& below_inbox) {
  auto names = must(disk.list(home.inbox() + "/" + below_inbox));
  std::sort(names.begin(), names.end());
  return names;
}

void Machine::put_file(const std::string& path, std::string_view bytes) {
  ignore(disk.remove(path));
  auto file = must(disk.open(path, os::Open::create_new));
  must(file->write_at(0, bytes));
}

std::string Machine::read(const std::string& path) {
  return must(os::read_file(disk, path, 1u << 30));
}

}  // namespace cairn::test
