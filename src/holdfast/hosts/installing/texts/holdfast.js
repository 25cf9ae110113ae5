// holdfast: put here by holdfast install
// Passes opencode's events to Holdfast's hook, in the format of Claude Code's events.
import { spawn } from "node:child_process"

const HOOK = ["holdfast", "hook"]
const PATIENCE = 5000
const PLAIN = new Set(["build", "plan"])

const ABSENT = `Holdfast does not guard this session: ${HOOK[0]} cannot be started. Tell the person to install it again from a checkout: Holdfast is on no package index.`

// The answer if the hook cannot be started: the session gets it when it begins.
function absent(event) {
  const told = { hookSpecificOutput: { additionalContext: ABSENT } }
  return event.hook_event_name === "SessionStart" ? JSON.stringify(told) : ""
}

// Sends an event to the hook and returns its answer; after any error, opencode continues.
function ask(event, cwd) {
  return new Promise((resolve) => {
    let child
    try {
      child = spawn(HOOK[0], HOOK.slice(1), { cwd, stdio: ["pipe", "pipe", "ignore"] })
    } catch {
      return resolve(absent(event))
    }
    let answer = ""
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE)
    const end = (text) => (clearTimeout(timer), resolve(text))
    child.stdout.setEncoding("utf8").on("data", (part) => (answer += part))
    child.on("error", () => end(absent(event))).on("close", () => end(answer))
    child.stdin.on("error", () => {}).end(JSON.stringify({ cwd, ...event }))
  })
}

function said(answer) {
  try {
    const value = JSON.parse(answer)
    return value && typeof value === "object" ? value : {}
  } catch {
    return {}
  }
}

export const Holdfast = async ({ client, directory, worktree }) => {
  const folder = directory || worktree || process.cwd()
  const context = new Map() // the last context of each session; every request must contain it
  const compacted = new Set() // sessions that lost their context and have not received it again
  const children = new Set() // sessions of subagents: the agent that started them informs them
  const working = new Set() // sessions that were active in this process
  const agents = new Map() // the agent of each session: tool calls do not name it
  const event = (name, session, more) => ask({ hook_event_name: name, session_id: session ?? "", ...more }, folder)

  // A tool call as the hook reads it. The built-in agents of the host have no role.
  const call = (input, given) => {
    const agent = agents.get(input.sessionID)
    const role = agent && !PLAIN.has(agent) ? { agent_type: agent } : {}
    return { tool_name: input.tool, tool_input: given ?? {}, ...role }
  }

  return {
    // There is no event for the end of a session: the sessions of this process end with the process.
    dispose: async () => {
      for (const session of working) await event("SessionEnd", session, { reason: "other" })
    },

    "chat.message": async (input, output) => {
      working.add(input.sessionID)
      const agent = output?.message?.agent ?? input.agent
      if (typeof agent === "string") agents.set(input.sessionID, agent)
      const prompt = (output?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n")
      await event("UserPromptSubmit", input.sessionID, { prompt })
      context.delete(input.sessionID)
    },

    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session || children.has(session)) return
      if (!context.has(session)) {
        const source = compacted.delete(session) ? "compact" : "startup"
        const answer = said(await event("SessionStart", session, { source }))
        context.set(session, answer.hookSpecificOutput?.additionalContext ?? "")
      }
      if (context.get(session)) output.system.push(context.get(session))
    },

    "experimental.session.compacting": async (input, output) => {
      const answer = await event("PreCompact", input.sessionID, { trigger: "auto" })
      if (answer) output.context.push(answer)
    },

    "tool.execute.before": async (input, output) => {
      // One server works for all sessions: the call must name its session.
      if (input.tool.startsWith("holdfast_")) output.args = Object.assign(output.args ?? {}, { _session: input.sessionID })
      const asked = { ...call(input, output.args), tool_use_id: input.callID ?? "" }
      const answer = said(await event("PreToolUse", input.sessionID, asked)).hookSpecificOutput
      if (answer?.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason)
    },

    "tool.execute.after": async (input, output) => {
      const told = said(await event("PostToolUse", input.sessionID, call(input, input.args))).hookSpecificOutput?.additionalContext
      if (told && output) output.output = `${output.output ?? ""}\n${told}`
      context.delete(input.sessionID)
    },

    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.OPENCODE_SESSION_ID = input.sessionID
    },

    event: async ({ event: told }) => {
      const properties = told?.properties ?? {}
      const session = properties.sessionID ?? properties.info?.id
      if (told?.type === "session.created" && properties.info?.parentID) {
        children.add(session)
      } else if (told?.type === "session.compacted") {
        context.delete(session)
        compacted.add(session)
        await event("PostCompact", session, { trigger: "auto" })
      } else if (told?.type === "session.deleted") {
        for (const known of [context, working, agents]) known.delete(session)
        await event("SessionEnd", session, { reason: "deleted" })
      } else if (told?.type === "session.idle" && !children.has(session)) {
        const answer = said(await event("Stop", session, {}))
        if (answer.decision === "block") {
          const parts = [{ type: "text", text: answer.reason }]
          await client.session.promptAsync({ path: { id: session }, body: { parts } }).catch(() => {})
        }
      }
    },
  }
}
