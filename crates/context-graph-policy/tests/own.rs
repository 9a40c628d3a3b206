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

/// A git index with files of these names and sizes.
fn index(files: &[(&str, u32)]) -> Vec<u8> {
    let count = u32::try_from(files.len()).unwrap();
    let mut index = [&b"DIRC\0\0\0\x02"[..], &count.to_be_bytes()].concat();
    for (name, size) in files {
        let mut entry = vec![0; 62];
        entry[36..40].copy_from_slice(&size.to_be_bytes());
        entry[61] = u8::try_from(name.len()).unwrap();
        entry.extend(name.bytes());
        entry.resize(entry.len() / 8 * 8 + 8, 0);
        index.extend(entry);
    }
    index
}

/// A project with settings that git does not track, our state, and files to unpack, apply and copy.
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
        .with_content(
            &own(".git/index"),
            &index(&[(".claude/settings.json", u32::try_from(hooks.len()).unwrap()), ("src/main.rs", 0)]),
        )
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
    let (kept, not_kept) =
        (&index(&[(".claude/settings.json", 0)]), &index(&[("a/.claude/settings.json", 0)]));
    for command in ["git stash -u", "git clean -fd", "git ls-files -o --exclude-standard | xargs rm"] {
        assert!(stops(not_kept, b"target\n", command), "{command}");
        assert!(!stops(not_kept, b".claude/\n", command), "{command}");
        assert!(!stops(kept, b"", command), "{command}");
    }
    assert!(stops(not_kept, b".claude/\n", "git clean -fdx"));
    assert!(stops(not_kept, b".claude\n", "git stash --all"));
    assert!(!stops(kept, b"", "git clean -fdx"));
}

#[test]
fn settings_that_git_would_set_back_are_asked_about() {
    let (shared, own) = (".claude/settings.json", ".claude/settings.local.json");
    let stops = |files: &[(&str, u32)], command: &str| {
        let index = index(files);
        let fs = ListedFileSystem::default()
            .with_content(&format!("{PROJECT}/{shared}"), b"{\"hooks\":{}}")
            .with_content(&format!("{PROJECT}/{own}"), b"{}")
            .with_content(&format!("{PROJECT}/.git/index"), &index);
        let decision = decide(&fs, command);
        decision.findings().any(|finding| finding.rule == "self-protection/client-settings")
    };
    let (as_kept, changed, staged) = ((shared, 12), (shared, 40), (own, 2));
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
        assert!(stops(&[changed], command), "{command}");
        assert!(stops(&[staged], command), "{command}");
        assert!(!stops(&[as_kept], command), "{command}");
        assert!(!stops(&[], command), "{command}");
    }
    for command in
        ["git stash list", "git stash pop", "git stash push src", "git pull --rebase", "git stash show -p"]
    {
        assert!(!stops(&[changed, staged], command), "{command}");
    }
    assert!(stops(&[], "git add -A && git stash"));
    assert!(stops(&[], "git add .claude; git stash push --staged"));
    assert!(stops(&[staged], "git sparse-checkout set src"));
    assert!(stops(&[], "git status -su | cut -c4- | xargs rm"));
}

/// Git in a folder, without the user's settings. `None` if it is not installed or does not know an option.
fn git(folder: &std::path::Path, words: &[&str]) -> Option<()> {
    let mut git = std::process::Command::new("git");
    git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(words);
    git.output().ok()?.status.success().then_some(())
}

#[test]
fn the_index_of_real_repositories_is_read() {
    let tracked = |git_folder: &[(&str, Vec<u8>)]| {
        let fs = ListedFileSystem::default().with_content(&format!("{PROJECT}/.claude/settings.json"), b"{}");
        let fs = git_folder.iter().fold(fs, |fs, (name, content)| fs.with_content(name, content));
        !decide(&fs, "git clean -fdx").findings().any(|found| found.rule == "self-protection/client-settings")
    };
    let index = format!("{PROJECT}/.git/index");
    for (format, version) in [("sha1", "2"), ("sha1", "4"), ("sha256", "2"), ("sha256", "4")] {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        if git(folder, &["init", "-q", "--object-format", format]).is_none() {
            return;
        }
        std::fs::create_dir_all(folder.join("a/.claude")).unwrap();
        for name in ["README.md", "a/.claude/settings.json", "a/later"] {
            std::fs::write(folder.join(name), "{}").unwrap();
        }
        git(folder, &["add", "README.md", "a/.claude"]).unwrap();
        // Version 3 is version 2 with such entries.
        git(folder, &["add", "--intent-to-add", "a/later"]).unwrap();
        git(folder, &["update-index", "--index-version", version]).unwrap();
        let read = || std::fs::read(folder.join(".git/index")).unwrap();
        assert!(!tracked(&[(&index, read())]), "{format} {version}: only one in another folder");
        std::fs::create_dir(folder.join(".claude")).unwrap();
        std::fs::write(folder.join(".claude/settings.json"), "{}").unwrap();
        git(folder, &["add", ".claude"]).unwrap();
        assert!(tracked(&[(&index, read())]), "{format} {version}");
        // In a further working tree, `.git` is a file.
        let link = (format!("{PROJECT}/.git"), b"gitdir: /elsewhere/.git/worktrees/app\n".to_vec());
        let there = ("/elsewhere/.git/worktrees/app/index", read());
        assert!(tracked(&[(&link.0, link.1), there]), "{format} {version}: further working tree");
    }
}

#[test]
fn odd_files_are_no_trouble() {
    let fs = files()
        .with_content(
            &format!("{PROJECT}/odd.patch"),
            b"+++ \"\n--- \xff\n*** \n--- \ndiff --git \nrename to \n",
        )
        .with_content(&format!("{PROJECT}/odd.tar"), &[0xff; 4096])
        .with_content(&format!("{PROJECT}/odd.zip"), b"PK\x03\x04\xff")
        .with_content(&format!("{PROJECT}/.git/index"), b"DIRC\0\0\0\x04\xff\xff\xff\xff\xff\xff");
    for command in [
        "git apply odd.patch",
        "tar xf odd.tar",
        "unzip odd.zip",
        "tar xf odd.patch",
        "git apply odd.zip",
        "git stash",
    ] {
        assert!(!decide(&fs, command).verdict().refuses_or_asks(), "{command}");
    }
}
