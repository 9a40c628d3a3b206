#!/usr/bin/env python3
"""What Rego policies cost a tool call: whole processes, interleaved and shuffled, against /bin/true.

    bench/rego_cost.py [--runs N] [--bin PATH] [--other PATH] [--json FILE]

Three projects: the call is routed to no policy, to one and to ten (those of the tests, with their helpers). `--other`
names a second binary to measure as well. Wall time is what a user waits; processor time is also reliable on a busy
machine. Needs a release build: cargo build --release
"""
import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

from hookbench.cases import ROOT, find_binary

POLICIES = os.path.join(ROOT, "crates/context-graph-policy/tests/rego_policies")
CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "tool_name": "Bash",
        "tool_input": {"command": "cargo test --workspace"}, "tool_use_id": "t"}
TEN = ["cloud", "containers", "databases", "destructive", "git_safety", "network_guard", "package_manager",
       "protected_files", "secrets_guard", "system_files"]


def project(parent, names):
    folder = os.path.join(parent, f"with-{len(names)}")
    state = os.path.join(folder, ".context-graph")
    os.makedirs(state, mode=0o700)
    if names:
        policies = os.path.join(state, "policies")
        shutil.copytree(os.path.join(POLICIES, "helpers"), os.path.join(policies, "helpers"))
        for name in names:
            shutil.copy(os.path.join(POLICIES, "claude", name + ".rego"), policies)
    with open(os.path.join(folder, "call.json"), "w", encoding="utf-8") as file:
        json.dump({**CALL, "cwd": folder}, file)
    return folder


def environment(folder):
    """The home directory is outside of the projects, because trust is stored there."""
    return {"PATH": "/usr/bin:/bin", "HOME": os.path.join(os.path.dirname(folder), "home"), "CLAUDE_PROJECT_DIR": folder}


def cost_of(argv, folder, null):
    """Wall time from starting a process until its exit was waited for, and its processor time, in microseconds."""
    source = os.open(os.path.join(folder, "call.json"), os.O_RDONLY)
    env = environment(folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=[
        (os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    os.waitpid(pid, 0)
    wall = time.perf_counter_ns() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.close(source)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall / 1e3, spent * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--bin")
    parser.add_argument("--other")
    parser.add_argument("--json")
    options = parser.parse_args()
    parent = tempfile.mkdtemp(prefix="rego-cost-")
    folders = [project(parent, names) for names in ([], TEN[:1], TEN)]
    cases = {"/bin/true": (["/bin/true"], folders[0])}
    for label, binary in (("", options.bin or find_binary()), ("other: ", options.other)):
        # A copy, as an installed file is: the page cache holds the linker's own output in small pieces.
        binary = binary and shutil.copy(binary, os.path.join(parent, f"{len(cases)}-context-graph"))
        for folder, count in zip(folders, (0, 1, 10)) if binary else ():
            cases[f"{label}{count} policies"] = ([binary, "hooks", "pre-tool", "--stdin"], folder)
    null = os.open(os.devnull, os.O_RDWR)
    for folder in folders:
        subprocess.run([options.bin or find_binary(), "trust", "--yes"], env=environment(folder), check=True, stdout=null)
    for argv, folder in cases.values():
        cost_of(argv, folder, null)
    order = list(cases) * options.runs
    random.Random(1).shuffle(order)
    costs = {name: [] for name in cases}
    for name in order:
        costs[name].append(cost_of(*cases[name], null))
    shutil.rmtree(parent)

    result = {}
    figures = {}
    for name, values in costs.items():
        wall = [value[0] for value in values]
        figures[name] = {"best_tenth_us": statistics.quantiles(wall, n=10)[0], "median_us": statistics.median(wall),
                         "mean_processor_us": statistics.mean(value[1] for value in values)}
    base = figures["/bin/true"]
    print(f"{'':22}{'median':>10}{'over true':>11}{'best tenth':>12}{'over true':>11}{'processor':>11}{'over true':>11}")
    for name, figure in figures.items():
        over = {f"{key}_over_true": value - base[key] for key, value in figure.items()}
        result[name] = figure | over
        row = (figure["median_us"], over["median_us_over_true"], figure["best_tenth_us"],
               over["best_tenth_us_over_true"], figure["mean_processor_us"], over["mean_processor_us_over_true"])
        print(f"{name:22}" + "".join(f"{value:>{width}.0f} µs" for value, width in zip(row, (7, 8, 9, 8, 8, 8))))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
