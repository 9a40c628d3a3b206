#!/usr/bin/env python3
"""Makes the corpora to start from, out of the tests' own payloads and commands: fuzz/seed.py"""
import glob
import os

HERE = os.path.dirname(os.path.abspath(__file__))
CRATES = os.path.join(HERE, "../crates")


def put(target, texts):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    for number, text in enumerate(texts):
        with open(os.path.join(folder, f"seed-{number}"), "wb") as file:
            file.write(text)
    print(f"{target}: {len(texts)}")


def read(pattern):
    return [open(path, "rb").read() for path in sorted(glob.glob(os.path.join(CRATES, pattern), recursive=True))]


payloads = read("context-graph-events/tests/payloads/**/*.json")
commands = [line for text in read("context-graph-policy/tests/corpus/*.txt") for line in text.splitlines()
            if line.strip() and not line.startswith(b"#")]
put("payload", payloads)
put("shell", commands)
put("rego_input", payloads + commands[::6])
