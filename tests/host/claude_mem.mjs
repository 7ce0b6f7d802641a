// The real claude-mem, driven through its own hooks against a scripted model, stopped, and imported by cairn: every
// session, prompt, observation and summary of its database must be found again, with its time.
//
//   scripts/fetch_claude_mem                   installs it below .cache/, from npm
//   node claude_mem.mjs BIN_DIR CACHE_DIR      exit 77: it is not installed, so there is nothing to import
//
// claude-mem runs in a home of its own. It has no network but the scripted model's port on this machine.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const [binDir, cacheDir] = process.argv.slice(2);
const cairn = path.join(binDir, 'cairn');
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'cairn-claude-mem-'));
const data = path.join(home, '.claude-mem');
const database = path.join(data, 'claude-mem.db');
let worker = 0;

function end(code, message) {
  if (message) console.log(message);
  if (worker) try { process.kill(worker, 'SIGKILL'); } catch { /* it has ended */ }
  spawnSync(cairn, ['daemon', 'stop'], { env: cairnEnv() });
  fs.rmSync(home, { recursive: true, force: true });
  process.exit(code);
}

function check(condition, message) {
  if (!condition) end(1, 'FAILED: ' + message);
}

// Answers as the model that claude-mem asks: a summary when it is asked for one, else an observation.
let answered = 0;
function startModel() {
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', () => {
      ++answered;
      const messages = JSON.parse(body).messages ?? [];
      const last = JSON.stringify(messages[messages.length - 1] ?? '');
      const text = last.includes('observed_from_primary_session')
        ? `<observation><type>bugfix</type><title>Tables are kept, answer ${answered}</title><subtitle>twice as fast</subtitle>` +
          '<facts><fact>parse() rebuilt three tables</fact></facts><narrative>The parser rebuilt its tables each time.</narrative>' +
          '<concepts><concept>problem-solution</concept></concepts><files_read><file>parser.h</file></files_read>' +
          '<files_modified><file>parser.c</file></files_modified></observation>'
        : `<summary><request>Make the parser fast</request><investigated>parser.c</investigated><learned>Tables are costly</learned>` +
          `<completed>The tables are kept now, answer ${answered}</completed><next_steps>Measure the lexer</next_steps><notes></notes></summary>`;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({
        id: 'scripted', object: 'chat.completion', model: 'scripted',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
        usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
      }));
    });
  });
  return new Promise((started) => server.listen(0, '127.0.0.1', () => started(server)));
}

function freePort() {
  return new Promise((found) => {
    const server = http.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}

function run(program, args, options = {}) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: options.cwd, env: options.env, stdio: ['pipe', 'pipe', 'pipe'] });
    let out = '', error = '';
    child.stdout.on('data', (piece) => (out += piece));
    child.stderr.on('data', (piece) => (error += piece));
    child.on('exit', (code) => done({ code, out, error }));
    child.stdin.end(options.input ?? '');
  });
}

function cairnEnv() {
  return { PATH: process.env.PATH, HOME: home, CAIRN_HOME: path.join(home, 'cairn'), CLAUDE_CONFIG_DIR: path.join(home, '.claude') };
}

async function ask(...args) {
  const got = await run(cairn, [...args, '--json'], { env: cairnEnv(), cwd: home });
  check(got.code === 0 || got.code === 3, `cairn ${args.join(' ')}: ${got.error}`);
  return got.out ? JSON.parse(got.out) : {};
}

async function until(what, holds) {
  for (let i = 0; i < 200; ++i) {
    if (await holds()) return;
    await new Promise((later) => setTimeout(later, 100));
  }
  end(1, 'FAILED: waited 20 s for ' + what);
}

const bun = path.join(cacheDir, 'node_modules/.bin/bun');
const plugin = path.join(cacheDir, 'node_modules/claude-mem/plugin');
if (!fs.existsSync(plugin) || !fs.existsSync(bun)) end(77, 'SKIPPED: claude-mem is not installed: scripts/fetch_claude_mem');
const model = await startModel();
const port = await freePort();
fs.mkdirSync(data, { recursive: true });
fs.writeFileSync(path.join(data, 'settings.json'), JSON.stringify({
  CLAUDE_MEM_PROVIDER: 'openrouter', CLAUDE_MEM_OPENROUTER_API_KEY: 'sk-scripted', CLAUDE_MEM_OPENROUTER_MODEL: 'scripted',
  CLAUDE_MEM_OPENROUTER_BASE_URL: `http://127.0.0.1:${model.address().port}/v1`, CLAUDE_MEM_CHROMA_ENABLED: 'false',
  CLAUDE_MEM_WORKER_PORT: String(port), CLAUDE_MEM_TRANSCRIPTS_ENABLED: 'false', CLAUDE_MEM_TELEMETRY: 'off',
}));
const env = {
  PATH: `${path.dirname(bun)}:/usr/bin:/bin`, HOME: home, CLAUDE_MEM_DATA_DIR: data, CLAUDE_MEM_WORKER_PORT: String(port),
  CLAUDE_MEM_TELEMETRY: 'off', DO_NOT_TRACK: '1', CLAUDE_PLUGIN_ROOT: plugin,
};
const project = path.join(home, 'work', 'parser');
fs.mkdirSync(project, { recursive: true });
const claudeMem = (args, input) => run(bun, [path.join(plugin, 'scripts/worker-service.cjs'), ...args], { env, cwd: project, input: input && JSON.stringify(input) });
const hook = async (name, input) => {
  const got = await claudeMem(['hook', 'claude-code', name], input);
  check(got.code === 0, `claude-mem's hook ${name}: ${got.error}`);
};
// Its rows, read by bun without changing anything.
async function rows(sql) {
  const script = `const {Database} = require('bun:sqlite'); console.log(JSON.stringify(new Database(${JSON.stringify(database)}, {readonly: true}).query(${JSON.stringify(sql)}).all()))`;
  const got = await run(bun, ['-e', script], { env, cwd: home });
  return got.code === 0 ? JSON.parse(got.out) : [];
}

// Two sessions through its hooks, the first with two prompts.
const started = await claudeMem(['start']);
check(started.code === 0, 'claude-mem does not start: ' + started.error);
try { worker = JSON.parse(fs.readFileSync(path.join(data, 'worker.pid'), 'utf8')).pid ?? 0; } catch { /* stopped below */ }
const sessions = ['5f0e7a6e-9a3c-4e0d-8f0a-000000000001', '5f0e7a6e-9a3c-4e0d-8f0a-000000000002'];
let prompts = 0;
for (const [i, session] of sessions.entries()) {
  const transcript = path.join(home, session + '.jsonl');
  fs.writeFileSync(transcript, JSON.stringify({
    type: 'assistant', uuid: '1', sessionId: session, timestamp: new Date().toISOString(),
    message: { role: 'assistant', content: [{ type: 'text', text: 'The tables are kept now.' }] },
  }) + '\n');
  const base = { session_id: session, cwd: project, transcript_path: transcript };
  await hook('context', { ...base, hook_event_name: 'SessionStart', source: 'startup' });
  for (let turn = 0; turn < 2 - i; ++turn) {
    await hook('session-init', { ...base, hook_event_name: 'UserPromptSubmit', prompt: `Make the parser fast, part ${++prompts}` });
    await hook('observation', {
      ...base, hook_event_name: 'PostToolUse', tool_name: 'Edit', tool_use_id: `toolu_${prompts}`,
      tool_input: { file_path: project + '/parser.c', old_string: 'a', new_string: 'b' }, tool_response: { filePath: project + '/parser.c' },
    });
    await hook('summarize', { ...base, hook_event_name: 'Stop', last_assistant_message: 'The tables are kept now.' });
    await until('its summary', async () => (await rows('SELECT 1 FROM session_summaries')).length === prompts);
  }
  await hook('session-end', { ...base, hook_event_name: 'SessionEnd', reason: 'exit' });
}

// While it runs, its newest rows stand in the log beside its database.
const early = await ask('import', 'claude-mem', '--dry-run');
check(early.found?.summaries === prompts, 'while it runs: ' + JSON.stringify(early));
const stopped = await claudeMem(['stop']);
check(stopped.code === 0, 'claude-mem does not stop: ' + stopped.error);
worker = 0;
model.close();
model.closeAllConnections();

const theirs = {
  sessions: await rows('SELECT * FROM sdk_sessions'), prompts: await rows('SELECT * FROM user_prompts'),
  observations: await rows('SELECT * FROM observations'), summaries: await rows('SELECT * FROM session_summaries'),
};
check(theirs.sessions.length === 2 && theirs.prompts.length === 3 && theirs.summaries.length === 3 && theirs.observations.length >= 1,
  'claude-mem stored ' + Object.entries(theirs).map(([kind, list]) => `${list.length} ${kind}`).join(', '));
const before = fs.readFileSync(database);
const found = await ask('import', 'claude-mem');
for (const kind of Object.keys(theirs))
  check(found.found[kind] === theirs[kind].length, `${kind}: ${JSON.stringify(found)}`);
await until('the import', async () => (await ask('import', 'status')).memories[0].state !== 'pending');
const status = (await ask('import', 'status')).memories[0];
check(status.state === 'done' && Object.keys(status.left_out).length === 0, JSON.stringify(status));
check(before.equals(fs.readFileSync(database)), 'the database of claude-mem was changed');

// Each record is there under its old id, with its text and its time.
const same = (record, row, kind) => check(record && new Date(record.time).getTime() === row.created_at_epoch, `${kind} ${row.id}: ${JSON.stringify(record)}`);
const record = async (id) => (await ask('show', 'claude-mem:' + id)).records?.[0];
for (const row of theirs.observations) {
  const ours = await record(row.id);
  same(ours, row, 'observation');
  check(ours.title === row.title && ours.narrative === row.narrative && ours.type === row.type && ours.project === 'parser' &&
    JSON.stringify(ours.facts) === row.facts && JSON.stringify(ours.concepts) === row.concepts && JSON.stringify(ours.files_modified) === row.files_modified,
  `observation ${row.id}: ${JSON.stringify(ours)}`);
}
for (const row of theirs.summaries) {
  const ours = await record('S' + row.id);
  same(ours, row, 'summary');
  for (const field of ['request', 'investigated', 'learned', 'completed', 'next_steps'])
    check(ours[field] === row[field], `summary ${row.id}, ${field}: ${JSON.stringify(ours)}`);
}
for (const row of theirs.prompts) {
  const ours = await record('P' + row.id);
  same(ours, row, 'prompt');
  check(ours.text === row.prompt_text && ours.session === row.content_session_id, `prompt ${row.id}: ${JSON.stringify(ours)}`);
}
const listed = (await ask('sessions', 'list', '--all')).sessions;
for (const row of theirs.sessions)
  check(listed.some((ours) => ours.content_session_id === row.content_session_id), `session ${row.content_session_id}: ${JSON.stringify(listed)}`);
const searched = await ask('search', 'tables', '--all');
check(searched.results.length > 0, 'search finds nothing');
const context = await run(cairn, ['context', '--cwd', project], { env: cairnEnv(), cwd: home });
check(context.out.includes('The tables are kept now'), 'the context has nothing of it: ' + context.out + context.error);
const again = await ask('import', 'claude-mem');
check(Object.keys(again.found).length === 0, 'a second import: ' + JSON.stringify(again));
end(0, `imported ${Object.entries(theirs).map(([kind, list]) => `${list.length} ${kind}`).join(', ')} of claude-mem`);
