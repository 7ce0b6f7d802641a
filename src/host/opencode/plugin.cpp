#include "host/opencode/plugin.h"

#include <string_view>

namespace cairn::host::open_code {

// The host awaits each hook without a time limit, and a hook that throws breaks the user's turn: so nothing
// here throws, and each call of our program is killed when it takes too long.
static constexpr std::string_view kPlugin =
    R"js(// Installed by cairn (cairn install --host opencode); cairn uninstall removes it.
import { spawn } from "node:child_process"

const HOOK = @HOOK@
const LIMIT_MS = { "session-start": 4000, "chat.message": 1000 }

// Runs the hook for one event. Resolves with its answer, or null; never rejects, never takes longer than its limit.
function ask(event, payload) {
  return new Promise((resolve) => {
    let child, answer = "", over = false
    const finish = (value) => {
      if (over) return
      over = true
      clearTimeout(timer)
      resolve(value)
    }
    const timer = setTimeout(() => {
      try { child?.kill("SIGKILL") } catch {}
      finish(null)
    }, LIMIT_MS[event] ?? 1500)
    try {
      child = spawn(HOOK, [event, "--host", "opencode"], { stdio: ["pipe", "pipe", "ignore"], cwd: "/" })
      child.on("error", () => finish(null))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.on("data", (bytes) => { if (answer.length < 1 << 20) answer += bytes })
      child.on("close", () => {
        try { finish(JSON.parse(answer)) } catch { finish(null) }
      })
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
    } catch {
      finish(null)
    }
  })
}

const guarded = (run) => async (...args) => { try { await run(...args) } catch {} }

export const Cairn = async ({ directory, worktree, project }) => {
  const place = { cwd: directory, worktree, project_id: project?.id }
  const parent = new Map()     // a subagent's session -> the session that started it
  const created = new Set()    // sessions that began in this process
  const started = new Set()    // sessions whose start was reported
  const prompt = new Map()     // session -> the id of its last prompt
  const answer = new Map()     // session -> its last finished text
  const reported = new Map()   // session -> the text that its last end of a turn had
  const failed = new Set()     // calls whose failure was reported
  const running = new Set()    // the host does not wait for `event`, but it does for `dispose`
  let parts = 0

  const root = (id) => { while (parent.has(id)) id = parent.get(id); return id }
  const about = (id) => {
    const session = root(id), of = { ...place, session_id: session, prompt_id: prompt.get(session) }
    return session === id ? of : { ...of, agent_id: id, agent_type: "task" }
  }
  // Text for the model, before the user's own: parts are sorted by their ids.
  const give = (input, output, text) => {
    if (typeof text !== "string" || !text) return
    const id = "prt_" + Date.now().toString(16).padStart(12, "0") + "cairn" + String(parts++).padStart(9, "0")
    output.parts.unshift({ id, sessionID: input.sessionID, messageID: output.message.id, type: "text", text, synthetic: true })
  }
  const started_by = (p) => p.info?.parentID

  return {
    "chat.message": guarded(async (input, output) => {
      const id = input.sessionID, words = output.parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      if (!parent.has(id)) prompt.set(id, output.message.id)
      if (!parent.has(id) && !started.has(id)) {
        started.add(id)
        const source = created.has(id) ? "startup" : "resume"
        give(input, output, (await ask("session-start", { ...place, session_id: id, source }))?.additionalContext)
      }
      const answer = await ask("chat.message", { ...about(id), prompt: words })
      if (!parent.has(id)) give(input, output, answer?.additionalContext)
    }),
    "tool.execute.before": guarded(async (input, output) => {
      await ask("tool.execute.before", { ...about(input.sessionID), tool_use_id: input.callID, tool_name: input.tool, tool_input: output.args })
    }),
    "tool.execute.after": guarded(async (input, output) => {
      const mcp = Array.isArray(output.content), meta = output.metadata ?? {}
      const text = mcp ? output.content.map((c) => c.text ?? "").join("\n") : output.output
      const tool_response = { output: text, title: output.title, exit: meta.exit, diff: meta.diff, exists: meta.exists, mcp: mcp || undefined }
      await ask("tool.execute.after", { ...about(input.sessionID), tool_use_id: input.callID, tool_name: input.tool, tool_input: input.args, tool_response })
    }),
    "experimental.session.compacting": guarded(async (input) => {
      await ask("experimental.session.compacting", { ...about(input.sessionID), trigger: "auto" })
    }),
    event: ({ event }) => {
      const work = guarded(async () => {
        const p = event.properties ?? {}, part = p.part
        if (event.type === "session.created" && p.info?.id) {
          if (!started_by(p)) { created.add(p.info.id); return }
          parent.set(p.info.id, p.info.parentID)
          await ask("subagent-start", { ...about(p.info.id), title: p.info.title })
        } else if (event.type === "message.part.updated" && part?.type === "tool") {
          if (part.state?.status !== "error" || failed.has(part.callID)) return
          failed.add(part.callID)
          await ask("tool-error", { ...about(part.sessionID), tool_use_id: part.callID, tool_name: part.tool, tool_input: part.state.input, error: String(part.state.error) })
        } else if (event.type === "message.part.updated" && part?.type === "text" && part.time?.end) {
          answer.set(part.sessionID, { id: part.id, text: part.text })
        } else if (event.type === "session.error" && p.sessionID) {
          reported.set(p.sessionID, answer.get(p.sessionID)?.id)
          await ask("session.error", { ...about(p.sessionID), error: p.error })
        } else if (event.type === "session.compacted") {
          const text = answer.get(p.sessionID)
          reported.set(p.sessionID, text?.id)
          await ask("session.compacted", { ...about(p.sessionID), summary: text?.text })
        } else if (event.type === "session.idle") {
          // Comes twice after an abort, and after a compaction, where the last text is the summary.
          const text = answer.get(p.sessionID)
          if (text && reported.get(p.sessionID) === text.id) return
          reported.set(p.sessionID, text?.id)
          await ask(parent.has(p.sessionID) ? "subagent-idle" : "session.idle", { ...about(p.sessionID), last_assistant_message: text?.text })
        }
      })()
      running.add(work)
      work.finally(() => running.delete(work))
    },
    dispose: guarded(async () => {
      await Promise.all([...running])
      await Promise.all([...started].map((id) => ask("dispose", { ...place, session_id: id, reason: "exit" })))
    }),
  }
}
)js";

std::string plugin_text(const HookProgram& program) {
  std::string text(kPlugin);
  constexpr std::string_view kHole = "@HOOK@";  // a JSON string is a JavaScript string too
  return text.replace(text.find(kHole), kHole.size(), Json(program.path).dump());
}

}  // namespace cairn::host::open_code
