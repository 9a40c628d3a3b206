
export default function (pi) {
  // Text to add before the agent starts, because nothing can be added at the session's start or at a prompt.
  let waiting = [];
  // Whether the agent was already kept from stopping since the last prompt. It is kept only once.
  let held = false;
  const envelope = (ctx) => ({
    session_id: ctx.sessionManager.getSessionId(),
    transcript_path: ctx.sessionManager.getSessionFile() ?? "",
    cwd: ctx.cwd,
  });
  const tell = (answer) => {
    if (contextOf(answer)) waiting.push(contextOf(answer));
  };

  pi.on("session_start", async (event, ctx) => {
    tell(await ask({ hook_event_name: "SessionStart", ...envelope(ctx), source: event.reason ?? "startup" }));
  });
  pi.on("session_compact", async (event, ctx) => {
    tell(await ask({ hook_event_name: "SessionStart", ...envelope(ctx), source: "compact" }));
  });
  pi.on("input", async (event, ctx) => {
    held = false;
    const answer = await ask({ hook_event_name: "UserPromptSubmit", ...envelope(ctx), prompt: event.text });
    if (answer.blocked) {
      if (ctx.hasUI) ctx.ui.notify(answer.blocked, "error");
      return { action: "handled" };
    }
    tell(answer);
    return { action: "continue" };
  });
  pi.on("before_agent_start", async () => {
    if (!waiting.length) return;
    const content = waiting.join("\n\n");
    waiting = [];
    return { message: { customType: "context-graph", content, display: false } };
  });
  pi.on("tool_call", async (event, ctx) => {
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input };
    const answer = await ask({ hook_event_name: "PreToolUse", ...envelope(ctx), ...call });
    rewrite(event.input, answer);
  });
  pi.on("tool_result", async (event, ctx) => {
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input };
    const hook_event_name = event.isError ? "PostToolUseFailure" : "PostToolUse";
    const text = event.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
    const ended = event.isError ? { error: text } : { tool_response: { content: event.content } };
    const answer = await ask({ hook_event_name, ...envelope(ctx), ...call, ...ended });
    const told = [answer.blocked, contextOf(answer)].filter(Boolean).join("\n\n");
    if (told) return { content: [...event.content, { type: "text", text: told }] };
  });
  pi.on("agent_before_settle", async (event, ctx) => {
    if (event.outcome !== "completed") return;
    const answer = await ask({ hook_event_name: "Stop", ...envelope(ctx), stop_hook_active: held });
    if (!answer.blocked || held) return;
    held = true;
    const told = { type: "custom_message", customType: "context-graph", content: answer.blocked, display: true };
    return { entries: [...event.entries, told], continue: true };
  });
  pi.on("session_shutdown", async (event, ctx) => {
    await ask({ hook_event_name: "SessionEnd", ...envelope(ctx), reason: event.reason ?? "other" });
  });
}
