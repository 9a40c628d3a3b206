#!/usr/bin/env python3
"""What a hook costs: whole processes, interleaved and shuffled, against /bin/true.

    bench/hook_cost.py [--runs N] [--bin PATH] [--json FILE]

Machines are noisy and differ, so only the ratios of one run mean anything. Each hook gets a payload of the real
client, in a project of its own that already has a session. Needs a release build: cargo build --release
"""
import argparse
import glob
import json
import os
import random
import shutil
import statistics
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAYLOADS = os.path.join(ROOT, "crates/context-graph-events/tests/payloads")
HOOKS = {
    "pre-tool": ["PreToolUse"],
    "post-tool": ["PostToolUse"],
    "prompt-submit": ["UserPromptSubmit"],
    "session-start": ["SessionStart"],
    "session-end": ["SessionEnd"],
    "event": ["PostToolBatch", "Stop"],
}


def find_binary():
    found = sorted(glob.glob(os.path.join(ROOT, "target/*/release/context-graph"))) or sorted(
        glob.glob(os.path.join(ROOT, "target/release/context-graph")))
    if not found:
        raise SystemExit("no release build found: run cargo build --release, or give --bin")
    return found[0]


def cost_of(argv, stdin, env, null):
    """Nanoseconds from starting a process to having waited for its end."""
    source = os.open(stdin, os.O_RDONLY) if stdin else null
    begin = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=[
        (os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    os.waitpid(pid, 0)
    end = time.perf_counter_ns()
    if stdin:
        os.close(source)
    return end - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--bin")
    parser.add_argument("--json")
    options = parser.parse_args()
    binary = options.bin or find_binary()
    project = tempfile.mkdtemp(prefix="hook-cost-")
    env = {"PATH": "/usr/bin:/bin", "HOME": project, "CLAUDE_PROJECT_DIR": project}
    cases = {"/bin/true": (["/bin/true"], None)}
    for hook, events in HOOKS.items():
        for event in events:
            name = f"{hook} {event}" if hook == "event" else hook
            cases[name] = ([binary, "hooks", hook, "--stdin"], os.path.join(PAYLOADS, event + ".json"))
    null = os.open(os.devnull, os.O_RDWR)
    for argv, stdin in cases.values():
        cost_of(argv, stdin, env, null)
    order = list(cases) * options.runs
    random.Random(1).shuffle(order)
    times = {name: [] for name in cases}
    for name in order:
        times[name].append(cost_of(*cases[name], env, null))
    shutil.rmtree(project)

    base = statistics.median(times["/bin/true"])
    base95 = statistics.quantiles(times["/bin/true"], n=20)[-1]
    result = {}
    print(f"{'':24}{'median':>10}{'p95':>10}{'ratio':>8}{'p95 ratio':>11}")
    for name, values in times.items():
        median, p95 = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        result[name] = {"median_us": median / 1e3, "p95_us": p95 / 1e3, "ratio": median / base, "p95_ratio": p95 / base95}
        print(f"{name:24}{median / 1e3:>7.0f} µs{p95 / 1e3:>7.0f} µs{median / base:>8.2f}{p95 / base95:>11.2f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
