// Made by `context-graph init --agent AGENT`; `context-graph uninstall --agent AGENT` removes it.
// Sends each event of AGENT to context-graph and applies its answer. A tool call is refused if the guard fails, is late
// or gives an answer that cannot be read.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

const PROGRAM = "PROGRAM_PATH";
const GOES_ON_WITHOUT = GOES_ON;
const GUARD_MS = GUARD_TIME;
const OTHER_MS = OTHER_TIME;
const STOP_MS = STOP_TIME;

function ask(event) {
  const isCall = event.hook_event_name === "PreToolUse";
  const limit = isCall ? GUARD_MS : event.hook_event_name === "Stop" ? STOP_MS : OTHER_MS;
  return new Promise((resolve, reject) => {
    const refuse = (why) => reject(new Error(why || "context-graph refused this call"));
    const fail = (why) => (isCall ? refuse(`context-graph did not answer (${why}); the call is refused`) : resolve({}));
    const child = spawn(PROGRAM, ["hooks", "event"], { cwd: event.cwd, stdio: ["pipe", "pipe", "pipe"] });
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail(`not within ${limit} ms`);
    }, limit);
    const said = { out: "", err: "" };
    child.stdout.on("data", (data) => (said.out += data));
    child.stderr.on("data", (data) => (said.err += data));
    child.stdin.on("error", () => {});
    child.on("error", (error) => {
      clearTimeout(timer);
      // The error is also ENOENT if the working folder is missing.
      if (error.code === "ENOENT" && GOES_ON_WITHOUT && existsSync(event.cwd)) resolve({});
      else fail(error.message);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      let answer = {};
      try {
        if (said.out.trim()) answer = JSON.parse(said.out);
      } catch {
        if (code === 0) return fail("its answer is not JSON");
      }
      const ruling = answer.hookSpecificOutput ?? {};
      const reason = ruling.permissionDecisionReason ?? answer.reason ?? answer.stopReason;
      if (code === 2) return isCall ? refuse(said.err.trim() || reason) : resolve({ ...answer, blocked: said.err.trim() || reason });
      if (code !== 0) return fail(`it ended with ${code}`);
      if (isCall && ["deny", "ask"].includes(ruling.permissionDecision)) return refuse(reason);
      if (isCall && (answer.decision === "block" || answer.continue === false)) return refuse(reason);
      resolve(answer.decision === "block" ? { ...answer, blocked: reason } : answer);
    });
    child.stdin.end(JSON.stringify({ agent: "AGENT", transcript_path: "", ...event }));
  });
}

const contextOf = (answer) => answer.hookSpecificOutput?.additionalContext || "";

// Replaces the arguments of a tool call by those of the answer.
function rewrite(args, answer) {
  const updated = answer.hookSpecificOutput?.updatedInput;
  if (!updated || typeof updated !== "object") return;
  for (const key of Object.keys(args)) if (!(key in updated)) delete args[key];
  Object.assign(args, updated);
}
