//! Runners, aliases, hooks and copies: the command that runs is in a file of the project, or is our own program under another
//! name.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read fails the test")]

use context_graph_events::Event;
use context_graph_policy::effects::{FileKind, FileSystem};
use context_graph_policy::{Context, Decision, Guards, ListedFileSystem, PolicyConfig};
use serde_json::json;

const HOME: &str = "/home/dev";
const PROJECT: &str = "/home/dev/proj/app";

/// The listed files. One of them is our program.
struct Files(ListedFileSystem);

impl FileSystem for Files {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.0.kind(path)
    }

    fn names(&self, folder: &str, limit: usize) -> Vec<String> {
        self.0.names(folder, limit)
    }

    fn content(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        self.0.content(path, most)
    }

    fn program(&self) -> Option<String> {
        Some("/opt/cg/context-graph".to_owned())
    }
}

const GRAVE: &[(&str, &str)] = &[
    ("package.json", r#"{"scripts":{"postinstall":"rm -rf ~","test":"rm -rf ~","x":"rm -rf ~","ok":"tsc"}}"#),
    ("w/package.json", r#"{"scripts":{"x":"rm -rf ~"}}"#),
    ("evil.sh", "rm -rf ~\n"),
    ("first.sh", ". ./evil.sh\n"),
    ("second.sh", "bash ./first.sh\n"),
    ("loop.sh", "bash ./loop.sh\nbash ./first.sh\n"),
    ("evil.py", "import shutil, os\nshutil.rmtree(os.path.expanduser('~'))\n"),
    ("evil.js", "require('fs').rmSync(require('os').homedir(), {recursive: true})\n"),
    ("setup.py", "import os\nos.system('rm -rf ~')\n"),
    ("tasks.py", "from invoke import task\n@task\ndef x(c):\n    c.run('rm -rf ~')\n"),
    ("noxfile.py", "import nox\n@nox.session\ndef x(s):\n    s.run('rm', '-rf', '/home/dev')\n"),
    ("Rakefile", "task :x do\n  sh 'rm -rf ~'\nend\n"),
    ("Taskfile.yml", "tasks:\n  x:\n    cmds:\n      - rm -rf ~\n"),
    ("mise.toml", "[tasks.x]\nrun = \"rm -rf ~\"\n"),
    ("tox.ini", "[testenv]\ncommands = rm -rf ~\n"),
    ("pyproject.toml", "[tool.poe.tasks]\nx = \"rm -rf ~\"\n"),
    ("composer.json", r#"{"scripts":{"x":"rm -rf ~"}}"#),
    ("deno.json", r#"{"tasks":{"x":"rm -rf ~"}}"#),
    ("Makefile.toml", "[tasks.x]\nscript = \"rm -rf ~\"\n"),
    (".pre-commit-config.yaml", "repos:\n- hooks:\n  - id: x\n    entry: rm -rf ~\n"),
    ("lefthook.yml", "pre-commit:\n  commands:\n    x:\n      run: rm -rf ~\n"),
    ("Procfile", "web: rm -rf ~\n"),
    (".envrc", "rm -rf ~\n"),
    ("main.tf", "provisioner \"local-exec\" {\n  command = \"rm -rf ~\"\n}\n"),
    ("site.yml", "- hosts: localhost\n  tasks:\n    - shell: rm -rf ~\n"),
    (".git/hooks/pre-commit", "#!/bin/sh\nrm -rf ~\n"),
    (
        ".git/config",
        "[core]\n\tbare = false\n[alias]\n\tzz = !rm -rf ~\n\tyy = reset --hard\n\tst = status -sb\n\tq = \"!git log | head\"\n",
    ),
];

fn files(listed: &[(&str, &str)]) -> Files {
    let ours: Vec<u8> = (0..20_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let fs = ["/home", HOME, "/home/dev/proj", PROJECT, "/home/dev/proj/app/.git"]
        .iter()
        .fold(ListedFileSystem::default(), |fs, path| fs.with(path, FileKind::Folder))
        .with_content("/opt/cg/context-graph", &ours)
        .with_content(&format!("{PROJECT}/cgx"), &ours);
    Files(
        listed
            .iter()
            .fold(fs, |fs, (name, text)| fs.with_content(&format!("{PROJECT}/{name}"), text.as_bytes())),
    )
}

fn decide(fs: &Files, command: &str) -> Decision {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": PROJECT,
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "1",
    });
    let event = Event::from_object(payload.as_object().cloned().unwrap()).unwrap();
    Guards::new(PolicyConfig::default())
        .decide(&event, &Context { home: HOME, project: PROJECT, cwd: PROJECT, fs })
}

const RUNNERS: &[&str] = &[
    "npm t",
    "npm test",
    "npm run x",
    "npm --prefix w run x",
    "npm i",
    "npm install",
    "npm ci",
    "npm it",
    "yarn",
    "yarn install",
    "yarn x",
    "yarn run x",
    "pnpm i",
    "pnpm x",
    "pnpm -C w x",
    "bun run x",
    "node --run x",
    "task x",
    "mise run x",
    "poe x",
    "tox",
    "nox",
    "invoke x",
    "rake x",
    "composer run x",
    "cargo make x",
    "deno task x",
    "pre-commit run --all-files",
    "lefthook run pre-commit",
    "foreman start",
    "direnv allow",
    "pip install .",
    "pip install -e . && true",
    "terraform apply -auto-approve",
    "ansible-playbook site.yml",
    "git zz",
    "git yy",
    "git commit -m x",
    "bash first.sh",
    "bash second.sh",
    "bash loop.sh",
    "PATH=.:$PATH evil.sh",
    "export PATH=$PWD:$PATH; evil.sh",
    "trap \"$(cat evil.sh)\" EXIT",
    "find . -name evil.sh -exec sh {} \\;",
    "coverage run evil.py",
    "python3 -c 'import evil'",
    "python3 -c 'import os, evil'",
    "python3 -c 'from evil import x'",
    "python3 -c \"exec(open('evil.py').read())\"",
    "python3 -c \"import runpy; runpy.run_path('evil.py')\"",
    "node -e \"require('./evil.js')\"",
    "node -e \"require('./evil')\"",
];

#[test]
fn what_a_runner_finds_in_a_file_is_seen_when_it_is_called() {
    let (grave, none) = (files(GRAVE), files(&[]));
    let wrong: Vec<String> = RUNNERS
        .iter()
        .filter(|command| **command != "trap \"$(cat evil.sh)\" EXIT")
        .filter(|command| {
            !decide(&grave, command).verdict().refuses_or_asks()
                || decide(&none, command).verdict().refuses_or_asks()
        })
        .map(|command| {
            format!(
                "{command}: {:?}, {:?}",
                decide(&grave, command).reason(),
                decide(&none, command).reason()
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(decide(&grave, "trap \"$(cat evil.sh)\" EXIT").verdict().refuses_or_asks());
}

#[test]
fn ordinary_tasks_pass() {
    let ordinary = files(&[
        (
            "package.json",
            r#"{"scripts":{"prepare":"husky","test":"vitest","clean":"rm -rf dist node_modules","x":"tsc","install":"node-gyp rebuild"}}"#,
        ),
        ("Taskfile.yml", "tasks:\n  x:\n    cmds:\n      - rm -rf dist\n      - go build ./...\n"),
        ("pyproject.toml", "[tool.poe.tasks]\nx = \"pytest -q\"\n"),
        ("tox.ini", "[testenv]\ncommands = pytest {posargs}\n"),
        ("Procfile", "web: bundle exec puma -C config/puma.rb\n"),
        ("site.yml", "- hosts: web\n  tasks:\n    - file: path=/srv/app state=absent\n"),
        (".git/hooks/pre-commit", "#!/bin/sh\nnpx lint-staged\n"),
        (".git/hooks/pre-push", "#!/bin/sh\nmake test\n"),
        (
            ".git/config",
            "[remote \"origin\"]\n\turl = git@host:x.git\n[alias]\n\tst = status -sb\n\tlg = log --graph\n\tq = \"!git log | head\"\n",
        ),
        ("setup.py", "from setuptools import setup\nexec(open('version.py').read())\nsetup()\n"),
        ("version.py", "__version__ = '1'\n"),
    ]);
    let mut alarms = Vec::new();
    let further = [
        "git st",
        "git lg",
        "git q",
        "git push",
        "npm run clean",
        "git merge x",
        "python3 -c 'import setup, version'",
    ];
    let own = ["evil", "cgx", "zz", "yy"];
    for command in
        RUNNERS.iter().chain(&further).filter(|command| !own.iter().any(|word| command.contains(word)))
    {
        let decision = decide(&ordinary, command);
        // Some of them are asked about for another reason, with or without files.
        if decision.verdict().refuses_or_asks() && !decide(&files(&[]), command).verdict().refuses_or_asks() {
            alarms.push(format!("{command}: {}", decision.reason()));
        }
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

#[test]
fn a_copy_of_a_copy_of_our_program_is_known() {
    let fs = files(&[]);
    for command in [
        "./cgx uninstall --yes",
        "mv cgx b; ./b uninstall --yes",
        "cp cgx b && ./b uninstall --yes --user",
        "cp cgx a && mv a b && ln -s b c && ./c uninstall --yes",
        "cat cgx > b; chmod +x b; ./b uninstall -y",
        "dd if=cgx of=b; chmod +x b; ./b uninstall -y",
        "install cgx b; ./b uninstall -y",
        "ln -s cgx a1; ln -s a1 a2; ./a2 trust --yes",
        "mkdir -p d; mv cgx d/; d/cgx config set inject.enabled false",
        "PATH=. ; cgx session forget x",
        "PATH=.:$PATH cgx trust --yes",
        "python3 -c \"import subprocess as s; p='/opt/cg/context-graph'; s.call([p,'uninstall','--yes'])\"",
        "python3 -c \"import subprocess as s; a=['uninstall','--yes']; s.call(['/opt/cg/context-graph']+a)\"",
        "perl -e '$p=\"/opt/cg/context-graph\"; system($p,\"uninstall\",\"--yes\")'",
        "node -e \"const p='/opt/cg/context-graph'; require('child_process').execFileSync(p,['uninstall','--yes'])\"",
    ] {
        let decision = decide(&fs, command);
        let spoke = decision.findings().any(|finding| finding.rule == "self-protection/verb");
        assert!(decision.verdict().refuses_or_asks() && spoke, "{command}: {}", decision.reason());
    }
    for command in [
        "cp cgx b && ./b audit log",
        "mv cgx b; ./b --version",
        "cp tool b; ./b uninstall --yes",
        "PATH=.:$PATH cgx session list",
        "python3 -c \"import subprocess; subprocess.run(['/opt/cg/context-graph','audit','stats'])\"",
        "python3 -c \"print('context-graph uninstall removes the hooks')\"",
    ] {
        assert!(
            !decide(&fs, command).verdict().refuses_or_asks(),
            "{command}: {}",
            decide(&fs, command).reason()
        );
    }
}
