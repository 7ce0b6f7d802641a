// A scripted model on the loopback, in the three dialects that the coding agents of tests/host/agents.mjs speak:
// OpenAI's Responses (Codex), OpenAI's chat completions (OpenCode, Qwen Code, Copilot CLI), Gemini's.
//
// Each request that offers tools gets the next turn of the script: {text, tools: [{name, input}], delay_ms}. A request
// without tools (for a title) gets a few words and uses no turn. When the script is over, the answer is "Nothing left.".
import http from "node:http"
import zlib from "node:zlib"
import { randomBytes } from "node:crypto"

const id = (start) => start + randomBytes(8).toString("hex")
const pause = (ms) => new Promise((go) => setTimeout(go, ms))
const tokens = { input: 1000, output: 20 }

function stream(response, events) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  for (const { name, data } of events)
    response.write((name ? `event: ${name}\n` : "") + `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`)
  response.end()
}

function send(response, data) {
  response.writeHead(200, { "content-type": "application/json" })
  response.end(JSON.stringify(data))
}

// --- Responses ---

function items_of(turn) {
  const items = []
  if (turn.text)
    items.push({ type: "message", id: id("msg_"), role: "assistant", status: "completed", content: [{ type: "output_text", text: turn.text, annotations: [] }] })
  for (const tool of turn.tools ?? [])
    items.push(typeof tool.input === "string"
      ? { type: "custom_tool_call", id: id("ctc_"), call_id: id("call_"), name: tool.name, input: tool.input }
      : { type: "function_call", id: id("fc_"), call_id: id("call_"), name: tool.name, arguments: JSON.stringify(tool.input), ...(tool.namespace ? { namespace: tool.namespace } : {}) })
  return items
}

function answer_responses(response, body, turn) {
  const output = items_of(turn)
  const usage = { input_tokens: tokens.input, input_tokens_details: { cached_tokens: 0 }, output_tokens: tokens.output, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: tokens.input + tokens.output }
  const whole = { id: id("resp_"), object: "response", created_at: Math.floor(Date.now() / 1000), status: "completed", model: body.model, output, usage }
  if (!body.stream) return send(response, whole)
  const event = (name, data) => ({ name, data: { type: name, ...data } })
  const events = [event("response.created", { response: { ...whole, status: "in_progress", output: [], usage: null } })]
  output.forEach((item, output_index) => {
    events.push(event("response.output_item.added", { output_index, item: item.type === "message" ? { ...item, content: [] } : item }))
    if (item.type === "message")
      events.push(event("response.output_text.delta", { item_id: item.id, output_index, content_index: 0, delta: item.content[0].text }))
    events.push(event("response.output_item.done", { output_index, item }))
  })
  stream(response, [...events, event("response.completed", { response: whole })])
}

// --- chat completions ---

function answer_chat(response, body, turn) {
  const calls = (turn.tools ?? []).map((tool, index) => ({ index, id: id("call_"), type: "function", function: { name: tool.name, arguments: JSON.stringify(tool.input) } }))
  const finish = calls.length ? "tool_calls" : "stop"
  const usage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: tokens.input + tokens.output }
  const head = { id: id("chatcmpl-"), created: Math.floor(Date.now() / 1000), model: body.model }
  if (!body.stream) {
    const message = { role: "assistant", content: turn.text ?? null, ...(calls.length ? { tool_calls: calls } : {}) }
    return send(response, { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: finish }], usage })
  }
  const chunk = (delta, finish_reason = null) => ({ data: { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] } })
  stream(response, [
    chunk({ role: "assistant", content: turn.text ?? "" }),
    ...calls.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, finish),
    { data: { ...head, object: "chat.completion.chunk", choices: [], usage } },
    { data: "[DONE]" },
  ])
}

// --- Gemini ---

function answer_gemini(response, path, turn) {
  const parts = []
  if (turn.text) parts.push({ text: turn.text })
  for (const tool of turn.tools ?? []) parts.push({ functionCall: { id: id("fc_"), name: tool.name, args: tool.input } })
  const usageMetadata = { promptTokenCount: tokens.input, candidatesTokenCount: tokens.output, totalTokenCount: tokens.input + tokens.output }
  const reply = (some, last) => ({ candidates: [{ content: { role: "model", parts: some }, index: 0, ...(last ? { finishReason: "STOP" } : {}) }], usageMetadata, modelVersion: "scripted", responseId: id("r_") })
  if (!path.includes("streamGenerateContent")) return send(response, reply(parts, true))
  stream(response, parts.map((part, at) => ({ data: reply([part], at === parts.length - 1) })))
}

const has_tools = (body) => (body.tools ?? []).some((tool) => !tool.functionDeclarations || tool.functionDeclarations.length > 0)

// Serves scripts. `requests` has what was asked with tools: {text, body}.
export async function start_model() {
  const model = { turns: [], requests: [], port: 0, close: () => server.close() }
  model.play = (turns) => { model.turns = [...turns]; model.requests = [] }
  const server = http.createServer((request, response) => {
    const chunks = []
    request.on("data", (chunk) => chunks.push(chunk))
    request.on("end", async () => {
      let bytes = Buffer.concat(chunks)
      const encoding = request.headers["content-encoding"]
      if (encoding === "gzip") bytes = zlib.gunzipSync(bytes)
      if (encoding === "zstd" && zlib.zstdDecompressSync) bytes = zlib.zstdDecompressSync(bytes)
      let body = {}
      try { body = JSON.parse(bytes.toString("utf8")) } catch {}
      const path = request.url.split("?")[0]
      if (path.endsWith("/models")) return send(response, { object: "list", data: [{ id: "scripted", object: "model" }] })
      if (path.endsWith(":countTokens")) return send(response, { totalTokens: 1000 })
      let turn = { text: "A few words" }
      if (has_tools(body)) {
        model.requests.push({ text: JSON.stringify(body), body })
        turn = model.turns.shift() ?? { text: "Nothing left." }
      }
      if (turn.delay_ms) await pause(turn.delay_ms)
      if (path.endsWith("/responses")) return answer_responses(response, body, turn)
      if (path.endsWith("/chat/completions")) return answer_chat(response, body, turn)
      if (/:(streamG|g)enerateContent$/.test(path)) return answer_gemini(response, path, turn)
      response.writeHead(404).end()
    })
  })
  await new Promise((go) => server.listen(0, "127.0.0.1", go))
  model.port = server.address().port
  return model
}
