"""Which processes are measured, and with what on stdin."""
import glob
import json
import os
import shutil
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAYLOADS = os.path.join(ROOT, "crates/context-graph-events/tests/payloads")
AGENTS = os.path.join(ROOT, "crates/context-graph-events/tests/agents")
RIVALS = os.path.join(ROOT, "bench/rivals")

# Everything is compared with this.
YARDSTICK = "/bin/true"

HOOKS = {
    "pre-tool": "PreToolUse",
    "post-tool": "PostToolUse",
    "prompt-submit": "UserPromptSubmit",
    "session-start": "SessionStart",
    "session-end": "SessionEnd",
}


@dataclass(frozen=True)
class Case:
    """One process to be measured."""

    name: str
    argv: tuple
    stdin: str = os.devnull
    # Processes to run after each measured one, without measuring them, so that each run begins in the same state.
    after: tuple = field(default=())


def payload(event):
    """The file with a recorded payload."""
    return os.path.join(PAYLOADS, event + ".json")


def find_binary():
    """The release build of this tree. A build with musl is only taken if there is no other; use --bin to measure it."""
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    places = ("*/release/context-graph", "release/context-graph")
    found = [path for place in places for path in sorted(glob.glob(os.path.join(target, place)))]
    if not found:
        raise SystemExit("no release build found: run cargo build --release, or give --bin PATH")
    return max(found, key=lambda path: ("-musl/" not in path, os.path.getmtime(path)))


def named(binary):
    """The hooks that have a subcommand, `Stop`, and the status line."""
    start = Case("session-start", (binary, "hooks", "session-start", "--stdin"), payload("SessionStart"))
    cases = []
    for hook, event in HOOKS.items():
        # Start the session again after its end: the client's next hook also belongs to an open session.
        after = (start,) if event == "SessionEnd" else ()
        cases.append(Case(hook, (binary, "hooks", hook, "--stdin"), payload(event), after))
    cases.append(Case("stop", (binary, "hooks", "event", "--stdin"), payload("Stop")))
    cases.append(Case("statusline", (binary, "statusline"), payload("statusLine")))
    return cases


def events(binary):
    """`hooks event` with each of the events."""
    start = named(binary)[3]
    cases = []
    for path in sorted(glob.glob(os.path.join(PAYLOADS, "*.json"))):
        event = os.path.basename(path).removesuffix(".json")
        if event != "statusLine":
            after = (start,) if event == "SessionEnd" else ()
            cases.append(Case("event " + event, (binary, "hooks", "event"), path, after))
    return cases


def of_agents(binary, folder):
    """`hooks event` with recorded tool payloads of other agents, by agent and recorded case."""
    cases = {}
    for path in sorted(glob.glob(os.path.join(AGENTS, "*.json"))):
        with open(path, encoding="utf-8") as file:
            recorded = [told for told in json.load(file) if "tool" in told["case"].lower()]
        agent = os.path.basename(path).removesuffix(".json")
        for told in recorded:
            stdin = os.path.join(folder, f"{agent}-{told['case']}")
            with open(stdin, "w", encoding="utf-8") as file:
                json.dump(told["payload"], file)
            cases[agent, told["case"]] = Case(f"{agent} {told['case']}", (binary, "hooks", "event"), stdin)
    return cases


def calls_of_agents(binary, folder):
    """A tool call of each agent. Claude Code's is first; the others are compared with it."""
    claude = Case("claude-code PreToolUse", (binary, "hooks", "event"), payload("PreToolUse"))
    others = of_agents(binary, folder).items()
    return [claude, *(case for (_, told), case in others if told.lower() in ("pretooluse", "beforetool"))]


def rivals():
    """Minimal hand-written hooks: they read the event, find the tool and answer."""
    call = payload("PreToolUse")
    cases = [Case(YARDSTICK, (YARDSTICK,)), Case("sh -c :", ("/bin/sh", "-c", ":"))]
    if shutil.which("bash") and shutil.which("jq"):
        cases.append(Case("bash + jq", (shutil.which("bash"), os.path.join(RIVALS, "hook.bash")), call))
    for program, script in (("python3", "hook.py"), ("node", "hook.js")):
        found = real_program(program)
        if found:
            cases.append(Case(program, (found, os.path.join(RIVALS, script)), call))
    return cases


def real_program(name):
    """The program itself, not a version manager's wrapper script."""
    for folder in ("/usr/bin", "/usr/local/bin", "/bin"):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    return shutil.which(name)
