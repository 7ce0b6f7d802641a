// The official client of MCP against the real `cairn mcp`, in a home that mcp_test.cpp prepared: one lexer story in this
// project. Prints what it saw as one JSON object; mcp_test.cpp judges it.
//
//   node mcp_client.mjs SDK_DIR CAIRN PROJECT_DIR     with CAIRN_HOME in the environment
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [sdk, cairn, project] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(sdk, 'node_modules/@modelcontextprotocol/sdk/dist/esm', name)));
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');

const transport = new StdioClientTransport({
  command: cairn, args: ['mcp'], cwd: project, env: { ...process.env }, stderr: 'pipe',
});
let stderr = '';
transport.stderr.on('data', (piece) => (stderr += piece));
const client = new Client({ name: 'cairn-test', version: '1.0.0' });
await client.connect(transport);

const seen = { server: client.getServerVersion(), instructions: client.getInstructions() };
seen.tools = (await client.listTools()).tools;
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  return { text: result.content[0].text, isError: result.isError ?? false };
};
seen.search = await call('search', { query: 'lexer' });
const id = /^([OSPTA]\d+) /m.exec(seen.search.text)?.[1] ?? '';
seen.id = id;
seen.get = await call('get', { ids: [id] });
seen.timeline = await call('timeline', { id });
seen.remember = await call('remember', { text: 'The lexer tests need ninja.', type: 'discovery' });
seen.resume = await call('resume', { tokens: 300 });
seen.missing = await call('get', { ids: ['O999999'] });
seen.wrong = await call('search', { limit: 'many' });
seen.unknown = await client.callTool({ name: 'nonsense', arguments: {} }).then(() => null, (error) => error.code);
seen.prompts = await client.request({ method: 'prompts/list' }, { parse: (x) => x }).then(() => null, (error) => error.code);
const stop = new AbortController();
const canceled = client.callTool({ name: 'search', arguments: { query: 'lexer' } }, undefined, { signal: stop.signal });
stop.abort('not needed');
seen.canceled = await canceled.then(() => false, () => true);
seen.after = await call('search', { query: 'ninja' });
await client.close();
seen.stderr = stderr;
console.log(JSON.stringify(seen));
