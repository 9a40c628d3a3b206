
export const description = "Sends tool calls, results and turns to context-graph and applies its answers";

export default function (amp) {
  // Text for a thread's next prompt, because nothing can be added at a thread's start.
  const waiting = new Map();
  // Threads whose agent was already kept from stopping since the last prompt. It is kept only once.
  const held = new Set();
  const root = amp.system.workspaceRoot;
  const cwd = root ? amp.helpers.filePathFromURI(root) : process.cwd();
  const envelope = (event) => ({ session_id: event.thread.id, cwd });
  const call = (event) => ({ tool_name: event.tool, tool_use_id: event.toolUseID, tool_input: event.input });

  amp.on("session.start", async (event) => {
    const answer = await ask({ hook_event_name: "SessionStart", ...envelope(event), source: "startup" });
    if (contextOf(answer)) waiting.set(event.thread.id, contextOf(answer));
  });
  amp.on("agent.start", async (event) => {
    const thread = event.thread.id;
    // What we said when the agent was about to stop comes back as a prompt.
    if (!event.message.startsWith("context-graph: ")) held.delete(thread);
    const answer = await ask({ hook_event_name: "UserPromptSubmit", ...envelope(event), prompt: event.message });
    const told = [waiting.get(thread), contextOf(answer)].filter(Boolean).join("\n\n");
    waiting.delete(thread);
    return told ? { message: { content: told } } : {};
  });
  amp.on("tool.call", async (event) => {
    try {
      const answer = await ask({ hook_event_name: "PreToolUse", ...envelope(event), ...call(event) });
      const input = answer.hookSpecificOutput?.updatedInput;
      return input && typeof input === "object" ? { action: "modify", input } : { action: "allow" };
    } catch (error) {
      return { action: "reject-and-continue", message: error.message };
    }
  });
  amp.on("tool.result", async (event) => {
    const failed = { error: event.error ?? event.status, is_interrupt: event.status === "cancelled" };
    const ended = event.status === "done" ? { tool_response: { output: event.output ?? "" } } : failed;
    const hook_event_name = event.status === "done" ? "PostToolUse" : "PostToolUseFailure";
    const answer = await ask({ hook_event_name, ...envelope(event), ...call(event), ...ended });
    const told = [answer.blocked, contextOf(answer)].filter(Boolean).join("\n\n");
    if (!told) return;
    const output = typeof event.output === "string" ? `${event.output}\n\n${told}` : { output: event.output, told };
    return event.error === undefined ? { status: event.status, output } : { status: event.status, error: event.error, output };
  });
  amp.on("agent.end", async (event) => {
    const thread = event.thread.id;
    if (event.status !== "done") return;
    const answer = await ask({ hook_event_name: "Stop", ...envelope(event), stop_hook_active: held.has(thread) });
    if (!answer.blocked || held.has(thread)) return;
    held.add(thread);
    return { action: "continue", userMessage: answer.blocked, maxContinuations: 1 };
  });
}
