// Writes the sessions written_*: invented work, in the format in which Claude Code 2.1.197 calls its hooks.
// Usage: node tests/stories/write.mjs, which writes tests/recorded/written_*/; both are committed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const recorded = join(dirname(fileURLToPath(import.meta.url)), '../recorded');

// One story: a project, a clock that only its own steps move, and the hooks' lines.
export class Story {
  constructor(name, root, begin) {
    this.name = name;
    this.root = root;
    this.time = Date.parse(begin);
    this.lines = [];
    this.files = new Map();
    this.count = 0;
    this.sessions = 0;
  }

  id(kind) {
    return `${kind}_${this.name.replace('written_', '')}_${String(++this.count).padStart(4, '0')}`;
  }

  fire(event, members = {}, seconds = 1) {
    this.time += seconds * 1000;
    const stdin = {
      session_id: this.session,
      transcript_path: `/home/dev/.claude/projects/${this.root.replaceAll('/', '-')}/${this.session}.jsonl`,
      cwd: this.root,
      ...(this.prompt && event !== 'SessionStart' ? { prompt_id: this.prompt } : {}),
      hook_event_name: event,
      ...members,
    };
    const env = { CLAUDE_PROJECT_DIR: this.root };
    this.lines.push(JSON.stringify({ ts: new Date(this.time).toISOString(), event, stdin, env }));
  }

  start(source = 'startup', minutes = 0) {
    this.time += minutes * 60000;
    const number = String(++this.sessions).padStart(12, '0');
    const hash = [...this.name].reduce((h, c) => (h * 31 + c.charCodeAt(0)) >>> 0, 7).toString(16).padStart(8, '0');
    this.session = `${hash}-0000-4000-8000-${number}`;
    this.prompt = undefined;
    this.fire('SessionStart', { source });
  }

  ask(prompt) {
    this.prompt = this.id('prompt');
    this.fire('UserPromptSubmit', { permission_mode: 'default', prompt }, 20);
  }

  // One tool call: a result, or `{ error }`; `{ lost: true }`: it never ended.
  tool(name, input, result, agent) {
    const who = agent ? { agent_id: agent.id, agent_type: agent.type } : {};
    const call = { ...who, tool_name: name, tool_input: input, tool_use_id: this.id('toolu') };
    this.fire('PreToolUse', call);
    if (result?.lost) return;
    if (result?.error !== undefined)
      this.fire('PostToolUseFailure', { ...call, error: result.error, is_interrupt: false, duration_ms: 900 });
    else
      this.fire('PostToolUse', { ...call, tool_response: result, duration_ms: 40 });
  }

  path(file) {
    return `${this.root}/${file}`;
  }

  // A command that printed `out` and, when `code` is given, failed with it.
  run(command, out = '', code = 0, agent) {
    const result = code
      ? { error: `Exit code ${code}\n${out}` }
      : { stdout: out, stderr: '', interrupted: false, isImage: false, noOutputExpected: false };
    this.tool('Bash', { command, description: 'Run it' }, result, agent);
  }

  read(file, content = '', agent) {
    const lines = content.split('\n').length;
    this.tool('Read', { file_path: this.path(file) },
      { type: 'text', file: { filePath: this.path(file), content, numLines: lines, startLine: 1, totalLines: lines } }, agent);
  }

  grep(pattern, found = [], agent) {
    this.tool('Grep', { pattern, output_mode: 'files_with_matches' },
      { mode: 'files_with_matches', filenames: found, numFiles: found.length }, agent);
  }

  write(file, content, agent) {
    this.files.set(file, content);
    this.tool('Write', { file_path: this.path(file), content },
      { type: 'create', filePath: this.path(file), content, structuredPatch: [], originalFile: null, userModified: false }, agent);
  }

  // An edit of `from` to `to` within `context`, lines that stand before it.
  edit(file, context, from, to, start = 10, agent) {
    const marked = (text, sign) => (text === '' ? [] : text.split('\n').map((line) => sign + line));
    const lines = [...marked(context, ' '), ...marked(from, '-'), ...marked(to, '+')];
    const patch = [{ oldStart: start, oldLines: lines.length, newStart: start, newLines: lines.length, lines }];
    this.tool('Edit', { file_path: this.path(file), old_string: from, new_string: to, replace_all: false },
      { filePath: this.path(file), oldString: from, newString: to, originalFile: null, structuredPatch: patch, userModified: false, replaceAll: false }, agent);
  }

  todos(...items) {
    const todos = items.map(([status, content]) => ({ content, status, activeForm: content }));
    this.tool('TodoWrite', { todos }, { oldTodos: [], newTodos: todos });
  }

  // A subagent; `work` is called with it and does its steps.
  delegate(type, description, result, work) {
    const input = { description, prompt: description, subagent_type: type };
    const call = { tool_name: 'Agent', tool_input: input, tool_use_id: this.id('toolu') };
    const agent = { id: this.id('agent'), type };
    this.fire('PreToolUse', call);
    this.fire('SubagentStart', { agent_id: agent.id, agent_type: type });
    work(agent);
    this.fire('SubagentStop', { stop_hook_active: false, agent_id: agent.id, agent_type: type, last_assistant_message: result });
    this.fire('PostToolUse', { ...call, tool_response: { status: 'completed', agentId: agent.id, agentType: type, content: [{ type: 'text', text: result }] }, duration_ms: 9000 });
  }

  stop(answer) {
    this.fire('Stop', { stop_hook_active: false, last_assistant_message: answer, background_tasks: [], session_crons: [] }, 5);
  }

  end(reason = 'prompt_input_exit') {
    this.fire('SessionEnd', { reason }, 3);
  }

  save() {
    mkdirSync(join(recorded, this.name), { recursive: true });
    writeFileSync(join(recorded, this.name, 'hooks.jsonl'), this.lines.join('\n') + '\n');
  }
}
