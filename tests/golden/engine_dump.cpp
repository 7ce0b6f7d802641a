#include "golden/engine_dump.h"

#include "base/text.h"
#include "store/lists.h"

namespace cairn::test {

static void add_field(std::string& out, const std::string& label, const std::string& value) {
  if (value.empty() || value == "[]") return;
  out += "    " + label + ": ";
  bool first = true;
  for (const std::string_view line : lines(value)) {
    if (!first) out += trim(line).empty() ? "" : "      ";
    out.append(line).append("\n");
    first = false;
  }
}

static void add_summary(std::string& out, Machine& machine, std::int64_t session, std::int64_t number) {
  store::Stmt row = must(machine.db().query(
      "SELECT u.provider, u.interim, u.request, u.completed, u.learned, u.investigated, u.next_steps, "
      "u.notes, "
      "u.files_read, u.files_edited FROM session_summaries u JOIN sdk_sessions s ON s.memory_session_id = "
      "u.memory_session_id WHERE s.id = ? AND u.prompt_number = ?",
      session, number));
  if (!must(row.step())) {
    out += "  no summary\n";
    return;
  }
  out += "  summary by " + row.text(0) + (row.integer(1) != 0 ? ", interim\n" : "\n");
  const char* labels[] = {"request",    "completed", "learned",    "investigated",
                          "next steps", "notes",     "files read", "files edited"};
  for (int i = 0; i < 8; ++i) add_field(out, labels[i], row.text(i + 2));
}

// Each with the events it came from, counted from the turn's first.
static void add_observations(std::string& out, Machine& machine, std::int64_t session, std::int64_t number) {
  store::Stmt row = must(machine.db().query(
      "SELECT o.id, o.type, o.title, o.subtitle, o.facts, o.narrative, o.concepts, o.files_read, "
      "o.files_modified FROM observations o JOIN sdk_sessions s ON s.memory_session_id = o.memory_session_id "
      "WHERE s.id = ? AND o.prompt_number = ? ORDER BY o.position, o.id",
      session, number));
  while (must(row.step())) {
    out += "  " + row.text(1) + ": " + row.text(2) + "\n";
    add_field(out, "subtitle", row.text(3));
    for (const std::string& fact : store::read_list(row.text(4))) add_field(out, "fact", fact);
    const char* labels[] = {"narrative", "concepts", "files read", "files modified"};
    for (int i = 0; i < 4; ++i) add_field(out, labels[i], row.text(i + 5));
    store::Stmt event = must(machine.db().query(
        "SELECT (SELECT count(*) FROM events b WHERE b.session_db_id = e.session_db_id AND b.prompt_number = "
        "e.prompt_number AND b.outcome = 'stored' AND b.seq <= e.seq), e.name, coalesce(e.tool_name, '') "
        "FROM "
        "observation_evidence v JOIN events e ON e.seq = v.event_seq WHERE v.observation_id = ? ORDER BY "
        "e.seq",
        row.integer(0)));
    std::string events;
    while (must(event.step()))
      events += (events.empty() ? "" : ", ") + event.text(0) + " " +
                (event.text(2).empty() ? event.text(1) : event.text(2));
    add_field(out, "from", events);
  }
}

static void add_turns(std::string& out, Machine& machine, std::int64_t session) {
  store::Stmt row = must(machine.db().query(
      "SELECT t.prompt_number, coalesce(t.end_reason, 'open'), coalesce(t.failure, ''), t.muted, "
      "coalesce(p.prompt_text, '(none)') FROM turns t LEFT JOIN user_prompts p ON p.session_db_id = "
      "t.session_db_id AND p.prompt_number = t.prompt_number WHERE t.session_db_id = ? ORDER BY 1",
      session));
  while (must(row.step())) {
    out += "turn " + row.text(0) + " " + row.text(1) + (row.text(2).empty() ? "" : " " + row.text(2)) +
           (row.integer(3) != 0 ? " private" : "") + ": " + one_line(row.text(4), 100) + "\n";
    add_summary(out, machine, session, row.integer(0));
    add_observations(out, machine, session, row.integer(0));
  }
}

static std::string ids_state(const std::string& memory_id) {
  if (memory_id.empty()) return "memory=none";
  return memory_id.starts_with("cairn-") && memory_id.size() == 42 ? "memory=cairn-UUID"
                                                                   : "memory=" + memory_id;
}

std::string dump_memory(Machine& machine) {
  std::string out;
  store::Stmt row = must(machine.db().query(
      "SELECT id, content_session_id, status, coalesce(end_reason, '-'), project, prompt_count, "
      "coalesce(memory_session_id, ''), cwd, completed_at FROM sdk_sessions ORDER BY content_session_id"));
  while (must(row.step())) {
    out += "session " + row.text(1) + " " + row.text(2) + " (" + row.text(3) + ") project=" + row.text(4) +
           " prompts=" + row.text(5) + " " + ids_state(row.text(6)) + " cwd=" + row.text(7) +
           (row.is_null(8) ? "" : " ended=" + row.text(8).substr(0, 19)) + "\n";
    add_turns(out, machine, row.integer(0));
    out += "\n";
  }
  return out;
}

std::string without_nonces(std::string text) {
  constexpr std::string_view kStart = "nonce=\"";
  for (std::size_t at = text.find(kStart); at != std::string::npos; at = text.find(kStart, at + 1))
    text.replace(at + kStart.size(), 16, "NONCE");
  return text;
}

static std::string dump_events(Machine& machine) {
  std::string out = "events\n";
  store::Stmt row = must(machine.db().query(
      "SELECT e.name, e.outcome, coalesce(e.reason, ''), e.prompt_number, coalesce(e.tool_name, ''), "
      "coalesce(e.agent_type, ''), coalesce(m.message_type || ' ' || m.status, ''), "
      "substr(s.content_session_id, 1, 4) FROM events e LEFT JOIN pending_messages m ON m.event_seq = e.seq "
      "LEFT JOIN sdk_sessions s ON s.id = e.session_db_id ORDER BY e.seq"));
  while (must(row.step())) {
    out += "  " + row.text(7) + " " + (row.is_null(3) ? "-" : row.text(3)) + " " + row.text(0);
    for (const int column : {4, 5})
      if (!row.text(column).empty()) out += " " + row.text(column);
    out += ": " + row.text(1);
    if (!row.text(2).empty()) out += " (" + row.text(2) + ")";
    if (!row.text(6).empty()) out += ", " + row.text(6);
    out += "\n";
  }
  return out;
}

static std::string dump_contexts(Machine& machine) {
  std::string out;
  for (const std::string& project : machine.rows("SELECT name FROM projects ORDER BY name")) {
    const Json context = must(machine.run("context", Json::object({{"project", project}})));
    out += "\ncontext of " + project + "\n" + without_nonces(std::string(context["text"].as_string())) + "\n";
  }
  return out;
}

std::string dump(Machine& machine) {
  std::string out = dump_memory(machine);
  out += dump_events(machine);
  return out + dump_contexts(machine);
}

}  // namespace cairn::test
