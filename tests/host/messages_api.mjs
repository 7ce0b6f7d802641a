#!/usr/bin/env node
// A Messages API on loopback that answers from scripts, so that the real Claude Code runs without a network.
// Plain Node, version 18 or later.
//
//   messages_api.mjs --scripts DIR --log FILE --port-file FILE
//
// A client chooses its script by the base URL: http://127.0.0.1:PORT/NAME reads DIR/NAME.json at its first request.
//
//   {"turns": [REPLY...], "rules": [{"first": REGEX, "last": REGEX, "turns": [REPLY...]}...]}
//
// A request takes the next turn of the first rule whose expressions match the text of its first and last user message, else
// of the script if it has tools; one without tools (the title of a TUI session) and a script that has run out get a fixed
// text. REPLY, every part optional:
//
//   {"text": "...", "tools": [{"name": "Write", "input": {...}}],   what the model says and calls
//    "stop": "max_tokens",                                          why it ends there
//    "delay_ms": 500,                                               before the answer
//    "fail": {"status": 529, "message": "...", "times": 2},         first this error, so many times (default: for ever)
//    "hang": true,                                                  never an answer
//    "cut": true}                                                   the stream breaks off inside the first block
//
// "{{REGEX}}" in a text of a tool's input becomes what the expression finds in the request: a path that the host chose.
//
// Each request is logged as one JSON line before it is answered:
//
//   {"n", "at", "method", "path", "script", "session", "stream", "answer", "text", "body"}
//
// where `text` is everything the model would read, wherever it stands, and the body's tools are names only. The program ends at the end of its stdin, so it
// cannot outlive the test that holds the other end.
import { createServer } from 'node:http';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

function option(name) {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0 || at + 1 >= process.argv.length) {
    console.error(`messages_api: --${name} is missing`);
    process.exit(2);
  }
  return process.argv[at + 1];
}

const scriptsDir = option('scripts');
const logFile = option('log');
const portFile = option('port-file');
const ranOut = { text: 'The script has no more turns.' };
const noTools = { text: '{"title": "scripted session"}' };

// Every string a model would read in a system prompt or a list of messages.
function readable(value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(readable).filter(Boolean).join('\n');
  if (!value || typeof value !== 'object') return '';
  if (value.type === 'tool_use') return `${value.name} ${JSON.stringify(value.input)}`;
  return [value.text, value.content, value.thinking].map(readable).filter(Boolean).join('\n');
}

class Script {
  constructor(name) {
    const { turns = [], rules = [] } = JSON.parse(readFileSync(`${scriptsDir}/${name}.json`, 'utf8'));
    const part = (id, list) => ({ id, turns: list, next: 0, failed: 0 });
    this.main = part('turn', turns);
    this.rules = rules.map((rule, i) => ({
      first: rule.first && new RegExp(rule.first, 's'),
      last: rule.last && new RegExp(rule.last, 's'),
      part: part(`rule ${i} turn`, rule.turns ?? []),
    }));
  }

  // The reply to `body` and a name for it in the log. A turn that fails is kept until its failures are used up.
  take(body) {
    const users = (body.messages ?? []).filter((m) => m.role === 'user').map((m) => readable(m.content));
    const matches = (rule) =>
      (!rule.first || rule.first.test(users[0] ?? '')) && (!rule.last || rule.last.test(users.at(-1) ?? ''));
    const part = this.rules.find(matches)?.part ?? (body.tools?.length ? this.main : undefined);
    if (!part) return { reply: noTools, answer: 'no tools' };
    if (part.next >= part.turns.length) return { reply: ranOut, answer: 'ran out' };
    const reply = part.turns[part.next];
    const answer = `${part.id} ${part.next}`;
    if (reply.fail && part.failed < (reply.fail.times ?? Infinity)) {
      part.failed += 1;
      return { reply: { delay_ms: reply.delay_ms, failure: reply.fail }, answer: `${answer} fails` };
    }
    part.failed = 0;
    part.next += 1;
    return { reply, answer };
  }
}

const scripts = new Map();
function scriptOf(name) {
  if (!scripts.has(name)) scripts.set(name, new Script(name));
  return scripts.get(name);
}

function filled(input, body) {
  const found = (_, regex) => readable([body.system, body.messages]).match(new RegExp(regex))?.[0] ?? '';
  const fill = ([key, value]) => [key, typeof value === 'string' ? value.replace(/\{\{(.+?)\}\}/, found) : value];
  return Object.fromEntries(Object.entries(input).map(fill));
}

const blocksOf = (reply, body) => [
  ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]),
  ...(reply.tools ?? []).map(({ name, input }) => ({
    type: 'tool_use',
    id: `toolu_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    name,
    input: filled(input ?? {}, body),
  })),
];

function messageOf(reply, body) {
  const content = blocksOf(reply, body);
  return {
    id: `msg_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content,
    stop_reason: reply.stop ?? (content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage: { input_tokens: 1000, output_tokens: 50, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
}

function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

// The message as server-sent events, each text or tool input in two pieces.
function stream(response, message, cut) {
  const event = (type, fields) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  event('message_start', { message: { ...message, content: [], stop_reason: null, usage: { ...message.usage, output_tokens: 1 } } });
  for (const [index, block] of message.content.entries()) {
    const isText = block.type === 'text';
    const whole = isText ? block.text : JSON.stringify(block.input);
    const half = Math.ceil(whole.length / 2);
    event('content_block_start', { index, content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} } });
    for (const piece of [whole.slice(0, half), whole.slice(half)]) {
      const delta = isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece };
      event('content_block_delta', { index, delta });
      if (cut) return void setTimeout(() => response.destroy(), 20);
    }
    event('content_block_stop', { index });
  }
  const { stop_reason, stop_sequence, usage } = message;
  event('message_delta', { delta: { stop_reason, stop_sequence }, usage: { output_tokens: usage.output_tokens } });
  event('message_stop', {});
  response.end();
}

async function answer(response, body, reply) {
  if (reply.delay_ms) await pause(reply.delay_ms);
  if (reply.hang) return;
  if (reply.failure) {
    const { status, message = `scripted error ${status}` } = reply.failure;
    const type = { 400: 'invalid_request_error', 401: 'authentication_error', 429: 'rate_limit_error', 529: 'overloaded_error' };
    return sendJson(response, status, { type: 'error', error: { type: type[status] ?? 'api_error', message } });
  }
  const message = messageOf(reply, body);
  if (body.stream) stream(response, message, reply.cut);
  else sendJson(response, 200, message);
}

let requests = 0;
async function serve(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const [, name, ...rest] = request.url.split('?')[0].split('/');
  const entry = { n: ++requests, at: new Date().toISOString(), method: request.method, path: request.url, script: name };
  if (request.method !== 'POST' || rest.join('/') !== 'v1/messages') {
    appendFileSync(logFile, JSON.stringify(entry) + '\n');
    return sendJson(response, request.method === 'POST' ? 404 : 200, {});
  }
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const { reply, answer: chosen } = scriptOf(name).take(body);
  Object.assign(entry, {
    session: request.headers['x-claude-code-session-id'] ?? '',
    stream: body.stream === true,
    answer: chosen,
    text: [readable(body.system), readable(body.messages)].join('\n'),
    body: { ...body, tools: (body.tools ?? []).map((tool) => tool.name) },
  });
  appendFileSync(logFile, JSON.stringify(entry) + '\n');
  await answer(response, body, reply);
}

const server = createServer((request, response) => {
  serve(request, response).catch((error) => {
    appendFileSync(logFile, JSON.stringify({ n: ++requests, path: request.url, error: String(error.stack ?? error) }) + '\n');
    if (response.headersSent) response.destroy();
    else sendJson(response, 500, { type: 'error', error: { type: 'api_error', message: String(error) } });
  });
});
server.listen(0, '127.0.0.1', () => {
  writeFileSync(`${portFile}.part`, String(server.address().port));
  renameSync(`${portFile}.part`, portFile);
});
process.stdin.on('end', () => process.exit(0)).on('error', () => process.exit(0)).resume();
