
// Text for a session's next message, because nothing can be added at the start of a session.
const waiting = new Map();

async function started(session, cwd, source) {
  const answer = await ask({ hook_event_name: "SessionStart", session_id: session, cwd, source });
  if (contextOf(answer)) waiting.set(session, contextOf(answer));
}

export const ContextGraph = async ({ directory: cwd }) => ({
  event: async ({ event }) => {
    const session = event.properties?.sessionID ?? event.properties?.info?.id;
    if (!session) return;
    if (event.type === "session.created" && !event.properties.info?.parentID) await started(session, cwd, "startup");
    if (event.type === "session.compacted") await started(session, cwd, "compact");
    if (event.type === "session.idle") await ask({ hook_event_name: "Stop", session_id: session, cwd, stop_hook_active: false });
    if (event.type === "session.deleted") await ask({ hook_event_name: "SessionEnd", session_id: session, cwd, reason: "other" });
  },
  "chat.message": async (input, output) => {
    const session = input.sessionID;
    const text = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text);
    const answer = await ask({ hook_event_name: "UserPromptSubmit", session_id: session, cwd, prompt: text.join("\n") });
    if (answer.blocked) throw new Error(answer.blocked);
    const told = [waiting.get(session), contextOf(answer)].filter(Boolean).join("\n\n");
    waiting.delete(session);
    if (!told) return;
    const id = `prt_${Date.now().toString(36)}contextgraph`;
    output.parts.push({ id, messageID: output.message.id, sessionID: session, type: "text", text: told, synthetic: true });
  },
  "tool.execute.before": async (input, output) => {
    const call = { session_id: input.sessionID, cwd, tool_name: input.tool, tool_use_id: input.callID };
    const answer = await ask({ hook_event_name: "PreToolUse", ...call, tool_input: output.args });
    rewrite(output.args, answer);
  },
  "tool.execute.after": async (input, output) => {
    const call = { session_id: input.sessionID, cwd, tool_name: input.tool, tool_use_id: input.callID };
    const tool_response = { output: output.output ?? "", metadata: output.metadata ?? {} };
    const answer = await ask({ hook_event_name: "PostToolUse", ...call, tool_input: input.args ?? {}, tool_response });
    const told = [answer.blocked, contextOf(answer)].filter(Boolean).join("\n\n");
    if (told && typeof output.output === "string") output.output += `\n\n${told}`;
  },
});
