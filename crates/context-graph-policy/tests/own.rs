//! Attempts to change our own files past the guard, each with the files that it needs: patches, archives, copied folders,
//! and lists of files that git does not track. Similar ordinary calls pass.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read fails the test")]

use context_graph_events::Event;
use context_graph_policy::effects::FileKind;
use context_graph_policy::{Context, Decision, Guards, ListedFileSystem, PolicyConfig};
use serde_json::{Value, json};

const HOME: &str = "/home/dev";
const PROJECT: &str = "/home/dev/proj/app";

fn patch_of(file: &str) -> String {
    format!("diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{{}}\n+{{\"x\":1}}\n")
}

fn tar_of(name: &str) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..135].copy_from_slice(b"00000000000");
    block[156] = b'0';
    block[257..263].copy_from_slice(b"ustar\0");
    block.resize(3 * 512, 0);
    block
}

fn zip_of(name: &str) -> Vec<u8> {
    let mut zip = b"PK\x03\x04".to_vec();
    zip.resize(26, 0);
    zip.extend([u8::try_from(name.len()).unwrap(), 0, 0, 0]);
    zip.extend(name.bytes());
    zip.extend(b"PK\x05\x06");
    zip
}

/// A project with settings that git does not keep, a state of ours, and what can be unpacked, applied and copied.
fn files() -> ListedFileSystem {
    let folders = [
        "/home",
        HOME,
        "/home/dev/proj",
        PROJECT,
        "/home/dev/proj/app/.claude",
        "/home/dev/proj/app/.claude/agents",
        "/home/dev/proj/app/.context-graph",
        "/home/dev/proj/app/.context-graph/data",
        "/home/dev/proj/app/.context-graph/live",
        "/home/dev/proj/app/src",
        "/home/dev/proj/app/src/deep",
        "/home/dev/proj/app/evil",
        "/home/dev/proj/app/evil/.claude",
        "/home/dev/proj/app/good",
        "/home/dev/proj/app/good/.claude",
        "/home/dev/proj/app/good/.claude/commands",
        "/home/dev/.config",
        "/home/dev/.config/context-graph",
        "/home/dev/.config/context-graph/private",
        "/home/dev/ledger",
    ];
    let files = [
        "/home/dev/proj/app/.claude/settings.json",
        "/home/dev/proj/app/.claude/settings.local.json",
        "/home/dev/proj/app/.context-graph/data/context-graph.db",
        "/home/dev/proj/app/.context-graph/policy.toml",
        "/home/dev/proj/app/module/.git",
        "/home/dev/proj/app/evil/.claude/settings.json",
        "/home/dev/proj/app/src/main.rs",
        "/home/dev/.claude/settings.json",
        "/home/dev/.config/context-graph/private/secret",
    ];
    let head = br#"{"at_ms":1,"project":"p","session_id":"s","seq":1,"head":"ab"}"#;
    let fs = folders.iter().fold(ListedFileSystem::default(), |fs, path| fs.with(path, FileKind::Folder));
    let fs = files.iter().fold(fs, |fs, path| fs.with(path, FileKind::File));
    let own = |name: &str| format!("{PROJECT}/{name}");
    let links = [("src/live", "../.context-graph/live"), ("agents", ".claude/agents"), ("near", "src/deep")];
    let fs = links.iter().fold(fs, |fs, (name, to)| fs.with(&own(name), FileKind::Link((*to).to_owned())));
    let hooks = br#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"context-graph hooks pre-tool"}]}]}}"#;
    fs.with_content(&own(".claude/settings.json"), hooks)
        .with_content(&own(".claude/settings.local.json"), hooks)
        .with_content(&own("evil.patch"), patch_of(".claude/settings.local.json").as_bytes())
        .with_content(&own("good.patch"), patch_of("src/main.rs").as_bytes())
        .with_content(&own("evil.tar"), &tar_of(".claude/settings.json"))
        .with_content(&own("good.tar"), &tar_of("pkg/a.txt"))
        .with_content(&own("evil.zip"), &zip_of(".claude/settings.json"))
        .with_content(&own("good.zip"), &zip_of("pkg/a.txt"))
        .with_content(&own(".git/index"), b"DIRC\0\0\0\x02 .claude/settings.json src/main.rs")
        .with_content(&own(".gitignore"), b".context-graph\n.claude/settings.local.json\n")
        .with_content("/home/dev/ledger/chain.jsonl", head)
}

fn decide(fs: &ListedFileSystem, call: &str) -> Decision {
    let call = call.replace('␤', "\n");
    let (tool, input): (String, Value) = match call.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
        Some((tool, input)) => (tool.to_owned(), serde_json::from_str(input).unwrap()),
        None => ("Bash".to_owned(), json!({ "command": call })),
    };
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": PROJECT,
        "tool_name": tool, "tool_input": input, "tool_use_id": "1",
    });
    let event = Event::from_object(payload.as_object().cloned().unwrap()).unwrap();
    let ctx = Context { home: HOME, project: PROJECT, cwd: PROJECT, fs };
    Guards::new(PolicyConfig::default()).decide(&event, &ctx)
}

#[test]
fn what_is_ours_is_met_and_what_only_looks_like_it_is_not() {
    let fs = files();
    let mut wrong = Vec::new();
    let cases =
        include_str!("corpus/own.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    for case in cases {
        let (rule, call) = case.split_once('\t').unwrap();
        let decision = decide(&fs, call);
        let found: Vec<&str> = decision.findings().map(|finding| finding.rule.as_str()).collect();
        if rule == "pass" && !found.is_empty() || rule != "pass" && !found.contains(&rule) {
            wrong.push(format!("{rule}: {call} -> {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn settings_that_git_does_not_know_are_taken_along_by_what_takes_such_files() {
    let stops = |index: &[u8], ignored: &[u8], command: &str| {
        let fs = ListedFileSystem::default()
            .with("/home/dev/proj/app/.claude/settings.json", FileKind::File)
            .with_content("/home/dev/proj/app/.git/index", index)
            .with_content("/home/dev/proj/app/.gitignore", ignored);
        let decision = decide(&fs, command);
        decision.findings().any(|finding| finding.rule == "self-protection/client-settings")
    };
    let (kept, not_kept) = (&b"DIRC\0\0\0\x02 .claude/settings.json"[..], &b"DIRC\0\0\0\x02 src/main.rs"[..]);
    for command in ["git stash -u", "git clean -fd", "git ls-files -o --exclude-standard | xargs rm"] {
        assert!(stops(not_kept, b"target\n", command), "{command}");
        assert!(!stops(not_kept, b".claude/\n", command), "{command}");
        assert!(!stops(kept, b"", command), "{command}");
    }
    assert!(stops(not_kept, b".claude/\n", "git clean -fdx"));
    assert!(stops(not_kept, b".claude\n", "git stash --all"));
    assert!(!stops(kept, b"", "git clean -fdx"));
}

/// An entry of git's index: 62 bytes before the name, with the size at the 36th.
fn entry(name: &str, size: u32) -> Vec<u8> {
    let mut entry = vec![0; 62];
    entry[36..40].copy_from_slice(&size.to_be_bytes());
    entry.extend(name.bytes());
    entry
}

#[test]
fn settings_that_git_would_set_back_are_asked_about() {
    let (shared, own) = (".claude/settings.json", ".claude/settings.local.json");
    let stops = |entries: &[Vec<u8>], command: &str| {
        let index = [b"DIRC\0\0\0\x02".to_vec(), entries.concat()].concat();
        let fs = ListedFileSystem::default()
            .with_content(&format!("{PROJECT}/{shared}"), b"{\"hooks\":{}}")
            .with_content(&format!("{PROJECT}/{own}"), b"{}")
            .with_content(&format!("{PROJECT}/.git/index"), &index);
        let decision = decide(&fs, command);
        decision.findings().any(|finding| finding.rule == "self-protection/client-settings")
    };
    let (as_kept, changed, staged) = (entry(shared, 12), entry(shared, 40), entry(own, 2));
    let commands = [
        "git stash",
        "git stash push",
        "git stash -k",
        "git stash push :/",
        "git stash push -m wip",
        "git stash save",
        "git pull --rebase --autostash",
        "git rebase --autostash main",
    ];
    for command in commands {
        assert!(stops(std::slice::from_ref(&changed), command), "{command}");
        assert!(stops(std::slice::from_ref(&staged), command), "{command}");
        assert!(!stops(std::slice::from_ref(&as_kept), command), "{command}");
        assert!(!stops(&[], command), "{command}");
    }
    for command in
        ["git stash list", "git stash pop", "git stash push src", "git pull --rebase", "git stash show -p"]
    {
        assert!(!stops(&[changed.clone(), staged.clone()], command), "{command}");
    }
    assert!(stops(&[], "git add -A && git stash"));
    assert!(stops(&[], "git add .claude; git stash push --staged"));
    assert!(stops(&[staged], "git sparse-checkout set src"));
    assert!(stops(&[], "git status -su | cut -c4- | xargs rm"));
}

#[test]
fn odd_files_are_no_trouble() {
    let fs = files()
        .with_content(
            &format!("{PROJECT}/odd.patch"),
            b"+++ \"\n--- \xff\n*** \n--- \ndiff --git \nrename to \n",
        )
        .with_content(&format!("{PROJECT}/odd.tar"), &[0xff; 4096])
        .with_content(&format!("{PROJECT}/odd.zip"), b"PK\x03\x04\xff");
    for command in
        ["git apply odd.patch", "tar xf odd.tar", "unzip odd.zip", "tar xf odd.patch", "git apply odd.zip"]
    {
        assert!(!decide(&fs, command).verdict().refuses_or_asks(), "{command}");
    }
}
