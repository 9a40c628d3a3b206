#!/usr/bin/env python3
"""Makes the initial corpora from the payloads and commands of the tests: fuzz/seed.py"""
import glob
import json
import os
import re
import struct

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


def settings():
    """The settings files of the tests, and one file with a record of an installation before it."""
    sources = b"\n".join(read("context-graph-settings/tests/**/*.rs") + read("context-graph-cli/tests/*.rs"))
    texts = [text for text in re.findall(rb'r#+"(.*?)"#+', sources, re.S) if text.lstrip().startswith(b"{")]
    mark = {"bytes": 2, "fnv1a": "08328807b4eb6fed"}
    record = {"version": 1, "origin": "settings", "from": mark, "result": mark, "steps": [[1, 0, "x"]], "empty": {"hooks": " "}}
    return texts + [json.dumps(record).encode() + b"\n{}", b"", b"{}", b"\xef\xbb\xbf{\r\n\t\"hooks\": {}\r\n}\r\n"]


def transcripts(payloads):
    """The recorded events, as the client's transcript would contain them."""
    lines = []
    for event in map(json.loads, payloads):
        common = {"sessionId": "s", "cwd": "/w", "timestamp": "2026-11-15T16:57:41.620Z"}
        call = event.get("tool_use_id", "t")
        match event.get("hook_event_name"):
            case "UserPromptSubmit":
                lines.append(common | {"type": "user", "message": {"content": event["prompt"]}})
            case "PreToolUse":
                use = {"type": "tool_use", "id": call, "name": event["tool_name"], "input": event["tool_input"]}
                lines.append(common | {"type": "assistant", "message": {"content": [use]}})
            case "PostToolUse" | "PostToolUseFailure" as name:
                block = {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": event.get("error", "")}],
                         "is_error": name != "PostToolUse"}
                lines.append(common | {"type": "user", "message": {"content": [block]}, "toolUseResult": event.get("tool_response")})
            case "PreCompact":
                lines.append(common | {"type": "system", "subtype": "compact_boundary"})
                lines.append(common | {"type": "user", "isCompactSummary": True, "message": {"content": "so far"}})
    lines.sort(key=lambda line: line["type"] == "user")
    written = [json.dumps(line).encode() for line in lines]
    return [b"\n".join(written)] + written


def live(payloads):
    """Journals with each kind of damage at several places, and state files."""
    entries = b"\n".join(json.dumps(json.loads(payload)).encode()[:200] for payload in payloads[:5])
    damage = [struct.pack("<QQ", kind, at) + b"\xf5\xffE\xfe" * 4 for kind in range(4) for at in (0, 20, 51, 80, 300)]
    states = [struct.pack("<14Q", 1, 2, 3, 4, 256, 5, 0, 2, 2, 3, 4, 261, 5, 0) + b"statestate"]
    return [b"\1" + head + entries for head in damage] + [b"\3" + state for state in states] + [b"\0" + entries, b"\2CGstate\1"]


def packed(call, content):
    """A record of a block."""
    return bytes(8) + struct.pack("<H", len(call)) + call + struct.pack("<I", len(content)) + content


def changes():
    """Changes to a store's file: offset, length, bytes."""
    headers = [(16, b"\x10\x00"), (28, b"\0\0\0\1"), (100, b"\x0d"), (103, b"\0\xff")]
    pages = [(page * 4096 + at, byte) for page in (1, 2, 5, 9) for at, byte in ((0, b"\x05"), (3, b"\xff\xff"), (8, b"\0\0"))]
    return [struct.pack("<QB", at, len(byte)) + byte for at, byte in headers + pages]


payloads = read("context-graph-events/tests/payloads/**/*.json")
commands = [line for text in read("context-graph-policy/tests/corpus/*.txt") for line in text.splitlines()
            if line.strip() and not line.startswith(b"#")]
put("payload", payloads)
put("shell", commands)
put("rego_input", payloads + commands[::6])
put("settings", settings())
put("transcript", transcripts(payloads))
put("live", live(payloads))
put("store", changes())
